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
smallest b that are all 0, L_j = 0, too. So only the c largest b are sorted and summed
(kernels.domains.repair).
"""

from math import fsum

import numpy as np

from fwlab.arrays import Floats
from fwlab.kernels.domains.repair import repair_distance_rows
from fwlab.operators.domains import RowPolytopes
from fwlab.operators.sums import MARGIN, UNIT
from fwlab.threads import for_rows

SMALLEST = 2.0**-1070
# of a quotient of sums that are right to 2 u, or of the sum of two such quotients, with a reserve
ROUNDING = 16 * UNIT


def repair_distances(A: Floats, omega: Floats, polytopes: RowPolytopes) -> Floats:
    """Return a bound of |a_i - a'_i|_1 for each row of A (n, m), (n,); omega is (n,).

    A' is the repaired point above. The bound holds with all rounding errors of this function.
    """
    out, y, weights = np.empty(len(A)), polytopes.y, polytopes.weights
    sum_upper, room = fsum(polytopes.upper), 0.0
    if weights.n_lower > 0:
        width = float((polytopes.upper - polytopes.lower).sum())
        room = width / sum_upper / weights.sum_lower / MARGIN

    def work(rows: slice) -> None:
        part = A[rows], omega[rows], y[rows]
        repair_distance_rows(*part, weights, sum_upper, room, ROUNDING, out[rows])

    for_rows(work, len(A))
    out *= MARGIN
    out += A.shape[1] * SMALLEST
    return out
