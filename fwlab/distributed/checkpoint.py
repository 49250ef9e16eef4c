"""Store a run in one file now and then, so that it goes on from there after it was killed.

The file replaces the one before it in one step. It says which problem and method it belongs to, and
is refused for others. The W that the method tracks is stored, too, and compared with the W of A.

A block method can write a checkpoint after each chunk of rows, and every method after each
iteration. It writes one if enough seconds have passed since the last one. The times of the
checkpoints change no number of the run.
"""

import json
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from scipy.sparse import csr_array, vstack

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_real
from fwlab.distributed.problem import ProblemInParts
from fwlab.experiments.store import NotStored, named_place
from fwlab.identity import digest
from fwlab.npz import (
    Archive,
    Saved,
    packed_arrays,
    packed_form,
    packed_rows,
    saved_arrays,
    write_arrays,
)
from fwlab.solvers.method import Method
from fwlab.text import describe

VERSION = 1
PACKED = ("data", "indices", "indptr")
TEXTS = ("facts", "run", "iteration", "notes")


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
        The rows of A of each chunk, (rows, m); empty for an entropy, whose A follows from W.
    iteration : int
        The number of finished iterations.
    run : str
        The id of the run, which stays when it goes on.
    link : array (m, d)
        W as the method tracks it.
    arrays : dict of arrays
        What else the method needs to go on.
    notes : dict
        The same, ready for JSON.
    """

    facts: Mapping[str, Any]
    packed: list[csr_array]
    iteration: int
    link: Floats
    run: str = field(default_factory=new_run)
    arrays: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)

    def save(self, path: str | Path) -> None:
        """Write the checkpoint to a file; the one before it remains until this one is whole."""
        arrays = {f"own_{name}": array for name, array in self.arrays.items()}
        for place, rows in enumerate(self.packed):
            arrays |= packed_arrays(f"A{place}", rows)
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
            texts = {name: texts[name] for name in TEXTS}
            return cls(packed=packed, link=stored["link"], arrays=own, **texts)

    def require(self, facts: Mapping[str, Any], path: str | Path) -> None:
        """Raise ValueError, naming the first difference, if the run has other facts."""
        if found := difference(self.facts, facts):
            use = "start from its dual point"
            if not self.packed:
                use = "start another run with an entropy from its W"
            raise ValueError(
                f"checkpoint must be a new file or the file of this run; {str(path)!r} holds "
                f"another run: {found}. A0={str(path)!r} and a new file {use}."
            )


def start_of(A0: Any, has_entropy: bool) -> Any:
    """Return A0, or the A of the checkpoint whose file it names.

    A checkpoint of a run with an entropy holds a W in its place, which only another one takes:
    others raise ValueError.
    """
    if not isinstance(A0, str | Path):
        return A0
    held = Checkpoint.load(A0)
    if held.packed:
        return vstack(held.packed, format="csr")
    if has_entropy:
        return held.link
    raise ValueError(
        f"A0 must name a checkpoint that holds a dual point; {str(A0)!r} holds the W of a run "
        "with an entropy."
    )


def _form(archive: Archive) -> dict[str, Saved]:
    """Return what the arrays of a checkpoint must be; their number depends on its chunks."""
    form = {"checkpoint": Saved("iu"), "chunks": Saved("iu"), "text": Saved("U")}
    form["link"] = Saved("f", ("m", "d"), finite=True)
    form |= {name: Saved("biuf", None) for name in archive if name.startswith("own_")}
    # more chunks than arrays can only be a damaged number
    for place in range(min(int(archive["chunks"]), len(archive))):
        form |= packed_form(f"A{place}")
    return form


def difference(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Return a sentence on the first difference between two tables of facts, "" if there is none.

    The order of the facts is that of `wanted`.
    """
    asked = json.loads(json.dumps(wanted, default=_plain))
    for name in {**asked, **stored}:
        old, new = stored.get(name), asked.get(name)
        if old != new:
            return f"its {name} is {old}, and this one's is {new}"
    return ""


