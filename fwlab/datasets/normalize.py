"""Normalise data sets in place: rows to length 1, or features to mean 0 and variance 1.

Values are first scaled by exact powers of two, so that no square overflows or underflows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from fwlab.datasets.readers import Parts

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


def normalize_parts(parts: Parts, normalize: str | None) -> None:
    """Normalise the features of every part in place; they are float64, C-ordered or CSR."""
    check_normalize(normalize, is_sparse=any(sparse.issparse(X) for X, _ in parts.values()))
    if normalize == "unit":
        for X, _ in parts.values():
            _unit_rows(X)
    elif normalize == "standard":
        _standard_features(parts["train"][0], [X for X, _ in parts.values()])


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


def _standard_features(train: np.ndarray, matrices: list[np.ndarray]) -> None:
    """Centre each feature and divide it by its standard deviation in the train part.

    `matrices` includes `train`. Constant features are only centred.
    """
    # Subtracting a row first makes constant features exactly zero, and avoids cancellation if a
    # mean is far from zero.
    origin = train[0].copy()
    with np.errstate(over="ignore", invalid="ignore"):
        for X in matrices:
            X -= origin
        exponent = np.frexp(_largest(train, axis=0))[1]
        for X in matrices:
            np.ldexp(X, -exponent, out=X)
        mean = train.mean(axis=0)
        for X in matrices:
            X -= mean
        deviation = np.sqrt(np.einsum("ij,ij->j", train, train) / len(train))
        for X in matrices:
            X /= np.where(deviation == 0.0, 1.0, deviation)
    if not all(np.isfinite(X).all() for X in matrices):
        raise ValueError(
            "normalize='standard' overflows float64: a feature's values are too large."
        )


def _largest(X: np.ndarray, axis: int) -> np.ndarray:
    """Return the largest absolute value along an axis, without a copy of X."""
    return np.asarray(np.maximum(X.max(axis=axis), -X.min(axis=axis)))
