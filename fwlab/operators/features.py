"""Compute products with X, for each kind of X: W = A^T X / (lam n), scores X W^T and |W|^2.

For a Gram matrix K there is no W; the link is then A^T K / (lam n), (m, n), the transposed scores.
Each kind also runs its own compiled passes.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from fwlab.arrays import Floats, Integers, is_tensor
from fwlab.kernels.layouts import AnyRows, BlockPaths, Csr, DenseBlocks, RowsToVisit
from fwlab.kernels.products.dense import (
    SUMMED,
    block_entries,
    block_grams,
    nonzeros_product,
    scores_product,
)
from fwlab.kernels.products.sparse import (
    add_row,
    row_scores,
    sparse_scores,
    sparse_transposed_product,
)
from fwlab.kernels.products.vertices import dense_product, sparse_product
from fwlab.kernels.steps.ascent_passes import dense_ascent, sparse_ascent
from fwlab.kernels.steps.bent_path import DENSE, GRAM, SPARSE, first_maximum
from fwlab.kernels.steps.entropy_passes import dense_entropy_pass, sparse_entropy_pass
from fwlab.kernels.steps.norm_passes import dense_norm_pass, sparse_norm_pass
from fwlab.kernels.steps.passes import dense_pass, sparse_pass
from fwlab.kernels.steps.rules import TYPES
from fwlab.operators.features_interface import Features, ScoreWriter
from fwlab.operators.scores import scores_of
from fwlab.operators.sizes import row_maxima
from fwlab.operators.sums import gamma, gamma_in_parts, norms_above, square_in_parts
from fwlab.operators.tensor_rows import TensorRows
from fwlab.threads import sum_of_parts, threads_in_blas

# stand for the other kinds of X in a kernel that takes all of them
_NO_X = np.empty((0, 0))
_NO_CSR = Csr(np.empty(0), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32))
# BLAS computes scores faster from rows below this length, and for this number of classes or more
SHORT_ROWS, MANY_CLASSES = 128, 512
# A^T X skips the zeros of A, if of every 16th row, taken together, less than this share is not 0
LOOKED_AT, MOST_FILLED = 16, 0.3
# U^T X is summed in parts of this many rows per class; adding a part costs a 64th of its products
VERTICES_SUMMED = 64


@dataclass(frozen=True, eq=False)
class DenseFeatures:
    """Rows of a C-ordered array, float64 or float32; sums are float64, except in single passes."""

    X: NDArray

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    @property
    def row_length(self) -> float:
        return self.X.shape[1]

    def rows(self, index: Integers) -> "DenseFeatures":
        return DenseFeatures(_writeable_as(self.X, self.X[index]))

    def square_norms(self) -> Floats:
        return np.einsum("ij,ij->i", self.X, self.X, dtype=np.float64)

    def _suits_blas(self, n_classes: int) -> bool:
        fits = self.X.shape[1] < SHORT_ROWS or n_classes >= MANY_CLASSES
        return fits and self.X.dtype == np.float64

    def transposed_product(self, A: Floats) -> Floats:
        def add(rows: slice, out: Floats) -> None:
            X, part = self.X[rows], A[rows]
            if X.shape[1] >= SHORT_ROWS and np.mean(part[::LOOKED_AT] != 0.0) < MOST_FILLED:
                nonzeros_product(X, part, out)
            else:
                out += part.T @ X.astype(np.float64, copy=False)

        return sum_of_parts(add, len(A), SUMMED, (A.shape[1], self.X.shape[1]))

    def transposed_vertex_product(self, columns: Integers, entries: Floats, m: int) -> Floats:
        def add(rows: slice, out: Floats) -> None:
            dense_product(self.X[rows], columns[rows], entries[rows], out)

        return sum_of_parts(add, len(columns), VERTICES_SUMMED * m, (m, self.X.shape[1]))

    def scores(self, W: Floats) -> Floats:
        return scores_of(self, W)

    def score_writer(self, W: Floats) -> ScoreWriter:
        def write(rows: slice, out: Floats) -> None:
            if self._suits_blas(len(W)):
                np.matmul(self.X[rows], W.T, out=out)
            else:
                scores_product(self.X[rows], W, out)

        return write

    def row_scores(self, i: int, W: Floats) -> Floats:
        return np.asarray(W @ self.X[i])

    def add_row(self, i: int, change: Floats, W: Floats) -> None:
        add_outer(change, self.X[i], W)

    def link_norm(self, W: Floats, A: Floats, lam_n: float) -> float:
        return square_in_parts(W)

    def class_products(self, W: Floats, other: Floats, A: Floats, lam_n: float) -> Floats:
        return np.einsum("ij,ij->i", W, other)

    def row_terms(self) -> int:
        return self.X.shape[1]

    def column_error_norms(self, norms: Floats) -> Floats:
        return gamma_in_parts(len(self.X)) * norms

    def block_grams(self, size: int) -> Floats:
        out = np.zeros((len(self.X), size))
        block_grams(self.X, size, out)
        return out

    def block_pass(
        self, rule: int, order: Integers, grams: Floats, single: bool, *rest: Any
    ) -> None:
        dense_pass(TYPES[rule], order, DenseBlocks(self.X, grams, False, single), *rest)

    def ascent_pass(
        self, rule: int, visit: RowsToVisit, grams: Floats, single: bool, *rest: Any
    ) -> None:
        dense_ascent(TYPES[rule], visit, DenseBlocks(self.X, grams, False, single), *rest)

    def entropy_pass(self, order: Integers, grams: Floats, *rest: Any) -> None:
        dense_entropy_pass(order, DenseBlocks(self.X, grams, False, False), *rest)

    def norm_pass(self, order: Integers, *rest: Any) -> None:
        dense_norm_pass(order, self.X, False, *rest)

    def first_maximum(self, *rest: Any) -> float:
        return first_maximum(AnyRows(DENSE, self.X, _NO_CSR), *rest)


def _writeable_as(whole: NDArray, part: NDArray) -> NDArray:
    """Return `part`, read-only if `whole` is: numba compiles one version for each of the two."""
    part.flags.writeable = whole.flags.writeable
    return part


def add_outer(change: Floats, row: NDArray, W: Floats) -> None:
    """Add change^T row, (m, d), to W in place; classes without a change are not touched."""
    changed = np.flatnonzero(change)
    W[changed] += np.outer(change[changed], row)


def csr_of(X: Any) -> Csr:
    """Return the arrays of a CSR matrix, all of them read-only if one of them is.

    numba then compiles one version for such matrices, and not seven.
    """
    arrays = X.data, X.indices, X.indptr
    if not is_writeable(X):
        arrays = tuple(array.view() for array in arrays)
        for array in arrays:
            array.flags.writeable = False
    return Csr(*arrays)


def is_writeable(X: Any) -> bool:
    """Return whether the array X, or all arrays of the CSR matrix X, can be written to."""
    arrays = (X.data, X.indices, X.indptr) if scipy.sparse.issparse(X) else (X,)
    return all(array.flags.writeable for array in arrays)


@dataclass(frozen=True, eq=False)
class SparseFeatures:
    """Rows of a scipy CSR matrix, float64 or float32.

    Links are (m, d) views of (d, m) arrays: a non-zero of X meets all classes at once.
    """

    X: Any

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    @property
    def row_length(self) -> float:
        return float(self.X.nnz / self.X.shape[0])

    def rows(self, index: Integers) -> "SparseFeatures":
        part = self.X[index]
        for name in ("data", "indices", "indptr"):
            _writeable_as(getattr(self.X, name), getattr(part, name))
        return SparseFeatures(part)

    def square_norms(self) -> Floats:
        return self._weighted_squares(np.ones(self.X.shape[1]))

    def transposed_product(self, A: Floats) -> Floats:
        out_T = np.zeros((self.X.shape[1], A.shape[1]))
        sparse_transposed_product(csr_of(self.X), A, out_T)
        return out_T.T

    def transposed_vertex_product(self, columns: Integers, entries: Floats, m: int) -> Floats:
        out = np.zeros((self.X.shape[1], m))
        sparse_product(csr_of(self.X), columns, entries, out)
        return out.T

    def scores(self, W: Floats) -> Floats:
        return scores_of(self, W)

    def score_writer(self, W: Floats) -> ScoreWriter:
        csr, W_T = csr_of(self.X), np.ascontiguousarray(W.T)

        def write(rows: slice, out: Floats) -> None:
            part = csr._replace(indptr=csr.indptr[rows.start : rows.stop + 1])
            sparse_scores(part, W_T, out)

        return write

    def row_scores(self, i: int, W: Floats) -> Floats:
        scores = np.empty(len(W))
        row_scores(*self._row(i), W.T, scores)
        return scores

    def add_row(self, i: int, change: Floats, W: Floats) -> None:
        add_row(*self._row(i), change, np.flatnonzero(change), W.T)

    def _row(self, i: int) -> tuple[NDArray, NDArray]:
        """Return the non-zeros of row i and their columns."""
        row = slice(self.X.indptr[i], self.X.indptr[i + 1])
        csr = csr_of(self.X)
        return csr.values[row], csr.indices[row]

    def link_norm(self, W: Floats, A: Floats, lam_n: float) -> float:
        return square_in_parts(W)

    def class_products(self, W: Floats, other: Floats, A: Floats, lam_n: float) -> Floats:
        return np.einsum("ij,ij->j", W.T, other.T)

    def row_terms(self) -> Integers:
        return np.diff(self.X.indptr)

    def column_error_norms(self, norms: Floats) -> Floats:
        terms = np.bincount(self.X.indices, minlength=self.X.shape[1]) + 2
        return norms_above(self._weighted_squares(gamma(terms) ** 2))

    def _weighted_squares(self, weights: Floats) -> Floats:
        data = np.square(self.X.data, dtype=np.float64)
        squares = scipy.sparse.csr_matrix((data, self.X.indices, self.X.indptr), self.X.shape)
        return squares @ weights

    def block_grams(self, size: int) -> Floats:
        """Return the products of single rows: sparse passes go row by row."""
        return self.square_norms()[:, None]

    def block_pass(
        self, rule: int, order: Integers, grams: Floats, single: bool, link: Floats, *rest: Any
    ) -> None:
        sparse_pass(TYPES[rule], order, csr_of(self.X), link.T, *rest)

    def ascent_pass(
        self,
        rule: int,
        visit: RowsToVisit,
        grams: Floats,
        single: bool,
        link: Floats,
        *rest: Any,
    ) -> None:
        sparse_ascent(TYPES[rule], visit, csr_of(self.X), link.T, *rest)

    def entropy_pass(self, order: Integers, grams: Floats, link: Floats, *rest: Any) -> None:
        sparse_entropy_pass(order, csr_of(self.X), link.T, *rest)

    def norm_pass(self, order: Integers, link: Floats, *rest: Any) -> None:
        sparse_norm_pass(order, csr_of(self.X), link.T, *rest)

    def first_maximum(
        self, order: Integers, path: BlockPaths, moving: Floats, rested: Floats, *rest: Any
    ) -> float:
        data = AnyRows(SPARSE, _NO_X, csr_of(self.X))
        return first_maximum(data, order, path, moving.T, rested.T, *rest)


@dataclass(frozen=True, eq=False)
class GramFeatures:
    """A Gram matrix K (n, n) of the samples, or its rows with this index."""

    K: Floats
    index: Integers | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.K.shape

    @property
    def row_length(self) -> float:
        return 0.0

    def rows(self, index: Integers) -> "GramFeatures":
        return GramFeatures(_writeable_as(self.K, self.K[index]), index)

    def square_norms(self) -> Floats:
        return np.ascontiguousarray(self.K.diagonal())

    def transposed_product(self, A: Floats) -> Floats:
        return DenseFeatures(self.K).transposed_product(A)

    def transposed_vertex_product(self, columns: Integers, entries: Floats, m: int) -> Floats:
        return DenseFeatures(self.K).transposed_vertex_product(columns, entries, m)

    def scores(self, W: Floats) -> Floats:
        return scores_of(self, W)

    def score_writer(self, W: Floats) -> ScoreWriter:
        def write(rows: slice, out: Floats) -> None:
            out[:] = W.T[rows if self.index is None else self.index[rows]]

        return write

    def row_scores(self, i: int, W: Floats) -> Floats:
        return W[:, i].copy()

    def add_row(self, i: int, change: Floats, W: Floats) -> None:
        add_outer(change, self.K[i], W)

    def link_norm(self, W: Floats, A: Floats, lam_n: float) -> float:
        return float(self.class_products(W, W, A, lam_n).sum())

    def class_products(self, W: Floats, other: Floats, A: Floats, lam_n: float) -> Floats:
        return np.einsum("ij,ij->j", W.T, A) / lam_n

    def row_maxima(self) -> Floats:
        """Return the largest entry of each row in size, (n,)."""
        return row_maxima(self.K)

    def block_grams(self, size: int) -> Floats:
        out = np.zeros((len(self.K), size))
        block_entries(self.K, size, out)
        return out

    def block_pass(
        self, rule: int, order: Integers, grams: Floats, single: bool, *rest: Any
    ) -> None:
        dense_pass(TYPES[rule], order, DenseBlocks(self.K, grams, True, single), *rest)

    def ascent_pass(
        self, rule: int, visit: RowsToVisit, grams: Floats, single: bool, *rest: Any
    ) -> None:
        dense_ascent(TYPES[rule], visit, DenseBlocks(self.K, grams, True, single), *rest)

    def entropy_pass(self, order: Integers, grams: Floats, *rest: Any) -> None:
        dense_entropy_pass(order, DenseBlocks(self.K, grams, True, False), *rest)

    def norm_pass(self, order: Integers, *rest: Any) -> None:
        dense_norm_pass(order, self.K, True, *rest)

    def first_maximum(self, *rest: Any) -> float:
        return first_maximum(AnyRows(GRAM, self.K, _NO_CSR), *rest)


def features_of(X: Any, kernel: str | None) -> Features:
    """Return the products of X, or through X X^T with kernel="linear"."""
    if kernel == "precomputed":
        return GramFeatures(X)
    if kernel == "linear":
        with threads_in_blas():
            gram = X @ X.T
        return GramFeatures(gram.toarray() if scipy.sparse.issparse(gram) else gram)
    if isinstance(X, TensorRows) or is_tensor(X):
        return cast(Features, X if isinstance(X, TensorRows) else TensorRows(X))
    return SparseFeatures(X) if scipy.sparse.issparse(X) else DenseFeatures(X)
