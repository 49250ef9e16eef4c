"""scikit-learn's validation of X and y, from scikit-learn 1.5 on."""

from functools import cache
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from fwlab.checks.arguments import is_single, of_tensor
from fwlab.checks.labels import one_column, plain_labels
from fwlab.problem_input import STORAGES

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before 1.6 it is a method

    def validate_data(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        """Return X, or X and y, checked by the estimator."""
        return estimator._validate_data(X, y, **options)


def training_samples(estimator: Any, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """Return the samples X, as an array or CSR, and the labels y (n,) of a fit.

    X has the type of its storage. A precomputed Gram matrix may stay float32: it is symmetric and
    positive semidefinite only up to the rounding of its own type. The labels are read from y
    itself, because scikit-learn turns a list of strings and numbers into strings, and large
    integers beside floats into floats.
    """
    X = of_tensor("X", X)
    is_gram = isinstance(estimator.kernel, str) and estimator.kernel == "precomputed"
    single = _storage_of(estimator, X) == "float32" or (is_gram and is_single(X))
    dtype = np.float32 if single else np.float64
    y = one_column(of_tensor("y", y))
    X, checked = validate_data(estimator, X, y, accept_sparse="csr", dtype=dtype)
    # the check takes longer than all others; it refuses no such labels, and warns about many
    if checked.dtype.kind not in "iubU" or 2 * len(np.unique(checked)) > len(checked):
        check_classification_targets(checked)
    return X, plain_labels(y)


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


def new_samples(estimator: Any, X: Any, *, single: bool = False) -> Any:
    """Return the samples X of a prediction, as float64 or CSR; `single` leaves float32 alone."""
    X = of_tensor("X", X)
    dtype = np.float32 if single and is_single(X) else np.float64
    return validate_data(estimator, X, accept_sparse="csr", dtype=dtype, reset=False)
