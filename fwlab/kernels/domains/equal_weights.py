"""Projection onto the domain of a loss whose weights are equal, without a sort.

Let `upper` have N weights w and `lower` K of them, all others 0, as for top-k losses. Some zeta in
[0, 1] allows beta (kernels.domains.vertices) if zeta w is at least max(beta) and s / N, and at most
s / K, with s = sum(beta):

    0 <= beta_j <= min(w, s / K),    s <= N w.

With b and c_y = 0 as in kernels.domains.nearest_beta the projection is min(max(b - t, 0), u), and

    u = w        where g(K w) >= K w for g(t) = sum_j min((b_j - t)_+, w). There s = g(t), which is
                 t by stationarity, or N w < t: t is the root of g(t) - min(t, N w), which falls.
    u = s / K    otherwise, where s <= K w. This is the top-k simplex with k = K, r = K w and bias 1
                 of kernels.simplices.topk_simplex.

In both cases t >= b_[N] - min(w, b_[1] / (1 + K)). For u = w, N entries would have the value w at
a smaller t, and K max(beta) <= s <= t. For u = s / K, topk_simplex has the proof. If u = w is right
for some of the entries, it is for all of them, and t is at least the root for these.

Only differences to t count that lie in (0, w), so that large entries lose no digits if t is near 0
or, for u = w, is a difference to a number near it.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.large_entries import LARGE
from fwlab.kernels.domains.selection import LANES, collect_from, lane_maxima, reached_by
from fwlab.kernels.simplices.topk_simplex import newton_thresholds

EPS = 2.0**-52
# a search ends after 3 to 6 steps; halvings from 1e308 down to two neighbouring floats take more
STEPS = 1200
# a rounded threshold is this much nearer to the exact one than to 0
ROUNDING = 16.0 * EPS
# larger differences, in units of N w, lose digits of it; the second shift is usually near
FAR, SHIFTS = 4.0, 4
# entries are collected if so few, times this number, are not more than the row has
SPARSE = 8
# lanes take less time than the row itself beyond this length, while they say enough
LONG, MOST_LANES = 128, 48


@compiled
def _extremes(b):
    """Return the smallest and the largest entry, from two of each at once."""
    low, high, other_low, other_high = np.inf, -np.inf, np.inf, -np.inf
    for j in range(0, len(b) - 1, 2):
        low, high = min(low, b[j]), max(high, b[j])
        other_low, other_high = min(other_low, b[j + 1]), max(other_high, b[j + 1])
    last = b[len(b) - 1]
    return min(min(low, other_low), last), max(max(high, other_high), last)


@compiled
def _count_from(b, bound):
    """Return the number of entries from the bound on."""
    count = 0
    for j in range(len(b)):
        count += b[j] >= bound
    return count


@compiled(fastmath=True)
def capped_sums(values, shift, t, cap):
    """Return how many of the differences d = values - shift - t reach the cap, how many lie between
    0 and the cap, and the sum of these.
    """
    full, moving, total = 0, 0, 0.0
    for j in range(len(values)):
        difference = (values[j] - shift) - t
        full += difference >= cap
        moving += (difference > 0.0) & (difference < cap)
        total += difference if (difference > 0.0) & (difference < cap) else 0.0
    return full, moving, total


@compiled
def capped_threshold(values, shift, start, low, high, polytope):
    """Return (t - shift, True) for the cap w; the last entry is False if s is less than K w.

    t - shift is known to lie in [low, high]; the search begins at `start`. Newton's method goes
    from piece to piece: a piece is known by its numbers of entries at the cap and between. Its root
    is the larger one of the roots of g(t) = t and g(t) = N w, and the solution if it has the same
    numbers. A step that leaves the bracket of the solution is replaced by a halving.
    """
    cap, most = polytope.upper[0], polytope.n_upper * polytope.upper[0]
    t, last_full, last_moving = start, -1, -1
    for _ in range(STEPS):
        full, moving, rest = capped_sums(values, shift, t, cap)
        total = full * cap + rest
        if shift + t <= polytope.n_lower * cap and total < polytope.n_lower * cap:
            return t, False
        excess = total - min(shift + t, most)
        if excess == 0.0 or (full == last_full and moving == last_moving):
            break
        if excess > 0.0:
            low = t
        else:
            high = t
        last_full, last_moving = full, moving
        new = total - shift
        if moving > 0:
            new = t + max((total - (shift + t)) / (moving + 1.0), (total - most) / moving)
        rootless = moving == 0 and full > polytope.n_upper
        if new == t and not rootless:
            break
        if rootless or not low < new < high:
            new, last_full = 0.5 * low + 0.5 * high, -1
            if not low < new < high:
                return low, True
        t = new
    return t, True


@compiled
def _near_threshold(values, below, high, polytope):
    """Return shift, t - shift and whether the cap is w.

    t - shift is not much larger than w, because the shift comes near to t.
    """
    shift = below
    t, capped = capped_threshold(values, shift, 0.0, 0.0, high - below, polytope)
    for _ in range(SHIFTS):
        if not capped or abs(t) <= FAR * polytope.sum_upper:
            break
        around = ROUNDING * (abs(shift) + abs(t))
        shift += t
        t, _ = capped_threshold(values, shift, 0.0, -around, around, polytope)
    return shift, t, capped


@compiled
def _thresholds(values, below, high, reached, polytope):
    """Return shift, t - shift, u, s and whether they are right; entries below t may be missing.

    `below` is at least K w and at most t, if the cap is w; K entries are known to reach `reached`.
    """
    cap, k = polytope.upper[0], polytope.n_lower
    shift, t, capped = _near_threshold(values, below, high, polytope)
    if capped:
        return shift, t, cap, min(shift + t, polytope.n_upper * cap), True
    if reached == -np.inf:
        reached, _ = reached_by(values, k)
    large = LARGE * polytope.sum_upper
    if not (high <= large and reached >= -large):
        return 0.0, 0.0, 0.0, 0.0, False
    width = min(cap, high / (1.0 + k))
    t, u, solved = newton_thresholds(values, reached, -width, k, k * cap, 1.0)
    return reached, t, u, k * u, solved


@compiled
def _bounds(lanes, below, high, polytope):
    """Return a number not above t and one that K entries reach, -inf if the cap is w.

    `lanes` holds the largest entries of 64 parts of the row; its own t is not below `below`.
    """
    least = max(polytope.n_lower * polytope.upper[0], below)
    t, capped = capped_threshold(lanes, least, 0.0, 0.0, high - least, polytope)
    if capped:
        return (least + t) * (1.0 - ROUNDING), -np.inf
    reached, _ = reached_by(lanes, polytope.n_upper)
    return reached - min(polytope.upper[0], high / (1.0 + polytope.n_lower)), reached


@compiled(inline=True)
def _entry(value, shift, t, cap, lost):
    """Return an entry of the projection and whether it moves with t."""
    entry = (value - shift) - t
    moves = (entry > 0.0) & (entry < cap)
    return max(0.0, min(entry - lost if moves else entry, cap)), moves


@compiled(fastmath=True)
def _write_all(b, y, thresholds, out):
    """Write the row; what its sum has lost in rounding is spread over the entries that move."""
    shift, t, cap, total = thresholds
    full, moving, rest = capped_sums(b, shift, t, cap)
    lost = (full * cap + rest - total) / moving if moving > 0 else 0.0
    rest = 0.0
    for j in range(y):
        entry, moves = _entry(b[j], shift, t, cap, lost)
        out[j] = -entry
        rest += entry if moves else 0.0
    for j in range(y, len(b)):
        entry, moves = _entry(b[j], shift, t, cap, lost)
        out[j + 1] = -entry
        rest += entry if moves else 0.0
    out[y] = full * cap + rest


@compiled(fastmath=True)
def _write_found(values, index, y, thresholds, out):
    """Write the row with these entries alone; all others are 0."""
    shift, t, cap, total = thresholds
    full, moving, rest = capped_sums(values, shift, t, cap)
    lost = (full * cap + rest - total) / moving if moving > 0 else 0.0
    rest = 0.0
    for j in range(len(out)):
        out[j] = 0.0
    for place in range(len(values)):
        entry, moves = _entry(values[place], shift, t, cap, lost)
        out[index[place] + (index[place] >= y)] = -entry
        rest += entry if moves else 0.0
    out[y] = full * cap + rest


@compiled
def project_without_sort(y, polytope, scratch, out):
    """Write the projection of the row b in scratch.beta to `out`; return whether it is there.

    It is not if an entry of b is too large for differences to keep the digits of w, or if Newton's
    method does not end.
    """
    b, lanes = scratch.beta, scratch.fit_lower[:LANES]
    by_lanes = len(b) > LONG and polytope.n_upper <= MOST_LANES
    if by_lanes:
        lane_maxima(b, np.inf, lanes)
    lowest, top = _extremes(lanes if by_lanes else b)
    if not top <= LARGE * polytope.sum_upper:
        return False
    if top <= 0.0:
        for j in range(len(out)):
            out[j] = 0.0
        return True
    cap, reached, found = polytope.upper[0], -np.inf, len(b)
    below = lowest - 2.0 * cap - ROUNDING * abs(lowest)
    if by_lanes:
        below, reached = _bounds(lanes, below, top, polytope)
        found = _count_from(b, below)
    least = max(polytope.n_lower * cap, below)
    if SPARSE * found <= len(b):
        found = collect_from(b, below, scratch.order, scratch.candidates)
        values = scratch.candidates[:found]
        shift, t, u, total, right = _thresholds(values, least, top, reached, polytope)
        if right:
            _write_found(values, scratch.order, y, (shift, t, u, total), out)
    else:
        shift, t, u, total, right = _thresholds(b, least, top, reached, polytope)
        if right:
            _write_all(b, y, (shift, t, u, total), out)
    return right
