"""Kernel matrices of the training rows: stored, through the rows of X, or column by column.

Each kind offers products with K, the diagonal of K, and some columns and rows of K.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fwlab.arrays import Floats, Integers

CHUNK = 1024


class Gram(Protocol):
    """A positive semidefinite kernel matrix K (n, n)."""

    @property
    def size(self) -> int: ...

    def product(self, c: Floats) -> Floats:
        """Return K c, (n,)."""

    def diagonal(self) -> Floats:
        """Return the diagonal of K, (n,)."""

    def column(self, i: int) -> Floats:
        """Return column i of K, (n,); the caller must not change it."""

    def block(self, rows: Integers) -> Floats:
        """Return the columns `rows` of K, (n, len(rows))."""

    def restricted(self, rows: Integers) -> Floats:
        """Return K at these rows and columns, (len(rows), len(rows))."""


@dataclass(frozen=True, eq=False)
class StoredGram:
    """K as an array."""

    K: Floats

    @property
    def size(self) -> int:
        return len(self.K)

    def product(self, c: Floats) -> Floats:
        return self.K @ c

    def diagonal(self) -> Floats:
        return np.ascontiguousarray(self.K.diagonal())

    def column(self, i: int) -> Floats:
        return self.K[i]

    def block(self, rows: Integers) -> Floats:
        return self.K[:, rows]

    def restricted(self, rows: Integers) -> Floats:
        return self.K[np.ix_(rows, rows)]


@dataclass(frozen=True, eq=False)
class LinearGram:
    """K = X X^T for a dense or CSR X."""

    X: Any

    @property
    def size(self) -> int:
        return self.X.shape[0]

    def product(self, c: Floats) -> Floats:
        return self.X @ (self.X.T @ c)

    def diagonal(self) -> Floats:
        return _square_norms(self.X)

    def column(self, i: int) -> Floats:
        return self.block(np.array([i]))[:, 0]

    def block(self, rows: Integers) -> Floats:
        return _dense(self.X @ self.X[rows].T)

    def restricted(self, rows: Integers) -> Floats:
        return _dense(self.X[rows] @ self.X[rows].T)


@dataclass(eq=False)
class RbfGram:
    """K_ij = exp(-sigma |x_i - x_j|^2), stored as an array if half of max_memory holds it.

    Otherwise columns are computed on demand, and the first ones are kept until max_memory is full.
    """

    X: Any
    sigma: float
    max_memory: int
    norms: Floats = field(init=False)
    stored: Floats | None = field(init=False, default=None)
    kept: dict[int, Floats] = field(init=False, default_factory=dict)
    last: tuple[Floats, Floats] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.norms = _square_norms(self.X)
        if 16 * self.size**2 <= self.max_memory:
            self.stored = self.restricted(np.arange(self.size))

    @property
    def size(self) -> int:
        return self.X.shape[0]

    @property
    def capacity(self) -> int:
        """The number of columns that may be kept."""
        return self.max_memory // (8 * self.size)

    def product(self, c: Floats) -> Floats:
        if self.stored is not None:
            return self.stored @ c
        if self.last is None or not np.array_equal(c, self.last[0]):
            self.last = c.copy(), self._product(c)
        return self.last[1].copy()

    def diagonal(self) -> Floats:
        return np.ones(self.size)

    def column(self, i: int) -> Floats:
        if self.stored is not None:
            return self.stored[i]
        if i in self.kept:
            return self.kept[i]
        rows = np.array([i])
        columns = self._columns(rows)
        self._keep(rows, columns)
        return columns[0]

    def block(self, rows: Integers) -> Floats:
        if self.stored is not None:
            return self.stored[:, rows]
        return self._columns(rows).T

    def restricted(self, rows: Integers) -> Floats:
        if self.stored is not None:
            return self.stored[np.ix_(rows, rows)]
        K = rbf_kernel(self.X[rows], self.X[rows], self.sigma)
        K[np.diag_indices_from(K)] = 1.0
        return K

    def _product(self, c: Floats) -> Floats:
        out, rows = np.zeros(self.size), np.flatnonzero(c)
        is_kept = np.array([i in self.kept for i in rows], dtype=bool)
        for i in rows[is_kept]:
            out += c[i] * self.kept[i]
        for chunk in chunks(rows[~is_kept]):
            columns = self._columns(chunk)
            out += c[chunk] @ columns
            self._keep(chunk, columns)
        return out

    def _columns(self, rows: Integers) -> Floats:
        """Return columns of K, one per row of the result, (len(rows), n)."""
        columns = rbf_kernel(self.X[rows], self.X, self.sigma, self.norms[rows], self.norms)
        columns[np.arange(len(rows)), rows] = 1.0
        return columns

    def _keep(self, rows: Integers, columns: Floats) -> None:
        room = max(0, self.capacity - len(self.kept))
        for i, column in zip(rows[:room], columns, strict=False):
            self.kept[int(i)] = column.copy()


def rbf_kernel(
    X: Any, Z: Any, sigma: float, X_norms: Floats | None = None, Z_norms: Floats | None = None
) -> Floats:
    """Return exp(-sigma |x - z|^2) for the rows x of X and z of Z, (len(X), len(Z)).

    Parameters
    ----------
    X, Z : arrays or CSR matrices (n, d), (n_new, d)
    sigma : float
    X_norms, Z_norms : arrays (n,), (n_new,), optional
        The squared norms of the rows, if the caller has them.
    """
    K = _dense(X @ Z.T)
    K *= -2
    K += (_square_norms(X) if X_norms is None else X_norms)[:, None]
    K += _square_norms(Z) if Z_norms is None else Z_norms
    np.maximum(K, 0, out=K)  # rounding must not make a squared distance negative
    K *= -sigma
    return np.exp(K, out=K)


def chunks(rows: Integers) -> Iterator[Integers]:
    """Yield the rows in chunks whose columns take little memory."""
    for start in range(0, len(rows), CHUNK):
        yield rows[start : start + CHUNK]


def _square_norms(X: Any) -> Floats:
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X)
    return np.asarray(X.power(2).sum(axis=1)).ravel()


def _dense(product: Any) -> Floats:
    return product if isinstance(product, np.ndarray) else product.toarray()
