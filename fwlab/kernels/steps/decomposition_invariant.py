"""The decomposition-invariant pairwise step of one block (Garber and Meshi 2016).

It goes from the vertex v of the smallest face of a_i with the highest <gradient, v> to the LMO's
vertex u, by the exact step, at most the largest feasible one. v has a weight in some convex
combination that is a_i, so that the limit is positive, but no combination is stored. A step at its
limit reaches another face. kernels.domains.faces has the face and the limit, for beta = -a_i /
omega without the true class.
"""

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.faces import FEASIBLE, extreme_vertex_of_face, largest_step_inside
from fwlab.kernels.domains.projection import project_row
from fwlab.kernels.domains.vertices import best_vertex, margins_without
from fwlab.kernels.steps.exact_step import exact_step
from fwlab.kernels.steps.pairwise_rule import NOISE

# rounding errors of a row that are removed, as a fraction of FEASIBLE
DRIFT = 0.1


@compiled
def invariant_block(scores, block, polytope, scratch, old, new):
    """Set new = the block after its step; a row that rounding has moved outside is projected."""
    y, omega, gradient, margins = block.y, block.omega, scratch.point, scratch.vertex.margins
    beta, direction = scratch.projection.beta, scratch.projection.candidates
    for j in range(len(old)):
        new[j] = old[j]
        gradient[j] = scores[j] + block.ridge * old[j]
    margins_without(gradient, block.costs, y, margins)
    for j in range(len(beta)):
        beta[j] = -old[j + (j >= y)] / omega
    size = invariant_direction(beta, y, polytope, scratch, direction)
    slope, square, total, longest = 0.0, 0.0, 0.0, 0.0
    for j in range(len(beta)):
        slope += margins[j] * direction[j]
        square += direction[j] ** 2
        total += direction[j]
        longest = max(longest, abs(direction[j]))
    if not slope > NOISE * size:
        return
    # in units of omega; no entry of the polytope is larger than upper_1
    curvature = (block.curvature + block.ridge) * omega * (square + total**2)
    wanted = exact_step(slope, curvature, polytope.upper[0] / longest)
    _, excess = largest_step_inside(beta, direction, wanted, polytope, scratch.projection)
    write_point(scratch.projection.fit_lower, block, new)
    if excess > DRIFT * FEASIBLE * polytope.sum_upper:
        for j in range(len(new)):
            scratch.point[j] = new[j] / omega
        project_row(scratch.point, y, polytope, scratch.projection, new)
        for j in range(len(new)):
            new[j] *= omega


@compiled
def invariant_direction(beta, y, polytope, scratch, direction):
    """Set direction = u - v in the units of beta; return the size of <margins, vertex>."""
    margins, places, entries = scratch.vertex
    extreme_vertex_of_face(beta, margins, polytope, scratch.projection, direction)
    largest = 0.0
    for j in range(len(direction)):
        direction[j] = -direction[j]
        largest = max(largest, abs(margins[j]))
    _, count = best_vertex(scratch.vertex, y, polytope.upper, polytope.lower)
    for place in range(count):
        direction[places[place]] += entries[place]
    return largest * polytope.sum_upper


@compiled(inline=True)
def write_point(beta, block, row):
    """Write the row of the dual variable, whose sum is 0, that belongs to beta."""
    total = 0.0
    for j in range(len(beta)):
        entry = block.omega * max(0.0, beta[j])
        row[j + (j >= block.y)] = -entry
        total += entry
    row[block.y] = total
