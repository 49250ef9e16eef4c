"""Projection onto the top-k cone and the top-k simplex, with a bias (L15 section 4).

Minimise |a - x|^2 + bias <1, x>^2 over x >= 0, x_i <= s/k, s = sum x <= r. The solution is
x = min(max(a - t, 0), u) with u = s/k. Write v = t + u and S_k for the sum of the k largest a.
Against the constant solution (the k largest entries at u, no other), the k largest lose E, the sum
of (v - a_[i])_+ over i <= k, and the others gain the sum of (a_[i] - t)_+ over i > k. So

    sum_{i <= k} (v - a_[i])_+ = sum_{i > k} (a_[i] - t)_+ = E      (the sum of x is k u)
    v - t = u = min( (S_k + E) / (k + bias k^2), r/k )              (stationarity in u, or s = r)

where E = 0 if a_[k] - a_[k+1] >= u already: then x is constant, or 0 if S_k <= 0 (L15 Lemmas 3-4).
Otherwise v - t is concave in E and its slope stays above that of the right-hand side, so that one
sweep from E = 0 up, an entry at a time, finds the only root. This replaces L15's search over all
partitions and its separate knapsack (4.2, 4.3).

Few entries matter: t >= a_[k] - min(u0, r/k) with u0 = S_k / (k + bias k^2), the u of E = 0. For
r/k this is v >= a_[k]. For u0: E <= k (v - a_[k]), so that u <= u0 + (v - a_[k]) / (1 + bias k),
and t = v - u >= a_[k] - u0.
"""

import numpy as np

from fwlab.kernels._jit import kernel
from fwlab.kernels.selection import (
    INSERTION_LENGTH,
    LANES,
    ROUNDING,
    collect_from,
    keep_from,
    keep_largest,
    lane_maxima,
    reached_by,
    sort_ascending,
)


@kernel
def topk_thresholds(ordered, k, r, bias):
    """Return (t - pivot, u, pivot) for ascending entries, of which the last k are the k largest.

    The pivot is a_[k]. All sums are of differences to it, so nothing is lost when entries are far
    larger than r. Entries below t may be missing from `ordered`.
    """
    count = len(ordered)
    pivot = ordered[count - k]
    stiffness = k * (1.0 + bias * k)
    start = ordered[count - k :].sum() / stiffness
    u = max(0.0, min(start, r / k))
    if count == k or pivot - ordered[count - k - 1] >= u:
        return -u, u, pivot
    # i of the k largest are below v, j others above t; `high` and `low` sum their differences
    i, j, high, low = 1, 1, 0.0, ordered[count - k - 1] - pivot
    while True:
        gap = low / j - high / i
        slope = 1.0 / i + 1.0 / j
        mass = min((start + gap) / (slope - 1.0 / stiffness), (r / k + gap) / slope)
        t = (low - mass) / j
        v = (high + mass) / i
        if j < count - k and ordered[count - k - j - 1] - pivot > t:
            low += ordered[count - k - j - 1] - pivot
            j += 1
        elif i < k and ordered[count - k + i] - pivot < v:
            high += ordered[count - k + i] - pivot
            i += 1
        else:
            return t, min(start + mass / stiffness, r / k), pivot


@kernel
def drop_below(values, top, r, bias):
    """Drop values that are surely below t; return how many stay, at the front of `values`.

    From a lower bound t the others gain at least what the k largest lose. Their difference is
    s - k u >= 0, and raising t by h lowers it by at most h times the entries above t: dividing by
    their number gives the next bound. A step that drops less than an eighth is the last, so that
    all together are O(d). `top` becomes the k largest, ascending.
    """
    keep_largest(values, top)
    k, pivot, total = len(top), top[0], top.sum()
    stiffness = k * (1.0 + bias * k)
    t = -max(0.0, min(total / stiffness, r / k))
    before, kept = 2 * len(values), keep_from(values, pivot + t)
    while kept > INSERTION_LENGTH and 8 * kept <= 7 * before:
        gain = k * t
        for value in values[:kept]:
            gain += max(min(value - pivot, 0.0) - t, 0.0)
        gain *= 1.0 - ROUNDING
        u = min((total + gain) / stiffness, r / k)
        loss = 0.0
        for value in top:
            loss += max((t + u) - (value - pivot), 0.0)
        t = min(t + max((gain - loss) / kept, 0.0), 0.0)
        before, kept = kept, keep_from(values[:kept], pivot + t)
    return kept


@kernel
def project_topk_rows(points, largest, k, r, bias, out):
    """Rows of `out`, zeros on entry, become the projections of the rows of `points`, k <= d.

    r is infinity for the cone. Returns the first row with an entry not at most `largest` in size,
    -1 if there is none. For more than 64 largest entries the row is sorted whole.
    """
    d = points.shape[1]
    index, values, lanes, top = np.empty(d, np.int64), np.empty(d), np.empty(LANES), np.empty(k)
    for i in range(points.shape[0]):
        row = points[i]
        if lane_maxima(row, largest, lanes) > 0:
            return i
        bound = -np.inf
        if k <= LANES:
            # k times the largest entry bounds S_k, and what k lanes reach bounds a_[k]
            reached, highest = reached_by(lanes[: min(d, LANES)], k)
            bound = reached - min(r / k, max(highest, 0.0) / (1.0 + bias * k))
        found = collect_from(row, bound, index, values)
        kept = found
        if k <= LANES and found > INSERTION_LENGTH:
            kept = drop_below(values[:found], top, r, bias)
        ordered = values[:kept]
        sort_ascending(ordered)
        t, u, pivot = topk_thresholds(ordered, k, r, bias)
        for j in range(found):
            out[i, index[j]] = min(max((row[index[j]] - pivot) - t, 0.0), u)
    return -1
