"""Convert and check arguments. Each error names the argument, the value and what is allowed.

The functions take the name of the argument for these sentences. They raise TypeError for a value of
the wrong kind and ValueError for a wrong shape or range.
"""

import warnings
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from fwlab.arrays import Floats, is_tensor

LARGEST = 1e150
SMALLEST = 1e-150


def as_gram_memory(max_gram_memory: Any, max_memory: Any) -> int:
    """Return max_gram_memory, or with a warning what was given under its former name."""
    if max_memory is not None:
        told = "max_memory is named max_gram_memory now; the old name goes with release 0.3.0."
        warnings.warn(told, FutureWarning, stacklevel=3)
        max_gram_memory = max_memory
    return as_integer("max_gram_memory", max_gram_memory, low=0)


def as_floats(
    name: str,
    value: Any,
    ndims: Iterable[int],
    dtype: type[np.floating] = np.float64,
    largest: float = LARGEST,
) -> Floats:
    """Return `value` as a finite C-ordered array.

    Parameters
    ----------
    name : str
        Name of the argument.
    value : array-like
        Real numbers.
    ndims : iterable of int
        The allowed numbers of dimensions.
    dtype : type
        numpy.float64 or numpy.float32.
    largest : float
        The largest size that an entry may have.

    Returns
    -------
    array of `dtype`
        `value` itself if it is such an array already.

    Raises
    ------
    TypeError
        If `value` does not hold real numbers.
    ValueError
        If its shape is wrong, or if it holds NaN, infinity or a number too large.
    """
    array = as_array(name, value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold real numbers; got dtype {array.dtype}.")
    if array.ndim not in tuple(ndims):
        allowed = " or ".join(f"{ndim}-D" for ndim in ndims)
        raise ValueError(f"{name} must be {allowed}; got shape {array.shape}.")
    require_finite(name, array, min(largest, float(np.finfo(dtype).max)))
    return np.ascontiguousarray(array, dtype=dtype).reshape(array.shape)


def as_array(name: str, value: Any, dtype: Any = None) -> NDArray[Any]:
    """Return `value` as a numpy array of this type, of any for None.

    Raises TypeError for a masked array, and for a tensor that numpy cannot read.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be a plain array; got a masked array of shape {value.shape}.")
    value = of_tensor(name, value)
    try:
        return np.asarray(value, dtype=dtype)
    except ValueError:
        raise ValueError(f"{name} must be an array; got rows of different lengths.") from None


def of_tensor(name: str, value: Any, otherwise: str = "") -> Any:
    """Return a tensor as an array that shares its memory, and others as they are.

    Raises TypeError if numpy cannot read it: it has a type that numpy lacks, such as bfloat16, lies
    on another device, or requires its gradient. `otherwise` ends the sentence with other advice.
    """
    if not (hasattr(value, "detach") or is_tensor(value)):
        return value
    try:
        return np.asarray(value)
    except (TypeError, RuntimeError):
        sparse = "sparse" in str(getattr(value, "layout", ""))
        kind, type_ = type(value).__name__, getattr(value, "dtype", "an unknown type")
        facts = [f"{'sparse ' * sparse}{kind} of {type_}"]
        facts += [f"on {device}"] if str(device := getattr(value, "device", "cpu")) != "cpu" else []
        facts += ["that requires its gradient"] if getattr(value, "requires_grad", False) else []
        dense, otherwise = (".to_dense()", "") if sparse else ("", otherwise)
        array = f"{name}.detach().cpu(){dense}.float().numpy()"
        raise TypeError(
            f"{name} must be an array, or a tensor that numpy can read; got a {' '.join(facts)}: "
            f"pass {array if hasattr(value, 'detach') else 'an array of numpy'}{otherwise}."
        ) from None


def require_finite(name: str, values: NDArray[Any], largest: float = LARGEST) -> None:
    """Raise ValueError if `values` holds NaN, infinity, or a number larger than `largest`.

    By default a number is too large if its square could overflow.
    """
    largest = np.float64(largest)  # of this type, so that float32 values are compared in float64
    if values.size and not (-largest <= values.min() and values.max() <= largest):
        bad = values.ravel()[np.flatnonzero(~(np.abs(values) <= largest))[0]]
        raise ValueError(f"{name} must be finite and at most {largest:.4g} in size; got {bad}.")


def as_positive_reals(name: str, values: Any) -> list[float]:
    """Return a list of at least one positive number."""
    if isinstance(values, str) or not np.iterable(values):
        raise TypeError(f"{name} must be a list of positive numbers; got {values!r}.")
    reals = [as_real(name, value, positive=True) for value in values]
    if not reals:
        raise ValueError(f"{name} must hold at least one number; got none.")
    return reals


def as_integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return `value` as an int.

    Parameters
    ----------
    name : str
        Name of the argument.
    value : integer
        A Python or numpy integer, but no bool.
    low, high : int
        The allowed range, both ends included; no upper limit if high is None.

    Returns
    -------
    int
        The value.

    Raises
    ------
    TypeError
        If `value` is not an integer.
    ValueError
        If it is out of range.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer; got {value!r}.")
    number = int(value)
    if number < low or (high is not None and number > high):
        allowed = f"at least {low}" if high is None else f"in {low}..{high}"
        raise ValueError(f"{name} must be {allowed}; got {number}.")
    return number


def as_real(name: str, value: Any, *, positive: bool) -> float:
    """Return `value` as a finite float, > 0 if `positive`, else >= 0."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number; got {value!r}.")
    number = float(value)
    if not 0 <= number < np.inf or (positive and number == 0):
        raise ValueError(f"{name} must be finite and {'>' if positive else '>='} 0; got {value}.")
    if number > LARGEST or (positive and number < SMALLEST):
        raise ValueError(f"{name} must be between {SMALLEST} and {LARGEST}; got {value}.")
    return number


