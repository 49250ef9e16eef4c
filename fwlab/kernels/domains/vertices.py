"""Support function of the loss polytopes: value of a loss, and the vertex that attains it.

Every loss of the family is the maximum over beta in B of <beta, h>, with h the margins (K19 (9),
T20 (2.9)). Only the entries of beta without the true class y matter. They range over the union,
over zeta in [0, 1], of

    { beta : sum of the j largest  <= zeta (upper_1 + .. + upper_j),
             sum of the j smallest >= zeta (the last j of lower, summed), j = 1 .. m-1 }

with non-increasing upper >= lower >= 0 (layouts.PolytopeWeights). Over this set the maximum pairs
the sorted margins with `upper` where they are positive and with `lower` where they are negative; it
is 0 if that is less.

Every such pair gives a loss, not only the joint and entrywise pairs. Let b(S) be the sum of the
first |S| of upper and p(S) the sum of the last |S| of lower. Because both are non-increasing, b is
submodular and p supermodular. For any S and T with i classes in common, of m - 1,

    b(S) - b(S less T)  =  upper_{|S|-i+1} + .. + upper_{|S|}
                       >=  lower_{m-|T|} + .. + lower_{m-1-|T|+i}  =  p(T) - p(T less S),

term by term: |S| + |T| - i <= m - 1, so each index on the right is at least the one on the left,
and upper >= lower. Hence { p(S) <= beta(S) <= b(S) } is a generalised polymatroid (Frank and
Tardos 1988), whose maximum is the greedy one above. With the entry -sum(beta) for the true class it
is the base polytope of one submodular function: that gives the projection in
kernels.domains.projection for fixed zeta, which uses beta >= 0, hence lower >= 0, to bound zeta.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.sorting import INSERTION_LENGTH, largest_values, select_largest
from fwlab.kernels.layouts import VertexScratch


@compiled(allocates=True)
def make_vertex_scratch(m, support):
    """Return the scratch of an LMO call for m classes; `support` is the number n_upper."""
    return VertexScratch(np.empty(m - 1), np.empty(support, dtype=np.int64), np.empty(support))


@compiled
def margins_without(scores, costs, y, margins):
    """Set margins[j'] = delta_j + s_j - s_y over the classes j != y, in their order."""
    for j in range(y):
        margins[j] = costs[j] + (scores[j] - scores[y])
    for j in range(y + 1, len(scores)):
        margins[j - 1] = costs[j] + (scores[j] - scores[y])


@compiled
def best_vertex(scratch, y, upper, lower):
    """Return (max over the polytope of <beta, margins>, number of entries the maximiser touches).

    The maximiser of scratch.margins has scratch.entries[l] at entry scratch.places[l]. It is the
    origin, with no entry, where the maximum is 0. An entry with margin 0 ties with the true class
    y; the lowest class index comes first in sorted order.
    """
    margins, places, entries = scratch
    select_largest(margins, places)
    value = 0.0
    for place in range(len(places)):
        margin = margins[places[place]]
        ties_first = margin == 0.0 and places[place] < y and lower[0] > 0.0
        first = margin > 0.0 or ties_first
        entries[place] = upper[place] if first else lower[place]
        value += entries[place] * margin
    if value <= 0.0:
        return 0.0, 0
    return value, len(places)


@compiled(allocates=True)
def values_rows(scores, polytopes, support, out):
    """Set out[i] to the loss of row i; `support` is the number of non-zeros in upper."""
    y, costs, cost_rows, upper, lower = polytopes
    scratch = make_vertex_scratch(scores.shape[1], support)
    margins, largest = scratch.margins, scratch.entries
    for i in range(scores.shape[0]):
        margins_without(scores[i], costs[cost_rows[i]], y[i], margins)
        if support > INSERTION_LENGTH:
            out[i] = best_vertex(scratch, y[i], upper, lower)[0]
            continue
        largest_values(margins, largest)
        value = 0.0
        for place in range(support):
            entry = upper[place] if largest[place] > 0.0 else lower[place]
            value += entry * largest[place]
        out[i] = max(value, 0.0)


@compiled(allocates=True)
def vertex_rows(scores, polytopes, columns, entries, values):
    """Write the compact vertices u_i of the negated domain that minimise <scores_i + delta_i, u>.

    Row i has entries[i, l] at class columns[i, l]; the last one is the true class, and entries the
    vertex does not touch are 0. values[i] is minus the minimum: the loss at scores_i.
    """
    y, costs, cost_rows, upper, lower = polytopes
    support = columns.shape[1] - 1
    scratch = make_vertex_scratch(scores.shape[1], support)
    for i in range(scores.shape[0]):
        margins_without(scores[i], costs[cost_rows[i]], y[i], scratch.margins)
        values[i], count = best_vertex(scratch, y[i], upper, lower)
        total = 0.0
        for place in range(support):
            entry = scratch.entries[place] if place < count else 0.0
            touched = scratch.places[place]
            columns[i, place] = touched + (touched >= y[i])
            entries[i, place] = -entry
            total += entry
        columns[i, support] = y[i]
        entries[i, support] = total


@compiled
def cost_products_rows(points, polytopes, out):
    """Set out[i] = sum over j != y_i of delta_ij points_ij."""
    for i in range(points.shape[0]):
        row = polytopes.costs[polytopes.cost_rows[i]]
        total = 0.0
        for j in range(points.shape[1]):
            if j != polytopes.y[i]:
                total += row[j] * points[i, j]
        out[i] = total
