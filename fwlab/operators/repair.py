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

Most b_j are 0. Let c be the number of others, or the number of weights if that is larger. Each
condition with j > c follows from the one with j = c, as T_j and U_j are the same; and with j of the
smallest b that are all 0, L_j = 0, too. So only the c largest b are sorted and summed.
"""

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.operators.domains import RowPolytopes
from fwlab.operators.sums import MARGIN, UNIT

SMALLEST = 2.0**-1070
VANISHING = 2.0**-960
ROWS, ENTRIES = 128, 2**12  # of A at a time, the larger part, so that temporary arrays stay small


def repair_distances(A: Floats, omega: Floats, polytopes: RowPolytopes) -> Floats:
    """Return a bound of |a_i - a'_i|_1 for each row of A (n, m), (n,); omega is (n,).

    A' is the repaired point above. The bound holds with all rounding errors of this function.
    """
    out = np.full(len(A), A.shape[1] * SMALLEST)
    used = np.flatnonzero(A.any(axis=1))
    count = max(ROWS, ENTRIES // A.shape[1])
    for start in range(0, len(used), count):
        rows = used[start : start + count]
        out[rows] += _distances(A[rows], omega[rows], polytopes.y[rows], polytopes)
    return out


def _distances(A: Floats, omega: Floats, y: Integers, polytopes: RowPolytopes) -> Floats:
    n, m = A.shape
    given = -_wrong_entries(A, y, max(polytopes.support, 1))
    b = np.sort(np.maximum(given, 0.0), axis=1)
    clipped = np.maximum(-given, 0.0).sum(axis=1)
    total = b.sum(axis=1)
    # of a sum of at most m terms of one sign, and of a quotient of two
    rounding = 4 * (m + 4) * UNIT
    largest, bounds = np.cumsum(b[:, ::-1], axis=1), np.cumsum(polytopes.upper[: b.shape[1]])
    least = (largest / bounds).max(axis=1) * (1 + rounding)
    if polytopes.lower.any():
        mixed = _share_of_mean(b, largest, least, rounding, polytopes)
        mean = total / (m - 1)
        spread = np.abs(b - mean[:, None]).sum(axis=1) + (m - 1 - b.shape[1]) * mean
        moved = clipped + mixed * spread
    else:
        moved = clipped
    shrunk = np.maximum(0.0, least - omega) / np.where(least > 0, least, 1.0)
    shrunk += rounding * (shrunk > 0)
    true_class = np.abs(A[np.arange(n), y] - total) + rounding * total
    bound = MARGIN * (moved + 2 * shrunk * total + true_class)
    # where the quotients lose digits to underflow, |a| + |a'| bounds the distance, too
    return np.asarray(np.where(least < VANISHING, 3 * np.abs(A).sum(axis=1), bound))


def _wrong_entries(A: Floats, y: Integers, fewest: int) -> Floats:
    """Return the non-zeros of each row without entry y, then zeros, in at least `fewest` columns.

    No row has more than m - 1 columns.
    """
    n, m = A.shape
    wrong = A != 0.0
    wrong[np.arange(n), y] = False
    rows, classes = np.nonzero(wrong)
    counts = np.bincount(rows, minlength=n)
    out = np.zeros((n, min(m - 1, max(fewest, int(counts.max())))))
    out[rows, np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)] = A[
        rows, classes
    ]
    return out


def _share_of_mean(
    b: Floats, largest: Floats, least: Floats, rounding: float, polytopes: RowPolytopes
) -> Floats:
    """Return t for each row, (n,), no smaller than needed; b (n, c) is sorted upwards."""
    upper, lower, count = polytopes.upper, polytopes.lower, b.shape[1]
    total = b.sum(axis=1)
    width = float((upper - lower).sum())
    if width > 0:
        bounds = np.cumsum(lower[:count][::-1])
        some = bounds > 0
        most = (np.cumsum(b, axis=1)[:, some] / bounds[some]).min(axis=1)
        excess = np.maximum(0.0, least - most * (1 - rounding))
        room = total * (width / upper.sum()) / lower.sum() / MARGIN
        return np.asarray(excess / np.where(excess > 0, excess + room, 1.0)) * (1 + rounding)
    zeta, last = total / upper.sum(), min(count, len(upper) - 1)
    largest, allowed = largest[:, :last], zeta[:, None] * np.cumsum(upper)[:last]
    excess = np.maximum(0.0, largest * (1 + 2 * rounding) - allowed)
    room = largest - (total / len(upper))[:, None] * np.arange(1, last + 1)
    room -= rounding * largest
    shares = np.divide(excess, room, out=np.ones_like(excess), where=room > excess)
    return np.where(total > 0, shares.max(axis=1, initial=0.0), 0.0)
