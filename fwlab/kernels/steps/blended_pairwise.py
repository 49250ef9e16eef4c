"""The blended pairwise step of one row (Tsuji, Tanaka and Pokutta 2022), one active set per sample.

A step between two atoms of the row's set, if it is at least as steep as the row's Frank-Wolfe step,
else the Frank-Wolfe step: only that lets a new atom in. kernels.steps.active_sets has the sets.
"""

from fwlab.kernels._jit import compiled
from fwlab.kernels.products.blocks import dot
from fwlab.kernels.steps.active_sets import (
    atom_product,
    largest_product,
    move_row,
    row_gradient,
    step_along,
    write_direction,
)
from fwlab.kernels.steps.pairwise_rule import NOISE, POINT, TIES


@compiled
def blended_ends(gradient, y, sets, i, mean, size):
    """Return the ends (towards, away) of the blended step of row i and its slope.

    The LMO's vertex is in the free slot. mean is <gradient, a_i>. Products within TIES times size
    are equal, and the first slot stands for them.
    """
    tie, free = TIES * size, sets.counts[i]
    lowest = atom_product(gradient, y, sets, i, free)
    vertex, towards, away = free, 0, 0
    low = high = atom_product(gradient, y, sets, i, 0)
    for slot in range(free):
        product = atom_product(gradient, y, sets, i, slot)
        if vertex == free and product <= lowest + tie:
            vertex = slot
        if product < low - tie:
            towards, low = slot, product
        if product > high + tie:
            away, high = slot, product
    within, slope = high - low, mean - lowest
    if within >= slope - tie and within > NOISE * size:
        return towards, away, within
    return vertex, POINT, slope if slope > NOISE * size else 0.0


@compiled(inline=True)
def blended_direction(scores, block, polytope, scratch, sets, old, direction):
    """Put the LMO's vertex into the row's free slot and write the direction of the row.

    Return its ends (towards, away), slope and largest step, as active_sets.choose_direction does.
    """
    gradient, reach = row_gradient(scores, block, polytope, scratch, sets, old)
    mean, size = dot(gradient, old), largest_product(gradient, reach)
    towards, away, slope = blended_ends(gradient, block.y, sets, block.row, mean, size)
    limit = write_direction(towards, away, slope, block, sets, old, direction)
    return towards, away, slope, limit


@compiled
def blended_block(scores, block, polytope, scratch, sets, old, new):
    """Set new = the block after its exact blended pairwise step; its active set follows."""
    towards, away, slope, limit = blended_direction(
        scores, block, polytope, scratch, sets, old, new
    )
    step = step_along(slope, limit, block, old, new)
    move_row(sets, block.row, towards, away, step, limit, block.y, new)
