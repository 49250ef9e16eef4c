"""The thresholds of topk_simplex without sorts: the two iterations of Chu et al. (2018).

Numbers are differences to the pivot a_[k]. With E(v) = sum_{i <= k} (v - a_[i])_+ the level
u = min((S_k + E) / (k + bias k^2), r/k) and the threshold t = v - u depend on v alone, and v is
the root, among v >= a_[k], of the one-dimensional optimality equation

    sum_{i > k} (a_[i] - t(v))_+ - E(v) = 0,

which falls and is piecewise linear. `thresholds_by_newton` is a semismooth Newton iteration on it.
`thresholds_by_fixing` is the same without the bound r; where the sum then exceeds r, what is left
is the continuous quadratic knapsack with sum r, solved by fixing variables at their bounds (Kiwiel
2008). Chu et al. keep two unknowns, and their Newton variant has an equation of its own for sum r.
Both ways end at the root whatever entries tie.
"""

import numpy as np

from fwlab.kernels._jit import compiled

NEWTON_STEPS = 100
ROUNDING = 1e-14


@compiled
def _keep_largest(values, top):
    """Fill `top` with the len(top) largest of `values`, ascending, by streaming insertion."""
    top[:] = -np.inf
    for value in values:
        if value > top[0]:
            place = 1
            while place < len(top) and value > top[place]:
                top[place - 1] = top[place]
                place += 1
            top[place - 1] = value


@compiled
def _at_most(top, v):
    """Return how many of the k largest are at most v, and their sum."""
    count, total = 0, 0.0
    for value in top:
        if value - top[0] <= v:
            count += 1
            total += value - top[0]
    return count, total


@compiled
def _others_above(values, top, t):
    """Return how many entries not among the k largest are above t, and their sum; t <= 0."""
    pivot, ties = top[0], 0
    for value in top:
        ties -= value == pivot
    count, total = 0, 0.0
    for value in values:
        ties += value == pivot
        if value < pivot and value - pivot > t:
            count += 1
            total += value - pivot
    return count + (ties if t < 0.0 else 0), total


@compiled
def thresholds_by_newton(values, top, r, bias):
    """Return (t - pivot, u, pivot) as sorted_thresholds does, for unsorted values.

    `top` becomes the k largest, ascending. A step goes to the root of the current linear piece; the
    search ends in the piece that has its root. As v grows, entries leave one sum and join the
    other, so no slope between two iterates exceeds the sum of their slopes, and a step never passes
    the iterate on the other side of the root: no piece is met twice.
    """
    _keep_largest(values, top)
    k, cap = len(top), r / len(top)
    stiffness = k * (1.0 + bias * k)
    start = top.sum() / stiffness
    u, v, t, last_v, last_i, last_j = 0.0, 0.0, 0.0, -1.0, -1, -1
    for _ in range(NEWTON_STEPS):
        i, high = _at_most(top, v)
        u = max(0.0, min(start + (i * v - high) / stiffness, cap))
        t = v - u
        j, low = _others_above(values, top, t)
        # j = 0 only at the start: the k largest are at u; a root where two pieces meet is in both
        same_piece = i == last_i and j == last_j
        if j == 0 or same_piece or abs(v - last_v) <= ROUNDING * (v + u):
            break
        last_v, last_i, last_j = v, i, j
        rest, slope = low / j - high / i, 1.0 / i + 1.0 / j
        lack = min((start + rest) / (slope - 1.0 / stiffness), (cap + rest) / slope)
        v = (high + lack) / i
    return t, u, top[0]


@compiled
def thresholds_by_fixing(values, top, r, bias):
    """Return the result of thresholds_by_newton, by fixing variables; changes `values`."""
    t, u, pivot = thresholds_by_newton(values, top, np.inf, bias)
    k = len(top)
    if k * u <= r:
        return t, u, pivot
    for j in range(len(values)):
        values[j] -= pivot
    return knapsack_by_fixing(values, r, r / k), r / k, pivot


@compiled
def knapsack_by_fixing(values, r, upper):
    """Return t with sum min(max(values - t, 0), upper) = r <= upper len(values); changes `values`.

    Without the bounds t is a mean. Compare how much the entries above `upper` exceed it with how
    much those below 0 lack: if the excess is larger, the entries above are at `upper` in the
    solution, too; if it is smaller, the entries below are at 0.
    """
    count = len(values)
    while True:
        t = (values[:count].sum() - r) / count
        excess, lack = 0.0, 0.0
        for value in values[:count]:
            excess += max(value - t - upper, 0.0)
            lack += max(t - value, 0.0)
        if excess == lack:
            return t
        kept = 0
        for value in values[:count]:
            if excess > lack and value - t >= upper:
                r -= upper
            elif excess > lack or value > t:
                values[kept] = value
                kept += 1
        if kept == 0:
            return t
        count = kept