def fingerprint_of_rows(packed: Iterable[csr_array] | Floats) -> str:
    """Return a hash of rows of A, whatever the type of their indices, or of an array W."""
    if isinstance(packed, np.ndarray):
        packed = [csr_array(packed)]
    kinds = {"data": np.float64, "indices": np.int64, "indptr": np.int64}
    arrays = (np.asarray(getattr(rows, part), kinds[part]) for rows in packed for part in PACKED)
    return digest(*arrays)


def _plain(value: Any) -> Any:
    """Return numpy's numbers and arrays as Python's, for JSON."""
    return value.tolist()


@dataclass(eq=False)
class CheckpointFile:
    """Writes and reads the checkpoints of one run.

    Attributes
    ----------
    path : Path
        The file that holds the last checkpoint.
    seconds_between : float
        The least time between two checkpoints.
    facts : dict
        Names and values that tell the problem and the method from others.
    run : str
        The id of the run.
    last : float
        The value of time.monotonic() at the last checkpoint.
    """

    path: Path
    seconds_between: float
    facts: Mapping[str, Any]
    run: str = field(default_factory=new_run)
    last: float = field(default_factory=time.monotonic)

    @property
    def is_due(self) -> bool:
        """Whether enough seconds have passed for the next checkpoint."""
        return time.monotonic() >= self.last + self.seconds_between

    def stored(self) -> Checkpoint | None:
        """Return the checkpoint in the file, None if there is no file.

        Raises ValueError with one sentence if it belongs to another run, or cannot be read.
        """
        if not self.path.exists():
            return None
        checkpoint = Checkpoint.load(self.path)
        checkpoint.require(self.facts, self.path)
        self.run = checkpoint.run
        return checkpoint

    def write(self, **parts: Any) -> None:
        """Write a checkpoint with these fields."""
        Checkpoint(self.facts, run=self.run, **parts).save(self.path)
        self.last = time.monotonic()


def checkpoint_file_of(
    path: Any,
    seconds_between: Any,
    problem: ProblemInParts,
    method: Method,
    rng: np.random.Generator,
    start: list[csr_array] | Floats,
) -> CheckpointFile | None:
    """Return the file of the checkpoints of a run, None without a path.

    start is the A of each chunk, or with an entropy the W.

    Raises TypeError or ValueError, with one sentence, for a bad argument.
    """
    between = as_real("checkpoint_every", seconds_between, positive=False)
    if path is None:
        return None
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"checkpoint must name a file; {str(path)!r} is a folder.")
    place = named_place(file, code_of(problem, method))
    code = place.code
    if place.reason:
        code = f"that of the run {new_run()} alone ({place.reason})"
        lost = f"no later call can go on from this run: {place.reason}."
        warnings.warn(lost, NotStored, stacklevel=3)
    own = {
        "method": describe(method),
        "rng": digest(str(rng.bit_generator.state)),
        "start": fingerprint_of_rows(start),
    }
    return CheckpointFile(file, between, {**problem_facts_of(problem), **own, "code": code})


def code_of(problem: ProblemInParts, method: Any) -> tuple[Any, ...]:
    """Return what the code of a run consists of, with the settings of its loss and method."""
    return type(problem), problem.loss, method


def problem_facts_of(problem: ProblemInParts) -> dict[str, Any]:
    """Return the facts that tell a problem from others, with a hash for X."""
    first = problem.parts[0]
    return {
        "n": problem.n_samples,
        "d": problem.n_features,
        "loss": describe(problem.loss),
        "classes": digest(problem.classes),
        "y": digest(problem.y),
        "sample_weight": digest(problem.sample_weight),
        "chunks": digest(np.array([part.n_samples for part in problem.parts])),
        "X": f"{'sparse ' * first.is_sparse}{first.storage} {problem.fingerprint}",
        "lam": problem.lam,
        "smoothing": problem.smoothing,
    }
