"""Projection onto the top-k cone and the top-k simplex, with a bias (L15 section 4).

Minimise |a - x|^2 + bias <1, x>^2 over x >= 0, x_i <= s/k, s = sum x <= r. The solution is
x = min(max(a - t, 0), u) with u = s/k. Write v = t + u and S_k for the sum of the k largest a.
Against the constant solution (the k largest entries at u, no other), the k largest lose E, the sum
of (v - a_[i])_+ over i <= k, and the others gain the sum of (a_[i] - t)_+ over i > k. So

    sum_{i <= k} (v - a_[i])_+ = sum_{i > k} (a_[i] - t)_+ = E      (the sum of x is k u)
    v - t = u = min( (S_k + E) / (k + bias k^2), r/k )              (stationarity in u, or s = r)

where E = 0 if a_[k] - a_[k+1] >= u already: then x is constant, or 0 if S_k <= 0 (L15 Lemmas 3-4).
Otherwise v - t is concave in E and its slope stays above the slope of the right-hand side, so one
sweep from E = 0 up, one entry at a time, finds the only root. This replaces L15's search over all
partitions and its separate knapsack (4.2, 4.3).

Few entries matter: t >= a_[k] - min(u0, r/k) with u0 = S_k / (k + bias k^2), the u of E = 0. For
r/k this is v >= a_[k]. For u0: E <= k (v - a_[k]), so that u <= u0 + (v - a_[k]) / (1 + bias k),
and t = v - u >= a_[k] - u0.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.selection import (
    EPS,
    FEW,
    LANES,
    NEWTON_STEPS,
    add_compensated,
    beside_gap,
    collect_from,
    kth_of_row,
    lane_maxima,
    reached_by,
    sort_ascending,
    split_sums,
    sum_of_differences,
)

# rows of the cone up to this length use the bound by lanes, which is faster for them
SHORT = 2048
# with this many entries for each of the k largest, the bound is far off: few lanes hold the largest
CROWD = 8


@compiled
def sorted_thresholds(ordered, k, r, bias):
    """Return (t - pivot, u, pivot) for ascending entries, of which the last k are the k largest.

    The pivot is a_[k]. All sums are of differences to it, so nothing is lost when entries are far
    larger than r. Entries below t may be missing from `ordered`.
    """
    count = len(ordered)
    pivot = ordered[count - k]
    stiffness = k * (1.0 + bias * k)
    start = sum_of_differences(ordered[count - k :], 0.0, 0.0, -np.inf) / stiffness
    u = max(0.0, min(start, r / k))
    if count == k or pivot - ordered[count - k - 1] >= u:
        return -u, u, pivot
    # i of the k largest are below v, j others above t; `high` and `low` sum their differences
    i, j, high, low = 1, 1, 0.0, ordered[count - k - 1] - pivot
    lost_low, lost_high = 0.0, 0.0
    while True:
        rest = i * low - j * high
        free = (start * i * j + rest) / (i + j * ((k - i) + bias * k * k) / stiffness)
        mass = min(free, (r / k * i * j + rest) / (i + j))
        if j < count - k and j * (ordered[count - k - j - 1] - pivot) > low - mass:
            difference = ordered[count - k - j - 1] - pivot
            low, lost_low = add_compensated(low, lost_low, difference)
            j += 1
        elif i < k and i * (ordered[count - k + i] - pivot) < high + mass:
            difference = ordered[count - k + i] - pivot
            high, lost_high = add_compensated(high, lost_high, difference)
            i += 1
        else:
            return (low - mass) / j, min(start + mass / stiffness, r / k), pivot


@compiled
def newton_thresholds(values, shift, t, k, r, bias):
    """Return (t - shift, u, True); the last entry is False where Newton's method gives up.

    For any t let u(t) = min(F(t) / (k + bias k^2), r/k), F(t) the sum of (a - t)_+ plus k t. At the
    solution s = sum min((a - t)_+, u) is k u; s - k u falls in t, piece by linear piece. A piece is
    known by its numbers of entries from t + u on, and between; its root is the solution if it has
    the same numbers, which is exact and takes no sort. A step that leaves the bracket of the
    solution is replaced by a halving; ties at a threshold may keep the method from ending.
    F(t) is at least S_k, so that x = 0 where F(t) is not positive. With k entries from t + u on and
    none between, they have the value u and all others 0.
    """
    stiffness = k * (1.0 + bias * k)
    u, root, last_piece = 0.0, np.inf, -1
    low, high = t, np.inf
    for _ in range(NEWTON_STEPS):
        _, above, _, total = split_sums(values, shift, t, np.inf)
        level = total - (above - k) * t + k * shift
        if level <= 0.0:
            return t, 0.0, True
        bound = min(level / stiffness, r / k)
        full, moving, upper, middle = split_sums(values, shift, t, t + bound)
        if moving == 0 and full == k:
            # the sum of the k largest themselves: those far below 0 would lose the digits of u
            largest = sum_of_differences(values, 0.0, shift, t + bound)
            return t, max(0.0, min(largest / stiffness, r / k)), True
        piece = full * (len(values) + 1) + moving
        if piece == last_piece:
            return root, u, True
        if (full - k) * bound + middle - moving * t > 0.0:
            low = t
        else:
            high = t
        if moving == 0:
            # the entry beside the gap moves
            middle, moving = beside_gap(values, shift, t, full < k), 1
            if full > k:
                full, upper = full - 1, upper - middle
            piece = full * (len(values) + 1) + 1
        rest = k - full
        free = upper + k * shift + middle * rest / moving
        u = min(free / (full + bias * k * k + rest * rest / moving), r / k)
        root = (middle - rest * u) / moving
        if abs(root - t) <= 8.0 * EPS * (abs(t) + bound):
            return root, u, True
        t, last_piece = root, piece
        if not low < root < high:
            if high == np.inf:
                break
            t, last_piece = 0.5 * (low + high), -1
    return t, u, False


@compiled(fastmath=True)
def sum_above(row, pivot):
    """Return the sum of (a - pivot)_+ over the row."""
    total = 0.0
    for j in range(len(row)):
        total += max(row[j] - pivot, 0.0)
    return total


@compiled
def pivot_and_width(row, k, r, bias, index, values, sample):
    """Return a_[k] and the most that t can lie below it; the arrays are scratch."""
    pivot = kth_of_row(row, k, index, values, sample)
    excess = sum_above(row, pivot)
    # rounded up, so that no entry above the exact bound fails the rounded one
    start = (k * pivot + excess + EPS * k * (4.0 * abs(pivot) + excess)) / (k * (1.0 + bias * k))
    return pivot, min(r / k, max(start, 0.0) * (1.0 + 4.0 * EPS))


@compiled(allocates=True)
def project_topk_rows(points, largest, k, r, bias, out):
    """Write the projections of the rows of `points` into `out`, which holds zeros on entry; k <= d.

    r is infinity for the cone. Returns the first row with an entry not at most `largest` in size,
    -1 if there is none.
    """
    d = points.shape[1]
    index, values, lanes = np.empty(d, np.int64), np.empty(d), np.empty(LANES)
    for i in range(points.shape[0]):
        row = points[i]
        if lane_maxima(row, largest, lanes) > 0:
            return i
        if d <= 2 * LANES or (k <= 3 * LANES // 4 and (r < np.inf or d < SHORT)):
            # S_k is at most k times the largest entry, a_[k] at least what k lanes reach; rounding
            # is monotone, so that no entry above the exact bound fails the rounded one
            reached, highest = reached_by(row if d <= 2 * LANES else lanes, k)
            width = min(r / k, max(highest, 0.0) / (1.0 + bias * k))
        else:
            reached, width = pivot_and_width(row, k, r, bias, index, values, lanes)
        if width == 0.0:
            continue
        found = collect_from(row, reached - width, index, values)
        if r < np.inf and found > max(CROWD * k, LANES):
            reached = kth_of_row(row, k, index, values, lanes)
            found = collect_from(row, reached - width, index, values)
        t, u, solved = -width, 0.0, False
        if found > FEW:
            t, u, solved = newton_thresholds(values[:found], reached, -width, k, r, bias)
        if not solved:
            sort_ascending(values[:found])
            t, u, reached = sorted_thresholds(values[:found], k, r, bias)
        for j in range(found):
            out[i, index[j]] = min(max((row[index[j]] - reached) - t, 0.0), u)
    return -1
