"""Milliseconds of a fit of few rows: `TopKSVC` beside LinearSVC(multi_class="crammer_singer").

Both solve the Crammer-Singer problem with C = 1, without an intercept, and check their input; one
thread. LinearSVC runs at its tolerance, and `TopKSVC` until its certified gap is at most the error
of LinearSVC's W: P(W) less the largest dual value that a long run of ours has found. Wall time of
whole calls of `fit`, the two in turn, medians. Synthetic sets have class separation 1.

The row "no pass" is a fit with tol = 1e9: what lies outside the method, with the certificate.
"""

import warnings
from collections.abc import Iterator

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


def print_row(name: str, X: np.ndarray, y: np.ndarray, tol: float | None) -> None:
    """Print the times at a tolerance of LinearSVC, or those of a fit without a pass for None."""
    peer = LinearSVC(multi_class="crammer_singer", fit_intercept=False, tol=tol or 0.1)
    peer.fit(X, y)
    error = 1e9
    if tol is not None:
        problem = fwlab.Problem(X, y, fwlab.MaxHinge(), C=1.0)
        error = max(problem.primal(machine_of(peer)) - best_dual(problem), 1e-12)
    ours = fwlab.TopKSVC(tol=error, max_iter=10_000, random_state=0).fit(X, y)
    calls = {"TopKSVC": lambda: ours.fit(X, y), "LinearSVC": lambda: peer.fit(X, y)}
    found = wall_milliseconds(calls, REPEATS)
    shape = f"{len(X)} x {X.shape[1]} x {len(np.unique(y))}"
    given = ("no pass", "-") if tol is None else (f"{tol:g}", f"{error:.1e}")
    cells = (f"{found['TopKSVC']:.2f}", f"{found['LinearSVC']:.2f}")
    ratio = f"{found['TopKSVC'] / found['LinearSVC']:.2f}"
    print_line((name, shape, *given, str(ours.n_iter_), *cells, ratio))


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    header = ("data", "n x d x m", "tol of LinearSVC", "error", "passes", "TopKSVC", "LinearSVC")
    print_line((*header, "TopKSVC / LinearSVC"))
    print_line("---" for _ in range(len(header) + 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        for place, (name, X, y) in enumerate(data_sets(quick)):
            for tol in (None, *TOLERANCES) if place == 0 else TOLERANCES:
                print_row(name, X, y, tol)
