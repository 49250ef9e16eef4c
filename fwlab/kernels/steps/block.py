"""The two ways to improve the dual in one block a_i with all others fixed.

Along a_i = a the dual is, up to a constant, -(1/n) times

    (q/2) |a - a_old|^2 + <s + delta, a - a_old> + (r/2) |a|^2,

q = |x_i|^2 / (lam n) the curvature and r = smoothing / omega the ridge, on omega (the weight)
times the negated domain. `exact_block` returns its maximiser, a projection; a Frank-Wolfe
block goes to the best point between a_old and the vertex that the LMO finds at the gradient.
"""

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.projection import project_row
from fwlab.kernels.domains.vertices import best_vertex, margins_without


@compiled(inline=True)
def exact_block(scores, costs, y, weight, curvature, ridge, bounds, scratch, old, new):
    """new = the maximiser: omega times the projection of (q a - s - delta) / ((q + r) omega).

    Without curvature the dual is linear in the block and its maximiser the LMO's vertex.
    """
    places, weights, margins, point, projection = scratch
    total = curvature + ridge
    if total == 0.0:
        margins_without(scores, costs, y, margins)
        write_vertex(margins, y, weight, bounds, places, weights, new)
        return
    scale = 1.0 / (total * weight)
    for j in range(len(old)):
        point[j] = (curvature * old[j] - scores[j] - costs[j]) * scale
    point[y] = (curvature * old[y] - scores[y]) * scale
    project_row(point, y, bounds, projection, new)
    for j in range(len(new)):
        new[j] *= weight


@compiled
def write_vertex(margins, y, weight, bounds, places, weights, out):
    """out = omega times the vertex of the negated domain at these margins; returns the loss."""
    value, count = best_vertex(margins, y, bounds[0], bounds[1], places, weights)
    out[:] = 0.0
    total = 0.0
    for touched in range(count):
        entry = weight * weights[touched]
        out[places[touched] + (places[touched] >= y)] = -entry
        total += entry
    out[y] = total
    return value


@compiled
def frank_wolfe_block(scores, costs, y, weight, curvature, ridge, bounds, scratch, old, new):
    """new = old + step (vertex - old) with the exact step in [0, 1]."""
    places, weights, margins, gradient, _ = scratch
    for j in range(len(old)):
        gradient[j] = scores[j] + ridge * old[j]
    margins_without(gradient, costs, y, margins)
    value = write_vertex(margins, y, weight, bounds, places, weights, new)
    gap, distance = weight * value, 0.0
    for j in range(len(old)):
        cost = costs[j] if j != y else 0.0
        gap += (gradient[j] + cost) * old[j]
        distance += (new[j] - old[j]) ** 2
    bend = (curvature + ridge) * distance
    if gap <= 0.0:
        step = 0.0
    else:
        step = 1.0 if gap >= bend else gap / bend
    for j in range(len(old)):
        new[j] = old[j] + step * (new[j] - old[j])


@compiled
def block_gap(scores, costs, y, weight, ridge, bounds, scratch, old):
    """<grad, a_old - vertex> with the LMO's vertex: n times the block's share of the gap."""
    places, weights, margins, gradient, _ = scratch
    gap = 0.0
    for j in range(len(old)):
        gradient[j] = scores[j] + ridge * old[j]
        gap += (gradient[j] + (costs[j] if j != y else 0.0)) * old[j]
    margins_without(gradient, costs, y, margins)
    return gap + weight * best_vertex(margins, y, bounds[0], bounds[1], places, weights)[0]
