"""Bound the distances of the rows of a dual point from points exactly in their domains.

Rounding leaves the rows of A outside the domain: they hardly ever sum to 0, and then the dual at A
is -inf. A certificate therefore belongs to a repaired point A'. With b_j = max(0, -a_j) for the
classes j != y, S = sum(b), mu = S / (m - 1) and omega the sample weight, row i of A' is

    a'_j = -s ((1 - t) b_j + t mu),   j != y,      a'_y = -sum of the others.

The row lies in the domain (kernels.domains.vertices) if and only if for some zeta in [0, omega] and
all j

    zeta U_j >= s ((1 - t) T_j + t j mu),    zeta L_j <= s ((1 - t) B_j + t j mu),

with T_j and B_j the sums of the j largest and smallest b, U_j the sum of the first j entries of
`upper` and L_j the sum of the last j entries of `lower`. Let least = max_j T_j / U_j and most =
min_j B_j / L_j. Both conditions hold with zeta between the two if least <= most. Otherwise t must
be large enough. The maximum is convex in t, the minimum concave, and their values at t = 1 are
(m-1) mu / U_{m-1} and (m-1) mu / L_{m-1}, as U_j / j falls and L_j / j grows with j. Hence

    t = e / (e + S / L_{m-1} - S / U_{m-1}),    e = least - most,

is enough. It is of no use if upper = lower. Then zeta = S / U_{m-1} is the only choice, the bounds
on B_j follow from the bounds on T_j, and it is enough that for all j < m - 1

    t >= (T_j - zeta U_j) / (T_j - j mu).

Last, s = min(1, omega / least) keeps zeta at most omega.
"""

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.operators.domains import RowPolytopes
from fwlab.operators.sums import MARGIN, UNIT

SMALLEST = 2.0**-1070
VANISHING = 2.0**-960
ROWS = 128  # at a time, so that temporary arrays stay small


def repair_distances(A: Floats, omega: Floats, polytopes: RowPolytopes) -> Floats:
    """Return a bound of |a_i - a'_i|_1 for each row of A (n, m), (n,); omega is (n,).

    A' is the repaired point above. The bound holds with all rounding errors of this function.
    """
    out = np.full(len(A), A.shape[1] * SMALLEST)
    used = np.flatnonzero(A.any(axis=1))
    for start in range(0, len(used), ROWS):
        rows = used[start : start + ROWS]
        out[rows] += _distances(A[rows], omega[rows], polytopes.y[rows], polytopes)
    return out


def _distances(A: Floats, omega: Floats, y: Integers, polytopes: RowPolytopes) -> Floats:
    n, m = A.shape
    wrong = np.arange(m) != y[:, None]
    given = -A[wrong].reshape(n, m - 1)
    b = np.sort(np.maximum(given, 0.0), axis=1)
    clipped = np.maximum(-given, 0.0).sum(axis=1)
    total = b.sum(axis=1)
    # of a sum of at most m terms of one sign, and of a quotient of two
    rounding = 4 * (m + 4) * UNIT
    largest, bounds = np.cumsum(b[:, ::-1], axis=1), np.cumsum(polytopes.upper)
    least = (largest / bounds).max(axis=1) * (1 + rounding)
    if polytopes.lower.any():
        mixed = _share_of_mean(b, largest, least, rounding, polytopes)
        spread = np.abs(b - (total / (m - 1))[:, None]).sum(axis=1)
        moved = clipped + mixed * spread
    else:
        moved = clipped
    shrunk = np.maximum(0.0, least - omega) / np.where(least > 0, least, 1.0)
    shrunk += rounding * (shrunk > 0)
    true_class = np.abs(A[np.arange(n), y] - total) + rounding * total
    bound = MARGIN * (moved + 2 * shrunk * total + true_class)
    # where the quotients lose digits to underflow, |a| + |a'| bounds the distance, too
    return np.asarray(np.where(least < VANISHING, 3 * np.abs(A).sum(axis=1), bound))


def _share_of_mean(
    b: Floats, largest: Floats, least: Floats, rounding: float, polytopes: RowPolytopes
) -> Floats:
    """Return t for each row, (n,), no smaller than needed; b is sorted upwards."""
    upper, lower, count = polytopes.upper, polytopes.lower, b.shape[1]
    total = b.sum(axis=1)
    width = float((upper - lower).sum())
    if width > 0:
        bounds = np.cumsum(lower[::-1])
        some = bounds > 0
        most = (np.cumsum(b, axis=1)[:, some] / bounds[some]).min(axis=1)
        excess = np.maximum(0.0, least - most * (1 - rounding))
        room = total * (width / upper.sum()) / lower.sum() / MARGIN
        return np.asarray(excess / np.where(excess > 0, excess + room, 1.0)) * (1 + rounding)
    zeta = total / upper.sum()
    allowed = zeta[:, None] * np.cumsum(upper)[:-1]
    excess = np.maximum(0.0, largest[:, :-1] * (1 + 2 * rounding) - allowed)
    room = largest[:, :-1] - (total / count)[:, None] * np.arange(1, count)
    room -= rounding * largest[:, :-1]
    shares = np.divide(excess, room, out=np.ones_like(excess), where=room > excess)
    return np.where(total > 0, shares.max(axis=1, initial=0.0), 0.0)
