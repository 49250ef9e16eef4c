"""One active set per sample: row i of A as a convex combination of points of its domain, its atoms.

Atom `slot` of row i (layouts.ActiveSets) is a vertex with entries[i, slot, l] at class
classes[i, slot, l] and minus their sum at the true class. A first class of START stands for
starts[i], the row's dense start. The slot after the last atom is free: the LMO's vertex is written
there and enters if a step goes to it.

No vertex is held twice: equal vertices have equal products with the gradient, and a step goes to
the first atom whose product is as low as the product of the LMO's vertex, before it goes to that
vertex.
"""

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.vertices import best_vertex, margins_without
from fwlab.kernels.layouts import Products
from fwlab.kernels.products.blocks import add_multiple, dot
from fwlab.kernels.steps.exact_step import exact_step
from fwlab.kernels.steps.pairwise_rule import (
    NO_WEIGHT,
    POINT,
    TIES,
    choose_ends,
    largest_step,
    move_weights,
)

START = -1


@compiled
def atom_product(gradient, y, sets, i, slot):
    """Return <gradient, v> for an atom v of row i."""
    if sets.classes[i, slot, 0] == START:
        return dot(gradient, sets.starts[i])
    classes, entries = sets.classes, sets.entries
    total, at_true_class = 0.0, gradient[y]
    for place in range(classes.shape[2]):
        total += entries[i, slot, place] * (gradient[classes[i, slot, place]] - at_true_class)
    return total


@compiled
def add_atom(row, factor, y, sets, i, slot):
    """Add factor times an atom of row i to `row`."""
    if sets.classes[i, slot, 0] == START:
        add_multiple(row, factor, sets.starts[i])
        return
    for place in range(sets.classes.shape[2]):
        entry = factor * sets.entries[i, slot, place]
        row[sets.classes[i, slot, place]] += entry
        row[y] -= entry


@compiled
def combine(sets, i, y, row):
    """Set `row` to the sum of the atoms of row i times their weights."""
    row[:] = 0.0
    for slot in range(sets.counts[i]):
        add_atom(row, sets.atom_weights[i, slot], y, sets, i, slot)


@compiled
def write_free_slot(shifted, block, polytope, vertex, sets):
    """Put omega times the LMO's vertex at gradient shifted + delta into the free slot."""
    margins_without(shifted, block.costs, block.y, vertex.margins)
    _, count = best_vertex(vertex, block.y, polytope.upper, polytope.lower)
    free = sets.counts[block.row]
    classes, entries = sets.classes[block.row, free], sets.entries[block.row, free]
    for place in range(len(vertex.places)):
        touched = vertex.places[place]
        classes[place] = touched + (touched >= block.y)
        entries[place] = -block.omega * vertex.entries[place] if place < count else 0.0


@compiled
def extreme_atoms(gradient, y, sets, i, tie):
    """Return slots and products of the atoms with the lowest and the highest <gradient, v>.

    The LMO's vertex in the free slot has the lowest one. Products within `tie` are equal, and the
    first slot stands for them.
    """
    free = sets.counts[i]
    towards, lowest = free, atom_product(gradient, y, sets, i, free)
    away, highest = 0, atom_product(gradient, y, sets, i, 0)
    for slot in range(free):
        product = atom_product(gradient, y, sets, i, slot)
        if towards == free and product <= lowest + tie:
            towards, lowest = slot, product
        if product > highest + tie:
            away, highest = slot, product
    return towards, lowest, away, highest


@compiled
def choose_direction(pairwise, gradient, block, reach, sets, old, direction):
    """Write the direction of a row; return its ends (towards, away), slope and largest step.

    A row without ascent gets the zero direction, slope and step. reach is the size of a vertex.
    """
    i, y = block.row, block.y
    size = largest_product(gradient, reach)
    towards, lowest, away, highest = extreme_atoms(gradient, y, sets, i, TIES * size)
    mean = 0.0 if pairwise else dot(gradient, old)
    products = Products(lowest, mean, highest, size)
    count = sets.counts[i]
    towards, away, slope = choose_ends(pairwise, towards, away, count, products)
    limit = write_direction(towards, away, slope, block, sets, old, direction)
    return towards, away, slope, limit


