"""Orders of a vector from its largest entry down; ties go to the lowest index."""

import numpy as np

from fwlab.kernels._jit import compiled

# ranks by counting take a third of the time of insertion on 5 .. 64 normal entries
COUNTING_LENGTH = 64
# insertion is faster up to this number of largest entries
INSERTION_LENGTH = 32


@compiled(allocates=True)
def sort_long(values, order):
    """Fill `order` with the indices of the len(order) largest entries of `values`, by numpy."""
    largest_first = np.argsort(-values, kind="mergesort")
    for place in range(len(order)):
        order[place] = largest_first[place]


@compiled(inline=True)
def sort_descending(values, order):
    """Fill `order`, as long as `values`, with the indices of `values` from the largest down.

    Up to COUNTING_LENGTH entries each entry is compared with all others: n^2 comparisons without a
    branch. Its rank is the number of larger entries; of equal entries the first takes this rank and
    the others the next ones.
    """
    count = len(values)
    if count > COUNTING_LENGTH:
        sort_long(values, order)
        return
    for j in range(count):
        order[j] = -1
    for j in range(count):
        value, rank = values[j], 0
        for i in range(count):
            rank += values[i] > value
        while order[rank] >= 0:
            rank += 1
        order[rank] = j


@compiled
def select_largest(values, order):
    """Fill `order` with the indices of the len(order) largest entries of `values`, descending."""
    count = len(order)
    if count > INSERTION_LENGTH:
        sort_long(values, order)
        return
    filled = 0
    for j in range(len(values)):
        if filled == count and not values[j] > values[order[count - 1]]:
            continue
        place = min(filled, count - 1)
        while place > 0 and values[order[place - 1]] < values[j]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = j
        filled = min(filled + 1, count)
