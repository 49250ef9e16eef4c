"""Train on an X in chunks with the cross-entropy or the top-k entropy loss, by L-BFGS.

The dual point A(W) of a machine W follows from its scores, so that a run holds W and no A. The
method and the certificate are the ones on tensors (solvers.tensor_lbfgs, tensor_certificate), which
pass over the chunks as over theirs. Each evaluation of P with its gradient, and each certificate,
is one pass. A part of a chunk is small enough that its scores take little memory.

A checkpoint holds W alone: the run that goes on from it begins with an empty history of steps, at a
point that is no worse.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats, cut
from fwlab.checks.arguments import as_floats
from fwlab.distributed.checkpoint import Checkpoint, CheckpointFile, start_of
from fwlab.distributed.memory import ENTRIES
from fwlab.distributed.problem import ChunkProblem, OutOfCoreProblem
from fwlab.operators.tensor_rows import Part, TensorRows
from fwlab.result import Certificate
from fwlab.solvers.interrupt import Interrupt
from fwlab.solvers.lbfgs import Lbfgs
from fwlab.solvers.method import Method
from fwlab.solvers.preconditioner import MOST_FEATURES
from fwlab.solvers.solve import ball_fields, start_of_tensors
from fwlab.solvers.tensor_lbfgs import TensorLbfgs, TensorState, TensorWorkspace
from fwlab.tensor_certificate import machine_of

# the time of a certificate in iterations, at most
CERTIFICATE = 4.0


class PassEnded(Exception):
    """Ctrl-C was pressed during a pass that may end early."""


@dataclass(eq=False)
class PassWatch:
    """Shows how far a pass is, and ends it after the chunk during which Ctrl-C was pressed."""

    shows_progress: bool = False
    interrupt: Interrupt = field(default_factory=Interrupt)
    may_end: bool = False

    def chunks(self, problem: OutOfCoreProblem) -> Iterator[ChunkProblem]:
        """Yield the part of each chunk. Raises PassEnded."""
        for _, part in problem.chunks_shown("pass", self.shows_progress):
            yield part
            if self.may_end and self.interrupt.pressed:
                raise PassEnded

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Let passes of a `with` block end early; the block then ends, too."""
        self.may_end = True
        try:
            yield
        except PassEnded:
            pass
        finally:
            self.may_end = False


