"""Seconds of a fit to the same excess: `TopKClassifier` beside LogisticRegression.

All solvers minimise the multinomial logistic objective with C, without an intercept, and check
their input; one thread. The excess is P(W) less the largest dual value of a long run, as a fraction
of that value. Tolerances are a factor of 10^(1/2) apart. Each solver runs at the loosest tolerance
with which its W reaches the excess; "certified" is `TopKClassifier` run until its own gap proves
the excess. CPU seconds of whole calls of `fit`, all in turn, medians. newton-cholesky runs where W
has at most 3000 entries. A solver that does not reach the excess within 40 tolerances, or 120 s for
one fit, has no entry.

Where LogisticRegression is faster, on digits and on letter with C = 0.01, fits take less than 60
ms. A separate measurement on digits: checking the input, starting and certifying take 3.8 ms of
each fit, as long as the whole fit of LogisticRegression with C = 0.01. A step takes 0.47 ms: 0.16
for products with X, 0.08 for the softmax, 0.08 for scaling the dual point and 0.05 for the
direction. A step of LogisticRegression takes 0.39 ms. The preconditioner takes 4 ms each time it is
renewed, once with C = 1 and twice with C = 100.

digits and letter are standardised, news20, news20_svd1024 and fashion_mnist have rows of length 1;
the synthetic sets, 10,000 x 384 with 200 classes, are as drawn, with their class separation.
"""

import math
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from statistics import median
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import fwlab
from figures.benchmarks.timing import print_line

SETS = {
    "digits": "standard",
    "letter": "standard",
    "news20": "unit",
    "news20_svd1024": "unit",
    "fashion_mnist": "unit",
}
SEPARATIONS = (0.25, 0.5, 1.0)
CS = (0.01, 1.0, 100.0)
EXCESSES = (1e-3, 1e-5)
MOST_ENTRIES = 3000
REPEATS, LONG, TRIES = 5, 120.0, 40
# a long run, whose dual value bounds the optimum from below
BEST: dict[str, Any] = {"tol": 1e-7, "relative": True, "max_iter": 10**6, "time_limit": 300.0}


def data_sets(quick: bool) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Yield names, samples and labels of the sets that are here."""
    for name, normalize in islice(SETS.items(), 1 if quick else None):
        try:
            data = fwlab.datasets.load(name, normalize=normalize)
        except FileNotFoundError:
            continue
        yield name, data.X_train, data.y_train
    for separation in () if quick else SEPARATIONS:
        data = fwlab.datasets.synthetic(10_000, 384, 200, separation, rng=0)
        yield f"synthetic, {separation:g}", data.X_train, data.y_train


def solvers(problem: fwlab.Problem, C: float, unit: float) -> dict[str, Callable[[float], Any]]:
    """Return {name: function that makes the estimator}.

    The argument of each function is the tolerance, as a share of the solver's loosest one. unit:
    the excess to reach, in the unit of the objective.
    """
    peer: dict[str, Any] = {"C": C, "fit_intercept": False, "max_iter": 10**6}
    found: dict[str, Callable[[float], Any]] = {
        # a certified gap is up to 10^3 times the excess
        "TopKClassifier": lambda share: fwlab.TopKClassifier(
            C=C, tol=1e3 * unit * share, max_iter=10**6
        ),
        "lbfgs": lambda share: LogisticRegression(solver="lbfgs", tol=0.1 * share, **peer),
    }
    if problem.n_classes * problem.n_features <= MOST_ENTRIES:
        found["newton-cholesky"] = lambda share: LogisticRegression(
            solver="newton-cholesky", tol=0.1 * share, **peer
        )
    return found


def loosest(
    problem: fwlab.Problem, solver: Callable[[float], Any], most: float
) -> tuple[Any, float] | None:
    """Return the estimator with the loosest tolerance with which P(W) <= most, and its seconds."""
    for step in range(TRIES):
        estimator = solver(10 ** (-step / 2))
        seconds = seconds_of(estimator, problem)
        if problem.primal(estimator.coef_) <= most:
            return estimator, seconds
        if seconds > LONG:
            break
    return None


def seconds_of(estimator: Any, problem: fwlab.Problem) -> float:
    """Return the CPU time of a fit."""
    began = time.process_time()
    estimator.fit(problem.X, problem.y)
    return time.process_time() - began


def rows(X: Any, y: np.ndarray, C: float) -> Iterator[list[str]]:
    """Yield a line per excess: each solver's seconds, and the best peer's over ours."""
    problem = fwlab.Problem(X, y, fwlab.CrossEntropy(), C=C)
    best = fwlab.solve(problem, "lbfgs", **BEST).dual
    for excess in EXCESSES:
        chosen = {}
        for name, solver in solvers(problem, C, excess * best).items():
            if found := loosest(problem, solver, best * (1 + excess)):
                chosen[name] = found
        proved = fwlab.TopKClassifier(C=C, tol=excess * best, max_iter=10**6)
        chosen["certified"] = proved, seconds_of(proved, problem)
        rounds = REPEATS if sum(seconds for _, seconds in chosen.values()) < LONG / 4 else 1
        times = [{n: seconds_of(e, problem) for n, (e, _) in chosen.items()} for _ in range(rounds)]
        found = {name: median(turn[name] for turn in times) for name in chosen}
        columns = ("TopKClassifier", "certified", "lbfgs", "newton-cholesky")
        peers = min(found.get(name, math.inf) for name in columns[2:])
        cells = [f"{found[name]:.3f}" if name in found else "-" for name in columns]
        ratios = [f"{peers / found[n]:.2f}" if n in found else "-" for n in columns[:2]]
        yield [f"{C:g}", f"{excess:g}", *cells, *ratios]


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    header = ("data", "n x d x m", "C", "excess", "TopKClassifier", "certified", "lbfgs")
    header += ("newton-cholesky", "best peer / TopKClassifier", "best peer / certified")
    print_line(header)
    print_line("---" for _ in header)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name, X, y in data_sets(quick):
            shape = f"{X.shape[0]} x {X.shape[1]} x {len(np.unique(y))}"
            for C in CS[1:2] if quick else CS:
                for row in rows(X, y, C):
                    print_line((name, shape, *row))
