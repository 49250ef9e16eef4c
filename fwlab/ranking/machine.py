"""Score new rows by the machine that a ranking run has learnt, with every kernel."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_features
from fwlab.npz import Saved, packed_arrays, packed_form, packed_rows
from fwlab.ranking.gram import centred, chunks, rbf_kernel

KERNELS = ("linear", "rbf", "precomputed")
# what the arrays of a file must be
MACHINE = {
    "kernel": Saved("U"),
    "coefficients": Saved("f", ("machine",), finite=True),
    "rows": Saved("f", ("machine", "features"), finite=True, required=False),
    **{name: saved._replace(required=False) for name, saved in packed_form("rows").items()},
    "sigma": Saved("iuf"),
    "shift": Saved("f", ("features",), finite=True, required=False),
}


@dataclass(frozen=True, eq=False)
class Machine:
    """The score of a row z is sum_i c_i k(x_i, z), M20 (16).

    Attributes
    ----------
    coefficients : array
        w (d,) with kernel="linear"; the non-zero c_i with "rbf"; c (n,), in the order of X, with
        "precomputed".
    rows : array, CSR matrix or None
        The x_i of these c_i with "rbf"; otherwise None.
    shift : array (d,), or None
        The vector that "rbf" subtracts from x and z before it computes their distance, so that less
        cancels out; None for no shift.
    """

    kernel: str
    coefficients: Floats
    rows: Any = None
    sigma: float = np.nan
    shift: Floats | None = None

    def scores(self, Z: Any) -> Floats:
        """Return the scores (n_new,) of new rows (n_new, d).

        With a "precomputed" kernel Z holds kernel values (n_new, n).
        """
        Z = as_features("Z", Z)
        width = len(self.coefficients) if self.rows is None else self.rows.shape[1]
        if Z.shape[1] != width:
            raise ValueError(f"Z must have {width} columns; got {Z.shape[1]}.")
        if self.rows is None:
            scores: Floats = Z @ self.coefficients
            return scores
        out, rows = np.zeros(Z.shape[0]), self.rows
        if self.shift is not None:
            rows, Z = centred(rows, self.shift), centred(Z, self.shift)
        for chunk in chunks(np.arange(len(self.coefficients))):
            out += self.coefficients[chunk] @ rbf_kernel(rows[chunk], Z, self.sigma)
        return out

    def as_dict(self) -> dict[str, Any]:
        """Return the machine as arrays that an .npz file can hold."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        rows = arrays.pop("rows")
        if self.shift is None:
            del arrays["shift"]
        if scipy.sparse.issparse(rows):
            return {**arrays, **packed_arrays("rows", rows)}
        return arrays if rows is None else {**arrays, "rows": rows}

    @classmethod
    def from_dict(cls, arrays: dict[str, Any]) -> "Machine":
        """Return the machine of the arrays that `as_dict` returned.

        Raises ValueError if they do not fit together.
        """
        rows = arrays.get("rows")
        if "rows_data" in arrays:
            rows = scipy.sparse.csr_matrix(packed_rows("rows", arrays))
        kernel, sigma, coefficients = (arrays[n] for n in ("kernel", "sigma", "coefficients"))
        if kernel.item() not in KERNELS or (kernel.item() == "rbf") != (rows is not None):
            raise ValueError(f"the kernel {kernel.item()!r} does not fit the rows of the machine.")
        if rows is not None and rows.shape[0] != len(coefficients):
            raise ValueError(f"the machine has {rows.shape[0]} rows and {len(coefficients)} c_i.")
        return cls(kernel.item(), coefficients, rows, sigma.item(), arrays.get("shift"))
