"""Keep what an estimator was fitted with, and its certificate as long as that holds.

A fitted estimator predicts from its public attributes, such as coef_ and intercept_, so that code
which averages or prunes machines works. The certificate is about the values that `fit` left there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fwlab.arrays import Floats


@dataclass(frozen=True, eq=False)
class Trained:
    """The outcome of a fit.

    Attributes
    ----------
    parameters : dict
        The estimator's parameters at the time of the fit.
    public : dict of array
        Copies of the attributes from which the estimator predicts, by name.
    gap, gap_error : float
        The certificate.
    """

    parameters: Mapping[str, Any]
    public: Mapping[str, Floats]
    gap: float
    gap_error: float


class Certified:
    """Base class of estimators whose certificate ends when their public attributes change."""

    _trained: Trained

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
            if not np.array_equal(as_dense(getattr(self, attribute, np.nan)), fitted):
                return (
                    f"{name} is about the machine that `fit` left, and {attribute} has changed "
                    "since."
                )
        return None

    def _keep_trained(self, trained: Trained) -> None:
        """Set the public attributes in place of an earlier fit's."""
        if self.__sklearn_is_fitted__():
            for name in self._trained.public:
                vars(self).pop(name, None)
        for name, array in trained.public.items():
            setattr(self, name, array.copy())
        self._trained = trained

    def __sklearn_is_fitted__(self) -> bool:
        return "_trained" in vars(self)


def as_dense(values: Any) -> np.ndarray:
    """Return coefficients, perhaps made sparse by the user, as an array."""
    return np.asarray(values.toarray() if sp.issparse(values) else values)


def public_scores(X: Any, estimator: Any, name: str) -> Floats:
    """Return X @ coef.T + intercept_ with the public coefficients of this name, (n, rows).

    Raises ValueError if one of the two has another shape than the fit gave it.
    """
    coef, intercept = as_dense(getattr(estimator, name)), as_dense(estimator.intercept_)
    shape = estimator._trained.public[name].shape
    if coef.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, as `fit` left it; got {coef.shape}.")
    if intercept.shape not in ((), (1,), shape[:1]):
        raise ValueError(
            f"intercept_ must be a number or have shape {shape[:1]}; got {intercept.shape}."
        )
    scores: Floats = np.asarray(X @ coef.T) + intercept
    return scores
