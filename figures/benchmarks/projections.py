"""Microseconds per vector of the projections, with their ratios to one np.partition of the batch.

Two regimes, with bias 1: in `sum` the entries are N(0, 1) and the top-k simplex has r = 1, so that
its sum bound is active; in `cone` they are shifted until about 20 of a row are positive, and r = 10
leaves the bound without effect (the column `active` counts). The knapsack has r = 1 and upper = 1/k
in both. CPU times of one thread; every repeat runs all functions of a line in turn, and the table
shows the medians. np.partition selects the k largest, kth = d - k.

A separate measurement: fast-soft-sort, which is not on PyPI, projects one vector of d = 100 onto
the permutahedron in 0.5 to 0.6 of the time of `project_permutahedron`, with the same algorithm.
Half of our time goes to checks of the input, including whether rho is sorted.
"""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import fwlab

# a call, and the number of vectors it treats
Calls = dict[str, tuple[Callable[[], object], int]]

SIZES = (10, 100, 1000, 10_000, 100_000)
SELECTED = (1, 10, 64, 200)
POSITIVE = 20
RADIUS = {"sum": 1.0, "cone": 10.0}
# from this length on, the permutahedron, which sorts, gets a fraction of the batch to save time
LONG = 1000


def batch(d: int, regime: str, quick: bool) -> NDArray[np.float64]:
    """Return 1000 rows of length d, or fewer with 10^7 entries in total."""
    rng = np.random.default_rng(d)
    rows = rng.standard_normal((max(1, min(1000, 10**7 // d) // (10 if quick else 1)), d))
    if regime == "cone":
        positive = min(POSITIVE, d // 2)
        rows -= np.median(np.partition(rows[:20], d - positive, axis=1)[:, d - positive])
    return rows


def contenders(rows: NDArray[np.float64], k: int, r: float) -> Calls:
    """Return the functions that a line of the table compares."""
    n, d = rows.shape
    some = rows[: max(1, n // 20)] if d >= LONG else rows
    rho = np.where(np.arange(d) < k, 1 / k, 0.0)
    return {
        "partition": (lambda: np.partition(rows, d - k, axis=1), n),
        "top-k simplex": (lambda: fwlab.project_topk_simplex(rows, k, r, bias=1.0), n),
        "top-k cone": (lambda: fwlab.project_topk_cone(rows, k, bias=1.0), n),
        "knapsack <=": (lambda: fwlab.project_knapsack(rows, 1.0, 1 / k, bias=1.0), n),
        "knapsack =": (lambda: fwlab.project_knapsack(rows, 1.0, 1 / k, equality=True), n),
        "argsort": (lambda: np.argsort(some, axis=1), len(some)),
        "permutahedron": (lambda: fwlab.project_permutahedron(some, rho), len(some)),
    }


def microseconds(calls: Calls, repeats: int) -> list[float]:
    """Return the median CPU time per vector of every call.

    Calls are interleaved after a warm-up.
    """
    times = np.empty((repeats + 1, len(calls)))
    for repeat in range(repeats + 1):
        for column, (call, vectors) in enumerate(calls.values()):
            start = time.process_time()
            call()
            times[repeat, column] = (time.process_time() - start) / vectors
    return list(1e6 * np.median(times[1:], axis=0))


def run(quick: bool = False) -> None:
    """Print the table."""
    header = False
    for regime in ("sum", "cone"):
        for d in SIZES:
            rows = batch(d, regime, quick)
            for k in SELECTED:
                if k >= d:
                    continue
                calls = contenders(rows, k, RADIUS[regime])
                base, *others = microseconds(calls, repeats=3 if quick else 7)
                if not header:
                    names = "".join(f"{name:>22}" for name in list(calls)[1:])
                    print("microseconds per vector (ratio to np.partition)")
                    print(f"{'regime':6}{'d':>9}{'k':>4}{'active':>8}{'partition':>12}{names}")
                    header = True
                sums = fwlab.project_topk_simplex(rows, k, RADIUS[regime], 1.0).sum(axis=1)
                active = f"{np.mean(sums > RADIUS[regime] * (1 - 1e-9)):8.0%}"
                cells = "".join(f"{value:13.2f} ({value / base:6.2f})" for value in others)
                print(f"{regime:6}{d:>9}{k:>4}{active}{base:12.2f}{cells}", flush=True)
