"""The two ways to improve the dual in one block a_i with all others fixed.

Along a_i = a the dual is, up to a constant, -(1/n) times

    (q/2) |a - a_old|^2 + <s + delta, a - a_old> + (r/2) |a|^2,

q = |x_i|^2 / (lam n) the block's curvature and r = smoothing / omega its ridge, on omega (the
sample weight) times the negated domain. `exact_block` returns its maximiser, a projection;
`frank_wolfe_block` goes to the best point between a_old and the vertex that the LMO finds at the
gradient. `block` is a layouts.Block.
"""

import numpy as np

from fwlab.kernels._jit import chosen_by_type, compiled
from fwlab.kernels.domains.projection import make_projection_scratch, project_row
from fwlab.kernels.domains.vertices import best_vertex, make_vertex_scratch, margins_without
from fwlab.kernels.layouts import Block, BlockScratch, GapRecord
from fwlab.kernels.steps.exact_step import exact_step

# the reciprocal of a smaller number, times scores, may overflow
LEAST_WEIGHT = 1e-290


@compiled(allocates=True)
def make_block_scratch(m, support):
    """Return the scratch of a block step."""
    vertex, projection = make_vertex_scratch(m, support), make_projection_scratch(m)
    return BlockScratch(vertex, np.empty(m), projection, np.empty(m), np.empty(m, dtype=np.int64))


@compiled(inline=True)
def block_of(dual, i):
    """Return the dual in block i, whose sample weight is not 0."""
    y, costs, cost_rows, _, _ = dual.polytopes
    omega = dual.omega[i]
    return Block(i, y[i], costs[cost_rows[i]], omega, dual.curvatures[i], dual.smoothing / omega)


@compiled(inline=True)
def exact_block(scores, block, polytope, scratch, old, new):
    """Set new = the maximiser: omega times the projection of (q a - s - delta) / ((q + r) omega).

    Without curvature that floats can hold, the dual is linear in the block and its maximiser the
    LMO's vertex.
    """
    costs, y, omega = block.costs, block.y, block.omega
    point, curvature = scratch.point, block.curvature
    weight = (curvature + block.ridge) * omega
    if weight < LEAST_WEIGHT:
        margins_without(scores, costs, y, scratch.vertex.margins)
        write_vertex(block, polytope, scratch.vertex, new)
        return
    scale = 1.0 / weight
    for j in range(len(old)):
        point[j] = (curvature * old[j] - scores[j] - costs[j]) * scale
    point[y] = (curvature * old[y] - scores[y]) * scale
    project_row(point, y, polytope, scratch.projection, new)
    for j in range(len(new)):
        new[j] *= omega


@compiled
def write_vertex(block, polytope, scratch, out):
    """Set `out` to omega times the LMO's vertex at scratch.margins; return the loss."""
    y = block.y
    value, count = best_vertex(scratch, y, polytope.upper, polytope.lower)
    out[:] = 0.0
    total = 0.0
    for place in range(count):
        entry, touched = block.omega * scratch.entries[place], scratch.places[place]
        out[touched + (touched >= y)] = -entry
        total += entry
    out[y] = total
    return value


@compiled(inline=True)
def frank_wolfe_block(scores, block, polytope, scratch, old, new):
    """Set new = old + step (vertex - old) with the exact step in [0, 1]."""
    slope, distance = towards_vertex(scores, block, polytope, scratch, old, new)
    step = exact_step(slope, (block.curvature + block.ridge) * distance, 1.0)
    for j in range(len(old)):
        new[j] = old[j] + step * (new[j] - old[j])


@compiled(inline=True)
def towards_vertex(scores, block, polytope, scratch, old, new):
    """Set new = the LMO's vertex; return the slope towards it and |vertex - old|^2.

    The slope equals the result of block_gap; here it is summed along with the vertex.
    """
    costs, gradient = block.costs, scratch.point
    for j in range(len(old)):
        gradient[j] = scores[j] + block.ridge * old[j]
    margins_without(gradient, costs, block.y, scratch.vertex.margins)
    value = write_vertex(block, polytope, scratch.vertex, new)
    slope, distance = block.omega * value, 0.0
    for j in range(len(old)):
        cost = costs[j] if j != block.y else 0.0
        slope += (gradient[j] + cost) * old[j]
        distance += (new[j] - old[j]) ** 2
    return slope, distance


@compiled
def block_gap(scores, block, polytope, scratch, old):
    """Return <grad, a_old - vertex> with the LMO's vertex: the block's part of n times the gap."""
    costs, gradient = block.costs, scratch.point
    n_gap = 0.0
    for j in range(len(old)):
        gradient[j] = scores[j] + block.ridge * old[j]
        n_gap += (gradient[j] + (costs[j] if j != block.y else 0.0)) * old[j]
    margins_without(gradient, costs, block.y, scratch.vertex.margins)
    value, _ = best_vertex(scratch.vertex, block.y, polytope.upper, polytope.lower)
    return n_gap + block.omega * value


def note_gap(record, scores, block, polytope, scratch, old):
    """Note the block's gap, if the record takes gaps."""
    if isinstance(record, GapRecord):
        _note(record, scores, block, polytope, scratch, old)


def _note(record, scores, block, polytope, scratch, old):
    record.gaps[block.row] = block_gap(scores, block, polytope, scratch, old)


def _skip(record, scores, block, polytope, scratch, old):
    pass


@chosen_by_type(note_gap)
def _note_or_skip(record, scores, block, polytope, scratch, old):
    return _note if record.instance_class is GapRecord else _skip
