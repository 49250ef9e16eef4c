"""Hold the rows of X as a tensor of another library, on any device, and pass over them in parts.

A part is small enough that its scores, and its rows in float64, take little memory beside X.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from fwlab.arrays import Floats, cut, is_tensor, namespace_of, on_host, without_gradient
from fwlab.operators.sums import gamma

# entries of a part, of its rows or of its scores: on a processor they stay near its caches
ENTRIES, ENTRIES_ON_HOST = 2**25, 2**20

Part = tuple[slice, Any]


@dataclass(frozen=True, eq=False)
class TensorRows:
    """Rows of a tensor X (n, d) of a floating type, whose values count as exact.

    Only what the cross-entropy's methods need is offered: no compiled pass takes a tensor.
    """

    X: Any

    # the most features for X^T X and its inverse
    most_features: ClassVar = 8192

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are CSR arrays."""
        return False

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return int(n), int(d)

    @property
    def row_length(self) -> float:
        """The mean number of products in a score."""
        return float(self.shape[1])

    @property
    def xp(self) -> Any:
        """The namespace of the tensors."""
        return namespace_of(self.X)

    @property
    def device(self) -> Any:
        """The device on which products are made."""
        return self.X.device

    def here(self, values: Any, dtype: Any = None) -> Any:
        """Return an array, or a tensor of another device, as a tensor of this device."""
        is_own = is_tensor(values) and namespace_of(values) is self.xp
        given = without_gradient(values) if is_own else on_host(values)
        return self.xp.asarray(given, dtype=dtype, device=self.device)

    def part_length(self, n_classes: int) -> int:
        """Return the number of rows of a part, for this number of scores in a row."""
        entries = ENTRIES if str(self.device).startswith("cuda") else ENTRIES_ON_HOST
        return max(1, entries // max(n_classes, self.shape[1]))

    def slices(self, n_classes: int) -> list[slice]:
        """Return the rows of each part."""
        return cut(slice(0, self.shape[0]), self.part_length(n_classes))

    def parts(self, n_classes: int, dtype: Any) -> Iterator[Part]:
        """Yield slices that are all rows together, each with its rows in a floating type."""
        xp = self.xp
        for rows in self.slices(n_classes):
            yield rows, xp.astype(self.X[rows, :], dtype, copy=False)

    def last_column(self) -> Floats:
        """Return the last column of X, (n, 1), as an array of numpy."""
        return np.asarray(on_host(self.X[:, -1:]))

    def scores(self, W: Any) -> Any:
        """Return X W^T, (n, m), in float64, for a machine W (m, d) on the same device."""
        parts = self.parts(W.shape[0], self.xp.float64)
        return self.xp.concat([X @ W.T for _, X in parts])

    def square_norms(self) -> Floats:
        """Return |x_i|^2, (n,), as an array of numpy."""
        return self._square_norms

    @cached_property
    def _square_norms(self) -> Floats:
        xp, out = self.xp, np.empty(self.shape[0])
        for rows, x in self.parts(1, xp.float64):
            out[rows] = on_host(xp.vecdot(x, x))
        return out

    def row_terms(self) -> int:
        """Return the number of products in a score."""
        return self.shape[1]

    def column_error_norms(self, norms: Floats, n_classes: int) -> Floats:
        """Return gamma |x_i|, (n,), with the relative error gamma of the sums in A^T X.

        norms (n,) are bounds of |x_i|. A part is summed in any order, and parts one by one.
        """
        slices = self.slices(n_classes)
        longest = max(rows.stop - rows.start for rows in slices)
        return np.asarray(gamma(longest + len(slices)) * norms)


@dataclass(frozen=True, eq=False)
class RowsWithConstant(TensorRows):
    """Rows of a tensor X (n, d - 1) with a constant as their last feature, which is not stored.

    Use it as the X of a Problem with CrossEntropy: each part of the rows gets its column.
    """

    constant: float

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return int(n), int(d) + 1

    def __getitem__(self, key: Any) -> "RowsWithConstant":
        return RowsWithConstant(self.X[key], self.constant)

    def parts(self, n_classes: int, dtype: Any) -> Iterator[Part]:
        xp = self.xp
        for rows, X in super().parts(n_classes, dtype):
            shape = (X.shape[0], 1)
            column = xp.full(shape, self.constant, dtype=dtype, device=self.device)
            yield rows, xp.concat([X, column], axis=1)

    def last_column(self) -> Floats:
        return np.full((self.shape[0], 1), self.constant)


def tensor_rows(features: Any) -> TensorRows:
    """Return the products with X, for a reader who knows that X is a tensor."""
    return cast(TensorRows, features)
