"""Hold rows of the dual variable without their zeros, in a run and in its result.

Near the optimum a row has about three non-zeros: its label's and two others.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from fwlab.arrays import Floats
from fwlab.npz import Archive, Saved, packed_arrays, packed_form, packed_rows, saved_arrays
from fwlab.result import RESULT, Result, save_result, stored_fields

# of the number below a power of two, relative to that power
HALF_LAST_PLACE = 2.0**-54


def packed(A: Floats) -> csr_array:
    """Return A (rows, m) as a CSR array, in a quarter of the time of scipy's constructor."""
    rows, m = A.shape
    places = np.flatnonzero(A != 0.0)
    indptr = np.searchsorted(places, m * np.arange(rows + 1)).astype(np.int32)
    columns = (places % m).astype(np.int32)
    return csr_array((A.ravel()[places], columns, indptr), shape=A.shape)


def between(rows: csr_array, target: csr_array, step: float) -> csr_array:
    """Return the rows after a step towards a target."""
    if step == 1.0:
        return target
    return significant(rows + step * (target - rows))


def significant(rows: Any) -> csr_array:
    """Return a copy of rows of A without the entries that are too small to count.

    A step towards a target shrinks the entries that are 0 in the target, but makes none of them 0.
    This function drops such entries of each row as soon as their sum is less than half a unit in
    the last place of the largest entry, which is the label's. The row stays in the domain: its sum
    must be 0, so the label's entry must take over the dropped entries, and it does not change when
    they are added to it and the sum is rounded.

    The copy also leaves out the room that scipy reserves for further entries of a sum.
    """
    sizes, counts = np.abs(rows.data), np.diff(rows.indptr)
    largest = np.maximum.reduceat(sizes, rows.indptr[:-1][counts > 0])
    least = HALF_LAST_PLACE / rows.shape[1] * np.repeat(largest, counts[counts > 0])
    kept = sizes > least
    starts = np.concatenate(([0], np.cumsum(kept)))[rows.indptr].astype(rows.indptr.dtype)
    return csr_array((rows.data[kept], rows.indices[kept], starts), shape=rows.shape)


# what the arrays of a file must be, beside A
FORM = {n: saved for n, saved in RESULT.items() if n != "A"}


@dataclass(frozen=True, eq=False, repr=False)
class PackedResult(Result):
    """The outcome of a run out of core: a Result whose A is a scipy CSR array (n, m).

    With an entropy A is None: the dual point is the A(W) of a machine of the run.
    """

    A: Any

    def save(self, path: str | Path, model: Mapping[str, Any] | None = None) -> None:
        """Write everything to an .npz file, with the arrays of a model that predicts from it."""
        packed = {} if self.A is None else packed_arrays("A", self.A)
        save_result(replace(self, A=None), path, {**(model or {}), **packed})

    @classmethod
    def load(cls, path: str | Path) -> "PackedResult":
        """Read a file that `save` wrote. Raises ValueError for any other file."""
        with saved_arrays(path, "PackedResult", _form) as stored:
            A = packed_rows("A", stored) if "A_data" in stored else None
            plain = {name: array for name, array in stored.items() if not name.startswith("A_")}
            found = cls(**{"W": None, "made_by": {}, **stored_fields(plain), "A": A})
            if A is not None and found.W is not None and len(found.W) != A.shape[1]:
                raise ValueError(f"W has {len(found.W)} rows, and A has {A.shape[1]} columns.")
            return found


def _form(archive: Archive) -> dict[str, Saved]:
    """Return what the arrays of a file must be; with an entropy it holds no A."""
    holds_A = any(name.partition("_")[0] == "A" for name in archive)
    return {**FORM, **packed_form("A")} if holds_A else FORM
