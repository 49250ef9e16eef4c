"""Project rows onto the negated domains of top-k hinges with torch, on any device.

With p_j = -c_j for the classes j != y and q = c_y, the nearest point (-b; t = sum_j b_j) of the
negated domain minimises

    sum_j (b_j - p_j)^2 + (t - q)^2    over    0 <= b_j <= 1/k,  r b_j <= t,  t <= 1,

with r = k - 1 for the top-k hinge (zeta = max(t, k max_j b_j) of K19 lies in [0, 1]), k for the
pseudo top-k hinge, and 0 for Usunier's. For a multiplier s of the sum, and the bound K that is
active, b_j = min(max(p_j - s, 0), K). Let N(s) be the sum of these.

Without the cone r b_j <= t, K = 1/k. If N(1 - q) < 1, then t solves N(t - q) = t; else t = 1 and s
solves N(s) = 1. If the solution lies in the cone, it is the answer. Otherwise the cone is active,
t <= r/k, K = t/r, s solves N(s) = t, and t is the root of

    t - q - s - (1/r) sum_j max(0, p_j - s - K),

which grows with t, or an end of [0, r/k]. All these equations are monotone and piecewise linear. A
root of N(s) = i K, with a whole number i, lies between p_[i] - K and p_[i+1], or all numbers
between the two are roots. So every bracket is at most as wide as 1. Newton's method finds most
roots; a step out of the bracket is replaced by a bisection. Only differences to an entry near the
root are added up, so that large entries cost no digits.
"""

from collections.abc import Callable
from typing import Any

import torch

# bisections of an interval of length 1 down to the digits of float64, and some Newton steps
MOST_STEPS = 80

Values = Callable[[Any, Any], tuple[Any, Any]]


def nearest_points(c: Any, y: Any, k: int, r: int) -> Any:
    """Return the nearest points (n, m) to the rows of c (n, m), a tensor, for labels y (n,)."""
    labels = torch.arange(c.shape[1], device=c.device)[None, :] == y[:, None]
    p, q = torch.where(labels, -torch.inf, -c), c.gather(1, y[:, None])[:, 0]
    b, t = _without_cone(p, q, k)
    if r > 0:
        outside = torch.nonzero(r * b.amax(dim=1) > t)[:, 0]
        if len(outside):
            b[outside], t[outside] = _on_cone(p[outside], q[outside], k, r)
    return torch.where(labels, t[:, None], -b)


def _without_cone(p: Any, q: Any, k: int) -> tuple[Any, Any]:
    """Return b (n, m) and t (n,) of the nearest points with b_j <= 1/k and t <= 1."""
    shifted, cap = p + q[:, None], torch.full_like(q, 1.0 / k)

    def missing(t: Any, rows: Any) -> tuple[Any, Any]:
        b, slope = _clipped(shifted[rows], t, cap[rows])
        return b.sum(dim=1) - t, slope - 1.0

    zeros, ones, everyone = torch.zeros_like(q), torch.ones_like(q), slice(None)
    is_full, is_zero = missing(ones, everyone)[0] >= 0, missing(zeros, everyone)[0] <= 0
    t = _root(missing, zeros, ones, is_full | is_zero)
    t = torch.where(is_zero, zeros, torch.where(is_full, ones, t))
    b, full = _clipped(shifted, t, cap)[0], torch.nonzero(is_full)[:, 0]
    if len(full):
        b[full] = _with_sum(p[full], k, cap[full])[0]
    return b, t


def _on_cone(p: Any, q: Any, k: int, r: int) -> tuple[Any, Any]:
    """Return b (n, m) and t (n,) of the nearest points whose largest entry is t/r <= 1/k."""
    first = _largest(p, r)
    p, q = p - first[:, None], q + first

    def slope(t: Any, rows: Any) -> tuple[Any, Any]:
        """Return minus half of the derivative of the squared distance by t, and its derivative."""
        part, cap = p[rows], t / r
        _, s, moving, full = _with_sum(part, r, cap)
        over = torch.clamp(part - (s + cap)[:, None], min=0.0).sum(dim=1)
        free = (r - full) / r
        change = torch.where(moving > 0, free * free / torch.clamp(moving, min=1.0), 0.0)
        return q[rows] + s + over / r - t, -(1.0 + change + full / (r * r))

    zeros, most = torch.zeros_like(q), torch.full_like(q, r / k)
    is_most, is_zero = (slope(most, slice(None))[0] >= 0), (slope(zeros, slice(None))[0] <= 0)
    t = _root(slope, zeros, most, is_most | is_zero)
    t = torch.where(is_zero, zeros, torch.where(is_most, most, t))
    return _with_sum(p, r, t / r)[0], t


def _with_sum(p: Any, count: int, cap: Any) -> tuple[Any, Any, Any, Any]:
    """Return b = min(max(p - s, 0), cap) with the sum `count` cap, s, and two numbers of entries.

    They are those between 0 and cap, and those at cap or above.
    """
    first, second = _largest(p, count), _largest(p, count + 1)
    p = p - first[:, None]

    def missing(s: Any, rows: Any) -> tuple[Any, Any]:
        b, slope = _clipped(p[rows], s, cap[rows])
        return b.sum(dim=1) - count * cap[rows], slope

    low, high = -cap, second - first
    is_flat = high <= low
    s = torch.where(is_flat, low, _root(missing, low, torch.where(is_flat, low, high), is_flat))
    b, slope = _clipped(p, s, cap)
    full = (p - s[:, None] >= cap[:, None]).sum(dim=1).to(p.dtype)
    return b, s + first, -slope, full


def _largest(p: Any, count: int) -> Any:
    """Return the `count`-th largest entry of each row, -inf beyond the last one."""
    if count > p.shape[1]:
        return torch.full_like(p[:, 0], -torch.inf)
    return torch.topk(p, count, dim=1).values[:, -1]


def _clipped(p: Any, s: Any, cap: Any) -> tuple[Any, Any]:
    """Return min(max(p - s, 0), cap) and the slope of its row sums in s."""
    rest = p - s[:, None]
    b = torch.minimum(torch.clamp(rest, min=0.0), cap[:, None])
    return b, -((rest > 0) & (rest < cap[:, None])).sum(dim=1).to(p.dtype)


def _root(values: Values, low: Any, high: Any, known: Any) -> Any:
    """Return roots (n,) between low and high of functions that do not increase.

    `values` returns values and slopes at points of some rows. No root of `known` rows is sought.
    """
    tolerance = 32 * torch.finfo(low.dtype).eps * (high - low)
    x, low, high = 0.5 * (low + high), low.clone(), high.clone()
    rows = torch.nonzero(~known)[:, 0]
    for _ in range(MOST_STEPS):
        if not len(rows):
            break
        at = x[rows]
        value, slope = values(at, rows)
        low[rows] = torch.where(value > 0, at, low[rows])
        high[rows] = torch.where(value < 0, at, high[rows])
        step = torch.where(slope < 0, -value / torch.where(slope < 0, slope, -1.0), torch.inf)
        is_short = (value == 0) | (step.abs() <= tolerance[rows])
        step = torch.where(value == 0, 0.0, step)
        # the ends were tried before
        is_inside = (low[rows] < at + step) & (at + step < high[rows])
        middle = 0.5 * (low[rows] + high[rows])
        x[rows] = torch.where(is_short | is_inside, at + step, middle)
        rows = rows[~(is_short | (high[rows] - low[rows] <= tolerance[rows]))]
    return x
