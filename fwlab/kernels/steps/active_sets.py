"""Away and pairwise steps of one block a_i with all others fixed, over the row's active set.

The dual along the block is that of kernels.block_steps; the step is the exact maximiser between 0
and the largest feasible one.
"""

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.vertices import best_vertex, margins_without
from fwlab.kernels.steps.row_active_sets import choose_direction, move_row


@compiled
def active_set_block(pairwise, row, scores, costs, bounds, scratch, sets, old, new):
    """new = block i after one step; its set holds the new weights.

    row is (i, y, weight, curvature, ridge).
    """
    i, y, weight, curvature, ridge = row
    gradient = scratch[3]
    for j in range(len(old)):
        gradient[j] = scores[j] + ridge * old[j]
    write_free_slot(gradient, costs, y, weight, bounds, scratch, sets, i)
    for j in range(len(old)):
        if j != y:
            gradient[j] += costs[j]
    reach = weight * bounds[4]
    towards, away, slope, limit = choose_direction(pairwise, gradient, y, reach, sets, i, old, new)
    distance = 0.0
    for j in range(len(old)):
        distance += new[j] ** 2
        new[j] = old[j]
    bend = (curvature + ridge) * distance
    step = limit if slope >= limit * bend else slope / bend
    move_row(sets, i, towards, away, step, limit, y, new)


@compiled
def write_free_slot(scores, costs, y, weight, bounds, scratch, sets, i):
    """Put omega times the LMO's vertex into the free slot of row i."""
    places, vertex, margins, _, _ = scratch
    margins_without(scores, costs, y, margins)
    _, count = best_vertex(margins, y, bounds[0], bounds[1], places, vertex)
    free = sets[3][i]
    classes, entries = sets[0][i, free], sets[1][i, free]
    for place in range(len(places)):
        classes[place] = places[place] + (places[place] >= y)
        entries[place] = -weight * vertex[place] if place < count else 0.0
