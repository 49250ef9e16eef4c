"""Normalise data sets in place: rows to length 1, or features to mean 0 and variance 1.

Values are first scaled by exact powers of two, so that no square overflows or underflows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import sparse

from fwlab.arrays import Floats, Integers
from fwlab.datasets.contents import Parts

NORMALIZATIONS = (None, "unit", "standard")


def check_normalize(normalize: str | None, is_sparse: bool = False) -> None:
    """Raise ValueError for an unknown normalisation, or for "standard" with sparse features."""
    if normalize not in NORMALIZATIONS:
        raise ValueError(f"normalize must be None, 'unit' or 'standard'; got {normalize!r}.")
    if is_sparse and normalize == "standard":
        raise ValueError(
            "normalize must be None or 'unit' for sparse data, because centring would destroy "
            "their sparsity; got 'standard'."
        )


@dataclass(frozen=True, eq=False)
class Scaling:
    """A normalisation, with what "standard" has learned from the features of the train part.

    A feature x becomes (2^-exponent (x - origin) - mean) / deviation, each of these (d,).
    """

    normalize: str | None = None
    origin: Floats | None = None
    exponent: Integers | None = None
    mean: Floats | None = None
    deviation: Floats | None = None

    @classmethod
    def fitted(cls, normalize: str | None, train: Any) -> Scaling:
        """Return the normalisation of a train part (n, d). Raises ValueError if it overflows."""
        check_normalize(normalize, is_sparse=sparse.issparse(train))
        if normalize != "standard":
            return cls(normalize)
        # Subtracting a row first makes constant features exactly zero, and avoids cancellation if
        # a mean is far from zero.
        origin = train[0].copy()
        with np.errstate(over="ignore", invalid="ignore"):
            moved = train - origin
            exponent = np.frexp(_largest(moved, axis=0))[1]
            np.ldexp(moved, -exponent, out=moved)
            mean = moved.mean(axis=0)
            moved -= mean
            deviation = np.sqrt(np.einsum("ij,ij->j", moved, moved) / len(moved))
        return cls(normalize, origin, exponent, mean, np.where(deviation == 0.0, 1.0, deviation))

    @classmethod
    def from_dict(cls, parts: Mapping[str, Any]) -> Scaling:
        """Return the normalisation whose `as_dict` returned these parts, each finite.

        Raises ValueError if they are not all the parts of a known normalisation.
        """
        scaling = cls(**{"normalize": None, **parts})
        check_normalize(scaling.normalize)
        learned = {part.name for part in fields(cls)} if scaling.normalize == "standard" else set()
        if learned - {"normalize"} != set(parts) - {"normalize"}:
            raise ValueError(f"normalize={scaling.normalize!r} does not fit the other parts.")
        if scaling.deviation is not None and not (scaling.deviation > 0.0).all():
            raise ValueError("a deviation must be > 0.")
        return scaling

    def apply(self, X: Any) -> None:
        """Normalise features (n, d) in place; they are float64, C-ordered or CSR."""
        if self.normalize == "unit":
            _unit_rows(X)
        elif self.normalize == "standard":
            assert self.origin is not None and self.exponent is not None
            with np.errstate(over="ignore", invalid="ignore"):
                X -= self.origin
                np.ldexp(X, -self.exponent, out=X)
                X -= self.mean
                X /= self.deviation
            if not np.isfinite(X).all():
                raise ValueError(
                    "normalize='standard' overflows float64: a feature's values are too large."
                )

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes that are not None, by name."""
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: value for name, value in parts.items() if value is not None}


def normalize_parts(parts: Parts, normalize: str | None) -> Scaling:
    """Normalise the features of every part in place, and return the `Scaling`."""
    check_normalize(normalize, is_sparse=any(sparse.issparse(X) for X, _ in parts.values()))
    scaling = Scaling.fitted(normalize, parts["train"][0])
    for X, _ in parts.values():
        scaling.apply(X)
    return scaling


def _unit_rows(X: Any) -> None:
    """Divide every row by its Euclidean length; a zero row stays zero."""
    if not sparse.issparse(X):
        exponent = np.frexp(_largest(X, axis=1))[1]
        np.ldexp(X, -exponent[:, None], out=X)
        norm = np.sqrt(np.einsum("ij,ij->i", X, X))
        X /= np.where(norm == 0.0, 1.0, norm)[:, None]
        return
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    peak = np.zeros(X.shape[0])
    np.maximum.at(peak, row, np.abs(X.data))
    np.ldexp(X.data, -np.frexp(peak)[1][row], out=X.data)
    norm = np.sqrt(np.bincount(row, weights=X.data**2, minlength=X.shape[0]))
    X.data /= np.where(norm == 0.0, 1.0, norm)[row]


def _largest(X: np.ndarray, axis: int) -> np.ndarray:
    """Return the largest absolute value along an axis, without a copy of X."""
    return np.asarray(np.maximum(X.max(axis=axis), -X.min(axis=axis)))
