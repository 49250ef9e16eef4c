"""Order a vector from its largest entry down; ties go to the lowest index."""

import numpy as np

from fwlab.kernels._jit import compiled

# ranks by counting take a third of the time of insertion on 5 .. 64 normal entries
COUNTING_LENGTH = 64
# insertion is faster up to this number of largest entries
INSERTION_LENGTH = 32
# entries that are sorted by insertion before they are merged
RUN = 20


@compiled
def _sort_runs(values, width, order):
    """Fill `order` with indices of `values`, in descending order within each run of `width`."""
    for start in range(0, len(values), width):
        for j in range(start, min(start + width, len(values))):
            value, place = values[j], j
            while place > start and values[order[place - 1]] < value:
                order[place] = order[place - 1]
                place -= 1
            order[place] = j


@compiled
def _merge_runs(values, runs, width, merged):
    """Merge the runs of `width` indices two by two; of equal entries the first comes first."""
    n = len(values)
    for start in range(0, n, 2 * width):
        middle, end = min(start + width, n), min(start + 2 * width, n)
        left, right = start, middle
        for place in range(start, end):
            if left < middle and (right == end or values[runs[left]] >= values[runs[right]]):
                merged[place] = runs[left]
                left += 1
            else:
                merged[place] = runs[right]
                right += 1


@compiled(allocates=True)
def sort_long(values, order):
    """Fill `order` with the indices of the len(order) largest entries of `values`, by merging.

    A stable np.argsort gives the same order, but numba takes a second to compile it.
    """
    n = len(values)
    width = n
    while width > RUN:
        width = (width + 1) // 2
    runs, merged = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    _sort_runs(values, width, runs)
    while width < n:
        _merge_runs(values, runs, width, merged)
        runs, merged = merged, runs
        width *= 2
    for place in range(len(order)):
        order[place] = runs[place]


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
def largest_values(values, largest):
    """Fill `largest` with the largest entries of `values`, descending; it has at least one.

    An entry that is large enough sinks through the others: comparisons without a branch.
    """
    count = len(largest)
    for place in range(count):
        largest[place] = -np.inf
    for j in range(len(values)):
        value = values[j]
        if value > largest[count - 1]:
            for place in range(count):
                above = largest[place]
                largest[place] = max(above, value)
                value = min(above, value)


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
