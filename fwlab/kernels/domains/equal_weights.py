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

Newton's method counts and sums the entries of a linear piece, and ends on the piece of the root; a
bisection takes over where it does not end. Only entries above t matter. With N entries from
`reached` on, t is at least reached - w: in the first case sum(beta) is N w there; the second one is
shown with the top-k simplex, and there t is also at least reached - b_1 / (1 + K), as it is in the
first case, in which t >= K w.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.selection import (
    LANES,
    NEWTON_STEPS,
    collect_from,
    lane_maxima,
    reached_by,
    split_sums,
)
from fwlab.kernels.simplices.topk_simplex import newton_thresholds

# a threshold farther from 0 than this multiple of N w is computed again from differences to it, so
# that beta keeps its digits
FAR = 4.0
# more than a threshold of 64 entries loses by rounding, relative to it
ROUNDED = 2.0**-44
# halvings of a bracket end at neighbours in floating point: 52 bits, and those of the exponent
HALVINGS = 1100


@compiled
def capped_threshold(b, shift, t, weight, most):
    """Return t - shift, t the root of sum min((b - t)_+, weight) = min(t, most).

    Between two entries both sides are linear, and the root is the larger one of the roots for t and
    for `most`. A step out of the bracket of the root is replaced by a halving, as are all steps
    after the first few. The first `t` is at most the root, and the largest of b at least that.
    """
    low, high = t, -np.inf
    for j in range(len(b)):
        high = max(high, b[j] - shift)
    last_full, last_moving = -1, -1
    for step in range(HALVINGS):
        full, moving, _, middle = split_sums(b, shift, t, t + weight)
        if full == last_full and moving == last_moving:
            return t
        level = full * weight + middle
        root = (level - shift) / (moving + 1.0)
        if moving > 0:
            root = max(root, (level - most) / moving)
        elif level > most:
            root = np.inf
        elif level == most:
            root = max(root, t)
        if root == t:
            return t
        if level - moving * t > min(t + shift, most):
            low = t
        else:
            high = t
        t, last_full, last_moving = root, full, moving
        if step >= NEWTON_STEPS or not low < root < high:
            t, last_full = 0.5 * low + 0.5 * high, -1
            if t == low or t == high:
                return t
    return t


@compiled
def _bisected_thresholds(b, shift, low, k, weight):
    """Return (t - shift, cap) of kernels.simplices.topk_simplex.newton_thresholds, by halvings."""
    t, high, cap = low, -np.inf, 0.0
    for j in range(len(b)):
        high = max(high, b[j] - shift)
    for _ in range(HALVINGS):
        _, above, _, total = split_sums(b, shift, t, np.inf)
        level = total - (above - k) * t + k * shift
        cap = max(0.0, min(level / (k * (1.0 + k)), weight))
        full, moving, _, middle = split_sums(b, shift, t, t + cap)
        if (full - k) * cap + middle - moving * t > 0.0:
            low = t
        else:
            high = t
        t = 0.5 * low + 0.5 * high
        if t == low or t == high:
            break
    return t, cap


@compiled(inline=True)
def _reaches(b, t, weight):
    """Return whether the sum of min((b - t)_+, weight) is at least t."""
    full, moving, _, middle = split_sums(b, 0.0, t, t + weight)
    return full * weight + (middle - moving * t) >= t


@compiled(inline=True)
def _collect_candidates(polytope, scratch):
    """Collect the entries of scratch.beta that can exceed t; return their number and a bound of t.

    There are none if the projection is 0.
    """
    b, weight, n, k = scratch.beta, polytope.upper[0], polytope.n_upper, polytope.n_lower
    index, values, entries = scratch.order, scratch.candidates, b
    by_lanes = n <= 3 * LANES // 4 and len(b) > 2 * LANES
    if by_lanes:
        entries = scratch.fit_upper[:LANES]
        lane_maxima(b, np.inf, entries)
    reached, largest = reached_by(entries, n)
    if largest <= 0.0:
        return 0, 0.0
    bound = reached - min(weight, largest / (1.0 + k))
    if by_lanes and _reaches(entries, k * weight, weight):
        # t of the lanes alone: more entries raise it
        level = capped_threshold(entries, 0.0, max(bound, k * weight), weight, n * weight)
        bound = (1.0 - ROUNDED) * level
    elif k == 0:
        bound = max(bound, 0.0)
    return collect_from(b, bound, index, values), bound


@compiled(inline=True)
def _thresholds(values, t, polytope):
    """Return (shift, t - shift, cap, whether the cap is w): beta_j = min(max(b_j - t, 0), cap)."""
    weight, n, k = polytope.upper[0], polytope.n_upper, polytope.n_lower
    capped = _reaches(values, k * weight, weight)
    shift, cap = 0.0, weight
    for _ in range(2):
        low = t
        if capped:
            t = capped_threshold(values, shift, low, weight, n * weight)
        else:
            t, cap, found = newton_thresholds(values, shift, low, k, k * weight, 1.0)
            if not found:
                t, cap = _bisected_thresholds(values, shift, low, k, weight)
        if shift != 0.0 or abs(t) <= FAR * (n * weight):
            break
        shift, t = t, -weight
    return shift, t, cap, capped


@compiled(fastmath=True)
def _sum_of_beta(differences, cap):
    """Return the sum of beta for the differences b - t, and how many are between 0 and the cap."""
    total, moving = 0.0, 0.0
    for difference in differences:
        total += min(max(difference, 0.0), cap)
        moving += (difference > 0.0) & (difference < cap)
    return total, moving


@compiled
def project_equal_weights(y, polytope, scratch, out):
    """Write the point of the negated domain nearest to scratch.beta, c_y - c_j without y."""
    count, bound = _collect_candidates(polytope, scratch)
    for j in range(len(out)):
        out[j] = 0.0
    if count == 0:
        return
    index, differences = scratch.order, scratch.candidates[:count]
    shift, t, cap, capped = _thresholds(differences, bound, polytope)
    for place in range(count):
        differences[place] = (differences[place] - shift) - t
    total, moving = _sum_of_beta(differences, cap)
    most = polytope.n_upper * polytope.upper[0]
    # t comes from sums of larger numbers, and the sum of beta tells what they have lost
    excess = total - (min(t + shift, most) if capped else polytope.n_lower * cap)
    step = excess / max(1.0, moving)
    for place in range(count):
        j = index[place]
        out[j + (j >= y)] = -min(max(differences[place] - step, 0.0), cap)
    out[y] = total - step * moving
