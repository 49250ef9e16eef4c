"""Fits of TopKSVC beside LinearSVC(multi_class="crammer_singer") and LogisticRegression.

TopKSVC (k = 1) and LinearSVC minimise the same objective, with C = 1, without an intercept, on unit
rows, one thread. LinearSVC runs at its tolerance 0.01; its error is P(W) less the largest dual
value that a long run of ours finds, and TopKSVC stops when its certified gap is at most that error.
LogisticRegression minimises another loss at its defaults: its error is not comparable. Wall seconds
of `fit`, the classifiers in turn, medians; "cold" is the first fit of a process with an empty cache
of machine code.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from statistics import median
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import fwlab
from figures.benchmarks.timing import print_line

SETS = ("letter", "news20", "fashion_mnist", "12811 x 384 x 1000")
REPEATS, LONG = 3, 20.0
COLD = """
import json, sys, time
import fwlab
from figures.benchmarks.estimators import load
data, tol = load(sys.argv[1]), float(sys.argv[2])
began = time.perf_counter()
fwlab.TopKSVC(tol=tol, random_state=0).fit(data.X_train, data.y_train)
print(json.dumps(time.perf_counter() - began))
"""


def load(name: str) -> fwlab.datasets.Dataset:
    """Return a data set with unit rows; a name of three sizes stands for random classes."""
    if " x " not in name:
        return fwlab.datasets.load(name, normalize="unit")
    n, d, m = map(int, name.split(" x "))
    return fwlab.datasets.synthetic(n, d, m, 0.25, rng=0, normalize="unit", n_test=n // 4)


def fitted(model: Any, data: fwlab.datasets.Dataset) -> tuple[Any, float]:
    """Return the fitted model and the seconds of its fit."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        model.fit(data.X_train, data.y_train)
    return model, time.perf_counter() - began


def models(error: float) -> dict[str, Any]:
    """Return the classifiers, ours with this tolerance."""
    return {
        "TopKSVC": fwlab.TopKSVC(tol=error, random_state=0),
        "TopKSVC, float32": fwlab.TopKSVC(tol=error, random_state=0, storage="float32"),
        "LinearSVC": LinearSVC(
            multi_class="crammer_singer", fit_intercept=False, tol=1e-2, random_state=0
        ),
        "LogisticRegression": LogisticRegression(fit_intercept=False, max_iter=1000),
    }


def error_of_peer(data: fwlab.datasets.Dataset) -> float:
    """Return the excess of LinearSVC's objective over the largest dual value found."""
    problem = fwlab.Problem(data.X_train, data.y_train, fwlab.MaxHinge(), 1 / len(data.y_train))
    best = fwlab.solve(problem, "auto", tol=1e-8, time_limit=60.0)
    peer, _ = fitted(models(1.0)["LinearSVC"], data)
    return float(problem.primal(peer.coef_) - best.dual)


def cold_seconds(name: str, tol: float) -> float:
    """Return the seconds of the first fit in a new process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", COLD, name, repr(tol)],
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            check=True,
            capture_output=True,
            text=True,
        )
    return float(json.loads(done.stdout))


def rows(name: str, data: fwlab.datasets.Dataset) -> None:
    """Print a line for each classifier."""
    error = error_of_peer(data)
    seconds: dict[str, list[float]] = {}
    accuracy = {}
    for _ in range(REPEATS):
        for label, model in models(error).items():
            if seconds.get(label) and seconds[label][0] > LONG:
                continue
            model, passed = fitted(model, data)
            seconds.setdefault(label, []).append(passed)
            accuracy[label] = model.score(data.X_test, data.y_test)
    for label, times in seconds.items():
        same = label != "LogisticRegression"
        cold = f"{cold_seconds(name, error):.1f}" if label == "TopKSVC" else ""
        cells = (f"{error:.1e}" if same else "", f"{median(times):.2f}", cold)
        print_line((name, label, *cells, f"{accuracy[label]:.4f}"))


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    header = ("data", "classifier", "error", "fit", "cold", "test accuracy")
    print_line(header)
    print_line("---" for _ in header)
    for name in ("digits",) if quick else SETS:
        try:
            data = load(name)
        except FileNotFoundError:
            continue
        rows(name, data)
