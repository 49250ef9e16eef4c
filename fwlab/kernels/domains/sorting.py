"""Order a vector from its largest entry down; ties go to the lowest index."""

import numpy as np

from fwlab.kernels._jit import compiled

# ranks by counting take a third of the time of insertion on 5 .. 64 normal entries
COUNTING_LENGTH = 64
# insertion is faster up to this number of largest entries
INSERTION_LENGTH = 32


@compiled(inline=True)
def _rank_by_counting(values, first, order):
    """Fill `order` with first + the indices of `values`, from the largest entry down.

    Each entry is compared with all others: n^2 comparisons without a branch. Its rank is the number
    of larger entries; of equal entries the first takes this rank and the others the next ones.
    """
    count = len(values)
    for j in range(count):
        order[j] = -1
    for j in range(count):
        value, rank = values[j], 0
        for i in range(count):
            rank += values[i] > value
        while order[rank] >= 0:
            rank += 1
        order[rank] = first + j


@compiled
def _sort_runs(values, width, order, sorted_values):
    """Sort each run of `width` entries; `order` has their indices in `values`."""
    for start in range(0, len(values), width):
        run = slice(start, min(start + width, len(values)))
        _rank_by_counting(values[run], start, order[run])
    for place in range(len(values)):
        sorted_values[place] = values[order[place]]


@compiled
def _merge(keys, runs, start, middle, end, merged_keys, merged):
    """Merge two runs next to each other; of equal entries the first comes first."""
    left, right = start, middle
    for place in range(start, end):
        if left < middle and (right == end or keys[left] >= keys[right]):
            merged_keys[place], merged[place] = keys[left], runs[left]
            left += 1
        else:
            merged_keys[place], merged[place] = keys[right], runs[right]
            right += 1


@compiled(allocates=True)
def sort_long(values, order):
    """Fill `order` with the indices of the len(order) largest entries of `values`, by merging.

    A stable np.argsort gives the same order, but numba takes a second to compile it.
    """
    n = len(values)
    width = n
    while width > COUNTING_LENGTH:
        width = (width + 1) // 2
    runs, merged = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    keys, merged_keys = np.empty(n), np.empty(n)
    _sort_runs(values, width, runs, keys)
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            _merge(keys, runs, start, middle, end, merged_keys, merged)
        runs, merged, keys, merged_keys = merged, runs, merged_keys, keys
        width *= 2
    for place in range(len(order)):
        order[place] = runs[place]


@compiled(inline=True)
def sort_descending(values, order):
    """Fill `order`, as long as `values`, with the indices of `values` from the largest down."""
    if len(values) > COUNTING_LENGTH:
        sort_long(values, order)
    else:
        _rank_by_counting(values, 0, order)


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
