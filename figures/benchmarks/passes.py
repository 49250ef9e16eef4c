"""Milliseconds an iteration of the solvers, with their ratios to BLAS products in the same run.

Data sets A and B are synthetic; News20 (1024 SVD features, unit rows) is added where FWLAB_DATA
names its folder. Top-3, lam = 1/n, CPU times of one thread: every repeat runs the two products
X W^T and A^T X and one iteration of every method in turn, and the table shows the medians after
the first few. A second table counts the passes of `ascent` to several gaps.
"""

import os
import time
from collections.abc import Iterator

import numpy as np

import fwlab
from fwlab._text import format_table
from fwlab.solvers._state import State
from fwlab.solvers.registry import build

METHODS = (
    ("fw", {}),
    ("bcfw", {}),
    ("ascent", {}),
    ("ascent", {"block_size": 1}),
)
GAPS = (1e-3, 1e-5, 1e-7, 1e-9)
WARM_UP = 3


def problems() -> Iterator[tuple[str, fwlab.Problem]]:
    """The problems by name."""
    names = {"A": "synthetic-a", "B": "synthetic-b"}
    if os.environ.get("FWLAB_DATA"):
        names["News20"] = "news20_svd1024"
    for name, source in names.items():
        data = fwlab.datasets.load(source, normalize="unit")
        lam = 1 / len(data.y_train)
        yield name, fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(3), lam)


def milliseconds(problem: fwlab.Problem, repeats: int) -> np.ndarray:
    """Median CPU time of X W^T, of A^T X and of an iteration of every method."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((problem.n_samples, problem.n_classes))
    W = rng.standard_normal((problem.n_classes, problem.n_features))
    runs = []
    for name, options in METHODS:
        state = State(problem, np.zeros_like(A), np.random.default_rng(0))
        method = build(name, options)
        runs.append((method.iterate, state, method.start(state)))
    calls = [lambda: problem.X @ W.T, lambda: A.T @ problem.X]
    calls += [lambda run=run: run[0](run[1], run[2]) for run in runs]
    times = np.empty((WARM_UP + repeats, len(calls)))
    for repeat in range(len(times)):
        for column, call in enumerate(calls):
            start = time.process_time()
            call()
            times[repeat, column] = time.process_time() - start
    return 1e3 * np.median(times[WARM_UP:], axis=0)


def passes_to_gaps(problem: fwlab.Problem, limit: int) -> list[str]:
    """Passes of `ascent` to each gap, or the limit that it met."""
    trace = fwlab.solve(problem, "ascent", tol=GAPS[-1], max_iter=limit).trace
    counts = []
    for gap in GAPS:
        below = np.flatnonzero(trace.gap <= gap)
        counts.append(str(trace.iteration[below[0]]) if len(below) else f"> {limit}")
    return counts


def run(quick: bool) -> None:
    """Print both tables."""
    times, counts = [], []
    for name, problem in problems():
        scores, transposed, *iterations = milliseconds(problem, 5 if quick else 15)
        times += [
            (name, "X W^T", f"{scores:.2f}", "1.00", f"{scores / (scores + transposed):.2f}"),
            (name, "A^T X", f"{transposed:.2f}", f"{transposed / scores:.2f}", ""),
        ]
        for (method, options), one in zip(METHODS, iterations, strict=True):
            label = method + (", row by row" if options else "")
            both = one / (scores + transposed)
            times.append((name, label, f"{one:.2f}", f"{one / scores:.2f}", f"{both:.2f}"))
        counts.append((name, *passes_to_gaps(problem, 30 if quick else 300)))
    header = ("data", "what", "ms", "of X W^T", "of both products")
    print(format_table(header, times, right=header[2:]))
    print()
    header = ("passes of ascent to", *(f"{gap:.0e}" for gap in GAPS))
    print(format_table(header, counts, right=header[1:]))
