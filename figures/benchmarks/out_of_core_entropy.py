"""Seconds of the cross-entropy by L-BFGS with X in memory and in a file.

16,000 x 512 float32 features of 50 classes, class means plus noise, in a temporary folder; one
thread. In memory X is float64, or float32 with storage="float32"; out of core it is read from the
page cache, as one chunk or 2000 rows at a time. Each run ends at a certified relative gap of 1e-4,
runs take turns, and the seconds are the median CPU seconds of three, the compiling run left out.
Out of core steps begin with products in float32.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

import fwlab
from figures.benchmarks.timing import print_line
from fwlab import distributed

SIZE, QUICK = (16_000, 512, 50), (1000, 32, 5)
CS = (1.0, 100.0)
REPEATS = 3
LOSS = fwlab.CrossEntropy()
STOP = {"tol": 1e-4, "relative": True}


def write(file: Path, n: int, d: int, m: int) -> np.ndarray:
    """Write the features and return the labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, m, n)
    X = rng.standard_normal((n, d)) + 0.2 * rng.standard_normal((m, d))[y]
    X /= np.sqrt(d)
    np.save(file, X.astype(np.float32))
    return y


def runs(file: Path, y: np.ndarray, C: float) -> dict[str, Callable[[], fwlab.Result]]:
    """Return the runs by name."""
    X = np.load(file)
    inside = {
        storage: fwlab.Problem(X, y, LOSS, C=C, storage=storage)
        for storage in ("float64", "float32")
    }
    outside = {
        rows: distributed.OutOfCoreProblem(file, y, LOSS, C=C, chunk_rows=rows)
        for rows in (len(y), 2000)
    }
    return {
        **{
            f"memory, {storage}": lambda problem=problem: fwlab.solve(problem, "lbfgs", **STOP)
            for storage, problem in inside.items()
        },
        **{
            f"file, {rows} rows": lambda problem=problem: distributed.solve(problem, **STOP)
            for rows, problem in outside.items()
        },
    }


def run(quick: bool) -> None:
    """Print the table in Markdown."""
    print_line(("C", "X", "CPU seconds", "iterations", "gap", "its error"))
    print_line(["---"] * 6)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "X.npy"
        y = write(file, *(QUICK if quick else SIZE))
        for C in CS:
            calls = runs(file, y, C)
            seconds: dict[str, list[float]] = {name: [] for name in calls}
            found = {name: call() for name, call in calls.items()}
            for _ in range(1 if quick else REPEATS):
                for name, call in calls.items():
                    clock = time.process_time()
                    call()
                    seconds[name].append(time.process_time() - clock)
            for name, result in found.items():
                gap, error = f"{result.gap:.2e}", f"{result.gap_error:.0e}"
                took = f"{median(seconds[name]):.2f}"
                print_line((f"{C:g}", name, took, str(result.nit), gap, error))
