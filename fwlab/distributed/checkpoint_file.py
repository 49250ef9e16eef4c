"""Write the checkpoints of a run to a file, with the facts that tell this run from others.

A block method can write a checkpoint after each chunk of rows, and every method after each
iteration. It writes one if enough seconds have passed since the last one. The times of the
checkpoints change no number of the run.
"""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from fwlab.checks.arguments import as_real
from fwlab.distributed.checkpoint import Checkpoint, fingerprint, fingerprint_of_rows, new_run
from fwlab.distributed.problem import ProblemInParts
from fwlab.experiments.store import NotStored, why_not
from fwlab.identity import identity
from fwlab.solvers.method import Method
from fwlab.text import describe


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
    start: list[csr_array],
) -> CheckpointFile | None:
    """Return the file of the checkpoints of a run, None without a path.

    Raises TypeError or ValueError, with one sentence, for a bad argument.
    """
    between = as_real("checkpoint_every", seconds_between, positive=False)
    if path is None:
        return None
    place = Path(path)
    if place.is_dir():
        raise ValueError(f"checkpoint must name a file; {str(path)!r} is a folder.")
    own = {
        "method": describe(method),
        "rng": fingerprint(str(rng.bit_generator.state)),
        "start": fingerprint_of_rows(start),
    }
    facts = {**problem_facts_of(problem), **own, "code": code_of(problem, method)}
    return CheckpointFile(place, between, facts)


def code_of(problem: ProblemInParts, method: Any) -> str:
    """Return the identity of the code of a run, with the settings of its loss and method.

    If there is none, a warning says why, and the answer is one that no other run has.
    """
    try:
        return identity(type(problem), problem.loss, method)
    except Exception as error:
        reason = why_not(error)
        warnings.warn(f"no later call can go on from this run: {reason}.", NotStored, stacklevel=4)
        return f"that of the run {new_run()} alone ({reason})"


def problem_facts_of(problem: ProblemInParts) -> dict[str, Any]:
    """Return the facts that tell a problem from others, with a hash for X."""
    first = problem.parts[0]
    return {
        "n": problem.n_samples,
        "d": problem.n_features,
        "classes": fingerprint(problem.classes),
        "y": fingerprint(problem.y),
        "sample_weight": fingerprint(problem.sample_weight),
        "chunks": fingerprint(np.array([part.n_samples for part in problem.parts])),
        "X": f"{'sparse ' * first.is_sparse}{first.storage} {problem.fingerprint}",
        "loss": describe(problem.loss),
        "lam": problem.lam,
        "smoothing": problem.smoothing,
    }
