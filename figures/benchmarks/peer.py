"""Projections and training beside a program that you provide; FWLAB_PEER is its path.

For a library that pip cannot install, such as the C++ code of L15's authors. The program receives
the path of a file of float64 numbers, replaces them by its result and prints its seconds, not
counting file access:

    PROGRAM project NAME K R ROWS D FILE    vectors (ROWS, D) -> projections
    PROGRAM train K C GAP N D M FILE        X (N, D), then N labels in 0..M-1 -> W (M, D)

NAME is topk-simplex or topk-cone, with bias 1, or knapsack (sum at most R) or knapsack-equality,
with bias 0 and entries of at most R/K. The program projects the vectors twice and prints the
seconds of the second time, as ours are measured; ours include checks of the arguments. Training
minimises C times the sum of Usunier's losses, plus |W|^2 / 2, to a relative gap of at most GAP.

First table: microseconds per vector of ours and of the program, in the two regimes of
`projections`, medians of turns, and the median ratio. If the results differ, the cell says by how
much. Second table: seconds to the same error, P(W) less the largest dual value that a long run of
ours has found. The seconds of `solve` include checking its input and certifying its gap, about 2 ms
on digits; the program may leave out the time for judging its gap.

In long rows where the sum bound of the knapsack has no effect, both only clip the entries, at the
speed of memory. Ours checks that they are finite and writes to a new array.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

import fwlab
from figures.benchmarks.linear_svc import best_dual, loaded, print_rows
from figures.benchmarks.projections import RADIUS, batch
from figures.benchmarks.timing import print_line

Floats = NDArray[np.float64]
Project = Callable[[Floats], Floats]

PROGRAM = "FWLAB_PEER"
SIZES, SELECTED = (100, 1000, 10_000, 100_000), (1, 5, 64, 200)
SETS, KS, GAPS = ("digits", "letter", "synthetic-a", "synthetic-b"), (1, 3), (1e-2, 1e-3, 1e-4)
TURNS = 5
# the allowed difference of two projections, as a fraction of the largest entry projected
AGREE = 1e-9


def call(array: Floats, *arguments: object) -> tuple[Floats, float]:
    """Return the program's result for these numbers, and its seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers"
        array.tofile(path)
        command = [os.environ[PROGRAM], *map(str, arguments), str(path)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        return np.fromfile(path), float(done.stdout)


def projections(k: int, r: float) -> Iterator[tuple[str, float, Project]]:
    """Yield the name, R and our function of each projection."""
    yield "topk-simplex", r, lambda rows: fwlab.project_topk_simplex(rows, k, r, bias=1.0)
    yield "topk-cone", r, lambda rows: fwlab.project_topk_cone(rows, k, bias=1.0)
    yield "knapsack", 1.0, lambda rows: fwlab.project_knapsack(rows, 1.0, 1 / k)
    yield (
        "knapsack-equality",
        1.0,
        lambda rows: fwlab.project_knapsack(rows, 1.0, 1 / k, equality=True),
    )


def compared(rows: Floats, name: str, k: int, r: float, project: Project) -> str:
    """Return a cell: our time, theirs and their ratio, or how far the results differ."""
    own, other = [], []
    for _ in range(TURNS):
        theirs, seconds = call(rows, "project", name, k, r, *rows.shape)
        project(rows)
        began = time.perf_counter()
        ours = project(rows)
        own.append(time.perf_counter() - began)
        other.append(seconds)
    error = np.abs(ours - theirs.reshape(rows.shape)).max()
    if not error <= AGREE * np.abs(rows).max():  # NaN differs
        return f"differ by {error:.0e}"
    per_row = 1e6 / len(rows)
    ratio = median(a / b for a, b in zip(own, other, strict=True))
    return f"{median(own) * per_row:.2f}, {median(other) * per_row:.2f} ({ratio:.2f})"


def print_projections(quick: bool) -> None:
    """Print the first table."""
    header = ("regime", "d", "k", *(name for name, *_ in projections(1, 1.0)))
    print_line(header)
    print_line("---" for _ in header)
    for regime, r in RADIUS.items():
        for d in SIZES[: 1 if quick else None]:
            rows = batch(d, regime, quick)
            for k in SELECTED:
                if k < d:
                    cells = [compared(rows, name, k, R, p) for name, R, p in projections(k, r)]
                    print_line((regime, str(d), str(k), *cells))


def train(problem: fwlab.Problem, gap: float) -> tuple[Floats, float]:
    """Return W of the program and its seconds."""
    n, d, m = *problem.X.shape, problem.n_classes
    numbers = np.concatenate([problem.X.ravel(), problem.y.astype(float)])
    k, C = problem.loss.k, 1.0 / (problem.lam * n)
    W, seconds = call(numbers, "train", k, C, gap, n, d, m)
    return W.reshape(m, d), seconds


def print_training(quick: bool) -> None:
    """Print the second table."""
    header = ("data, k", "its relative gap", "error", "solve", "program", "solve / program")
    print_line(header)
    print_line("---" for _ in header)
    for name, data in loaded(SETS[: 1 if quick else None]):
        for k in KS:
            n = len(data.y_train)
            problem = fwlab.Problem(data.X_train, data.y_train, fwlab.Usunier(k), 1 / n)
            gaps = GAPS[: 1 if quick else None]
            print_rows(f"{name}, {k}", problem, best_dual(problem), gaps, train)


def run(quick: bool) -> None:
    """Print both tables in Markdown, line by line."""
    if PROGRAM not in os.environ:
        print(f"{PROGRAM} names no program.")
        return
    if shutil.which(os.environ[PROGRAM]) is None:
        sys.exit(f"{PROGRAM} must be the path of a program; got {os.environ[PROGRAM]!r}.")
    print_projections(quick)
    print()
    print_training(quick)
