"""Projection onto the continuous quadratic knapsack, with a bias (L15 sections 4.1 and 5).

Minimise |a - x|^2 + bias <1, x>^2 over 0 <= x <= upper and sum x <= r, or = r. The solution is
x = min(max(a - t, 0), upper); its sum s(t) does not increase in t. With the inequality t is the
least number with s(t) <= r and bias s(t) <= t; with the equality the least with s(t) <= r. The
breakpoints of s are the entries and the entries less `upper`; two binary searches find the linear
piece that holds t (L15 (10)).

Few entries matter: `upper` may be taken as at most r, and with k = ceil(r / upper) there are k
entries at `upper`, with a sum of at least r, wherever t < a_[k] - upper. So t >= a_[k] - upper or
the sum bound is not active, and t >= 0 with the inequality.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.selection import (
    EPS,
    FEW,
    LANES,
    NEWTON_STEPS,
    beside_gap,
    collect_from,
    kth_of_row,
    lane_maxima,
    mean_between,
    reached_by,
    sort_ascending,
    split_sums,
    sum_of_differences,
)

# entries before the first look at a sum that may end early; each further part is as long as all
# before it
FIRST_PART = 64


@compiled(fastmath=True)
def clipped_sum(values, shift, t, upper):
    """Return s(shift + t), from differences to the shift."""
    total = 0.0
    for j in range(len(values)):
        total += min(max((values[j] - shift) - t, 0.0), upper)
    return total


@compiled
def is_loose(values, r, upper):
    """Return whether the sum bound has no effect: whether s(0) <= r."""
    total, start, stop = 0.0, 0, FIRST_PART
    while start < len(values) and total <= r:
        total += clipped_sum(values[start:stop], 0.0, 0.0, upper)
        start, stop = stop, 2 * stop
    return total <= r


@compiled
def clip(values, upper, out):
    """Set out = min(max(values, 0), upper), without negative zeros."""
    for j in range(len(values)):
        out[j] = min(values[j], upper) if values[j] > 0.0 else 0.0


@compiled
def is_too_large(total, t, r, bias, equality):
    """Return whether the sum s(t) = total puts t below the threshold."""
    return total > r or (not equality and bias * total > t)


@compiled
def is_below(values, shift, t, r, upper, bias, equality):
    """Return whether shift + t is below the threshold."""
    return is_too_large(clipped_sum(values, shift, t, upper), shift + t, r, bias, equality)


@compiled
def first_at_threshold(ordered, offset, r, upper, bias, equality):
    """Return the index of the first ascending entry with entry - offset not below the threshold."""
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) // 2
        if is_below(ordered, ordered[middle], -offset, r, upper, bias, equality):
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def rest_of(r, count, upper):
    """Return r - count upper, rounded once where the two are close; count is below 2^26."""
    scaled = 134217729.0 * upper
    high = scaled - (scaled - upper)
    return (r - count * high) - count * (upper - high)


@compiled
def sorted_threshold(values, r, upper, bias, equality):
    """Return (t - shift, shift), so that x = min(max((a - shift) - t, 0), upper); sorts `values`.

    The shift is an entry where the sum is r, so that only differences count, and 0 elsewhere.
    Entries below t may be missing.
    """
    sort_ascending(values)
    positive = first_at_threshold(values, 0.0, r, upper, bias, equality)
    full = first_at_threshold(values, upper, r, upper, bias, equality)
    moving, count = values[positive:full], len(values) - full
    if len(moving) == 0:
        if count > 0:
            return -upper, values[full]
        return 0.0, values[-1]
    shift = moving[-1]
    mean = sum_of_differences(moving, shift, 0.0, -np.inf) / len(moving)
    t = mean - rest_of(r, count, upper) / len(moving)
    if not equality:
        free = 0.0
        if bias > 0.0:
            free = (len(moving) * (mean + shift) + count * upper) / (1.0 / bias + len(moving))
        if free >= shift + t:
            return free, 0.0
    return t, shift


@compiled
def step_to_root(t, mean, full, moving, r, upper, bias, equality):
    """Return the distance of a linear piece's root from t; `mean` is of its entries less t."""
    step = mean - rest_of(r, full, upper) / moving
    if equality:
        return step
    pull = bias * (moving * mean + full * upper) - t
    return max(step, pull / (1.0 + bias * moving))


