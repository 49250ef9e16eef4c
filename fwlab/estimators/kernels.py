"""Gram matrices and the constant feature of the estimators."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from fwlab.arrays import Floats, is_tensor, namespace_of
from fwlab.checks.arguments import as_floats, as_real, is_single, of_frame
from fwlab.operators.tensor_rows import RowsWithConstant

NAMES = ("linear", "rbf", "precomputed")


@dataclass(frozen=True, eq=False)
class FittedKernel:
    """The kernel of a fit, with what it needs of the training samples.

    Attributes
    ----------
    kernel : str or callable
        As the estimator's parameter.
    gamma : float
        The constant of the rbf kernel; 0 if unused.
    samples : array or CSR matrix (n, d), or None
        A copy of the training samples; None if the kernel does not need them.
    constant : float
        The constant feature; 0 without an intercept.
    """

    kernel: Any
    gamma: float
    samples: Any
    constant: float

    @classmethod
    def of(cls, parameters: Mapping[str, Any], X: Any) -> Self:
        """Return the kernel that an estimator's parameters describe, for training samples X.

        Raises TypeError or ValueError for a parameter that is not as described.
        """
        kernel = parameters["kernel"]
        gamma = gamma_of(kernel, parameters["gamma"], X)
        constant = 0.0
        if parameters["fit_intercept"]:
            constant = as_real("intercept_scaling", parameters["intercept_scaling"], positive=True)
            if isinstance(kernel, str) and kernel == "linear":
                constant = _in_type_of(X, constant)
        needs_samples = not isinstance(kernel, str) or kernel == "rbf"
        return cls(kernel, gamma, X.copy() if needs_samples else None, constant)

    @property
    def is_linear(self) -> bool:
        """Whether the machine has weights of features."""
        return isinstance(self.kernel, str) and self.kernel == "linear"

    def features(self, X: Any) -> Any:
        """Return X, or its Gram matrix with the training samples, with the constant feature."""
        if self.is_linear:
            return with_constant(X, self.constant)
        gram = self.gram(X)
        return gram + self.constant**2 if self.constant else gram

    def gram(self, X: Any) -> Floats:
        """Return the Gram matrix of X with the training samples; X if it is precomputed.

        float32 values stay as they are, since a Gram matrix is symmetric up to their rounding.
        """
        if isinstance(self.kernel, str):
            if self.kernel == "precomputed":
                return np.asarray(X.toarray() if sp.issparse(X) else X)
            return np.asarray(rbf_kernel(X, self.samples, gamma=self.gamma))
        given = self.kernel(X, self.samples)
        dtype = np.float32 if is_single(given) else np.float64
        gram = of_frame("kernel(X, samples)", given)
        gram = as_floats("kernel(X, samples)", gram, ndims=(2,), dtype=dtype)
        shape = X.shape[0], self.samples.shape[0]
        if gram.shape != shape:
            raise ValueError(f"kernel must return an array {shape}; got {gram.shape}.")
        return gram


def _in_type_of(X: Any, constant: float) -> float:
    """Return the constant feature as a column of X holds it."""
    xp = namespace_of(X) if is_tensor(X) else np
    limits = xp.finfo(X.dtype)
    low, high = float(limits.smallest_normal), float(limits.max)
    if not low <= constant <= high:
        raise ValueError(
            f"intercept_scaling must be from {low:.3g} to {high:.3g} beside X, which is held in "
            f"{X.dtype}; got {constant!r}."
        )
    return float(xp.asarray([constant], dtype=X.dtype)[0])


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
    variance = (variance_of(X) or 1.0) if gamma == "scale" else 1.0
    return float(1.0 / (X.shape[1] * variance))


def variance_of(X: Any) -> float:
    """Return the variance of all entries of X."""
    if not sp.issparse(X):
        return float(X.var())
    return float(X.multiply(X).mean() - X.mean() ** 2)


def with_constant(X: Any, constant: float) -> Any:
    """Return X with a column of this constant, X itself for 0; a tensor is not copied."""
    if not constant:
        return X
    if is_tensor(X):
        return RowsWithConstant(X, constant)
    column = np.full((X.shape[0], 1), constant, dtype=X.dtype)
    return sp.hstack([X, column], format="csr") if sp.issparse(X) else np.hstack([X, column])
