"""Check the arguments of a run out of core and return its result."""

import reprlib
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_floats
from fwlab.distributed.checkpoint import (
    Checkpoint,
    CheckpointFile,
    checkpoint_file_of,
    start_of,
)
from fwlab.distributed.entropies import (
    EntropyState,
    PassWatch,
    entropy_start,
    entropy_state,
    lbfgs_in_chunks,
)
from fwlab.distributed.journal import JournalRecorder, Repeating
from fwlab.distributed.methods import chunked_method
from fwlab.distributed.packed import PackedResult
from fwlab.distributed.problem import OutOfCoreProblem, ProblemInParts
from fwlab.distributed.state import OutOfCoreState
from fwlab.provenance import provenance
from fwlab.result import Status
from fwlab.solvers.interrupt import Interrupt, deferred_interrupt
from fwlab.solvers.loop import End, run_loop
from fwlab.solvers.method import Method
from fwlab.solvers.recorder import Progress, Recorder, read_only
from fwlab.solvers.registry import build, label
from fwlab.solvers.run_arguments import RunArguments, checked_run
from fwlab.solvers.stopping import Limits
from fwlab.solvers.warm_up import warm_up
from fwlab.threads import one_blas_thread


class OutOfCoreProgress(Progress):
    """The argument of a callback of a run out of core."""

    @property
    def A(self) -> csr_array | None:
        """A copy of the dual variable, (n, m), as a CSR array; None with an entropy."""
        return self.state.A

    @property
    def W(self) -> Floats:
        """The primal variable, (m, d), read-only."""
        return read_only(self.state.weights())


def solve(
    problem: ProblemInParts,
    method: str | Method = "auto",
    tol: float = 1e-5,
    relative: bool = False,
    max_iter: int = 1000,
    time_limit: float | None = None,
    A0: Any = None,
    rng: int | np.random.Generator = 0,
    callback: Callable[[OutOfCoreProgress], None] | None = None,
    check_every: int | str = "auto",
    verbose: int = 0,
    checkpoint: Any = None,
    checkpoint_every: float = 60.0,
    **method_options: Any,
) -> PackedResult:
    """Solve a problem out of core until the certified gap is at most tol.

    An iteration reads X once, and so does a judgement; the certificate at the end reads it twice.
    With an entropy a judgement reads nothing, the certificate reads X once, and a step that has to
    be shortened reads it again. Ctrl-C ends the run after the current chunk, or with an entropy
    after what precedes the first step, with a valid result; a second one raises KeyboardInterrupt.

    With a checkpoint, the same call goes on where an earlier one was killed, interrupted or met a
    limit, and its W is the same, bit for bit, as without the break, on the same processor and with
    the same versions. With another tol or check_every it goes on all the same, but may end after
    other iterations.

    Parameters
    ----------
    problem : OutOfCoreProblem
    method : str or Method
        "ascent", "bcfw" or "fw", or an object of their classes. A block method visits the chunks in
        a fresh random order, and orders the rows within each chunk. With CrossEntropy and
        TopKEntropy "lbfgs". "auto" is "lbfgs" for these and "ascent" for others.
    tol, relative, max_iter, rng, check_every
        As for `fwlab.solve`.
    time_limit : float, optional
        Seconds of the whole call, without those that compile. The run ends when another iteration,
        as long as the last one, and the certificate would take longer; until one has been computed,
        the certificate is taken to last five judgements. No iteration is cut short, and the first
        one is made unless the time is over before it: the call may be late by the time of one
        iteration, or of the first one and the certificate.
    A0 : array or scipy.sparse matrix (n, m), or path, optional
        A feasible dual point to start from, such as the A of a result with another lam, or the file
        of a checkpoint that holds one; 0 by default. With an entropy it may be a machine (m, d),
        such as the W of a result.
    callback : callable, optional
        callback(progress) is called at every checkpoint, with iteration, seconds, primal, dual,
        gap, A and W; A is None with an entropy. It may raise StopIteration to end the run.
    verbose : int
        1 prints at most one line per second to stderr, 2 one per checkpoint. Both print how far a
        pass is that takes long.
    checkpoint : path, optional
        File in which the run is stored now and then, and from which it goes on if it is there.
        tol, relative, max_iter, time_limit, check_every, callback and verbose may differ; the
        callback is not told again what it was told. time_limit holds for each call. With an
        entropy the file holds W alone: the call begins at that W, counts its iterations anew and
        takes other steps than without the break.
    checkpoint_every : float
        Seconds between two checkpoints; 0 stores one after each chunk of rows.
    **method_options
        The options of the method, if it is given by name.

    Returns
    -------
    PackedResult
        Its A is a scipy CSR array, and its certificate is computed from A alone. With an entropy A
        is None, and the certificate is computed from the A(W) of machines of the run.

    Raises
    ------
    ValueError, TypeError
        Before any work, if an argument is not allowed, or if the checkpoint belongs to another run
        or is damaged. Later, if X is not what it was when the problem was made.
    DriftError
        If rounding explains neither a negative gap nor how far W is from A^T X / (lam n): X changed
        while a chunk of it was in use, or W or A changed in memory or in the checkpoint.
    """
    called = time.perf_counter()
    if not isinstance(problem, ProblemInParts):
        found = reprlib.repr(problem)
        raise TypeError(f"problem must be an OutOfCoreProblem or a DaskProblem; got {found}.")
    run = checked_run(tol, relative, max_iter, time_limit, check_every, rng, callback, verbose)
    method = chosen(method, problem.has_entropy)
    solver, name = build(method, method_options), label(method)
    in_parts = _in_parts(name, solver, problem, run.generator)
    start = _start(problem, A0, run.verbose > 0)
    file = checkpoint_file_of(checkpoint, checkpoint_every, problem, solver, run.generator, start)
    return _run(name, solver, in_parts, problem, start, file, run, called)


