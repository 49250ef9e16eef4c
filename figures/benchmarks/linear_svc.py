"""Seconds of a warm fit to the same error: `solve` beside LinearSVC(multi_class="crammer_singer").

Both solve the Crammer-Singer problem with C = 1, without an intercept, unit rows, one thread. The
error is P(W) less the largest dual value that a long run of ours has found. LinearSVC runs at each
of its tolerances, and `solve` until its certified gap is at most LinearSVC's error there. Wall
seconds of the whole calls, the two in turn, medians.

Where LinearSVC is faster, the certificate is the reason: `solve` checks its input and proves its
gap, which takes about 2 ms on digits, 13 ms on letter and 90 ms on news20 (`wall_seconds` less
`seconds` of a result); LinearSVC returns W without a bound on its error. The package cyanure, which
pip can install, too, has no multi-class hinge loss; no row compares with it.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from statistics import median

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import fwlab
from figures.benchmarks.timing import print_line

# a function of the peer's tolerance that returns W and the seconds of a fit
Fit = Callable[[fwlab.Problem, float], tuple[np.ndarray, float]]

SETS = ("digits", "letter", "news20", "synthetic-a", "synthetic-b", "fashion_mnist")
TOLERANCES = (1e-1, 1e-2, 1e-3)
# a line takes this many turns and at least this many seconds, or one turn if fits are not SHORT
REPEATS, ENOUGH, SHORT, LONG = 5, 2.0, 3.0, 30.0


def fit_linear_svc(problem: fwlab.Problem, tol: float) -> tuple[np.ndarray, float]:
    """Return W of LinearSVC, and the seconds of its fit."""
    model = LinearSVC(
        multi_class="crammer_singer", C=1.0, fit_intercept=False, tol=tol, max_iter=10_000
    )
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        model.fit(problem.X, problem.y)
    return model.coef_, time.perf_counter() - began


def print_rows(
    name: str, problem: fwlab.Problem, dual: float, tolerances: Iterable[float], fit: Fit
) -> None:
    """Print a line per tolerance: the seconds of `solve` and of the peer to the peer's error."""
    for tol in tolerances:
        pairs: list[tuple[float, float]] = []
        while len(pairs) < REPEATS or sum(map(sum, pairs)) < ENOUGH:
            W, theirs = fit(problem, tol)
            error = problem.primal(W) - dual
            ours = fwlab.solve(problem, tol=error)
            pairs.append((ours.wall_seconds, theirs))
            if theirs > SHORT:
                break
        own, other = (median(column) for column in zip(*pairs, strict=True))
        ratio = f"{median(a / b for a, b in pairs):.2f}"
        print_line((name, f"{tol:g}", f"{error:.1e}", f"{own:.3f}", f"{other:.3f}", ratio))
        if other > LONG:
            break


def loaded(names: Iterable[str]) -> Iterator[tuple[str, fwlab.datasets.Dataset]]:
    """Yield the data sets that are here, with rows of length 1."""
    for name in names:
        try:
            yield name, fwlab.datasets.load(name, normalize="unit")
        except FileNotFoundError:
            continue


def best_dual(problem: fwlab.Problem) -> float:
    """Return the dual value of a long run."""
    return fwlab.solve(problem, "auto", tol=1e-8, time_limit=60.0).dual


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    header = ("data", "tol of LinearSVC", "error", "solve", "LinearSVC", "solve / LinearSVC")
    print_line(header)
    print_line("---" for _ in header)
    for name, data in loaded(SETS[: 1 if quick else None]):
        n = len(data.y_train)
        problem = fwlab.Problem(data.X_train, data.y_train, fwlab.MaxHinge(), 1 / n)
        tolerances = TOLERANCES[: 1 if quick else None]
        print_rows(name, problem, best_dual(problem), tolerances, fit_linear_svc)
