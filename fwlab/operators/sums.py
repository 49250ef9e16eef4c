"""Sum many numbers, and bound the rounding errors.

By the standard model each operation is right to a factor 1 + u, u = UNIT, or in underflow to
UNDERFLOW / 2. A sum of c products, made in any order, is then right to gamma(c) times the sum of
the sizes of the products, plus c UNDERFLOW. A sum in parts of SUMMED terms has a smaller bound.
"""

from typing import Any

import numpy as np

from fwlab.arrays import Floats, namespace_of
from fwlab.kernels.products.dense import SUMMED, dot_in_parts

UNIT = 2.0**-53
UNDERFLOW = 2.0**-1073
# the bounds are computed in floats themselves, from terms of one sign
MARGIN = 1.01


def gamma(count: Any) -> Any:
    """Return the relative error of a sum of `count` products, for count < 10^13."""
    return MARGIN * UNIT * count


def gamma_in_parts(count: int) -> float:
    """Return the relative error of a sum of `count` products that is made in parts."""
    return float(gamma(min(count, SUMMED) + count / SUMMED + 2))


def norms_above(squares: Floats) -> Floats:
    """Return bounds of the norms of vectors from computed squared norms.

    The squares of up to 2^54 entries may vanish. Then 2^-1021 bounds their sum.
    """
    return np.asarray(np.sqrt(MARGIN * squares + 2.0**-1021))


def square_in_parts(W: Floats) -> float:
    """Return the squared norm of a matrix, summed in parts."""
    flat = W.ravel(order="K")
    return float(dot_in_parts(flat, flat))


def row_products(left: Any, right: Any) -> Any:
    """Return the inner products of the rows of two matrices, (n,), which may be tensors."""
    if isinstance(left, np.ndarray):
        return np.einsum("ij,ij->i", left, right)
    return namespace_of(left).vecdot(left, right)


def mean_in_parts(values: Floats) -> float:
    """Return the mean of `values` (n,), summed in parts."""
    starts = np.arange(0, len(values), SUMMED)
    return float(np.add.reduceat(values, starts).sum()) / len(values)
