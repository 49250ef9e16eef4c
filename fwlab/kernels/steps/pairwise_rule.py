"""The pairwise and the away step rule (Lacoste-Julien and Jaggi 2015), for rows and whole matrices.

The point a is a convex combination of the atoms of an active set. Let u be the LMO's vertex at the
gradient, v the atom with the highest product <gradient, v>, and w the atom weight of v:

    pairwise    u - v, step at most w;
    away        the steeper of u - a, step at most 1, and a - v, step at most w / (1 - w).

An atom is named by its place in the active set. POINT stands for a itself.
"""

from fwlab.kernels._jit import compiled

POINT = -1
# Products are equal if they differ by less than this fraction of their size: an exact pairwise step
# leaves its two atoms tied, and rounding must not choose between them.
TIES = 1e-13
# a slope below this fraction of the products' size is 0
NOISE = 1e-14
# an atom weight up to this one is the rounding of 0
NO_WEIGHT = 1e-15


@compiled(inline=True)
def choose_ends(pairwise, towards, away, n_atoms, products):
    """Return the two ends of the step, (towards, away), and its slope, 0 where that is rounding.

    towards and away are the places of u and v; products (layouts.Products) belong to u, a and v. An
    active set of one atom has no away step.
    """
    lowest, mean, highest, size = products
    if pairwise:
        slope = highest - lowest
    elif n_atoms == 1 or mean - lowest >= highest - mean - TIES * size:
        away, slope = POINT, mean - lowest
    else:
        towards, slope = POINT, highest - mean
    if not slope > NOISE * size:
        slope = 0.0
    return towards, away, slope


@compiled(inline=True)
def largest_step(atom_weights, towards, away):
    """Return the largest feasible step between two ends.

    1 - w is the sum of the other weights, so that w / (1 - w) keeps its digits for w near 1.
    """
    if away == POINT:
        return 1.0
    if towards != POINT:
        return atom_weights[away]
    others = 0.0
    for place in range(len(atom_weights)):
        if place != away:
            others += atom_weights[place]
    return atom_weights[away] / others


@compiled(inline=True)
def scale_of_the_rest(towards, away, step):
    """Return the factor by which a step multiplies the weights of the atoms at neither end."""
    if away == POINT:
        return 1.0 - step
    return 1.0 + step if towards == POINT else 1.0


@compiled(inline=True)
def move_weights(atom_weights, towards, away, step, limit):
    """Change the atom weights by step <= limit; at the limit the away atom's becomes exactly 0."""
    factor = scale_of_the_rest(towards, away, step)
    for place in range(len(atom_weights)):
        atom_weights[place] *= factor
    if away != POINT:
        atom_weights[away] = 0.0 if step >= limit else atom_weights[away] - step
    if towards != POINT:
        atom_weights[towards] += step
