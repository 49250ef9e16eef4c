"""scikit-learn's validation of X and y, from scikit-learn 1.5 on."""

from functools import cache
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from fwlab.arrays import is_tensor, on_host
from fwlab.checks.arguments import is_single, of_tensor
from fwlab.checks.labels import one_column, plain_labels
from fwlab.estimators.tensors import (
    SWITCH,
    advice,
    beside_arrays,
    floating,
    is_dispatched,
    keeps_tensor,
    plain_rows,
    require_beside,
    training_labels,
)
from fwlab.problem_input import STORAGES

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before 1.6 it is a method

    def validate_data(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        """Return X, or X and y, checked by the estimator."""
        return estimator._validate_data(X, y, **options)


def training_samples(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Return the samples X, as an array or CSR, and the labels y (n,) of a fit.

    X has the type of its storage. A precomputed Gram matrix may stay float32: it is symmetric and
    positive semidefinite only up to the rounding of its own type. The labels are read from y
    itself, because scikit-learn turns a list of strings and numbers into strings, and large
    integers beside floats into floats. Tensors may stay tensors (fwlab.estimators.tensors).
    """
    if keeps_tensor(estimator, X):
        X = validate_data(estimator, plain_rows("X", X), dtype=None)
        y = training_labels(X, y)
        check_targets(np.asarray(on_host(y)))
        return floating(X), y
    X = of_tensor("X", X, advice(estimator, X))
    is_gram = isinstance(estimator.kernel, str) and estimator.kernel == "precomputed"
    single = _storage_of(estimator, X) == "float32" or (is_gram and is_single(X))
    dtype = np.float32 if single else np.float64
    y = one_column(beside_arrays("y", y))
    require_present(y)
    require_real(X)
    X, checked = validate_data(estimator, X, y, accept_sparse="csr", dtype=dtype)
    check_targets(checked)
    return X, plain_labels(y)


def require_present(y: Any) -> None:
    """Raise TypeError for labels that are objects of several kinds: a missing one has its own.

    scikit-learn compares such labels, which fails with another library's sentence.
    """
    try:
        labels = np.asarray(y)
    except (TypeError, ValueError, RuntimeError):
        return  # whoever reads it says what is wrong
    if labels.dtype.kind == "O" and labels.ndim == 1 and labels.size:
        plain_labels(y)


def require_real(X: Any) -> None:
    """Raise ValueError for complex samples; scikit-learn prints all of them."""
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise ValueError(f"Complex data not supported: X must be real; got dtype {X.dtype}.")


def check_targets(labels: np.ndarray) -> None:
    """Raise ValueError if scikit-learn takes the labels for a regression's; many give a warning."""
    # the check takes longer than all others; it refuses no such labels, and warns about many
    if labels.dtype.kind not in "iubU" or 2 * len(np.unique(labels)) > len(labels):
        check_classification_targets(labels)


def _storage_of(estimator: Any, X: Any) -> str:
    """Return the type in which a fit stores samples; only machines of features have a choice.

    Raises ValueError for a storage that is none, or is not for this kernel.
    """
    storage = getattr(estimator, "storage", "float64")
    is_linear = isinstance(estimator.kernel, str) and estimator.kernel == "linear"
    if storage is None:
        return "float32" if is_linear and is_single(X) else "float64"
    if not isinstance(storage, str) or storage not in STORAGES:
        raise ValueError(f"storage must be None or one of {STORAGES}; got {storage!r}.")
    if storage == "float32" and not is_linear:
        raise ValueError(
            f'storage must be None or "float64" with kernel={estimator.kernel!r}; got "float32".'
        )
    return storage


def parameters_of(estimator: Any) -> dict[str, Any]:
    """Return what `get_params(deep=False)` does, which reads the signature each time."""
    kind: Any = type(estimator)
    return {name: getattr(estimator, name) for name in _parameter_names(kind)}


@cache
def _parameter_names(cls: Any) -> tuple[str, ...]:
    return tuple(cls._get_param_names())


def new_samples(estimator: Any, X: Any, *, method: str = "", single: bool = False) -> Any:
    """Return the samples X of a prediction, as float64 or CSR; `single` leaves float32 alone.

    Where coef_ is a tensor and tensors stay tensors, X must be one beside it. `method` is the name
    of the prediction, for the sentence that refuses another X.
    """
    has_tensors = is_tensor(getattr(estimator, "coef_", None))
    if has_tensors and is_dispatched():
        require_beside(estimator, X, method)
        X = validate_data(estimator, plain_rows("X", X), dtype=None, reset=False)
        return floating(X)
    X = of_tensor("X", X, f", or leave it there with {SWITCH}" if has_tensors else "")
    require_real(X)
    dtype = np.float32 if single and is_single(X) else np.float64
    return validate_data(estimator, X, accept_sparse="csr", dtype=dtype, reset=False)
