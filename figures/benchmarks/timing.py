"""Tools for timing tables: calls that take turns, CPU times, medians, and lines of a table."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

import fwlab
from fwlab.solvers.method import State
from fwlab.solvers.registry import build

WARM_UP = 3


def milliseconds(calls: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the median CPU time of every call.

    Each repeat makes all calls in turn; the first few repeats warm up. A call is made twice and the
    second one is timed: in a run, an iteration follows another of its kind and finds its data in
    the caches.
    """
    times = np.empty((WARM_UP + repeats, len(calls)))
    for repeat in range(len(times)):
        for column, call in enumerate(calls.values()):
            call()
            start = time.process_time()
            call()
            times[repeat, column] = time.process_time() - start
    return dict(zip(calls, 1e3 * np.median(times[WARM_UP:], axis=0), strict=True))


def wall_milliseconds(calls: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the median wall time of every call; each repeat makes all calls in turn."""
    times = np.empty((repeats, len(calls)))
    for repeat in range(repeats):
        for column, call in enumerate(calls.values()):
            start = time.perf_counter()
            call()
            times[repeat, column] = time.perf_counter() - start
    return dict(zip(calls, 1e3 * np.median(times, axis=0), strict=True))


def iteration(problem: fwlab.Problem, method: str, **options: Any) -> Callable[[], object]:
    """Return a call that makes the next iteration of a run from A = 0."""
    solver, A = build(method, options), np.zeros((problem.n_samples, problem.n_classes))
    state = State(problem, A, np.random.default_rng(0), solver.needs(problem))
    workspace = solver.start(state)
    return lambda: solver.iterate(state, workspace)


def products(problem: fwlab.Problem) -> dict[str, Callable[[], object]]:
    """Return the two BLAS products X W^T and A^T X at the problem's sizes."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((problem.n_samples, problem.n_classes))
    W = rng.standard_normal((problem.n_classes, problem.n_features))
    return {"X W^T": lambda: problem.X @ W.T, "A^T X": lambda: A.T @ problem.X}


def print_line(cells: Iterable[str]) -> None:
    """Print a line of a Markdown table without delay, for tables that take long."""
    print(f"| {' | '.join(cells)} |", flush=True)
