"""One active set a sample: row i of A as a convex combination of points of its domain, its atoms.

`sets` are (classes, entries, weights, counts, starts). Atom `slot` of row i is a vertex with
entries[i, slot, l] at class classes[i, slot, l] and minus their sum at the true class; a first
class of START stands for starts[i], the row's dense start. The slot after the last atom is free:
the LMO's vertex is written there and enters if a step goes to it.

No vertex is held twice: equal vertices have equal products with the gradient, and a step goes to
the first atom whose product is as low as that of the LMO's vertex, before it goes to that vertex.
"""

from fwlab.kernels._jit import compiled
from fwlab.kernels.products.blocks import add_multiple, dot

START = -1
# in place of a slot: the row itself
POINT = -1
# Products are equal if they differ by less than this fraction of their size: an exact pairwise step
# leaves its two atoms tied, and rounding must not choose between them.
TIES = 1e-13
# a slope below this fraction of the products' size is 0
NOISE = 1e-14
# a weight up to this one is the rounding of 0
NO_WEIGHT = 1e-15


@compiled
def atom_product(gradient, y, sets, i, slot):
    """<gradient, v> for an atom v of row i."""
    classes, entries, _, _, starts = sets
    if classes[i, slot, 0] == START:
        return dot(gradient, starts[i])
    total, at_true_class = 0.0, gradient[y]
    for place in range(classes.shape[2]):
        total += entries[i, slot, place] * (gradient[classes[i, slot, place]] - at_true_class)
    return total


@compiled
def add_atom(row, factor, y, sets, i, slot):
    """row += factor v for an atom v of row i."""
    classes, entries, _, _, starts = sets
    if classes[i, slot, 0] == START:
        add_multiple(row, factor, starts[i])
        return
    for place in range(classes.shape[2]):
        entry = factor * entries[i, slot, place]
        row[classes[i, slot, place]] += entry
        row[y] -= entry


@compiled
def combine(sets, i, y, row):
    """row = sum of weights times atoms."""
    weights, counts = sets[2], sets[3]
    row[:] = 0.0
    for slot in range(counts[i]):
        add_atom(row, weights[i, slot], y, sets, i, slot)


@compiled
def extreme_atoms(gradient, y, sets, i, tie):
    """Slots and products of the atoms with the lowest and the highest <gradient, v>.

    The lowest is that of the LMO's vertex in the free slot. Products within `tie` are equal, and
    the first slot stands for them.
    """
    free = sets[3][i]
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
def choose_direction(pairwise, gradient, y, reach, sets, i, old, direction):
    """Write the direction of row i; return its slots (towards, away), slope and largest step.

    With u the lowest and v the highest atom, w the weight of v and a the row: pairwise u - v up to
    w; otherwise the steeper of u - a up to 1 and a - v up to w / (1 - w), where POINT stands for a.
    A row without ascent gets the zero direction, slope and step. reach is the size of a vertex.
    """
    direction[:] = 0.0
    size = 0.0
    for entry in gradient:
        size = max(size, reach * abs(entry))
    towards, lowest, away, highest = extreme_atoms(gradient, y, sets, i, TIES * size)
    if pairwise:
        slope, limit = highest - lowest, sets[2][i, away]
    else:
        mean = dot(gradient, old)
        if sets[3][i] == 1 or mean - lowest >= highest - mean - TIES * size:
            away, slope, limit = POINT, mean - lowest, 1.0
        else:
            towards, slope, limit = POINT, highest - mean, away_limit(sets, i, away)
    if slope <= NOISE * size:
        return towards, away, 0.0, 0.0
    if towards == POINT:
        add_multiple(direction, 1.0, old)
    else:
        add_atom(direction, 1.0, y, sets, i, towards)
    if away == POINT:
        add_multiple(direction, -1.0, old)
    else:
        add_atom(direction, -1.0, y, sets, i, away)
    return towards, away, slope, limit


@compiled
def away_limit(sets, i, slot):
    """w / (1 - w) for the weight w of an atom, with 1 - w the sum of the other weights."""
    weights, counts = sets[2], sets[3]
    others = 0.0
    for other in range(counts[i]):
        if other != slot:
            others += weights[i, other]
    return weights[i, slot] / others


@compiled
def move_row(sets, i, towards, away, step, limit, y, row):
    """Move by step <= limit along choose_direction; at the limit the away atom goes exactly.

    The row is combined again from the set, so that rounding cannot part the two.
    """
    weights, counts = sets[2], sets[3]
    if step <= 0.0:
        return
    if towards == counts[i]:
        weights[i, towards] = 0.0
        counts[i] += 1
    factor = 1.0
    if away == POINT:
        factor = 1.0 - step
    elif towards == POINT:
        factor = 1.0 + step
    for slot in range(counts[i]):
        weights[i, slot] *= factor
    if away != POINT:
        weights[i, away] = 0.0 if step >= limit else weights[i, away] - step
    if towards != POINT:
        weights[i, towards] += step
    settle(sets, i)
    combine(sets, i, y, row)


@compiled
def settle(sets, i):
    """Drop the atoms without weight, the last one taking their slot; scale the rest to sum 1."""
    classes, entries, weights, counts, _ = sets
    total = 0.0
    for slot in range(counts[i] - 1, -1, -1):
        if weights[i, slot] > NO_WEIGHT:
            total += weights[i, slot]
            continue
        counts[i] -= 1
        last = counts[i]
        weights[i, slot] = weights[i, last]
        for place in range(classes.shape[2]):
            classes[i, slot, place] = classes[i, last, place]
            entries[i, slot, place] = entries[i, last, place]
    for slot in range(counts[i]):
        weights[i, slot] /= total
