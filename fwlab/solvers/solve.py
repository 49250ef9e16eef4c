"""Check the arguments of a training run and return its result; `loop` runs the iterations."""

import reprlib
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np

from fwlab.arrays import Floats, is_tensor
from fwlab.checks.arguments import LARGEST, as_floats, as_gram_memory, as_integer
from fwlab.enclosing_ball import ball_of_run
from fwlab.operators.tensor_rows import tensor_rows
from fwlab.primal_dual import PrimalDual
from fwlab.problem import Problem
from fwlab.result import Certificate, Result
from fwlab.solvers.interrupt import deferred_interrupt
from fwlab.solvers.loop import End, run_loop
from fwlab.solvers.method import Method, State
from fwlab.solvers.recorder import Progress, Recorder, read_only
from fwlab.solvers.registry import build, label, require_taken
from fwlab.solvers.run_arguments import checked_run
from fwlab.solvers.same_data import require_same_data
from fwlab.solvers.tensor_lbfgs import TensorLbfgs, TensorState
from fwlab.solvers.warm_up import warm_up
from fwlab.tensor_certificate import machine_of
from fwlab.threads import run_threads, torch_threads

MAX_GRAM_MEMORY = 2**30


class TrainingProgress(Progress):
    """The argument of a callback of a training run; A and W are read-only."""

    @property
    def A(self) -> Floats:
        """The dual variable, (n, m)."""
        return read_only(self.state.A)

    @property
    def W(self) -> Floats | None:
        """The primal variable, (m, d); None with a precomputed kernel."""
        precomputed = self.state.problem.kernel == "precomputed"
        return None if precomputed else read_only(self.state.weights())


def solve(
    problem: Problem,
    method: str | Method = "ascent",
    tol: float = 1e-5,
    relative: bool = False,
    max_iter: int = 1000,
    time_limit: float | None = None,
    A0: Any = None,
    rng: int | np.random.Generator = 0,
    callback: Callable[[TrainingProgress], None] | None = None,
    check_every: int | str = "auto",
    verbose: int = 0,
    n_threads: int = 1,
    max_gram_memory: int = MAX_GRAM_MEMORY,
    **method_options: Any,
) -> Result:
    """Maximise the dual of a problem until the gap, with its rounding error, is at most tol.

    Ctrl-C ends the run after the current iteration with a valid result; a second one raises
    KeyboardInterrupt.

    Parameters
    ----------
    problem : Problem
    method : str or Method
        A name of `fwlab.methods()`, or a method of your own.
    tol : float
        The gap to reach, not negative. tol = 0 runs to max_iter iterations; "lbfgs", and "newton"
        with an entropy, end before that where rounding hides all further progress.
    relative : bool
        Whether tol is a fraction of max(|primal|, |dual|) instead of a gap.
    max_iter : int
        The largest number of iterations.
    time_limit : float, optional
        Seconds of the whole call, without those that compile. The run ends when another iteration,
        as long as the last one, and the certificate would take longer; the time of the certificate
        is predicted from the one of some samples. No iteration is cut short, and
        the first one is made unless the time is over before it: the call may be late by the time of
        one iteration, or of the first one and the certificate.
    A0 : array (n, m), optional
        A feasible dual point to start from; by default zero, or a vertex if the domain of a
        PolytopeLoss is not known to contain zero. If X is a tensor, it may be a machine (m, d).
    rng : int or numpy Generator
        The seed of all random choices.
    callback : callable, optional
        callback(progress) is called at every checkpoint, with iteration, seconds, primal, dual,
        gap, A and W as read-only attributes. It may raise StopIteration to end the run.
    check_every : int or "auto"
        Iterations between checkpoints. "auto" spends about a tenth of the work on judging: it
        judges when the method's progress predicts a gap of at most tol, and now and then before
        that. It counts operations and never reads the clock, so that a run can be repeated bit for
        bit.
    verbose : int
        1 prints at most one line per second to stderr, with the time left, 2 one per checkpoint.
    n_threads : int
        Threads that share the work on rows: scores, vertices, projections, losses and A^T X of a
        dense X, hence most of an iteration of "fw" and of the judging of all methods. "ascent"
        visits groups of rows at the same time if X is dense with 128 features, 128 classes and 1536
        samples or more, as long as the groups agree; its iterates are the same for all numbers
        above 1. Its passes with the cross-entropy, steps of other block methods and A^T X of a
        sparse X are serial. Gram matrices and the Newton steps with at most 1000 unknowns are left
        to the threads of BLAS. The rounding of BLAS depends on the number, in these and in
        certificates. A run with the same number can be repeated bit for bit. Each thread of a dense
        run needs room for an array like W.
    max_gram_memory : int
        Bytes that a block method may take for the Gram matrix of a dense X with n <= d. It computes
        this matrix as soon as that pays, and the message then says so; 0 for never. max_memory, its
        former name, is taken with a warning.
    **method_options
        The options of the method, if it is given by name.

    Returns
    -------
    Result
        Dual point, machine, trace, and a certificate that is computed from the dual point alone.

    Raises
    ------
    ValueError, TypeError
        Before any work, if an argument is not allowed or the method does not take the problem.
    """
    called = time.perf_counter()
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a fwlab.Problem; got {reprlib.repr(problem)}.")
    run = checked_run(tol, relative, max_iter, time_limit, check_every, rng, callback, verbose)
    n_threads = as_integer("n_threads", n_threads, low=1)
    max_gram_memory = as_gram_memory(max_gram_memory, method_options.pop("max_memory", None))
    solver, name = build(method, method_options), label(method)
    require_taken(name, solver, problem)
    require_same_data(problem)
    tensors = problem.has_tensors
    start = start_of_tensors(problem, A0) if tensors else _start(problem, A0)
    reporter = run.reporter(name, TrainingProgress)
    recorder = Recorder(reporter, keeps_augmented_gap=problem.smoothing > 0)
    with run_threads(n_threads), torch_threads(n_threads) if tensors else nullcontext():
        clock = time.perf_counter()
        if tensors:
            solver = TensorLbfgs()
        else:
            warm_up(problem, solver)
        began = called + (time.perf_counter() - clock)
        state = _state(problem, start, run.generator, solver, max_gram_memory)
        with deferred_interrupt() as interrupt:
            end = run_loop(solver, state, run.limits, recorder, began, interrupt)
        return _result(name, state, end, recorder, called)


