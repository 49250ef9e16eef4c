"""The driver of ranking's methods: arguments, the choice of a method, and the result."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_floats, as_generator, as_integer, as_real
from fwlab.problem import Certificate
from fwlab.ranking.interior_point import InteriorPoint
from fwlab.ranking.newton_systems import bytes_needed
from fwlab.ranking.objectives import Objective
from fwlab.ranking.pairwise import Pairwise
from fwlab.ranking.problem import Point, Problem
from fwlab.ranking.result import Result
from fwlab.ranking.start import inner_point
from fwlab.ranking.state import Method, State
from fwlab.ranking.subgradient import Subgradient
from fwlab.ranking.working_set import WorkingSet, sparse_point
from fwlab.result import Status
from fwlab.solvers.interrupt import deferred_interrupt
from fwlab.solvers.loop import Limits, checked_limits, run_loop
from fwlab.solvers.recorder import Recorder, Reporter, read_only
from fwlab.solvers.threads import blas_threads

MAX_MEMORY = 2**30
AUTO = "auto"


@dataclass(frozen=True)
class Entry:
    """A method, and the point that it begins with where the user gives none."""

    sentence: str
    method: Method
    first_point: Callable[[Problem], Point] = inner_point


METHODS = {
    "interior-point": Entry(
        "Primal-dual Newton steps for the dual with a barrier.", InteriorPoint()
    ),
    "working-set": Entry(
        "The same on a growing set of rows, for large n.", WorkingSet(), sparse_point
    ),
    "pairwise": Entry(
        "Pairwise coordinate ascent, Algorithm 3.1 of M20; it can stall.", Pairwise()
    ),
    "subgradient": Entry("Subgradient descent on the primal, for comparison.", Subgradient()),
}


@dataclass(frozen=True, eq=False)
class Progress:
    """What a callback sees of a run; the arrays are read-only."""

    iteration: int
    seconds: float
    primal: float
    dual: float
    gap: float
    state: State = field(repr=False)

    @property
    def alpha(self) -> Floats:
        """(n_positive,)."""
        return read_only(self.state.point.alpha)

    @property
    def beta(self) -> Floats:
        """(n_negative,)."""
        return read_only(self.state.point.beta)

    @property
    def delta(self) -> float | None:
        """None for TopPushK."""
        return self.state.point.delta


Callback = Callable[[Progress], None]


def solve(
    X: Any,
    y: Any,
    objective: Objective,
    C: float,
    kernel: str = "linear",
    sigma: float | None = None,
    method: str = AUTO,
    tol: float = 1e-6,
    max_iter: int = 1000,
    time_limit: float | None = None,
    start: tuple[Any, Any, float | None] | None = None,
    rng: int | np.random.Generator = 0,
    callback: Callback | None = None,
    check_every: int = 1,
    verbose: int = 0,
    n_threads: int = 1,
    max_memory: int = MAX_MEMORY,
) -> Result:
    """Fit a ranking machine of M20: minimise 1/2 |w|^2 + C sum over the positives of l(t - score).

    X (n, d), dense or sparse, or with kernel="precomputed" the matrix k(x_i, x_j) (n, n). y: labels
    in {0, 1} or {-1, +1}. objective: TopPush, TopPushK or PatMat. kernel: "linear", "rbf", which is
    exp(-sigma |x - z|^2), or "precomputed". method: a name of `methods()`; "auto" is
    "interior-point", or "working-set" where two n x n arrays would take more than max_memory. The
    run ends when the certified gap is at most tol max(|primal|, |dual|); tol = 0 runs to max_iter
    iterations. start: a feasible (alpha, beta, delta), delta None for TopPushK; alpha and beta
    follow the order of X. callback(progress) is called at every checkpoint, each check_every
    iterations, and may raise StopIteration. time_limit: seconds of the whole call. verbose: 1
    prints a line a second to stderr, 2 one a checkpoint. n_threads: threads of the matrix products.
    max_memory: bytes for kernel matrices; "working-set" keeps columns of an rbf kernel in them, and
    takes some 24 bytes a squared row of the set besides. Ctrl-C ends the run after the current
    iteration with a valid result.

    Raises ValueError or TypeError with one sentence before any work.
    """
    if not isinstance(method, str) or method not in methods():
        raise ValueError(f"method must be one of {', '.join(methods())}; got {method!r}.")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable; got {callback!r}.")
    limits = checked_limits(tol, True, max_iter, time_limit, check_every)
    n_threads = as_integer("n_threads", n_threads, low=1)
    max_memory = as_integer("max_memory", max_memory, low=0)
    verbose = as_integer("verbose", verbose, low=0, high=2)
    generator = as_generator(rng)
    began = time.perf_counter()
    with blas_threads(n_threads):
        problem = Problem(X, y, objective, C, kernel, sigma, max_memory)
        name = _name(method, problem)
        reporter = Reporter(name, callback, verbose, Progress)
        if start is None:
            point = METHODS[name].first_point(problem)
        else:
            point = _as_point(problem, start)
        return _run(METHODS[name].method, State(problem, point, generator), limits, reporter, began)


def methods() -> dict[str, str]:
    """The names of all methods, each with a sentence."""
    sentences = {name: entry.sentence for name, entry in METHODS.items()}
    return {AUTO: "interior-point where it fits max_memory, else working-set.", **sentences}


def _name(method: str, problem: Problem) -> str:
    """The method that runs."""
    needed, allowed = bytes_needed(problem), problem.max_memory
    if method == AUTO:
        return "interior-point" if needed <= allowed else "working-set"
    if method == "interior-point" and needed > allowed:
        raise ValueError(
            f"max_memory must be at least {needed} bytes for the kernel matrix and its factor with "
            f"this method; got {allowed}."
        )
    return method


def _run(method: Method, state: State, limits: Limits, reporter: Reporter, began: float) -> Result:
    recorder = Recorder()

    def judge() -> Certificate:
        return state.problem.certificate(state.point)

    def note(certificate: Certificate, iteration: int, seconds: float) -> Status | None:
        recorder.record(state, certificate, iteration, seconds)
        return reporter.report(state, certificate, iteration, seconds)

    with deferred_interrupt() as interrupt:
        end = run_loop(method, state, judge, note, limits, began, interrupt)
    problem, point = state.problem, state.point
    status = limits.met(end.certificate) or end.status
    return Result(
        alpha=point.alpha,
        beta=point.beta,
        delta=point.delta,
        threshold=problem.threshold_at(point),
        primal=end.certificate.primal,
        dual=end.certificate.dual,
        gap=end.certificate.gap,
        success=status is Status.CONVERGED,
        status=status,
        message=f"{status.value} Method: {reporter.method}.",
        nit=end.iteration,
        seconds=end.seconds,
        method=reporter.method,
        trace=recorder.trace(),
        machine=problem.machine(point),
    )


def _as_point(problem: Problem, start: Any) -> Point:
    free = problem.threshold.free
    if not isinstance(start, tuple) or len(start) != 3:
        kind = type(start).__name__
        got = f"a tuple of {len(start)}" if isinstance(start, tuple) else f"a {kind}"
        raise TypeError(f"start must be a tuple (alpha, beta, delta) of three; got {got}.")
    alpha, beta = (as_floats("start", part, ndims=(1,)).copy() for part in start[:2])
    if (len(alpha), len(beta)) != (problem.n_positive, problem.n_negative):
        raise ValueError(
            f"start must hold {problem.n_positive} alpha and {problem.n_negative} beta; "
            f"got {len(alpha)} and {len(beta)}."
        )
    if (start[2] is None) == free:
        allowed = "a number for PatMat" if free else "None for TopPushK"
        raise ValueError(f"delta of start must be {allowed}; got {start[2]!r}.")
    point = Point(alpha, beta, as_real("delta", start[2], positive=False) if free else None)
    if not problem.is_feasible(point):
        raise ValueError("start must meet the constraints of the dual; got a point that does not.")
    return point
