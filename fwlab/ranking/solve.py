"""Check the arguments of a ranking run and return its result; fwlab.solvers runs the iterations."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_floats, as_gram_memory, as_integer, as_real
from fwlab.ranking.objectives import Objective
from fwlab.ranking.problem import Point, Problem
from fwlab.ranking.registry import AUTO, METHODS, chosen, methods
from fwlab.ranking.result import Result
from fwlab.ranking.state import State
from fwlab.solvers.interrupt import deferred_interrupt
from fwlab.solvers.loop import End, run_loop
from fwlab.solvers.recorder import Progress, Recorder, read_only
from fwlab.solvers.run_arguments import checked_run
from fwlab.threads import blas_threads

MAX_GRAM_MEMORY = 2**30


class RankingProgress(Progress):
    """The argument of a callback of a ranking run; the arrays are read-only."""

    @property
    def alpha(self) -> Floats:
        """The dual variables of the positives, (n_positive,)."""
        return read_only(self.state.point.alpha)

    @property
    def beta(self) -> Floats:
        """The dual variables of the counted rows, (n_counted,)."""
        return read_only(self.state.point.beta)

    @property
    def delta(self) -> float | None:
        """The dual variable of the threshold; None for TopPushK."""
        delta: float | None = self.state.point.delta
        return delta


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
    callback: Callable[[RankingProgress], None] | None = None,
    check_every: int | str = 1,
    verbose: int = 0,
    n_threads: int = 1,
    max_gram_memory: int = MAX_GRAM_MEMORY,
    max_memory: int | None = None,
) -> Result:
    """Fit a ranking machine of M20: minimise 1/2 |w|^2 + C sum over the positives of l(t - score).

    Ctrl-C ends the run after the current iteration with a valid result.

    Parameters
    ----------
    X : array (n, d), scipy.sparse matrix, or array (n, n)
        The features, or with kernel="precomputed" the matrix k(x_i, x_j).
    y : array (n,)
        Labels in {0, 1} or {-1, +1}.
    objective : TopPush, TopPushK or PatMat
    C : float
        The weight of the sum over the positives, positive.
    kernel : "linear", "rbf" or "precomputed"
        "rbf" is exp(-sigma |x - z|^2).
    sigma : float, optional
        The constant of "rbf"; None for the other kernels.
    method : str
        A name of `methods()`. "auto" is "interior-point", or "working-set" if two n x n arrays
        would take more than max_gram_memory; n counts the positives twice for PatMat(over="all").
    tol : float
        The run ends when the certified gap, with its rounding error, is at most
        tol max(|primal|, |dual|). tol = 0 runs to max_iter iterations.
    max_iter : int
        The largest number of iterations.
    time_limit : float, optional
        Seconds of the whole call. The run ends when another iteration, as long as the last one, and
        the certificate would take longer; the time of the certificate is predicted from a part of
        its products. No iteration is cut short, and the first one is made unless the
        time is over before it: the call may be late by the time of one iteration, or of the first
        one and the certificate.
    start : tuple (alpha, beta, delta), optional
        A feasible dual point to start from. alpha (n_positive,) and beta (n_counted,) follow the
        order of X; the counted rows are the negatives, or all rows for PatMat(over="all"). delta is
        None for TopPushK.
    rng : int or numpy Generator
        The seed of all random choices.
    callback : callable, optional
        callback(progress) is called at every checkpoint, with iteration, seconds, primal, dual,
        gap, alpha, beta and delta as read-only attributes. It may raise StopIteration to end the
        run.
    check_every : int or "auto"
        Iterations between checkpoints; with "auto" a tenth of the iterations so far.
    verbose : int
        1 prints at most one line per second to stderr, 2 prints one per checkpoint.
    n_threads : int
        Threads of BLAS, which computes the products of matrices.
    max_gram_memory : int
        Bytes for kernel matrices. "working-set" uses them for columns of an rbf kernel, and needs
        about 24 further bytes per pair of rows of the set.
    max_memory : int, optional
        The former name of max_gram_memory, which is taken with a warning.

    Returns
    -------
    Result
        Dual point, threshold, machine, trace, and a certificate.

    Raises
    ------
    ValueError, TypeError
        With one sentence, before any work, if an argument is not allowed.
    """
    called = time.perf_counter()
    if not isinstance(method, str) or method not in methods():
        raise ValueError(f"method must be one of {', '.join(methods())}; got {method!r}.")
    run = checked_run(tol, True, max_iter, time_limit, check_every, rng, callback, verbose)
    n_threads = as_integer("n_threads", n_threads, low=1)
    max_gram_memory = as_gram_memory(max_gram_memory, max_memory)
    with blas_threads(n_threads):
        problem = Problem(X, y, objective, C, kernel, sigma, max_gram_memory)
        name = chosen(method, problem)
        solver, first_point = METHODS[name]
        point = first_point(problem) if start is None else _as_point(problem, start)
        state = State(problem, point, run.generator)
        recorder = Recorder(run.reporter(name, RankingProgress))
        with deferred_interrupt() as interrupt:
            end = run_loop(solver, state, run.limits, recorder, called, interrupt)
        return _result(name, state, end, recorder, called)


def _as_point(problem: Problem, start: Any) -> Point:
    """Return the checked start, a copy."""
    free = problem.threshold.free
    if not isinstance(start, tuple) or len(start) != 3:
        kind = type(start).__name__
        got = f"a tuple of {len(start)}" if isinstance(start, tuple) else f"a {kind}"
        raise TypeError(f"start must be a tuple (alpha, beta, delta) of three; got {got}.")
    alpha, beta = (as_floats("start", part, ndims=(1,)).copy() for part in start[:2])
    if (len(alpha), len(beta)) != (problem.n_positive, problem.n_counted):
        raise ValueError(
            f"start must hold {problem.n_positive} alpha and {problem.n_counted} beta; "
            f"got {len(alpha)} and {len(beta)}."
        )
    if (start[2] is None) == free:
        allowed = "a number for PatMat" if free else "None for TopPushK"
        raise ValueError(f"delta of start must be {allowed}; got {start[2]!r}.")
    point = Point(alpha, beta, as_real("delta", start[2], positive=False) if free else None)
    if not problem.is_feasible(point):
        raise ValueError("start must meet the constraints of the dual; got a point that does not.")
    return point


def _result(name: str, state: State, end: End, recorder: Recorder, called: float) -> Result:
    problem, point = state.problem, state.point
    return Result(
        alpha=point.alpha,
        beta=point.beta,
        delta=point.delta,
        threshold=problem.threshold_at(point),
        nit=end.iteration,
        seconds=end.times.wall,
        method=name,
        machine=problem.machine(point),
        **end.fields(recorder, called, [f"Method: {name}."]),
    )
