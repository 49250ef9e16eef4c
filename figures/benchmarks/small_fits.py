"""Milliseconds of a fit of few rows: `TopKSVC` beside LinearSVC(multi_class="crammer_singer").

Both solve the Crammer-Singer problem with C = 1, without an intercept, and check their input; one
thread. LinearSVC runs at its tolerance, and `TopKSVC` until its certified gap is at most the error
of LinearSVC's W: P(W) less the largest dual value that a long run of ours has found. Wall time of
whole calls of `fit`, the two in turn, medians. Synthetic sets have class separation 1.

"no pass" is a fit with tol = 1e9, which measures everything outside the method. On 100 to 500 rows
it is half of the time, except on iris, and about the time of a whole fit of LinearSVC: 2,200 Python
calls that check the input, make a problem, judge it and compute a certificate with its rounding
error. iris, which has correlated features, takes 50 to 70 passes without preprocessing.
"""

import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import fwlab
from figures.benchmarks.linear_svc import best_dual
from figures.benchmarks.timing import print_line, wall_milliseconds

SYNTHETIC = (
    (100, 10, 3),
    (200, 10, 4),
    (500, 16, 4),
    (634, 18, 4),
    (1732, 19, 7),
    (4435, 36, 6),
    (7494, 16, 10),
)
TOLERANCES = (1e-1, 1e-2)
REPEATS = 21


def data_sets(quick: bool) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield names, samples and labels."""
    yield "iris", *load_iris(return_X_y=True)
    if quick:
        return
    X, y = load_wine(return_X_y=True)
    yield "wine, standardised", StandardScaler().fit_transform(X), y
    for n, d, m in SYNTHETIC:
        data = fwlab.datasets.synthetic(n, d, m, 1.0, rng=0)
        yield "synthetic", data.X_train, data.y_train


def machine_of(peer: LinearSVC) -> np.ndarray:
    """Return W of a fitted LinearSVC, one row per class."""
    rows = np.asarray(peer.coef_)
    return rows if len(rows) > 1 else np.vstack([-rows / 2, rows / 2])


def print_row(name: str, X: np.ndarray, y: np.ndarray, tol: float) -> None:
    """Print the times at a tolerance of LinearSVC."""
    peer = LinearSVC(multi_class="crammer_singer", fit_intercept=False, tol=tol, random_state=0)
    peer.fit(X, y)
    problem = fwlab.Problem(X, y, fwlab.MaxHinge(), C=1.0)
    error = max(problem.primal(machine_of(peer)) - best_dual(problem), 1e-12)
    ours = fwlab.TopKSVC(tol=error, max_iter=10_000, random_state=0).fit(X, y)
    none = fwlab.TopKSVC(tol=1e9, random_state=0)
    calls = {"TopKSVC": ours, "no pass": none, "LinearSVC": peer}
    found = wall_milliseconds(
        {one: partial(model.fit, X, y) for one, model in calls.items()}, REPEATS
    )
    shape = f"{len(X)} x {X.shape[1]} x {problem.n_classes}"
    times = (f"{one:.2f}" for one in found.values())
    ratio = f"{found['TopKSVC'] / found['LinearSVC']:.2f}"
    print_line((name, shape, f"{tol:g}", f"{error:.1e}", str(ours.n_iter_), *times, ratio))


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    times = ("TopKSVC", "no pass", "LinearSVC", "TopKSVC / LinearSVC")
    header = ("data", "n x d x m", "tol of LinearSVC", "error", "passes", *times)
    print_line(header)
    print_line("---" for _ in header)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        for name, X, y in data_sets(quick):
            for tol in TOLERANCES:
                print_row(name, X, y, tol)