@compiled(inline=True)
def largest_product(gradient, reach):
    """Return the largest |product| of an entry of the gradient with a vertex of size `reach`."""
    size = 0.0
    for entry in gradient:
        size = max(size, reach * abs(entry))
    return size


@compiled(inline=True)
def write_direction(towards, away, slope, block, sets, old, direction):
    """Write the direction between two ends; return the largest step, 0 for a slope of 0."""
    i = block.row
    direction[:] = 0.0
    if slope == 0.0:
        return 0.0
    for slot, sign in ((towards, 1.0), (away, -1.0)):
        if slot == POINT:
            add_multiple(direction, sign, old)
        else:
            add_atom(direction, sign, block.y, sets, i, slot)
    return largest_step(sets.atom_weights[i, : sets.counts[i]], towards, away)


@compiled(inline=True)
def row_gradient(scores, block, polytope, scratch, sets, old):
    """Put the LMO's vertex into the row's free slot; return the gradient and a vertex's size.

    scores (m,) are <w_j, x_i>.
    """
    gradient = scratch.point
    for j in range(len(old)):
        gradient[j] = scores[j] + block.ridge * old[j]
    write_free_slot(gradient, block, polytope, scratch.vertex, sets)
    for j in range(len(old)):
        if j != block.y:
            gradient[j] += block.costs[j]
    return gradient, block.omega * polytope.sum_upper


@compiled(inline=True)
def row_direction(pairwise, scores, block, polytope, scratch, sets, old, direction):
    """Put the LMO's vertex into the row's free slot, then choose_direction."""
    gradient, reach = row_gradient(scores, block, polytope, scratch, sets, old)
    return choose_direction(pairwise, gradient, block, reach, sets, old, direction)


@compiled
def active_set_block(pairwise, scores, block, polytope, scratch, sets, old, new):
    """Set new = the block after its exact pairwise or away step; its active set follows."""
    towards, away, slope, limit = row_direction(
        pairwise, scores, block, polytope, scratch, sets, old, new
    )
    step = step_along(slope, limit, block, old, new)
    move_row(sets, block.row, towards, away, step, limit, block.y, new)


@compiled(inline=True)
def step_along(slope, limit, block, old, new):
    """Return the exact step along the direction in `new`, and replace that by `old`."""
    distance = 0.0
    for j in range(len(old)):
        distance += new[j] ** 2
        new[j] = old[j]
    return exact_step(slope, (block.curvature + block.ridge) * distance, limit)


@compiled
def move_row(sets, i, towards, away, step, limit, y, row):
    """Move row i by step <= limit along choose_direction; at the limit the away atom goes.

    The row is combined again from the set, so that rounding cannot part the two.
    """
    if step <= 0.0:
        return
    if towards == sets.counts[i]:
        sets.atom_weights[i, towards] = 0.0
        sets.counts[i] += 1
    move_weights(sets.atom_weights[i, : sets.counts[i]], towards, away, step, limit)
    settle(sets, i)
    combine(sets, i, y, row)


@compiled
def settle(sets, i):
    """Drop the atoms without weight, the last one taking their slot; scale the rest to sum 1."""
    classes, entries, atom_weights, counts, _ = sets
    total = 0.0
    for slot in range(counts[i] - 1, -1, -1):
        if atom_weights[i, slot] > NO_WEIGHT:
            total += atom_weights[i, slot]
            continue
        counts[i] -= 1
        last = counts[i]
        atom_weights[i, slot] = atom_weights[i, last]
        for place in range(classes.shape[2]):
            classes[i, slot, place] = classes[i, last, place]
            entries[i, slot, place] = entries[i, last, place]
    for slot in range(counts[i]):
        atom_weights[i, slot] /= total