@compiled
def newton_threshold(values, shift, r, upper, bias, equality):
    """Return (t - shift, True), or (t - shift, False) where Newton's method gives up.

    A linear piece of s is known by its numbers of entries from t + upper on, and between. Its root
    is the solution if it has the same numbers, or if it is t: exact, with no sort. A step that
    leaves the bracket of the solution is replaced by a halving; ties at a threshold may keep the
    method from ending. A sum of small numbers restores the digits that a long one loses.
    """
    t, last_full, last_moving, low, high = 0.0, -1, -1, -np.inf, np.inf
    for _ in range(NEWTON_STEPS):
        full, moving, _, middle = split_sums(values, shift, t, t + upper)
        total = middle - moving * t + full * upper
        if is_too_large(total, shift + t, r, bias, equality):
            low = t
        else:
            high = t
        ended = full == last_full and moving == last_moving
        last_full, last_moving = full, moving
        if moving > 0:
            mean = middle / moving - t
            step = step_to_root(shift + t, mean, full, moving, r, upper, bias, equality)
            if ended or abs(step) <= 8.0 * EPS * (abs(t) + upper):
                mean = mean_between(values, shift, t, t + upper, mean)
                step = step_to_root(shift + t, mean, full, moving, r, upper, bias, equality)
                return t + step, True
            t += step
        elif equality:
            rest = rest_of(r, full, upper)
            if abs(rest) <= EPS * r:
                return t, True
            # the entry beside the gap moves by the rest
            entry = beside_gap(values, shift, t, rest > 0.0)
            t = entry - rest if rest > 0.0 else entry - upper - rest
        else:
            break
        if not low < t < high:
            t, last_full = 0.5 * (low + high), -1
    return t, False


@compiled(allocates=True)
def project_knapsack_rows(points, largest, r, upper, bias, equality, out):
    """Write the projections of the rows of `points` into `out`, which holds zeros on entry.

    Returns the first row with an entry not at most `largest` in size, -1 if there is none.
    """
    d = points.shape[1]
    index, values, lanes = np.empty(d, np.int64), np.empty(d), np.empty(LANES)
    upper = min(upper, r)
    parts = np.ceil(r / upper) if upper > 0.0 else 1.0
    for i in range(points.shape[0]):
        row = points[i]
        if lane_maxima(row, largest, lanes) > 0:
            return i
        if bias == 0.0 and not equality and is_loose(row, r, upper):
            clip(row, upper, out[i])
            continue
        bound = -np.inf
        if parts <= d <= 2 * LANES:
            bound = reached_by(row, int(parts))[0] - upper
        elif parts <= min(d, 3 * LANES // 4):
            bound = reached_by(lanes, int(parts))[0] - upper
        elif parts <= d:
            bound = kth_of_row(row, int(parts), index, values, lanes) - upper
        if not equality:
            bound = max(bound, 0.0)
        found = collect_from(row, bound, index, values)
        chosen = values[:found]
        if found == 0:
            continue
        t, shift, solved = 0.0, 0.0, False
        if found > FEW:
            shift = bound if bound > -np.inf else (chosen.sum() - r) / found
            t, solved = newton_threshold(chosen, shift, r, upper, bias, equality)
        if not solved:
            t, shift = sorted_threshold(chosen, r, upper, bias, equality)
        for j in range(found):
            out[i, index[j]] = min(max((row[index[j]] - shift) - t, 0.0), upper)
    return -1
