"""Milliseconds per iteration of the solvers, with their ratios to BLAS products in the same run.

Data sets A and B are synthetic; C and D have 1000 classes, and W of D takes 4 MB, more than most
second-level caches; News20 (1024 SVD features, unit rows) is added where FWLAB_DATA names its
folder. Top-3, lam = 1/n, CPU times of one thread: every repeat runs the two products X W^T and
A^T X and one iteration of every method in turn, and the table shows the medians after the first
few. An iteration of `ascent` is one pass here, without shrinking. "Gram" is kernel="linear", shown
where n <= d. "float32" is storage="float32": W is float64, and so are the scores near the optimum;
far from it, and with 128 features or more, they are sums in float32. "of flops" divides by the time
that the flops of X W^T take in products of square matrices, in the type of the row. A second table
counts the passes of `ascent` to several gaps.

Only the products of a float32 pass are in float32. In a separate measurement with 1000 classes they
take half of its time. Adding rows to W and projections take about a fifth each, as long as in a
float64 pass, so the ratio to its flops is larger.

With 10 or 20 classes the product X W^T itself takes more than twice the time of its flops in BLAS,
so a pass should be compared with that product there. With 1000 classes a float64 pass also projects
each row and adds it to W, about a third of its time.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import fwlab
from figures.benchmarks.timing import iteration, milliseconds, products
from fwlab.text import format_table

SQUARE = 1000
GAPS = (1e-3, 1e-5, 1e-7, 1e-9)
# samples, features and separation of the data sets with 1000 classes
MANY_CLASSES = {"C": (10_800, 128, 0.5), "D": (12_811, 384, 0.25)}


def problems(quick: bool) -> Iterator[tuple[str, fwlab.Problem]]:
    """Return the problems by name."""
    names = {"A": "synthetic-a", "B": "synthetic-b"}
    if os.environ.get("FWLAB_DATA"):
        names["News20"] = "news20_svd1024"
    for name, source in names.items():
        data = fwlab.datasets.load(source, normalize="unit")
        yield name, top_three(data.X_train, data.y_train)
    for name, (n, d, separation) in list(MANY_CLASSES.items())[: 1 if quick else None]:
        data = fwlab.datasets.synthetic(n, d, 1000, separation, rng=0, normalize="unit")
        yield name, top_three(data.X_train, data.y_train)


def top_three(X: np.ndarray, y: np.ndarray, **options: str) -> fwlab.Problem:
    return fwlab.Problem(X, y, fwlab.TopK(3), 1 / len(y), **options)


def iterations(problem: fwlab.Problem) -> dict[str, Callable[[], object]]:
    """Return one iteration of every method that the table compares."""
    X, y = problem.X, problem.y
    calls = {
        "fw": iteration(problem, "fw"),
        "bcfw": iteration(problem, "bcfw"),
        "ascent": a_pass(problem),
        "ascent, row by row": a_pass(problem, block_size=1),
        "ascent, float32": a_pass(top_three(X, y, storage="float32")),
    }
    if problem.n_samples <= problem.n_features:
        calls["ascent, Gram"] = a_pass(top_three(X, y, kernel="linear"))
    return calls


def squares() -> dict[str, Callable[[], object]]:
    """Return products of square matrices in each type, which give the attainable rate of flops."""
    factors = {dtype: np.ones((SQUARE, SQUARE), dtype) for dtype in ("float64", "float32")}
    return {dtype: partial(np.matmul, factor, factor) for dtype, factor in factors.items()}


def flops_of_scores(problem: fwlab.Problem) -> float:
    """Return the flops of X W^T, in units of those of the product of square matrices."""
    return problem.n_samples * problem.n_features * problem.n_classes / SQUARE**3


def a_pass(problem: fwlab.Problem, **options: int) -> Callable[[], object]:
    return iteration(problem, "ascent", shrink=False, **options)


def passes_to_gaps(problem: fwlab.Problem, limit: int) -> list[str]:
    """Return the passes of `ascent` to each gap, or the limit that it reached."""
    trace = fwlab.solve(
        problem, "ascent", tol=GAPS[-1], max_iter=limit, shrink=False, check_every=1
    ).trace
    counts = []
    for gap in GAPS:
        below = np.flatnonzero(trace.gap <= gap)
        counts.append(str(trace.iteration[below[0]]) if len(below) else f"> {limit}")
    return counts


def run(quick: bool) -> None:
    """Print both tables."""
    rows, counts = [], []
    for name, problem in problems(quick):
        calls = {**squares(), **products(problem), **iterations(problem)}
        times = milliseconds(calls, 5 if quick else 15)
        flops = {dtype: times.pop(dtype) * flops_of_scores(problem) for dtype in squares()}
        scores, transposed = times["X W^T"], times["A^T X"]
        for label, one in times.items():
            floor = flops["float32" if "float32" in label else "float64"]
            ratios = one / floor, one / scores, one / (scores + transposed)
            rows.append((name, label, f"{one:.2f}", *(f"{ratio:.2f}" for ratio in ratios)))
        counts.append((name, *passes_to_gaps(problem, 30 if quick else 300)))
    header = ("data", "what", "ms", "of flops", "of X W^T", "of both products")
    print(format_table(header, rows, right=header[2:]))
    print()
    header = ("passes of ascent to", *(f"{gap:.0e}" for gap in GAPS))
    print(format_table(header, counts, right=header[1:]))
