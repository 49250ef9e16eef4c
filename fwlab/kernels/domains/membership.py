"""Membership in the effective domains (kernels.domains.vertices), by sorted partial sums."""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.sorting import sort_descending


@compiled
def in_polytope(beta, upper, lower, slack):
    """Return whether some zeta in [0, 1] meets every bound of the polytope up to `slack`.

    beta is sorted descending. The j largest need zeta >= their sum / (upper_1 + .. + upper_j),
    the j smallest zeta <= their sum / (the last j of lower, summed).
    """
    count = len(beta)
    least, most = 0.0, 1.0
    top, top_bound, bottom, bottom_bound = 0.0, 0.0, 0.0, 0.0
    for j in range(count):
        top += beta[j]
        top_bound += upper[j]
        least = max(least, (top - slack) / top_bound)
        bottom += beta[count - 1 - j]
        bottom_bound += lower[count - 1 - j]
        if bottom_bound > 0.0:
            most = min(most, (bottom + slack) / bottom_bound)
        elif bottom < -slack:
            return False
    return least <= most


@compiled(allocates=True)
def in_domain_rows(v, y, upper, lower, slack, out):
    """Set out[i] to whether row i of v sums to 0 and, without entry y[i], lies in the polytope."""
    m = v.shape[1]
    rest, beta = np.empty(m - 1), np.empty(m - 1)
    order = np.empty(m - 1, dtype=np.int64)
    for i in range(v.shape[0]):
        total = v[i, y[i]]
        for j in range(m - 1):
            rest[j] = v[i, j + (j >= y[i])]
            total += rest[j]
        sort_descending(rest, order)
        for j in range(m - 1):
            beta[j] = rest[order[j]]
        out[i] = abs(total) <= slack and in_polytope(beta, upper, lower, slack)