def _state(
    problem: Problem, start: Any, rng: np.random.Generator, solver: Method, max_gram_memory: int
) -> State | TensorState:
    """Return the state of a run from a dual point, or from a machine on tensors."""
    if problem.has_tensors:
        return TensorState(problem=problem, W=start)
    return State(problem, start, rng, solver.needs(problem), max_gram_memory)


def _start(problem: Problem, A0: Any) -> Floats:
    """Return the checked start, a copy; without one 0, or a vertex where 0 may be infeasible."""
    shape = (problem.n_samples, problem.n_classes)
    if A0 is None:
        A = np.zeros(shape)
        checks = problem.polytopes.checks_membership
        if not (problem.in_family or (checks and problem.is_feasible(A))):
            problem.lowest(np.zeros(shape))[0].add_to(A, 1.0)
        return A
    A = as_floats("A0", A0, ndims=(2,)).copy()
    if A.shape != shape:
        raise ValueError(f"A0 must be (n, m) = {shape}; got shape {A.shape}.")
    if not problem.is_feasible(A):
        worst = problem.infeasibility(A)
        raise ValueError(f"A0 must be feasible; an entry is {worst:.3g} away from the domain.")
    return A


def start_of_tensors(problem: PrimalDual, A0: Any) -> Any:
    """Return the machine of the checked start, (m, d), or 0 without one."""
    features, dual = tensor_rows(problem.features), (problem.n_samples, problem.n_classes)
    machine, float64 = (problem.n_classes, problem.n_features), features.xp.float64
    if A0 is None:
        return features.xp.zeros(machine, dtype=float64, device=features.device)
    given = A0 if is_tensor(A0) else features.xp.asarray(as_floats("A0", A0, ndims=(2,)).copy())
    shape = tuple(given.shape)
    if shape not in (dual, machine):
        raise ValueError(
            f"A0 must be (n, m) = {dual}, or a machine (m, d) = {machine}; got shape {shape}."
        )
    if not features.xp.isdtype(given.dtype, "real floating"):
        raise TypeError(f"A0 must be a tensor of a floating type; got {given.dtype}.")
    start = features.xp.asarray(features.here(given, float64), copy=True)
    if not bool(features.xp.all(features.xp.abs(start) <= LARGEST)):
        raise ValueError(f"A0 must be finite and at most {LARGEST:g} in size; an entry is not.")
    return machine_of(problem, start) if shape == dual else start


def _result(
    name: str, state: State | TensorState, end: End, recorder: Recorder, called: float
) -> Result:
    problem, certificate, notes = state.problem, end.certificate, state.problem.notes
    precomputed = problem.kernel == "precomputed"
    if isinstance(state, State):
        notes = (*_notes(state, certificate), *notes)
    W, infeasibility = None if precomputed else state.weights(), state.infeasibility
    return Result(
        W=W,
        A=state.A,
        infeasibility=problem.infeasibility(state.A) if infeasibility is None else infeasibility,
        nit=end.iteration,
        seconds=end.times.wall,
        cpu_seconds=end.times.cpu,
        method=name,
        lam_n=problem.lam_n,
        coefficients=state.expansion() if isinstance(state, State) and precomputed else None,
        distance=certificate.distance,
        **ball_fields(state, certificate),
        classes=problem.classes,
        **end.fields(recorder, called, notes),
    )


def ball_fields(state: State | TensorState, certificate: Certificate) -> dict[str, Any]:
    """Return the fields of the ball that holds the exact optimum, if it is not the one around W."""
    if state.problem.kernel is not None:
        return {}
    if isinstance(state, State) and state.coefficients is not None:
        return {}
    V = state.link if isinstance(state, State) else state.dual_terms.V
    ball = ball_of_run(state.problem, state.weights(), V, certificate)
    return {} if ball is None else {"centre": ball.centre, "radius": ball.radius}


def _notes(state: State, certificate: Certificate) -> Iterator[str]:
    """Yield one sentence on each other problem that the run solved."""
    if state.own_problem is not None:
        loss, gap = state.own_problem.loss, certificate.own_gap
        yield f"The dual that was maximised is that of {loss!r}; its gap is {gap:.3g}."
    if state.gram_problem is not None:
        yield "Passes went over to the Gram matrix when it paid."
