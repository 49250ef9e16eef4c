"""Hold the outcome of a run whose dual point is packed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fwlab.npz import packed_arrays, packed_form, packed_rows, saved_arrays
from fwlab.result import RESULT, Result, save_result, stored_fields

# what the arrays of a file must be
FORM = {**{n: saved for n, saved in RESULT.items() if n != "A"}, **packed_form("A")}


@dataclass(frozen=True, eq=False, repr=False)
class PackedResult(Result):
    """The outcome of a run out of core: a Result whose A is a scipy CSR array (n, m)."""

    A: Any

    def save(self, path: str | Path, model: Mapping[str, Any] | None = None) -> None:
        """Write everything to an .npz file, with the arrays of a model that predicts from it."""
        packed = packed_arrays("A", self.A)
        save_result(replace(self, A=None), path, {**(model or {}), **packed})

    @classmethod
    def load(cls, path: str | Path) -> "PackedResult":
        """Read a file that `save` wrote. Raises ValueError for any other file."""
        with saved_arrays(path, "PackedResult", FORM) as stored:
            A = packed_rows("A", stored)
            plain = {name: array for name, array in stored.items() if not name.startswith("A_")}
            found = cls(**{"W": None, "made_by": {}, **stored_fields(plain), "A": A})
            if found.W is not None and len(found.W) != A.shape[1]:
                raise ValueError(f"W has {len(found.W)} rows, and A has {A.shape[1]} columns.")
            return found
