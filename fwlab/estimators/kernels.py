"""Gram matrices and the constant feature of the estimators."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_floats, as_real

NAMES = ("linear", "rbf", "precomputed")


def gamma_of(kernel: Any, gamma: Any, X: Any) -> float:
    """Return the number that gamma stands for on the training samples X (n, d); 0 if unused.

    Raises ValueError for a kernel or a gamma that is not known.
    """
    if not (callable(kernel) or (isinstance(kernel, str) and kernel in NAMES)):
        raise ValueError(f"kernel must be callable or one of {', '.join(NAMES)}; got {kernel!r}.")
    if kernel != "rbf":
        return 0.0
    if not isinstance(gamma, str):
        return as_real("gamma", gamma, positive=True)
    if gamma not in ("scale", "auto"):
        raise ValueError(f'gamma must be "scale", "auto" or a positive number; got {gamma!r}.')
    variance = variance_of(X) if gamma == "scale" else 1.0
    return float(1.0 / (X.shape[1] * (variance or 1.0)))


def variance_of(X: Any) -> float:
    """Return the variance of all entries of X."""
    if not sp.issparse(X):
        return float(X.var())
    return float(X.multiply(X).mean() - X.mean() ** 2)


def gram_between(kernel: Any, gamma: float, X: Any, samples: Any) -> Floats:
    """Return the Gram matrix of X (n, d) with the training samples; X if it is precomputed."""
    if isinstance(kernel, str) and kernel == "precomputed":
        return np.asarray(X.toarray() if sp.issparse(X) else X)
    if isinstance(kernel, str):
        return np.asarray(rbf_kernel(X, samples, gamma=gamma))
    gram = as_floats("kernel(X, samples)", kernel(X, samples), ndims=(2,))
    if gram.shape != (X.shape[0], samples.shape[0]):
        raise ValueError(
            f"kernel must return an array {(X.shape[0], samples.shape[0])}; got {gram.shape}."
        )
    return gram


def with_constant(X: Any, constant: float) -> Any:
    """Return X with a column of this constant, X itself for 0."""
    if not constant:
        return X
    column = np.full((X.shape[0], 1), constant)
    return sp.hstack([X, column], format="csr") if sp.issparse(X) else np.hstack([X, column])
