"""Support function of the loss polytopes: value of a loss, and the vertex that attains it.

Every loss of the lab is max over beta in B of <beta, h>, h the margins (K19 (9), T20 (2.9)).
Only the entries of beta without the true class y matter. They range over the union, over zeta in
[0, 1], of

    { beta : sum of the j largest  <= zeta (upper_1 + .. + upper_j),
             sum of the j smallest >= zeta (the last j of lower, summed), j = 1 .. m-1 }

with non-increasing upper >= lower >= 0. Over this set the maximum pairs the sorted margins with
`upper` where they are positive and with `lower` where they are negative; it is 0 if that is less.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.sorting import select_largest


@compiled
def margins_without(scores, costs, y, margins):
    """margins[j'] = costs_j + s_j - s_y over the classes j != y, in their order."""
    for j in range(y):
        margins[j] = costs[j] + (scores[j] - scores[y])
    for j in range(y + 1, len(scores)):
        margins[j - 1] = costs[j] + (scores[j] - scores[y])


@compiled
def best_vertex(margins, y, upper, lower, order, weights):
    """Return (max over the polytope of <beta, margins>, number of entries the maximiser touches).

    The maximiser is weights[l] at entry order[l]; order and weights are as long as the number of
    non-zeros of `upper`. It is the origin, with no entry, where the maximum is 0. An entry with
    margin 0 ties with the true class y; the lowest class index comes first in sorted order.
    """
    select_largest(margins, order)
    value = 0.0
    for place in range(len(order)):
        margin = margins[order[place]]
        first = margin > 0.0 or (margin == 0.0 and order[place] < y and lower[0] > 0.0)
        weights[place] = upper[place] if first else lower[place]
        value += weights[place] * margin
    if value <= 0.0:
        return 0.0, 0
    return value, len(order)


@compiled(allocates=True)
def values_rows(scores, y, costs, cost_rows, upper, lower, support, out):
    """out[i] = loss of row i. costs[cost_rows[i]] are its costs; `support` non-zeros in upper."""
    margins = np.empty(scores.shape[1] - 1)
    order, weights = np.empty(support, dtype=np.int64), np.empty(support)
    for i in range(scores.shape[0]):
        margins_without(scores[i], costs[cost_rows[i]], y[i], margins)
        out[i] = best_vertex(margins, y[i], upper, lower, order, weights)[0]


@compiled(allocates=True)
def vertex_rows(scores, y, costs, cost_rows, upper, lower, columns, entries, values):
    """Compact vertices u_i of the negated domain that minimise <scores_i + costs_i, u>.

    Row i has entries[i, l] at class columns[i, l]; the last one is the true class, and entries the
    vertex does not touch are 0. values[i] is minus the minimum: the loss at scores_i.
    """
    support = columns.shape[1] - 1
    margins = np.empty(scores.shape[1] - 1)
    order, weights = np.empty(support, dtype=np.int64), np.empty(support)
    for i in range(scores.shape[0]):
        margins_without(scores[i], costs[cost_rows[i]], y[i], margins)
        values[i], count = best_vertex(margins, y[i], upper, lower, order, weights)
        total = 0.0
        for place in range(support):
            weight = weights[place] if place < count else 0.0
            columns[i, place] = order[place] + (order[place] >= y[i])
            entries[i, place] = -weight
            total += weight
        columns[i, support] = y[i]
        entries[i, support] = total


@compiled
def cost_products_rows(points, y, costs, cost_rows, out):
    """out[i] = sum over j != y_i of costs_ij points_ij."""
    for i in range(points.shape[0]):
        row = costs[cost_rows[i]]
        total = 0.0
        for j in range(points.shape[1]):
            if j != y[i]:
                total += row[j] * points[i, j]
        out[i] = total
