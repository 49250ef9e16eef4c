"""Store a run in one file now and then, so that it goes on from there after it was killed.

The file replaces the one before it in one step. It says which problem and method it belongs to, and
is refused for others. Rows of A of any age are a dual point, because its domain is a product: then
W is computed from A. Otherwise W is stored, too, and compared with A.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from scipy.sparse import csr_array, vstack

from fwlab.arrays import Floats
from fwlab.npz import (
    Archive,
    Saved,
    packed_arrays,
    packed_form,
    packed_rows,
    saved_arrays,
    write_arrays,
)

VERSION = 1
PACKED = ("data", "indices", "indptr")
TEXTS = ("facts", "run", "iteration", "ages", "notes")
DIGITS = 16


def new_run() -> str:
    """Return an id that no other run has."""
    return uuid4().hex


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A run after some iterations.

    Attributes
    ----------
    facts : dict
        Names and values that tell the problem and the method from others, ready for JSON.
    packed : list of csr_array
        The rows of A of each chunk, (rows, m).
    iteration : int
        The number of finished iterations.
    run : str
        The id of the run, which stays when it goes on.
    link : array (m, d), or None
        W as the method tracks it; None to have it computed from A.
    ages : list of int
        The iteration from which the rows of each chunk are; all `iteration` by default. The link
        is of use only if they are equal.
    arrays : dict of arrays
        What else the method needs to go on.
    notes : dict
        The same, ready for JSON.
    """

    facts: Mapping[str, Any]
    packed: list[csr_array]
    iteration: int
    run: str = field(default_factory=new_run)
    link: Floats | None = None
    ages: list[int] | None = None
    arrays: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tracked_link(self) -> Floats | None:
        """The link, None if it cannot belong to A."""
        return None if len(set(self.ages or ())) > 1 else self.link

    def save(self, path: str | Path) -> None:
        """Write the checkpoint to a file; the one before it remains until this one is whole."""
        arrays = {f"own_{name}": array for name, array in self.arrays.items()}
        for place, rows in enumerate(self.packed):
            arrays |= packed_arrays(f"A{place}", rows)
        if self.link is not None:
            arrays["link"] = self.link
        text = json.dumps({name: getattr(self, name) for name in TEXTS}, default=_plain)
        arrays |= {"checkpoint": VERSION, "chunks": len(self.packed), "text": text}
        write_arrays(path, arrays, compress=False)

    @classmethod
    def load(cls, path: str | Path) -> "Checkpoint":
        """Read a file that `save` wrote. Raises ValueError for any other file."""
        with saved_arrays(path, "Checkpoint", _form) as stored:
            if stored["checkpoint"].item() != VERSION:
                raise ValueError("another version")
            chunks = range(stored["chunks"].item())
            packed = [packed_rows(f"A{place}", stored) for place in chunks]
            own = {n.removeprefix("own_"): v for n, v in stored.items() if n.startswith("own_")}
            texts = json.loads(stored["text"].item())
            return cls(packed=packed, link=stored.get("link"), arrays=own, **texts)

    def require(self, facts: Mapping[str, Any], path: str | Path) -> None:
        """Raise ValueError, naming the first difference, if the run has other facts."""
        if found := difference(self.facts, facts):
            raise ValueError(
                f"checkpoint must be a new file or the file of this run; {str(path)!r} holds "
                f"another run: {found}. A0={str(path)!r} and a new file start from its dual point."
            )


def dual_point(A0: Any) -> Any:
    """Return A0, or the A of the checkpoint whose file it names."""
    if not isinstance(A0, str | Path):
        return A0
    return vstack(Checkpoint.load(A0).packed, format="csr")


def _form(archive: Archive) -> dict[str, Saved]:
    """Return what the arrays of a checkpoint must be; their number depends on its chunks."""
    form = {"checkpoint": Saved("iu"), "chunks": Saved("iu"), "text": Saved("U")}
    form["link"] = Saved("f", ("m", "d"), finite=True, required=False)
    form |= {name: Saved("biuf", None) for name in archive if name.startswith("own_")}
    # more chunks than arrays are a damaged number
    for place in range(min(int(archive["chunks"]), len(archive))):
        form |= packed_form(f"A{place}")
    return form


def difference(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Return the first difference of two tables of facts in words, "" if there is none."""
    asked = json.loads(json.dumps(wanted, default=_plain))
    for name in {**stored, **asked}:
        old, new = stored.get(name), asked.get(name)
        if old != new:
            return f"its {name} is {old}, and this one's is {new}"
    return ""


def fingerprint(*arrays: Any) -> str:
    """Return a hash of arrays: of their types, shapes and entries."""
    hasher = hashlib.sha256()
    for array in map(np.ascontiguousarray, arrays):
        hasher.update(f"{array.dtype.str}{array.shape}".encode())
        hasher.update(array.ravel().view(np.uint8).data)
    return hasher.hexdigest()[:DIGITS]


def fingerprint_of_rows(packed: Iterable[csr_array]) -> str:
    """Return a hash of rows of A, whatever the type of their indices."""
    kinds = {"data": np.float64, "indices": np.int64, "indptr": np.int64}
    arrays = (np.asarray(getattr(rows, part), kinds[part]) for rows in packed for part in PACKED)
    return fingerprint(*arrays)


def _plain(value: Any) -> Any:
    """Return numpy's numbers and arrays as Python's, for JSON."""
    return value.tolist()
