"""Keep what an estimator was fitted with, and its certificate as long as that holds.

A fitted estimator predicts from its public attributes, such as coef_ and intercept_, so that code
which averages or prunes machines works. The certificate is about the values that `fit` left there.
"""

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from fwlab.arrays import Floats, copied, is_tensor, like, on_host
from fwlab.checks.arguments import as_array, as_floats
from fwlab.operators.tensor_rows import TensorRows

# rows of float32 that are converted at a time
CONVERTED = 1024


@dataclass(frozen=True, eq=False)
class Trained:
    """The outcome of a fit.

    Attributes
    ----------
    parameters : dict
        The estimator's parameters at the time of the fit.
    public : dict of array
        Copies of the attributes from which the estimator predicts, by name; tensors after a fit
        with a tensor.
    gap, gap_error : float
        The certificate.
    """

    parameters: Mapping[str, Any]
    public: Mapping[str, Any]
    gap: float
    gap_error: float


class Certified:
    """Base class of estimators whose certificate ends when their public attributes change."""

    _trained: Trained
    # what a refusal advises
    _advice = ""

    @property
    def duality_gap_(self) -> float:
        """The certified gap of the machine that `fit` left, up to gap_error_."""
        return self._certificate("duality_gap_").gap

    @property
    def gap_error_(self) -> float:
        """A proved bound of the rounding error of duality_gap_."""
        return self._certificate("gap_error_").gap_error

    def _certificate(self, name: str) -> Trained:
        """Return the outcome of the fit. Raises AttributeError if the attribute `name` has none."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"{type(self).__name__} has no {name} before `fit`.")
        if refusal := self._refusal(name):
            raise AttributeError(refusal)
        return self._trained

    def _refusal(self, name: str) -> str | None:
        """Return why `name` holds no more, None if the public attributes are as `fit` left them."""
        for attribute, fitted in self._trained.public.items():
            values = as_dense(attribute, getattr(self, attribute, np.nan))
            if not np.array_equal(values, on_host(fitted)):
                return (
                    f"{name} is about the machine that `fit` left, and {attribute} has changed "
                    f"since{self._advice}."
                )
        return None

    def _keep_trained(self, trained: Trained) -> None:
        """Set the public attributes in place of an earlier fit's."""
        if self.__sklearn_is_fitted__():
            for name in self._trained.public:
                vars(self).pop(name, None)
        for name, array in trained.public.items():
            setattr(self, name, copied(array))
        self._trained = trained

    def _become(self, fitted: Self) -> Self:
        """Take over everything of a fitted copy, so that a fit which fails changes nothing."""
        for name in vars(self).keys() - vars(fitted).keys():
            delattr(self, name)
        vars(self).update(vars(fitted))
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "_trained" in vars(self)


def as_dense(name: str, values: Any) -> np.ndarray:
    """Return coefficients, perhaps a tensor, or made sparse by the user, as an array."""
    return as_array(name, values.toarray() if sp.issparse(values) else on_host(values))


def public_values(estimator: Any, name: str) -> Floats:
    """Return a public attribute as the user has left it; a single intercept_ stands for all.

    Raises TypeError or ValueError if it does not hold finite numbers in the shape of the fit.
    """
    shape = estimator._trained.public[name].shape
    return shaped(name, getattr(estimator, name), shape, or_number=name == "intercept_")


def shaped(name: str, values: Any, shape: tuple[int, ...], *, or_number: bool) -> Floats:
    """Return finite numbers in the shape in which `fit` leaves them; `or_number` allows just one.

    Raises TypeError or ValueError for others.
    """
    array = as_dense(name, values)
    must = f"{name} must {'be a number or ' if or_number else ''}have shape {shape}, as `fit` left"
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{must} it, with real numbers; got {reprlib.repr(values)}.")
    if array.shape != shape and not (or_number and array.shape in ((), (1,))):
        raise ValueError(f"{must} it; got {array.shape}.")
    return np.broadcast_to(as_floats(name, array, ndims=(array.ndim,)), shape)


def public_scores(X: Any, estimator: Any, name: str) -> Any:
    """Return X @ coef.T + intercept_ with the public coefficients of this name, (n, rows).

    The scores of a tensor X are one on its device.
    """
    coef, intercept = public_values(estimator, name), public_values(estimator, "intercept_")
    if is_tensor(X):
        # torch warns of arrays that cannot be written to
        coef, intercept = (like(np.array(values), X) for values in (coef, intercept))
        return TensorRows(X).scores(coef) + intercept
    if sp.issparse(X) or X.dtype == np.float64:
        return np.asarray(X @ coef.T) + intercept
    scores = np.empty((len(X), len(coef)))
    for start in range(0, len(X), CONVERTED):
        rows = slice(start, start + CONVERTED)
        np.matmul(X[rows].astype(np.float64), coef.T, out=scores[rows])
    scores += intercept
    return scores
