"""Project a row onto the domain of a loss with one weight u: {beta >= 0, sum(beta) <= u}.

The losses with k = 1 are of this kind. As kernels.domains.projection defines beta and b, the
nearest beta minimises

    sum_j (beta_j - b_j)^2 + sum(beta)^2      over this simplex.

Hence beta_j = max(0, t - d_j), with d_j = max(b) - b_j >= 0 and t the root of

    g(t) = sum_j max(0, t - d_j) - min(u, max(b) - t),

which grows, is convex and piecewise linear. Newton's steps from a point right of the root therefore
fall to it, and end after at most one per entry. No entry is sorted, and only differences of scores
count, so that large scores lose no digits.
"""

import numpy as np

from fwlab.kernels._jit import compiled

# a step that is smaller than this part of the start has only rounding errors to correct
LAST_STEP = 1e-15


@compiled(fastmath=True)
def _set_distances(point, y, out):
    """Set out to d, with an infinite entry at y; return max(b)."""
    nearest = np.inf
    for j in range(len(point)):
        nearest = min(nearest, point[j] if j != y else np.inf)
    for j in range(len(point)):
        out[j] = point[j] - nearest
    out[y] = np.inf
    return point[y] - nearest


@compiled(fastmath=True)
def _active(d, t):
    """Return the number of entries d_j <= t and the sum of t - d_j over them."""
    count, total = 0.0, 0.0
    for j in range(len(d)):
        on = d[j] <= t
        count += 1.0 if on else 0.0
        total += t - d[j] if on else 0.0
    return count, total


@compiled(fastmath=True)
def _write(t, y, out):
    """Turn d into the projection: -beta, and the sum of beta at y."""
    total = 0.0
    for j in range(len(out)):
        out[j] = min(0.0, out[j] - t)
        total -= out[j]
    out[y] = total


@compiled(inline=True)
def project_on_solid_simplex(point, y, u, out):
    """Write the point of the negated domain nearest to `point` into `out`."""
    top = _set_distances(point, y, out)
    t = 0.0
    if top > 0.0:
        t = min(0.5 * top, u)
        least = LAST_STEP * t
        step = np.inf
        while step > least:
            count, total = _active(out, t)
            step = max((total - u) / count, (total + t - top) / (count + 1.0))
            t -= step
    _write(t, y, out)
