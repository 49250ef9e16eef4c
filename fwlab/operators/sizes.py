"""Sizes of rows, which bounds of rounding errors need."""

from typing import NamedTuple

import numpy as np

from fwlab.arrays import Floats
from fwlab.kernels.domains.sizes import largest_rows, sizes_of_rows
from fwlab.threads import for_rows


class RowSizes(NamedTuple):
    """Of each row the sum of |a_j|, the sum of a_j^2, and <|a|, factors>, (n,) each."""

    lengths: Floats
    squares: Floats
    products: Floats


def row_sizes(A: Floats, factors: Floats) -> RowSizes:
    """Return the sizes of the rows of A (n, m), for factors (m,)."""
    sizes = RowSizes(*np.empty((3, len(A))))

    def work(rows: slice) -> None:
        sizes_of_rows(A[rows], factors, *(size[rows] for size in sizes))

    for_rows(work, len(A))
    return sizes


def row_maxima(matrix: Floats) -> Floats:
    """Return the largest entry of each row in size, (n,)."""
    out = np.empty(len(matrix))

    def work(rows: slice) -> None:
        largest_rows(matrix[rows], out[rows])

    for_rows(work, len(matrix))
    return out
