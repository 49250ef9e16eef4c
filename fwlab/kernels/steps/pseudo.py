"""The block step of SDCA on the pseudo top-k domain, in three published ways (L15 Proposition 4).

With q = |x_i|^2 / (lam n) and the weight omega, x_j = -a_j / omega over j != y minimises

    |b - x|^2 + <1, x>^2   over the top-k simplex of sum 1,
    b_j = (s_j - s_y + delta_j - q (a_j - a_y)) / (q omega)

with a the row before the step. All three find this minimiser; only their time differs.
"""

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.selection import sort_ascending
from fwlab.kernels.domains.vertices import margins_without
from fwlab.kernels.simplices.topk_newton import thresholds_by_fixing, thresholds_by_newton
from fwlab.kernels.simplices.topk_simplex import sorted_thresholds
from fwlab.kernels.steps.block import write_vertex

# rules of kernels.passes
BIASED_PROJECTION, SEMISMOOTH_NEWTON, VARIABLE_FIXING = 4, 5, 6


@compiled
def thresholds(rule, values, top):
    """(t - pivot, u, pivot) of the projection with bias 1 and r = 1; changes `values`."""
    if rule == SEMISMOOTH_NEWTON:
        return thresholds_by_newton(values, top, 1.0, 1.0)
    if rule == VARIABLE_FIXING:
        return thresholds_by_fixing(values, top, 1.0, 1.0)
    sort_ascending(values)
    return sorted_thresholds(values, len(top), 1.0, 1.0)


@compiled
def pseudo_block(rule, scores, costs, y, weight, curvature, bounds, scratch, old, new):
    """new = the maximiser of the dual over the block. Without curvature it is the LMO's vertex."""
    places, top, b, _, projection = scratch
    margins_without(scores, costs, y, b)
    if curvature == 0.0:
        write_vertex(b, y, weight, bounds, places, top, new)
        return
    values = projection[0]
    for j in range(len(b)):
        change = old[j + (j >= y)] - old[y]
        b[j] = (b[j] - curvature * change) / (curvature * weight)
        values[j] = b[j]
    t, u, pivot = thresholds(rule, values, top)
    total = 0.0
    for j in range(len(b)):
        entry = weight * min(max((b[j] - pivot) - t, 0.0), u)
        new[j + (j >= y)] = -entry
        total += entry
    new[y] = total
