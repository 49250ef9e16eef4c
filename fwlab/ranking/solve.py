"""The driver of ranking's methods: clock, judge, stopping test, interruption and result."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fwlab._validation import Floats, as_floats, as_generator, as_integer, as_real
from fwlab.problem import Certificate
from fwlab.ranking.interior_point import InteriorPoint
from fwlab.ranking.objectives import Objective
from fwlab.ranking.pairwise import Pairwise
from fwlab.ranking.problem import Point, Problem
from fwlab.ranking.result import Result
from fwlab.ranking.start import inner_point
from fwlab.ranking.state import Method, State
from fwlab.ranking.subgradient import Subgradient
from fwlab.ranking.working_set import WorkingSet
from fwlab.result import Status, Trace
from fwlab.solvers._driver import Limits
from fwlab.solvers._interrupt import deferred_interrupt

MAX_MEMORY = 2**30

METHODS: dict[str, tuple[str, Callable[[], Method]]] = {
    "interior-point": ("Newton steps on the barrier function of the dual.", InteriorPoint),
    "working-set": ("The same on a growing set of rows, for large n.", WorkingSet),
    "pairwise": ("Pairwise coordinate ascent, Algorithm 3.1 of M20; it can stall.", Pairwise),
    "subgradient": ("Subgradient descent on the primal, for comparison.", Subgradient),
}


@dataclass(frozen=True, eq=False)
class Progress:
    """What a callback sees of a run; the arrays are read-only."""

    iteration: int
    seconds: float
    primal: float
    dual: float
    gap: float
    alpha: Floats
    beta: Floats
    delta: float | None


Callback = Callable[[Progress], None]


@dataclass(eq=False)
class Reporter:
    """The trace's rows, the progress lines and the user's callback."""

    method: str
    callback: Callback | None
    verbose: int
    rows: list[dict[str, Any]] = field(default_factory=list)

    def report(
        self, state: State, certificate: Certificate, iteration: int, seconds: float
    ) -> Status | None:
        """Note a checkpoint; the status to stop with if the callback says so."""
        numbers = (certificate.primal, certificate.dual, certificate.gap)
        active = np.count_nonzero(state.point.alpha) + np.count_nonzero(state.point.beta)
        names = ("iteration", "seconds", "primal", "dual", "gap", "n_lmo", "n_steps", "active")
        row = (iteration, seconds, *numbers, 0, state.n_steps, active)
        self.rows.append({**dict(zip(names, row, strict=True)), "step": state.step})
        if self.verbose:
            line = f"{self.method} {iteration:6d} {seconds:9.2f} s  gap {certificate.gap:.3e}"
            print(line, file=sys.stderr, flush=True)
        if self.callback is None:
            return None
        alpha, beta = state.point.alpha.view(), state.point.beta.view()
        alpha.flags.writeable = beta.flags.writeable = False
        try:
            self.callback(Progress(iteration, seconds, *numbers, alpha, beta, state.point.delta))
        except StopIteration:
            return Status.STOPPED_BY_CALLBACK
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        return None

    def trace(self) -> Trace:
        """The rows as columns."""
        return Trace(**{name: np.array([row[name] for row in self.rows]) for name in self.rows[0]})


def solve(
    X: Any,
    y: Any,
    objective: Objective,
    C: float,
    kernel: str = "linear",
    sigma: float | None = None,
    method: str = "interior-point",
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
    exp(-sigma |x - z|^2), or "precomputed". method: a name of `methods()`. The run ends when the
    certified gap is at most tol max(|primal|, |dual|); tol = 0 runs to max_iter iterations. start:
    a feasible (alpha, beta, delta), delta None for TopPushK; alpha and beta follow the order of X.
    callback(progress) is called at every checkpoint, each check_every iterations, and may raise
    StopIteration. time_limit: seconds of the whole call. verbose=1 prints a line a checkpoint.
    max_memory: bytes for kernel matrices, or for the kept columns of an rbf kernel. Ctrl-C ends the
    run after the current iteration with a valid result.

    Raises ValueError or TypeError with one sentence before any work.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}.")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable; got {callback!r}.")
    limits = Limits(
        as_real("tol", tol, positive=False),
        relative=True,
        max_iter=as_integer("max_iter", max_iter, low=0),
        time_limit=None
        if time_limit is None
        else as_real("time_limit", time_limit, positive=False),
    )
    check_every = as_integer("check_every", check_every, low=1)
    n_threads = as_integer("n_threads", n_threads, low=1)
    max_memory = as_integer("max_memory", max_memory, low=0)
    reporter = Reporter(method, callback, as_integer("verbose", verbose, low=0, high=1))
    generator = as_generator(rng)
    began = time.perf_counter()
    with threadpool_limits(n_threads, user_api="blas"):
        problem = Problem(X, y, objective, C, kernel, sigma, max_memory)
        state = State(problem, _start(problem, start), generator)
        return _run(METHODS[method][1](), state, limits, check_every, reporter, began)


def methods() -> dict[str, str]:
    """The names of all methods, each with a sentence."""
    return {name: sentence for name, (sentence, _) in METHODS.items()}


def _run(
    method: Method, state: State, limits: Limits, check_every: int, reporter: Reporter, began: float
) -> Result:
    problem, clock = state.problem, time.perf_counter()
    with deferred_interrupt() as interrupt:
        workspace = method.start(state)
        seconds, iteration = time.perf_counter() - clock, 0
        while True:
            certificate = problem.certificate(state.point)
            status = limits.status(certificate, iteration, time.perf_counter() - began)
            status = reporter.report(state, certificate, iteration, seconds) or status
            if interrupt.pressed:
                status = Status.INTERRUPTED
            if status is not None:
                break
            clock = time.perf_counter()
            for _ in range(min(check_every, limits.max_iter - iteration)):
                method.iterate(state, workspace)
                iteration += 1
                if interrupt.pressed or limits.time_is_over(time.perf_counter() - began):
                    break
            seconds += time.perf_counter() - clock
    return _result(state, certificate, limits.met(certificate) or status, reporter)


def _result(state: State, certificate: Certificate, status: Status, reporter: Reporter) -> Result:
    problem, point, trace = state.problem, state.point, reporter.trace()
    return Result(
        alpha=point.alpha,
        beta=point.beta,
        delta=point.delta,
        threshold=problem.threshold_at(point),
        primal=certificate.primal,
        dual=certificate.dual,
        gap=certificate.gap,
        success=status is Status.CONVERGED,
        status=status,
        message=status.value,
        nit=int(trace.iteration[-1]),
        seconds=float(trace.seconds[-1]),
        method=reporter.method,
        trace=trace,
        problem=problem,
    )


def _start(problem: Problem, start: Any) -> Point:
    free = problem.threshold.free
    if start is None:
        return inner_point(problem)
    if not isinstance(start, tuple) or len(start) != 3:
        raise TypeError(f"start must be a tuple (alpha, beta, delta); got {start!r}.")
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