def as_flag(name: str, value: Any) -> bool:
    """Return `value` as a bool."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def as_generator(rng: Any) -> np.random.Generator:
    """Return a numpy Generator: the one given, or a new one for a seed."""
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, bool) or not isinstance(rng, Integral) or rng < 0:
        raise TypeError(f"rng must be a non-negative integer or a numpy Generator; got {rng!r}.")
    return np.random.default_rng(int(rng))


def as_features(name: str, X: Any, dtype: type[np.floating] = np.float64) -> Any:
    """Return X (n, d) as a finite array of `dtype`, or as canonical CSR if it is sparse.

    An array of Python objects, as pandas makes it of columns of several types, is read by column.
    """
    if not scipy.sparse.issparse(X):
        X = as_floats(name, of_columns(name, X), ndims=(2,), dtype=dtype)
    elif X.ndim != 2:
        raise ValueError(f"{name} must be 2-D; got shape {X.shape}.")
    else:
        X = X.tocsr()
        values = as_floats(name, X.data, ndims=(1,), dtype=dtype)
        X = scipy.sparse.csr_matrix((values, X.indices, X.indptr), shape=X.shape)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
    if 0 in X.shape:
        raise ValueError(f"{name} must have at least one row and one column; got shape {X.shape}.")
    return X


def of_columns(name: str, X: Any) -> NDArray[Any]:
    """Return a 2-D array of Python numbers as floats, and any other array as it is.

    Raises TypeError or ValueError, naming the column, if an object is no finite number.
    """
    array = as_array(name, X)
    if array.dtype.kind != "O" or array.ndim != 2:
        return array
    columns = getattr(X, "columns", range(array.shape[1]))
    for column, entries in zip(columns, array.T, strict=True):
        for entry in entries:
            is_real = isinstance(entry, Real)
            if not (is_real and abs(entry) <= LARGEST):
                raise (ValueError if is_real else TypeError)(
                    f"{name} must hold finite real numbers; got {entry!r} in column {column!r}."
                )
    return array.astype(np.float64)


def of_frame(name: str, values: Any) -> Any:
    """Return a frame's numbers as an array, also from nullable columns; other values unchanged."""
    return of_columns(name, values) if hasattr(values, "dtypes") else values


def is_single(values: Any) -> bool:
    """Return whether numbers are float32: an array of either byte order, or all columns of a frame.

    The types of nullable columns count, too.
    """
    types = getattr(values, "dtypes", [getattr(values, "dtype", None)])
    plain = [getattr(one, "numpy_dtype", one) for one in types]
    return bool(plain) and all(getattr(one, "name", str(one)).lower() == "float32" for one in plain)


def as_rho(name: str, value: Any) -> tuple[float, ...]:
    """Return `value` as the weights rho of a loss   (K19 section 4).

    They are non-increasing, non-negative and not all zero.
    """
    rho = as_floats(name, value, ndims=(1,))
    if len(rho) == 0:
        raise ValueError(f"{name} must hold at least one weight; got an empty sequence.")
    if rho.min() < 0:
        raise ValueError(f"{name} must be non-negative; got {rho.min()}.")
    rising = np.flatnonzero(np.diff(rho) > 0)
    if len(rising):
        j = rising[0]
        raise ValueError(f"{name} must be non-increasing; got {rho[j]} followed by {rho[j + 1]}.")
    if rho[0] == 0:
        raise ValueError(f"{name} must not be all zero; got {len(rho)} zeros.")
    if rho[0] < SMALLEST:
        raise ValueError(f"{name} must start with at least {SMALLEST}; got {rho[0]}.")
    return tuple(rho.tolist())


def checked_sample_weight(sample_weight: Any, n: int) -> Floats:
    """Return omega, (n,): the given weights, or ones for None."""
    if sample_weight is None:
        return np.ones(n)
    omega = as_floats("sample_weight", sample_weight, ndims=(1,)).copy()
    if len(omega) != n:
        raise ValueError(f"sample_weight must have one weight a row of X, {n}; got {len(omega)}.")
    if omega.min() < 0:
        raise ValueError(f"sample_weight must be non-negative; got {omega.min()}.")
    if omega[omega > 0].min(initial=1.0) < SMALLEST:
        raise ValueError(f"sample_weight must be 0 or at least {SMALLEST}; got a smaller weight.")
    if not omega.any():
        raise ValueError(f"sample_weight must not be all zero; got {n} zeros.")
    return omega
