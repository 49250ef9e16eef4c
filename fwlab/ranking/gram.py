"""Hold kernel matrices of the training rows: stored, through the rows of X, or column by column.

Each kind offers products with K, the diagonal of K, some columns and rows of K, and bounds of the
rounding errors of its products (fwlab.ranking.rounding).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_matrix

from fwlab.arrays import Floats, Integers
from fwlab.operators.sums import MARGIN, UNDERFLOW, UNIT, gamma, norms_above

CHUNK = 1024
PART = 64  # terms of a sum in parts
EXP_ERROR = 9 * UNIT  # relative, of 4 units in the last place
SMALL = 5e-3  # a bound of h below which exp(h) is at most MARGIN
SMALLEST_NORMAL = float(np.finfo(float).tiny)


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

    def matrix(self) -> Floats:
        """Return K, (n, n); the caller must not change it."""


@dataclass(frozen=True, eq=False)
class StoredGram:
    """K as an array."""

    K: Floats

    @property
    def size(self) -> int:
        return len(self.K)

    def product(self, c: Floats) -> Floats:
        return self.K @ c

    def product_with_errors(self, c: Floats) -> tuple[Floats, Floats]:
        """Return K c, summed in parts, and bounds of the errors of its entries, (n,) each."""
        out, sizes = np.zeros(self.size), np.zeros(self.size)
        for rows in chunks(np.flatnonzero(c), PART):
            K = self.K[:, rows]
            out += K @ c[rows]
            sizes += np.abs(K) @ np.abs(c[rows])
        return out, _rounding_in_parts(c) * sizes + self.size * UNDERFLOW

    def diagonal(self) -> Floats:
        return np.ascontiguousarray(self.K.diagonal())

    def column(self, i: int) -> Floats:
        return self.K[i]

    def block(self, rows: Integers) -> Floats:
        return self.K[:, rows]

    def restricted(self, rows: Integers) -> Floats:
        return self.K[np.ix_(rows, rows)]

    def matrix(self) -> Floats:
        return self.K


@dataclass(frozen=True, eq=False)
class LinearGram:
    """K = X X^T for a dense or CSR X."""

    X: Any

    @property
    def size(self) -> int:
        return self.X.shape[0]

    def product(self, c: Floats) -> Floats:
        return self.X @ (self.X.T @ c)

    def score_errors(self, w: Floats) -> Floats:
        """Return bounds of the errors of the entries of X w, (n,)."""
        sums = [np.abs(self.X[rows]) @ np.abs(w) for rows in chunks(np.arange(self.size))]
        return np.asarray(_rounding(w) * np.concatenate(sums) + len(w) * UNDERFLOW)

    def link_errors(self, c: Floats) -> Floats:
        """Return bounds of the errors of the entries of X^T c, (d,)."""
        sums = np.zeros(self.X.shape[1])
        for rows in chunks(np.arange(self.size)):
            sums += np.abs(self.X[rows]).T @ np.abs(c[rows])
        return np.asarray(_rounding(c) * sums + self.size * UNDERFLOW)

    def diagonal(self) -> Floats:
        return _square_norms(self.X)

    def column(self, i: int) -> Floats:
        return self.block(np.array([i]))[:, 0]

    def block(self, rows: Integers) -> Floats:
        return _dense(self.X @ self.X[rows].T)

    def restricted(self, rows: Integers) -> Floats:
        return _dense(self.X[rows] @ self.X[rows].T)

    def matrix(self) -> Floats:
        return _dense(self.X @ self.X.T)


@dataclass(eq=False)
class RbfGram:
    """K_ij = exp(-sigma |x_i - x_j|^2), stored as an array if half of max_gram_memory holds it.

    Otherwise columns are computed on demand, and the first columns are kept until it is full.
    Squared distances are computed from centred rows: otherwise a large offset that all rows
    share would cancel, and the distances would lose their digits. `shift` is subtracted from every
    row.
    """

    X: Any
    sigma: float
    max_gram_memory: int
    shift: Floats = field(init=False)
    rows: Any = field(init=False)
    norms: Floats = field(init=False)
    stored: Floats | None = field(init=False, default=None)
    kept: dict[int, Floats] = field(init=False, default_factory=dict)
    last: tuple[Floats, Floats] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.shift = shift_of(self.X)
        self.rows = centred(self.X, self.shift)
        self.norms = _square_norms(self.rows)
        if 16 * self.size**2 <= self.max_gram_memory:
            self.stored = self.restricted(np.arange(self.size))

    @property
    def size(self) -> int:
        return self.X.shape[0]

    @property
    def capacity(self) -> int:
        """The number of columns that may be kept."""
        return self.max_gram_memory // (8 * self.size)

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
        K = rbf_kernel(self.rows[rows], self.rows[rows], self.sigma)
        K[np.diag_indices_from(K)] = 1.0
        return K

    def matrix(self) -> Floats:
        return self.restricted(np.arange(self.size)) if self.stored is None else self.stored

    def product_with_errors(self, c: Floats) -> tuple[Floats, Floats]:
        """Return K c, summed in parts, and bounds of its errors, which include K's, (n,) each."""
        rounding, r = _rounding_in_parts(c), norms_above(self.norms)
        out, errors = np.zeros(self.size), np.full(self.size, self.size * UNDERFLOW)
        for rows in chunks(np.flatnonzero(c), PART):
            K, sizes = self.block(rows), np.abs(c[rows])
            out += K @ c[rows]
            errors += rounding * (K @ sizes)
            K[rows, np.arange(len(rows))] = 0.0  # these entries are 1 without an error
            errors += self._errors_of_entries(K, r, rows, sizes)
        return out, errors

    def _errors_of_entries(self, K: Floats, r: Floats, rows: Integers, sizes: Floats) -> Floats:
        """Return bounds of |error of K| sizes, (n,), for some columns K (n, len(rows)), norms r.

        An entry has the error K (h exp(h) + EXP_ERROR) or less, h = steep (r + s)^2 + flat.
        """
        d, s = self.X.shape[1], r[rows]
        steep, flat = self.sigma * gamma(d + 8), 4 * self.sigma * d * UNDERFLOW
        if steep * (r.max() + s.max()) ** 2 + flat < SMALL:  # exp(h) and all rounding: MARGIN^2
            steep, flat = MARGIN**2 * steep, MARGIN**2 * (flat + EXP_ERROR)
            sums = (K @ np.stack([sizes, s * sizes, s * s * sizes], axis=1)).T
            entries = (steep * r * r + flat) * sums[0] + steep * (2 * r * sums[1] + sums[2])
            return np.asarray(entries + SMALLEST_NORMAL * sizes.sum())
        h = steep * np.square(r[:, None] + s) + flat
        near = (K + SMALLEST_NORMAL) * (h * np.exp(np.minimum(h, 1.0)) + EXP_ERROR)
        h = np.where(h < 1, np.minimum(near, 1.0), 1.0)  # all entries are in [0, 1]
        h[rows, np.arange(len(rows))] = 0.0
        return np.asarray(h @ sizes)

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
        columns = rbf_kernel(self.rows[rows], self.rows, self.sigma, self.norms[rows], self.norms)
        columns[np.arange(len(rows)), rows] = 1.0
        return columns

    def _keep(self, rows: Integers, columns: Floats) -> None:
        room = max(0, self.capacity - len(self.kept))
        for i, column in zip(rows[:room], columns, strict=False):
            self.kept[int(i)] = column.copy()


