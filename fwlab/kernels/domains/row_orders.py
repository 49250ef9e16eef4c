"""Order many rows at once: numpy's sort of numbers is three times as fast as its argsort.

The last bits of every entry give way to its index, ceil(log2 d) bits. The sort of these keys orders
the entries up to those that differ in the lost bits alone, which insertion puts right.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.sorting import COUNTING_LENGTH, sort_descending

# a row that takes more moves for each entry is sorted by numpy's argsort
MOVES = 8


@compiled
def order_short_rows(points, order):
    """Fill order[i] with the indices of points[i] from the largest entry down."""
    for i in range(points.shape[0]):
        sort_descending(points[i], order[i])


@compiled
def write_keys(points, numbers, keys, index_bits):
    """Write the keys of the rows; `keys` are the bits of `numbers`."""
    for i in range(points.shape[0]):
        for j in range(points.shape[1]):
            numbers[i, j] = -points[i, j]
        for j in range(points.shape[1]):
            keys[i, j] = (keys[i, j] & ~index_bits) | j


@compiled
def order_of_keys(row, keys, index_bits):
    """Turn sorted keys into the order of the row; return False if that takes too many moves."""
    left = MOVES * len(row)
    for j in range(len(row)):
        index, place = keys[j] & index_bits, j
        value = row[index]
        while place > 0 and row[keys[place - 1]] < value:
            keys[place] = keys[place - 1]
            place -= 1
        keys[place] = index
        left -= j - place
        if left < 0:
            return False
    return True


@compiled
def orders_of_keys(points, keys, index_bits):
    """Turn the sorted keys of each row into its order, or set keys[i, 0] = -1."""
    for i in range(points.shape[0]):
        if not order_of_keys(points[i], keys[i], index_bits):
            keys[i, 0] = -1


def descending_orders(points):
    """Return int64 indices that sort each row of `points` from the largest entry down.

    Equal entries come in any order.
    """
    d = points.shape[1]
    order = np.empty(points.shape, dtype=np.int64)
    if d <= COUNTING_LENGTH:
        order_short_rows(points, order)
        return order
    index_bits, numbers = (1 << (d - 1).bit_length()) - 1, order.view(np.float64)
    write_keys(points, numbers, order, index_bits)
    numbers.sort(axis=1)
    orders_of_keys(points, order, index_bits)
    for i in np.flatnonzero(order[:, 0] < 0):
        order[i] = np.argsort(-points[i])
    return order
