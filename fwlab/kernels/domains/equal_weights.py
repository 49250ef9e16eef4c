"""Project a row onto the domain of a loss with N equal weights w, without a sort.

`upper` has N entries w and `lower` K of them, as TopK (K = N - 1), PseudoTopK (K = N) and Usunier
(K = 0) have. The polytope of kernels.domains.vertices is then, with s = sum(beta),

    { 0 <= beta_j <= min(w, s / K), s <= N w },

since zeta must lie between the larger of beta_1 / w and s / (N w), and the smaller of 1 and
s / (K w). As kernels.domains.projection defines beta and b for c_y = 0, the nearest beta minimises
sum_j (beta_j - b_j)^2 + s^2 and is beta_j = min(max(b_j - t, 0), cap):

    s >= K w:  the cap is w, and t the root of sum(beta) = min(t, N w). The left side falls in t, so
               that this is the case if it is at least K w at t = K w;
    s < K w:   the projection on the top-k simplex of kernels.simplices.topk_simplex, with k = K,
               r = K w and bias 1, whose cap is s / K.

Newton's method counts and sums the entries of a linear piece, and ends on the piece of the root.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.large_entries import LARGE
from fwlab.kernels.domains.selection import NEWTON_STEPS, reached_by, split_sums
from fwlab.kernels.simplices.topk_simplex import newton_thresholds

# a threshold farther from 0 than this multiple of N w is computed again from differences to it, so
# that beta keeps its digits
FAR = 4.0


@compiled(inline=True)
def has_equal_weights(polytope):
    """Return whether all non-zeros of `upper` and `lower` are equal."""
    upper, lower, n_upper, n_lower, _, _ = polytope
    weight = upper[0]
    return upper[n_upper - 1] == weight and (n_lower == 0 or lower[n_lower - 1] == weight)


@compiled
def capped_threshold(b, shift, t, weight, most):
    """Return (t - shift, True); the last entry is False where Newton's method gives up.

    t is the root of sum min((b - t)_+, weight) = min(t, most): what falls meets what grows. Between
    two entries both are linear, and the root is the larger one of the roots for t and for `most`. A
    step out of the bracket of the root is replaced by a halving. The first `t` is at most the root,
    and the largest of b is at least that.
    """
    low, high = t, -np.inf
    for j in range(len(b)):
        high = max(high, b[j] - shift)
    last_full, last_moving = -1, -1
    for _ in range(NEWTON_STEPS):
        full, moving, _, middle = split_sums(b, shift, t, t + weight)
        if full == last_full and moving == last_moving:
            return t, True
        level = full * weight + middle
        root = (level - shift) / (moving + 1.0)
        if moving > 0:
            root = max(root, (level - most) / moving)
        elif level > most:
            root = np.inf
        elif level == most:
            root = max(root, t)
        if root == t:
            return t, True
        if level - moving * t > min(t + shift, most):
            low = t
        else:
            high = t
        t, last_full, last_moving = root, full, moving
        if not low < root < high:
            t, last_full = 0.5 * (low + high), -1
    return t, False


@compiled(inline=True)
def _reaches(b, t, weight):
    """Return whether the sum of min((b - t)_+, weight) is at least t."""
    full, moving, _, middle = split_sums(b, 0.0, t, t + weight)
    return full * weight + (middle - moving * t) >= t


@compiled(inline=True)
def _lowest_threshold(b, k, weight):
    """Return a number that t is not below on the top-k simplex (kernels.simplices.topk_simplex)."""
    reached, largest = reached_by(b, k)
    return reached - min(weight, max(largest, 0.0) / (1.0 + k))


@compiled(fastmath=True)
def _sum(values):
    total = 0.0
    for value in values:
        total += value
    return total


@compiled
def project_equal_weights(b, y, polytope, out):
    """Write the point of the negated domain nearest to b, c_y - c_j without y; return True.

    Where the thresholds are not found, or entries are too large, nothing is written and False
    returned.
    """
    weight, n, k = polytope.upper[0], polytope.n_upper, polytope.n_lower
    for entry in b:
        if not abs(entry) <= LARGE * (n * weight):
            return False
    capped = _reaches(b, k * weight, weight)
    t = k * weight if capped else _lowest_threshold(b, k, weight)
    shift, cap, found = 0.0, weight, False
    for _ in range(2):
        if capped:
            t, found = capped_threshold(b, shift, t, weight, n * weight)
        else:
            t, cap, found = newton_thresholds(b, shift, t, k, k * weight, 1.0)
        if not found:
            return False
        if shift != 0.0 or abs(t) <= FAR * (n * weight):
            break
        shift, t = t, -weight
    for j in range(len(b)):
        out[j + (j >= y)] = -min(max((b[j] - shift) - t, 0.0), cap)
    out[y] = 0.0
    out[y] = -_sum(out)
    return True
