"""The block step of SDCA on the pseudo top-k domain, in three published ways (L15 Proposition 4).

With q = |x_i|^2 / (lam n) and the sample weight omega, x_j = -a_j / omega over j != y minimises

    |b - x|^2 + <1, x>^2   over the top-k simplex of sum 1,
    b_j = (s_j - s_y + delta_j - q (a_j - a_y)) / (q omega)

with a the row before the step. All three find this minimiser; only their time differs.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.large_entries import LARGE
from fwlab.kernels.domains.selection import sort_ascending
from fwlab.kernels.domains.vertices import margins_without
from fwlab.kernels.simplices.topk_newton import thresholds_by_fixing, thresholds_by_newton
from fwlab.kernels.simplices.topk_simplex import sorted_thresholds
from fwlab.kernels.steps.block import LEAST_WEIGHT, write_vertex

# rules of kernels.steps.passes
BIASED_PROJECTION, SEMISMOOTH_NEWTON, VARIABLE_FIXING = 4, 5, 6


@compiled
def thresholds(rule, values, top):
    """Return (t - pivot, u, pivot) of the projection with bias 1 and r = 1; changes `values`."""
    if rule == SEMISMOOTH_NEWTON:
        return thresholds_by_newton(values, top, 1.0, 1.0)
    if rule == VARIABLE_FIXING:
        return thresholds_by_fixing(values, top, 1.0, 1.0)
    sort_ascending(values)
    return sorted_thresholds(values, len(top), 1.0, 1.0)


@compiled
def pseudo_block(rule, scores, block, polytope, scratch, old, new):
    """Set new = the maximiser of the dual over the block.

    Without curvature that floats can hold it is the LMO's vertex. The published iterations lose the
    sum 1 between entries that differ by more than LARGE.
    """
    y, omega, curvature = block.y, block.omega, block.curvature
    b, values, top = scratch.vertex.margins, scratch.projection.fit_upper, scratch.vertex.entries
    margins_without(scores, block.costs, y, b)
    weight = curvature * omega
    if weight < LEAST_WEIGHT:
        write_vertex(block, polytope, scratch.vertex, new)
        return
    least, most = np.inf, -np.inf
    for j in range(len(b)):
        change = old[j + (j >= y)] - old[y]
        b[j] = (b[j] - curvature * change) / weight
        values[j] = b[j]
        least, most = min(least, b[j]), max(most, b[j])
    t, u, pivot = thresholds(rule if most - least <= LARGE else BIASED_PROJECTION, values, top)
    total = 0.0
    for j in range(len(b)):
        entry = omega * min(max((b[j] - pivot) - t, 0.0), u)
        new[j + (j >= y)] = -entry
        total += entry
    new[y] = total
