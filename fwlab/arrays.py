"""Name array types for signatures, cut rows, and find the library and the device of an array.

A tensor here is an array of another library than numpy that follows the array API standard: torch,
or array_api_strict, which tests use. No such library is imported unless one of its arrays came in.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LIBRARIES = ("torch", "array_api_strict")


def cut(rows: slice, size: int) -> list[slice]:
    """Return slices that are the rows together, each of `size` rows but the last."""
    starts = range(rows.start, rows.stop, size)
    return [slice(start, min(start + size, rows.stop)) for start in starts]


def is_tensor(value: Any) -> bool:
    """Return whether a value is an array of LIBRARIES."""
    return type(value).__module__.partition(".")[0] in LIBRARIES and hasattr(value, "ndim")


def namespace_of(array: Any) -> Any:
    """Return the array API namespace of an array: numpy, or the one of a tensor."""
    if isinstance(array, np.ndarray):
        return np
    try:
        from array_api_compat import array_namespace
    except ImportError:
        raise ImportError(
            'X must be an array unless array-api-compat is installed: pip install "fwlab[torch]".'
        ) from None
    return array_namespace(array)


def on_host(array: Any) -> Any:
    """Return a tensor as a numpy array, a copy if it lies on another device; others unchanged."""
    if not is_tensor(array):
        return array
    plain = without_gradient(array)
    if hasattr(plain, "cpu"):
        plain = plain.cpu()
    else:
        plain = plain.to_device(namespace_of(plain).__array_namespace_info__().default_device())
    try:
        return np.asarray(plain)
    except TypeError:  # numpy lacks bfloat16
        xp = namespace_of(plain)
        return np.asarray(xp.astype(plain, xp.float64))


def has_float64(array: Any) -> bool:
    """Return whether the device of a tensor holds numbers in float64."""
    xp = namespace_of(array)
    try:
        xp.zeros(1, dtype=xp.float64, device=array.device)
    except (TypeError, ValueError, RuntimeError):
        return False
    return True


def without_gradient(array: Any) -> Any:
    """Return a tensor of torch cut off from the graph of its gradient; other arrays unchanged."""
    return array.detach() if hasattr(array, "detach") else array


def copied(array: Any) -> Any:
    """Return a C-ordered copy of an array, or of a tensor on its device."""
    if isinstance(array, np.ndarray):
        return array.copy()
    return namespace_of(array).asarray(array, copy=True)


def like(array: np.ndarray, other: Any) -> Any:
    """Return an array of numpy as a tensor beside another value, if that is a tensor."""
    if not is_tensor(other):
        return array
    return namespace_of(other).asarray(array, device=other.device)


def with_entries(matrix: Any, columns: Any, values: Any) -> Any:
    """Return a matrix (n, m) with values (n,) in the given columns (n,), one entry per row.

    The matrix itself is changed where its library allows that.
    """
    xp = namespace_of(matrix)
    try:
        matrix[xp.arange(matrix.shape[0], device=matrix.device), columns] = values
    except IndexError:
        # the standard itself has no such assignment
        places = xp.arange(matrix.shape[1], device=matrix.device)[None, :] == columns[:, None]
        values = values[:, None] if getattr(values, "ndim", 0) else values
        matrix = xp.where(places, values, matrix)
    return matrix
