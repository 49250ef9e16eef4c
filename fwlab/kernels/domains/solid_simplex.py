"""Project a row onto the domain of a loss with one weight u: {beta >= 0, sum(beta) <= u}.

The losses with k = 1 are of this kind. As kernels.domains.projection defines beta and b, the
nearest beta minimises

    sum_j (beta_j - b_j)^2 + sum(beta)^2      over this simplex.

Hence beta_j = max(0, t - d_j), with d_j = max(b) - b_j >= 0 and t the root of

    g(t) = sum_j max(0, t - d_j) - min(u, max(b) - t),

which is convex, piecewise linear and grows where it is positive. Newton's steps from a point right
of the root therefore fall to it, and lose an entry each until the last one. No entry is sorted, and
only differences of scores count, so that large scores lose no digits: an entry is right to some ulp
of the largest one, and the entry of the true class to half an ulp more per active class.
"""

import numpy as np

from fwlab.kernels._jit import compiled

# terms that are added up one by one: the sum of 64 is then right to 8 ulp
PART = 8


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


@compiled
def _above(d, t):
    """Return the number of entries d_j < t and the sum of t - d_j over them."""
    count, total = 0.0, 0.0
    for start in range(0, len(d), PART):
        part = 0.0
        for j in range(start, min(start + PART, len(d))):
            count += d[j] < t
            part += max(0.0, t - d[j])
        total += part
    return count, total


@compiled(inline=True)
def _newton_step(count, total, t, top, u):
    """Return the step to the root of the larger one of the two pieces of g at t."""
    return max((total - u) / count, (total + t - top) / (count + 1.0))


@compiled(inline=True)
def project_on_solid_simplex(point, y, u, out):
    """Write the point of the negated domain nearest to `point` into `out`."""
    top = _set_distances(point, y, out)
    t = max(0.0, min(0.5 * top, u))
    before, (count, total) = np.inf, _above(out, t)
    while 0.0 < count < before:
        t -= _newton_step(count, total, t, top, u)
        before, (count, total) = count, _above(out, t)
    if count > 0.0:
        t -= _newton_step(count, total, t, top, u)  # what rounding has left
    _, out[y] = _above(out, t)
    for j in range(len(out)):
        out[j] = min(0.0, out[j] - t) if j != y else out[j]
