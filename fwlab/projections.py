"""Project onto the sets of L15 section 4 and onto a permutahedron, in the Euclidean norm.

`Loss.project` is the projection onto the domain of a loss (kernels.domains.projection).

Every function takes one vector (d,) or a batch of rows (n, d), does not change it, and returns
float64 of the same shape. The result is exact to rounding: no iteration to a tolerance, at worst
O(d log d) per vector. Entries larger than 1e150 in size are refused. With a bias the objective is

    |a - x|^2 + bias <1, x>^2.
"""

from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.checks.arguments import (
    LARGEST,
    as_array,
    as_flag,
    as_floats,
    as_integer,
    as_real,
    require_finite,
)
from fwlab.kernels.domains import permutahedron
from fwlab.kernels.simplices import knapsack, topk_simplex


def project_topk_simplex(a: Any, k: int, r: float = 1.0, bias: float = 0.0) -> Floats:
    """Project onto {x >= 0, sum x <= r, x_i <= (sum x)/k}, the top-k simplex (L15 4.3).

    Parameters
    ----------
    a : array (d,) or (n, d)
        Finite real numbers, at most 1e150 in size.
    k : int
        At least 1; for k > d the set is {0}.
    r, bias : float
        Numbers from 0 to 1e150.

    Returns
    -------
    array
        The projection x, of the shape of `a` and in its units.

    Raises
    ------
    TypeError, ValueError
        For any other argument.

    """
    return _project_topk(a, k, as_real("r", r, positive=False), bias)


def project_topk_cone(a: Any, k: int, bias: float = 0.0) -> Floats:
    """Project onto {x >= 0, x_i <= (sum x)/k}, the top-k cone (L15 4.2).

    It takes the arguments of project_topk_simplex except r, returns x likewise, and raises the same
    errors.
    """
    return _project_topk(a, k, np.inf, bias)


def _project_topk(a: Any, k: int, r: float, bias: float) -> Floats:
    k = as_integer("k", k, 1)
    bias = as_real("bias", bias, positive=False)
    points = _as_points(a)
    rows = np.atleast_2d(points)
    out = np.zeros(rows.shape)
    if k > rows.shape[1]:
        require_finite("a", rows)
    else:
        _refuse_row(rows, topk_simplex.project_topk_rows(rows, LARGEST, k, r, bias, out))
    return out.reshape(points.shape)


def project_knapsack(
    a: Any, r: float = 1.0, upper: float = 1.0, equality: bool = False, bias: float = 0.0
) -> Floats:
    """Project onto {0 <= x <= upper, sum x <= r}, or sum x = r (L15 4.1, section 5).

    With upper >= r the upper bound has no effect: `upper=r, equality=True` projects onto the
    simplex of sum r.

    Parameters
    ----------
    a : array (d,) or (n, d)
        Finite real numbers, at most 1e150 in size.
    r, upper, bias : float
        Numbers from 0 to 1e150.
    equality : bool
        Whether the sum is r, which needs r <= upper * d. The bias then has no effect.

    Returns
    -------
    array
        The projection x, of the shape of `a` and in its units.

    Raises
    ------
    TypeError, ValueError
        For any other argument.

    """
    r = as_real("r", r, positive=False)
    upper = as_real("upper", upper, positive=False)
    bias = as_real("bias", bias, positive=False)
    equality = as_flag("equality", equality)
    points = _as_points(a)
    rows = np.atleast_2d(points)
    # the margin forgives a product like 49 * (1/49) that rounds below r
    largest = upper * rows.shape[1]
    if equality and r > largest * (1 + 4 * np.finfo(np.float64).eps):
        raise ValueError(f"r must be at most upper * d = {largest} with equality; got {r}.")
    out = np.zeros(rows.shape)
    bad = knapsack.project_knapsack_rows(rows, LARGEST, r, upper, bias, equality, out)
    _refuse_row(rows, bad)
    return out.reshape(points.shape)


def project_permutahedron(a: Any, rho: Any) -> Floats:
    """Project onto the convex hull of all permutations of the vector rho.

    Sort a, subtract the sorted rho, fit the nearest non-increasing vector, subtract it from the
    sorted a, and undo the sort.

    Parameters
    ----------
    a : array (d,) or (n, d)
        Finite real numbers, at most 1e150 in size.
    rho : array (d,)
        Finite real numbers, in any order.

    Returns
    -------
    array
        The projection x, of the shape of `a` and in the units of rho.

    Raises
    ------
    TypeError, ValueError
        For any other argument.

    """
    points = _as_points(a)
    rows = np.atleast_2d(points)
    rho = as_floats("rho", rho, ndims=(1,))
    if len(rho) != rows.shape[1]:
        raise ValueError(f"rho must have {rows.shape[1]} entries, as a has; got {len(rho)}.")
    require_finite("a", rows)
    out = np.zeros(rows.shape)
    rising = np.count_nonzero(rho[:-1] < rho[1:]) > 0
    permutahedron.project_permutahedron(rows, -np.sort(-rho) if rising else rho.copy(), out)
    return out.reshape(points.shape)


def _as_points(a: Any) -> Floats:
    """Return `a` as float64, one row or a batch; the kernels check that it is finite."""
    array = as_array("a", a)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"a must hold real numbers; got dtype {array.dtype}.")
    if array.ndim not in (1, 2) or array.shape[-1] == 0:
        raise ValueError(
            f"a must be (d,) or (n, d) with at least one entry a row; got shape {array.shape}."
        )
    return np.ascontiguousarray(array, dtype=np.float64)


def _refuse_row(rows: Floats, bad: int) -> None:
    """Raise ValueError for the row that a kernel refused; -1 stands for none."""
    if bad >= 0:
        require_finite("a", rows[bad])