def check_method(method: str, has_entropy: bool) -> None:
    """Raise ValueError if a method of this name, without options, does not work out of core."""
    name = str(chosen(method, has_entropy))
    (lbfgs_in_chunks if has_entropy else chunked_method)(name, build(name, {}))


def chosen(method: str | Method, has_entropy: bool) -> str | Method:
    """Return the method that "auto" is for a loss, and any other one as it is."""
    if method == "auto":
        return "lbfgs" if has_entropy else "ascent"
    return method


def _in_parts(
    name: str, solver: Method, problem: ProblemInParts, rng: np.random.Generator
) -> Method:
    """Return the method that works part by part. Raises ValueError if there is none."""
    if problem.has_entropy:
        return lbfgs_in_chunks(name, solver)
    if isinstance(problem, OutOfCoreProblem):
        return Repeating(chunked_method(name, solver))
    from fwlab.distributed.dask.rounds import method_in_rounds

    return Repeating(method_in_rounds(name, solver, rng))


def _run(
    name: str,
    solver: Method,
    in_parts: Method,
    problem: Any,
    start: Any,
    file: CheckpointFile | None,
    run: RunArguments,
    called: float,
) -> PackedResult:
    """Return the result of a run of in_parts, which is what `solver` does part by part."""
    stored = None if file is None else file.stored()
    reporter = run.reporter(name, OutOfCoreProgress)
    if problem.has_entropy:
        recorder = Recorder(reporter)
        # float32 may overflow in steps, and the run then goes on in float64
        errors = np.errstate(over="ignore", invalid="ignore")
    else:
        recorder = JournalRecorder(reporter, keeps_augmented_gap=problem.smoothing > 0)
        errors = np.errstate()
    with one_blas_thread, deferred_interrupt() as interrupt, errors:
        began = called + _seconds_to_compile(problem, solver)
        state = _state(problem, start, run, interrupt, file, stored)
        del stored
        end = run_loop(in_parts, state, run.limits, recorder, began, interrupt)
        end = _of_the_last_iterate(end, state, run.limits)
    return _result(name, problem, state, end, recorder, called)


def _seconds_to_compile(problem: ProblemInParts, solver: Method) -> float:
    """Compile the kernels if they run in this process; return the seconds that it takes."""
    clock = time.perf_counter()
    if isinstance(problem, OutOfCoreProblem) and not problem.has_entropy:
        warm_up(problem.first_part(), solver)
    return time.perf_counter() - clock