def shift_of(X: Any) -> Floats:
    """Return the shift to subtract from all rows before distances are computed, (d,).

    It is the mean of the rows; in a sparse X only the columns that are stored in full have a shift.
    """
    if isinstance(X, np.ndarray):
        return np.asarray(X.mean(axis=0))
    full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    return np.where(full, np.asarray(X.mean(axis=0)).ravel(), 0.0)


def centred(X: Any, shift: Floats) -> Any:
    """Return the rows of X minus shift (d,); a sparse X stays sparse."""
    if isinstance(X, np.ndarray):
        return X - shift
    if not shift.any():
        return X
    return csr_matrix(X - csr_matrix(np.ones((X.shape[0], 1))) @ csr_matrix(shift))


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
    with np.errstate(over="ignore"):
        K *= -sigma
    return np.exp(K, out=K)


def chunks(rows: Integers, size: int = CHUNK) -> Iterator[Integers]:
    """Yield the rows in chunks whose columns take little memory."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _rounding(c: Floats) -> float:
    """Return the relative error of a sum of products with c; products with 0 are exact."""
    return float(gamma(np.count_nonzero(c) + 1))


def _rounding_in_parts(c: Floats) -> float:
    """Return the relative error of such a sum in parts of PART terms."""
    count = int(np.count_nonzero(c))
    return float(gamma(min(count, PART) + count / PART + 3))


def _square_norms(X: Any) -> Floats:
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X)
    return np.asarray(X.power(2).sum(axis=1)).ravel()


def _dense(product: Any) -> Floats:
    return product if isinstance(product, np.ndarray) else product.toarray()
