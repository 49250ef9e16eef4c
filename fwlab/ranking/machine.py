"""What a ranking run has learnt: the scores of new rows, for every kernel."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_features
from fwlab.ranking.gram import chunks, rbf_kernel


@dataclass(frozen=True, eq=False)
class Machine:
    """A row z scores sum_i c_i k(x_i, z), M20 (16).

    coefficients: w (d,) with kernel="linear"; c of the rows with c_i != 0 with "rbf"; c (n,) in the
    order of X with "precomputed". rows: those rows, dense or CSR, with "rbf", None elsewhere.
    """

    kernel: str
    coefficients: Floats
    rows: Any = None
    sigma: float = np.nan

    def scores(self, Z: Any) -> Floats:
        """(n_new,) for new rows (n_new, d), or for kernel values (n_new, n) with "precomputed"."""
        Z = as_features("Z", Z)
        width = len(self.coefficients) if self.rows is None else self.rows.shape[1]
        if Z.shape[1] != width:
            raise ValueError(f"Z must have {width} columns; got {Z.shape[1]}.")
        if self.rows is None:
            return Z @ self.coefficients
        out = np.zeros(Z.shape[0])
        for chunk in chunks(np.arange(len(self.coefficients))):
            out += self.coefficients[chunk] @ rbf_kernel(self.rows[chunk], Z, self.sigma)
        return out

    def as_arrays(self) -> dict[str, Any]:
        """What an .npz file can hold of it."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        rows = arrays.pop("rows")
        if scipy.sparse.issparse(rows):
            parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
            parts["shape"] = np.array(rows.shape)
            return {**arrays, **{f"rows_{name}": part for name, part in parts.items()}}
        return arrays if rows is None else {**arrays, "rows": rows}

    @classmethod
    def from_arrays(cls, arrays: Any) -> "Machine":
        """The machine of the arrays of `as_arrays`."""
        rows = arrays.get("rows")
        if "rows_data" in arrays:
            parts = tuple(arrays[f"rows_{name}"] for name in ("data", "indices", "indptr"))
            rows = scipy.sparse.csr_matrix(parts, shape=tuple(arrays["rows_shape"]))
        kernel, sigma = arrays["kernel"].item(), arrays["sigma"].item()
        return cls(kernel, arrays["coefficients"], rows, sigma)