@dataclass(frozen=True, eq=False)
class ChunkRows(TensorRows):
    """The rows of a problem out of core, which is its X."""

    X: OutOfCoreProblem
    watch: PassWatch = field(default_factory=PassWatch)

    # a factor takes longer for more, as in memory
    most_features: ClassVar = MOST_FEATURES

    @property
    def xp(self) -> Any:
        return np

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.n_samples, self.X.n_features

    @property
    def is_sparse(self) -> bool:
        return self.X.is_sparse

    def part_length(self, n_classes: int) -> int:
        entries = n_classes if self.is_sparse else max(n_classes, self.X.n_features)
        return max(1, ENTRIES // entries)

    def slices(self, n_classes: int) -> list[slice]:
        size = self.part_length(n_classes)
        return [piece for rows, _ in self.X.cuts for piece in cut(rows, size)]

    def parts(self, n_classes: int, dtype: Any) -> Iterator[Part]:
        size = self.part_length(n_classes)
        for (rows, _), part in zip(self.X.cuts, self.watch.chunks(self.X), strict=True):
            X = scipy.sparse.csr_array(part.X) if part.is_sparse else part.X
            for piece in cut(rows, size):
                own = X[piece.start - rows.start : piece.stop - rows.start]
                yield piece, own.astype(dtype, copy=False)

    def square_norms(self) -> Floats:
        return self.X.squares

    def row_terms(self) -> int:
        return self.X.row_terms


def rows_as_one_part(problem: OutOfCoreProblem, watch: PassWatch) -> ChunkProblem:
    """Return the problem of all samples, for the methods on tensors."""
    whole = ChunkProblem(problem, slice(0, problem.n_samples), problem.is_sparse)
    rows: Any = ChunkRows(problem, watch)
    whole.X = whole.features = rows
    return whole


# ------------------------------------------------------------------ a run


@dataclass(eq=False, kw_only=True)
class EntropyState(TensorState):
    """The state of a run, which never holds A.

    Attributes
    ----------
    watch : PassWatch
        Follows the passes over X.
    checkpoint_file : CheckpointFile or None
        Writes the checkpoints.
    resumed : Checkpoint or None
        The checkpoint whose W the run began with.
    seconds : float
        The time of the iterations.
    last : float
        The time of the last one.
    """

    watch: PassWatch
    checkpoint_file: CheckpointFile | None = None
    resumed: Checkpoint | None = None
    seconds: float = 0.0
    last: float = 0.0

    @property
    def A(self) -> None:
        """None: the dual point would take the memory of all scores."""
        return None

    @property
    def made_by(self) -> dict[str, str]:
        """Nothing: the message names the checkpoint."""
        return {}

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the user."""
        if self.resumed is None:
            return ()
        return (f"It began with the W after step {self.resumed.iteration} of the checkpoint.",)

    def ball(self, certificate: Certificate) -> dict[str, Any]:
        """Return the fields of the ball that holds the exact optimum, if it is not around W."""
        return ball_fields(self, certificate)

    def certify(self) -> Certificate:
        self.keep(now=True)
        return super().certify()

    def seconds_to_certify(self, judgement: float) -> float:
        return CERTIFICATE * self.last

    def keep(self, now: bool = False) -> None:
        """Write a checkpoint if there is a file for it and it is time, or if it must be `now`."""
        if self.checkpoint_file is not None and (now or self.checkpoint_file.is_due):
            self.checkpoint_file.write(packed=[], iteration=self.n_steps, link=self.point.W)


@dataclass(frozen=True)
class EntropyLbfgs(TensorLbfgs):
    """L-BFGS whose iterations end after a chunk where Ctrl-C was pressed, without a step."""

    def iterate(self, state: TensorState, workspace: TensorWorkspace) -> None:
        assert isinstance(state, EntropyState)
        clock = time.perf_counter()
        with state.watch.ending():
            super().iterate(state, workspace)
        state.last = time.perf_counter() - clock
        state.seconds += state.last
        state.keep()


def lbfgs_in_chunks(name: str, solver: Method) -> Method:
    """Return L-BFGS on chunks. Raises ValueError for another method."""
    if not isinstance(solver, Lbfgs):
        raise ValueError(
            f'method must be "lbfgs" or "auto" out of core with an entropy; got {name!r}.'
        )
    return EntropyLbfgs()


def entropy_start(problem: OutOfCoreProblem, A0: Any, watch: PassWatch) -> Floats:
    """Return the machine of the checked start, (m, d); a sparse A0 is read part by part."""
    rows, A0 = rows_as_one_part(problem, watch), start_of(A0, has_entropy=True)
    if not scipy.sparse.issparse(A0):
        return np.asarray(start_of_tensors(rows, A0))
    A, shape = scipy.sparse.csr_array(A0, dtype=np.float64), (rows.n_samples, rows.n_classes)
    as_floats("A0", A.data, ndims=(1,))
    if A.shape != shape:
        raise ValueError(f"A0 must be (n, m) = {shape} if it is sparse; got shape {A.shape}.")
    return np.asarray(machine_of(rows, A))


def entropy_state(
    problem: OutOfCoreProblem,
    W: Floats,
    watch: PassWatch,
    file: CheckpointFile | None,
    stored: Checkpoint | None,
) -> EntropyState:
    """Return the state of a run from W, or from the W of a stored checkpoint."""
    W = W if stored is None else stored.link
    rows = rows_as_one_part(problem, watch)
    return EntropyState(problem=rows, W=W, watch=watch, checkpoint_file=file, resumed=stored)
