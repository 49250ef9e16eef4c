"""Kernel matrices of the training rows: stored, through the rows of X, or column by column.

Each kind offers products with K, its diagonal, single columns, and the kernel with new rows.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fwlab._validation import Floats, Integers

CHUNK = 1024


class Gram(Protocol):
    """A positive semidefinite kernel matrix K (n, n)."""

    @property
    def size(self) -> int: ...

    def product(self, c: Floats) -> Floats:
        """K c, (n,)."""

    def diagonal(self) -> Floats:
        """(n,)."""

    def column(self, i: int) -> Floats:
        """K e_i, (n,); not to be changed."""

    def block(self, rows: Integers) -> Floats:
        """Columns of K, (n, len(rows))."""

    def restricted(self, rows: Integers) -> Floats:
        """Rows and columns of K, (len(rows), len(rows))."""

    def scores(self, c: Floats, new: Any) -> Floats:
        """Kernel of the new rows with the training rows, times c."""


@dataclass(frozen=True, eq=False)
class StoredGram:
    """K as it was given; new rows are rows of kernel values, in the order `order` of the user."""

    K: Floats
    order: Integers

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

    def scores(self, c: Floats, new: Any) -> Floats:
        return new[:, self.order] @ c


@dataclass(frozen=True, eq=False)
class LinearGram:
    """K = X X^T for dense or CSR rows."""

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

    def scores(self, c: Floats, new: Any) -> Floats:
        return new @ (self.X.T @ c)


@dataclass(eq=False)
class RbfGram:
    """K_ij = exp(-sigma |x_i - x_j|^2), stored if half of max_memory holds it. Otherwise columns
    are computed on demand, and the last used ones are kept."""

    X: Any
    sigma: float
    max_memory: int
    norms: Floats = field(init=False)
    stored: Floats | None = field(init=False, default=None)
    kept: OrderedDict[int, Floats] = field(init=False, default_factory=OrderedDict)

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
        return max(2, self.max_memory // (8 * self.size))

    def product(self, c: Floats) -> Floats:
        if self.stored is not None:
            return self.stored @ c
        return self._against(self.X, self.norms, np.flatnonzero(c), c)

    def diagonal(self) -> Floats:
        return np.ones(self.size)

    def column(self, i: int) -> Floats:
        if self.stored is not None:
            return self.stored[i]
        if i in self.kept:
            self.kept.move_to_end(i)
        else:
            self.kept[i] = self.block(np.array([i]))[:, 0]
            if len(self.kept) > self.capacity:
                self.kept.popitem(last=False)
        return self.kept[i]

    def block(self, rows: Integers) -> Floats:
        if self.stored is not None:
            return self.stored[:, rows]
        K = self._kernel(self.X, self.norms, rows)
        K[rows, np.arange(len(rows))] = 1.0
        return K

    def restricted(self, rows: Integers) -> Floats:
        if self.stored is not None:
            return self.stored[np.ix_(rows, rows)]
        K = self._kernel(self.X[rows], self.norms[rows], rows)
        K[np.diag_indices_from(K)] = 1.0
        return K

    def scores(self, c: Floats, new: Any) -> Floats:
        return self._against(new, _square_norms(new), np.flatnonzero(c), c)

    def _against(self, Z: Any, norms: Floats, rows: Integers, c: Floats) -> Floats:
        """k(Z, X) c, some rows of X at a time."""
        out = np.zeros(Z.shape[0])
        for start in range(0, len(rows), CHUNK):
            chunk = rows[start : start + CHUNK]
            out += self._kernel(Z, norms, chunk) @ c[chunk]
        return out

    def _kernel(self, Z: Any, norms: Floats, rows: Integers) -> Floats:
        """k(Z, X[rows]); rounding must not make a squared distance negative."""
        K = _dense(Z @ self.X[rows].T)
        K *= -2
        K += norms[:, None]
        K += self.norms[rows]
        np.maximum(K, 0, out=K)
        K *= -self.sigma
        return np.exp(K, out=K)


def _square_norms(X: Any) -> Floats:
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X)
    return np.asarray(X.power(2).sum(axis=1)).ravel()


def _dense(product: Any) -> Floats:
    return product if isinstance(product, np.ndarray) else product.toarray()
