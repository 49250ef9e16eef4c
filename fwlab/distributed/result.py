"""Hold the outcome of a run whose dual point is packed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scipy.sparse import csr_array

from fwlab.files import saved_arrays
from fwlab.result import Result, save_result, stored_fields

PARTS = ("data", "indices", "indptr", "shape")


@dataclass(frozen=True, eq=False, repr=False)
class PackedResult(Result):
    """The outcome of a run out of core: a Result whose A is a scipy CSR array (n, m)."""

    A: Any

    def save(self, path: str | Path, model: Mapping[str, Any] | None = None) -> None:
        """Write everything to an .npz file, with the arrays of a model that predicts from it."""
        packed = {f"A_{part}": getattr(self.A, part) for part in PARTS}
        save_result(replace(self, A=None), path, {**(model or {}), **packed})

    @classmethod
    def load(cls, path: str | Path) -> "PackedResult":
        """Read a file that `save` wrote. Raises ValueError for any other file."""
        with saved_arrays(path, "PackedResult") as everything:
            stored = {n: v for n, v in everything.items() if not n.startswith("model_")}
            data, indices, indptr, shape = (stored.pop(f"A_{part}") for part in PARTS)
            A = csr_array((data, indices, indptr), shape=tuple(shape))
            made_by = json.loads(stored.pop("made_by").item())
            return cls(**{**stored_fields(stored), "A": A, "made_by": made_by})
