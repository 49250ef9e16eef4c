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
from fwlab.distributed.checkpoint import checkpoint_file_of, start_of
from fwlab.distributed.entropies import Asked, require_lbfgs, solve_entropy
from fwlab.distributed.journal import JournalRecorder, Repeating
from fwlab.distributed.outcome import packed_result
from fwlab.distributed.packed import PackedResult
from fwlab.distributed.passes import ChunkPasses
from fwlab.distributed.problem import OutOfCoreProblem, ProblemInParts
from fwlab.distributed.state import OutOfCoreState
from fwlab.distributed.whole_steps import WholeSteps
from fwlab.result import Status
from fwlab.solvers.ascent import Ascent
from fwlab.solvers.block_frank_wolfe import BlockFrankWolfe
from fwlab.solvers.frank_wolfe import FrankWolfe
from fwlab.solvers.interrupt import deferred_interrupt
from fwlab.solvers.loop import End, run_loop
from fwlab.solvers.method import Method
from fwlab.solvers.recorder import Progress, Recorder, read_only
from fwlab.solvers.registry import build, label
from fwlab.solvers.run_arguments import checked_run
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
    asked = Asked(name, solver, run, A0, checkpoint, checkpoint_every, called)
    if isinstance(problem, OutOfCoreProblem) and problem.has_entropy:
        return solve_entropy(problem, asked, OutOfCoreProgress)
    return _solve(problem, asked)


def check_method(method: str, has_entropy: bool) -> None:
    """Raise ValueError if a method of this name, without options, does not work out of core."""
    name = str(chosen(method, has_entropy))
    (require_lbfgs if has_entropy else chunked_method)(name, build(name, {}))


def chosen(method: str | Method, has_entropy: bool) -> str | Method:
    """Return the method that "auto" is for a loss, and any other one as it is."""
    if method == "auto":
        return "lbfgs" if has_entropy else "ascent"
    return method


def _solve(problem: ProblemInParts, asked: Asked) -> PackedResult:
    name, solver, run, A0, checkpoint, checkpoint_every, called = asked
    split = Repeating(_split(name, solver, problem, run.generator))
    packed = _start(problem, A0)
    file = checkpoint_file_of(checkpoint, checkpoint_every, problem, solver, run.generator, packed)
    checkpointed = None if file is None else file.stored()
    reporter = run.reporter(name, OutOfCoreProgress)
    recorder = JournalRecorder(reporter, keeps_augmented_gap=problem.smoothing > 0)
    with one_blas_thread, deferred_interrupt() as interrupt:
        began = called + _seconds_to_compile(problem, solver)
        state = _new_state(problem, packed, run.generator, interrupt, run.verbose > 0, file)
        if checkpointed is not None:
            _feasible(problem, checkpointed.packed, "checkpoint")
            state.resume(checkpointed)
            del checkpointed
        end = run_loop(split, state, run.limits, recorder, began, interrupt)
        end = _of_the_last_iterate(end, state, run.limits)
    return _result(name, state, end, recorder, called)


def _seconds_to_compile(problem: ProblemInParts, solver: Method) -> float:
    """Compile the kernels if they run in this process; return the seconds that it takes."""
    clock = time.perf_counter()
    if isinstance(problem, OutOfCoreProblem):
        warm_up(problem.first_part(), solver)
    return time.perf_counter() - clock


def _of_the_last_iterate(end: End, state: OutOfCoreState, limits: Limits) -> End:
    """Return the end with the certificate of the A that the state holds.

    The loop may have ended at an iteration from the journal, before the one that A is from.
    """
    if end.certificate is state.certificate:
        return end
    certificate = state.certify_now()
    status = Status.INTERRUPTED if end.status is Status.CONVERGED else end.status
    return replace(end, certificate=certificate, status=limits.met(certificate) or status)


def _new_state(problem: Any, *rest: Any) -> OutOfCoreState:
    """Return the state of a run."""
    if isinstance(problem, OutOfCoreProblem):
        return OutOfCoreState(problem, *rest)
    from fwlab.distributed.dask.state import DaskState

    return DaskState(problem, *rest)


def _split(name: str, solver: Method, problem: ProblemInParts, rng: np.random.Generator) -> Method:
    """Return the method that works part by part. Raises ValueError if there is none."""
    if isinstance(problem, OutOfCoreProblem):
        return chunked_method(name, solver)
    from fwlab.distributed.dask.rounds import method_in_rounds

    return method_in_rounds(name, solver, rng)


def chunked_method(name: str, solver: Method) -> Method:
    """Return the method that works chunk by chunk. Raises ValueError if there is none."""
    if isinstance(solver, Ascent):
        return ChunkPasses(solver)
    if isinstance(solver, BlockFrankWolfe) and not (solver.step_in_python or solver.averaging):
        return ChunkPasses(solver)
    if isinstance(solver, FrankWolfe) and solver.step == "exact":
        return WholeSteps()
    raise ValueError(
        'method must be "ascent", "bcfw" with compiled steps and without averaging, or "fw" with '
        f"exact steps, out of core; got {name!r}."
    )


def _start(problem: ProblemInParts, A0: Any) -> list[csr_array]:
    """Return the checked start, packed chunk by chunk."""
    n, m = problem.n_samples, problem.n_classes
    if isinstance(A0, RowsToTake):
        return A0
    A0 = start_of(A0, problem.has_entropy)
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
    name: str, state: OutOfCoreState, end: End, recorder: Recorder, called: float
) -> PackedResult:
    problem = state.problem
    notes: tuple[str, ...] = ()
    run: dict[str, str] = {}
    if state.checkpoint_file is not None:
        run["run"] = state.checkpoint_file.run
    if state.resumed is not None:
        run["resumed"] = f"iteration {state.resumed.iteration}"
        notes = (f"Resumed after {run['resumed']}.",)
    if state.cut_short is not None:
        visited = f"{state.cut_short} of {len(problem.parts)} chunks"
        notes = (f"The last iteration ended early, after {visited}.", *notes)
    return packed_result(
        problem,
        end,
        recorder,
        called,
        run,
        notes,
        W=state.link,
        A=state.A,
        infeasibility=state.infeasibility,
        nit=max(end.iteration, state.journal.iterations),
        seconds=state.seconds,
        method=name,
    )
