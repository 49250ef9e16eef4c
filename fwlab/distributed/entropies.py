"""Train on an X in chunks with the cross-entropy or the top-k entropy loss, by L-BFGS.

fwlab.distributed.chunk_rows says how X is read. A checkpoint holds W alone: the run that goes on
from it begins with an empty history of steps, at a point that is no worse.
"""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_floats
from fwlab.distributed.checkpoint import CheckpointFile, checkpoint_file_of, start_of
from fwlab.distributed.chunk_rows import PassWatch, rows_as_one_part
from fwlab.distributed.outcome import packed_result
from fwlab.distributed.packed import PackedResult
from fwlab.distributed.problem import ChunkProblem, OutOfCoreProblem
from fwlab.result import Certificate
from fwlab.solvers.interrupt import deferred_interrupt
from fwlab.solvers.lbfgs import Lbfgs
from fwlab.solvers.loop import End, run_loop
from fwlab.solvers.method import Method
from fwlab.solvers.recorder import Progress, Recorder
from fwlab.solvers.run_arguments import RunArguments
from fwlab.solvers.solve import ball_fields, start_of_tensors
from fwlab.solvers.tensor_lbfgs import TensorLbfgs, TensorState, TensorWorkspace
from fwlab.tensor_certificate import machine_of
from fwlab.threads import one_blas_thread

# the time of a certificate in iterations, at most
CERTIFICATE = 4.0


class Asked(NamedTuple):
    """Holds the arguments of a run: the method with its name, the start and the checkpoints."""

    name: str
    solver: Method
    run: RunArguments
    A0: Any
    checkpoint: Any
    checkpoint_every: Any
    called: float


@dataclass(eq=False, kw_only=True)
class EntropyState(TensorState):
    """The state of a run, which never holds A.

    Attributes
    ----------
    watch : PassWatch
        Follows the passes over X.
    checkpoint_file : CheckpointFile or None
        Writes the checkpoints.
    seconds : float
        The time of the iterations.
    last : float
        The time of the last one.
    """

    watch: PassWatch
    checkpoint_file: CheckpointFile | None = None
    seconds: float = 0.0
    last: float = 0.0

    @property
    def A(self) -> None:
        """None: the dual point would take the memory of all scores."""
        return None

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


def solve_entropy(
    problem: OutOfCoreProblem, asked: Asked, progress: type[Progress]
) -> PackedResult:
    """Return the result of a run; progress is the class of the callback's argument."""
    require_lbfgs(asked.name, asked.solver)
    run, watch = asked.run, PassWatch(asked.run.verbose > 0)
    rows = rows_as_one_part(problem, watch)
    W = _start(rows, start_of(asked.A0, has_entropy=True))
    file = checkpoint_file_of(
        asked.checkpoint,
        asked.checkpoint_every,
        problem,
        asked.solver,
        run.generator,
        [csr_array(W)],
    )
    notes: tuple[str, ...] = ()
    held = None if file is None else file.stored()
    if held is not None and held.link is not None:
        W = held.link
        notes = (f"It began with the W after step {held.iteration} of the checkpoint.",)
    recorder = Recorder(run.reporter(asked.name, progress))
    # float32 may overflow in steps, and the run then goes on in float64
    ignored = np.errstate(over="ignore", invalid="ignore")
    with one_blas_thread, deferred_interrupt() as watch.interrupt, ignored:
        state = EntropyState(problem=rows, W=W, watch=watch, checkpoint_file=file)
        end = run_loop(EntropyLbfgs(), state, run.limits, recorder, asked.called, watch.interrupt)
    return _result(problem, asked, state, end, recorder, notes)


def _start(rows: ChunkProblem, A0: Any) -> Floats:
    """Return the machine of the checked start, (m, d); a sparse A0 is read part by part."""
    if not issparse(A0):
        return np.asarray(start_of_tensors(rows, A0))
    A, shape = csr_array(A0, dtype=np.float64), (rows.n_samples, rows.n_classes)
    as_floats("A0", A.data, ndims=(1,))
    if A.shape != shape:
        raise ValueError(f"A0 must be (n, m) = {shape} if it is sparse; got shape {A.shape}.")
    return np.asarray(machine_of(rows, A))


def require_lbfgs(name: str, solver: Method) -> None:
    """Raise ValueError for another method than L-BFGS."""
    if not isinstance(solver, Lbfgs):
        raise ValueError(
            f'method must be "lbfgs" or "auto" out of core with an entropy; got {name!r}.'
        )


def _result(
    problem: OutOfCoreProblem,
    asked: Asked,
    state: EntropyState,
    end: End,
    recorder: Recorder,
    notes: tuple[str, ...],
) -> PackedResult:
    file = state.checkpoint_file
    return packed_result(
        problem,
        end,
        recorder,
        asked.called,
        {} if file is None else {"run": file.run},
        notes,
        W=state.weights(),
        A=None,
        **ball_fields(state, end.certificate),
        infeasibility=state.infeasibility,
        nit=end.iteration,
        seconds=state.seconds,
        method=asked.name,
    )