def _state(
    problem: Any,
    start: Any,
    run: RunArguments,
    interrupt: Interrupt,
    file: CheckpointFile | None,
    stored: Checkpoint | None,
) -> OutOfCoreState | EntropyState:
    """Return the state of a run from a start, or from a stored checkpoint."""
    shows = run.verbose > 0
    if problem.has_entropy:
        return entropy_state(problem, start, PassWatch(shows, interrupt), file, stored)
    kind: Any = OutOfCoreState
    if not isinstance(problem, OutOfCoreProblem):
        from fwlab.distributed.dask.state import DaskState

        kind = DaskState
    state: OutOfCoreState = kind(problem, start, run.generator, interrupt, shows, file)
    if stored is not None:
        _feasible(problem, stored.packed, "checkpoint")
        state.resume(stored)
    return state


def _of_the_last_iterate(end: End, state: OutOfCoreState | EntropyState, limits: Limits) -> End:
    """Return the end with the certificate of what the state holds.

    The loop may have ended at an iteration from the journal, before the one that A is from.
    """
    if isinstance(state, EntropyState):
        return end
    end = replace(end, iteration=max(end.iteration, state.journal.iterations))
    if end.certificate is state.certificate:
        return end
    certificate = state.certify_now()
    status = Status.INTERRUPTED if end.status is Status.CONVERGED else end.status
    return replace(end, certificate=certificate, status=limits.met(certificate) or status)


def _start(problem: ProblemInParts, A0: Any, shows: bool) -> list[csr_array] | Floats:
    """Return the checked start: A packed chunk by chunk, or with an entropy W."""
    if isinstance(problem, OutOfCoreProblem) and problem.has_entropy:
        return entropy_start(problem, A0, PassWatch(shows))
    n, m = problem.n_samples, problem.n_classes
    if isinstance(A0, RowsToTake):
        return A0
    A0 = start_of(A0, has_entropy=False)
    if A0 is None:
        return [csr_array((part.n_samples, m)) for part in problem.parts]
    A0 = csr_array(A0 if issparse(A0) else as_floats("A0", A0, ndims=(2,)), dtype=np.float64)
    as_floats("A0", A0.data, ndims=(1,))
    if A0.shape != (n, m):
        raise ValueError(f"A0 must be (n, m) = {(n, m)}; got shape {A0.shape}.")
    return _feasible(problem, rows_of_chunks(problem, A0), "A0")


class RowsToTake(list[csr_array]):
    """The chunks of a feasible start, which a run replaces one by one: no copy of them remains."""


def rows_of_chunks(problem: ProblemInParts, A: csr_array) -> list[csr_array]:
    """Return copies of the rows of A of each chunk."""
    cuts = np.cumsum([0, *(part.n_samples for part in problem.parts)])
    return [A[i:j] for i, j in pairwise(cuts)]


def _feasible(problem: ProblemInParts, packed: list[csr_array], name: str) -> list[csr_array]:
    """Return the rows of A of each chunk. Raises ValueError if a row is not feasible."""
    start = 0
    for part, rows in zip(problem.parts, packed, strict=True):
        stop = start + part.n_samples
        if not part.is_feasible(rows.toarray()):
            raise ValueError(f"{name} must be feasible; a row from {start} to {stop - 1} is not.")
        start = stop
    return packed


def _result(
    name: str,
    problem: Any,
    state: OutOfCoreState | EntropyState,
    end: End,
    recorder: Recorder,
    called: float,
) -> PackedResult:
    file = state.checkpoint_file
    run = {} if file is None else {"run": file.run}
    return PackedResult(
        W=np.ascontiguousarray(state.weights()),
        A=state.A,
        infeasibility=state.infeasibility,
        nit=end.iteration,
        seconds=state.seconds,
        method=name,
        lam_n=problem.lam_n,
        distance=end.certificate.distance,
        classes=problem.classes,
        made_by={**provenance(), **run, **state.made_by},
        **state.ball(end.certificate),
        **end.fields(recorder, called, (*state.notes, *problem.notes)),
    )
