"""CPU time of `ascent` to a relative gap, in units of a run that is told its number of passes.

The second run makes as many passes as are needed (max_iter) and is judged once; the first one
decides by itself when it is judged (check_every="auto"). The table shows the passes of the first
run and those needed, and the checkpoints of the first run. Rows of length 1, C = 1, one thread. The
two runs take turns: medians.
"""

from collections.abc import Callable, Iterator
from statistics import median
from time import process_time

import numpy as np

import fwlab
from figures.benchmarks.timing import print_line

TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
REPEATS = 7
MOST_PASSES = 400


def problems(quick: bool) -> Iterator[tuple[str, fwlab.Problem]]:
    """Yield names and problems."""
    yield "digits", _problem(fwlab.datasets.load("digits", normalize="unit"), fwlab.TopK(1))
    few = fwlab.datasets.synthetic(1732, 19, 7, 1.0, rng=0, normalize="unit")
    yield "1732 x 19 x 7", _problem(few, fwlab.TopK(1))
    if not quick:
        data = fwlab.datasets.load("synthetic-b", normalize="unit")
        yield "synthetic-b", _problem(data, fwlab.TopK(3))
        many = fwlab.datasets.synthetic(12000, 384, 500, 0.25, rng=0, normalize="unit")
        yield "12000 x 384 x 500", _problem(many, fwlab.TopK(5))


def _problem(data: fwlab.datasets.Dataset, loss: fwlab.Loss) -> fwlab.Problem:
    return fwlab.Problem(data.X_train, data.y_train, loss, C=1.0)


def needed_passes(problem: fwlab.Problem, smallest: float) -> np.ndarray:
    """Return the relative gap after each pass, until it is at most `smallest`."""
    options = {"tol": smallest, "relative": True, "max_iter": MOST_PASSES, "check_every": 1}
    trace = fwlab.solve(problem, "ascent", rng=0, **options).trace
    return np.asarray(trace.gap) / np.maximum(np.abs(trace.primal), np.abs(trace.dual))


def _seconds(call: Callable[[], fwlab.Result]) -> tuple[float, fwlab.Result]:
    began = process_time()
    run = call()
    return process_time() - began, run


def line(problem: fwlab.Problem, tol: float, needed: int, repeats: int) -> tuple[str, ...]:
    """Return passes, checkpoints and the ratio of the two runs' times."""
    options = {"relative": True, "rng": 0}
    pairs = []
    for _ in range(repeats):
        own, run = _seconds(lambda: fwlab.solve(problem, "ascent", tol=tol, **options))
        told, _ = _seconds(
            lambda: fwlab.solve(
                problem, "ascent", tol=0.0, max_iter=needed, check_every=MOST_PASSES, **options
            )
        )
        pairs.append((own, told))
    own, told = (median(column) for column in zip(*pairs, strict=True))
    ratio = median(a / b for a, b in pairs)
    counts = f"{run.nit} / {needed}", str(len(run.trace.gap))
    return *counts, f"{1e3 * own:.1f}", f"{1e3 * told:.1f}", f"{ratio:.2f}"


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    header = ("data", "tol", "passes", "checkpoints", "auto, ms", "told, ms", "auto / told")
    print_line(header)
    print_line("---" for _ in header)
    tolerances = TOLERANCES[: 2 if quick else None]
    for name, problem in problems(quick):
        gaps = needed_passes(problem, tolerances[-1])
        for tol in tolerances:
            met = np.flatnonzero(gaps <= tol)
            if len(met):
                print_line((name, f"{tol:.0e}", *line(problem, tol, int(met[0]), REPEATS)))
