"""Our own: which method wins, over lambda_max(K)/(lam n) and smoothing: a phase diagram.

The grid is one synthetic set, whose lam follows from lambda_max(K)/(lam n); below it stand real
sets without smoothing. The upper panel counts passes over the samples, and so leaves out methods
whose iteration is more than one; the lower one compares seconds.
"""

from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import method_line, new_figure, state
from figures.kit.tables import Table
from figures.own.subsets import DIGITS, REAL, random_rows
from fwlab.experiments import Cell, DataName

# an iteration is one pass: an LMO, or a block step, per sample
ONE_PASS = (
    *("fw", "bcfw", "ascent", "afw", "pfw", "blended-pairwise", "bafw", "bpfw", "bcafw"),
    *("bcpfw", "bbpfw", "dicg"),
)
METHODS = (*ONE_PASS, "fcfw", "newton")
CONDITIONS = {"quick": (1.0, 100.0), "standard": (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)}
SMOOTHINGS = {"quick": (0.0, 0.1), "standard": (0.0, 0.01, 0.1, 1.0)}
CS = {"quick": (1.0,), "standard": (0.1, 1.0, 10.0)}
for _sizes in (CONDITIONS, SMOOTHINGS, CS):
    _sizes["full"] = _sizes["standard"]
ROWS = {"quick": 40, "standard": 300, "full": 1000}
LIMIT = {"quick": 0.02, "standard": 0.6, "full": 5.0}
FEATURES, CLASSES, SEPARATION = 20, 10, 1.0
K, TOL = 3, 1e-3  # relative
MOST_ITERATIONS = 10**5
# short runs are timed several times
REPEATS, SHORT = 3, 0.1
SECONDS = {"quick": 4, "standard": 250, "full": 2500}
ALONE = True  # times are compared


def cells(size: str) -> list[Cell]:
    settings = {"rows": ROWS[size], "limit": LIMIT[size], "methods": METHODS}
    grid = [
        Cell(
            f"grid|{condition:g}|{smoothing:g}",
            on_grid,
            {"condition": condition, "smoothing": smoothing, **settings},
        )
        for smoothing in SMOOTHINGS[size]
        for condition in CONDITIONS[size]
    ]
    data = DIGITS if size == "quick" else REAL
    return grid + [
        Cell(f"{name}|{C:g}", on_real_data, {"data": one, "C": C, **settings})
        for name, one in data.items()
        for C in CS[size]
    ]


def on_grid(
    condition: float, smoothing: float, rows: int, limit: float, methods: tuple[str, ...]
) -> dict[str, Any]:
    """Return what `contest` does for unit rows whose features have decreasing variances 1/j."""
    drawn = fwlab.datasets.synthetic(rows, FEATURES, CLASSES, SEPARATION, rng=0)
    X = drawn.X_train / np.sqrt(np.arange(1, FEATURES + 1))
    X /= np.linalg.norm(X, axis=1)[:, None]
    lam = largest_eigenvalue(X) / (rows * condition)
    problem = fwlab.Problem(
        X, drawn.y_train, fwlab.TopK(K), lam, smoothing=smoothing, n_classes=CLASSES
    )
    return contest(problem, limit, methods)


def on_real_data(
    data: DataName, C: float, rows: int, limit: float, methods: tuple[str, ...]
) -> dict[str, Any]:
    """Return what `contest` does for random rows of a real set."""
    X, y = random_rows(data, rows)
    classes = data.load().n_classes
    problem = fwlab.Problem(X, y, fwlab.TopK(K), 1 / (C * rows), n_classes=classes)
    return contest(problem, limit, methods)


def contest(problem: fwlab.Problem, limit: float, methods: tuple[str, ...]) -> dict[str, Any]:
    """Return lambda_max(K)/(lam n) and {method: [iterations, seconds]} of those that get there."""
    found = {}
    for method in methods:
        fwlab.solve(problem, method, tol=0.0, max_iter=2)  # compiles
        settings = {"max_iter": MOST_ITERATIONS, "time_limit": limit, "check_every": 1}
        results = [fwlab.solve(problem, method, TOL, relative=True, **settings)]
        if results[0].seconds < SHORT:
            results += [
                fwlab.solve(problem, method, TOL, relative=True, **settings)
                for _ in range(REPEATS - 1)
            ]
        if results[0].success:
            found[method] = [results[0].nit, min(result.seconds for result in results)]
    condition = largest_eigenvalue(problem.X) / (problem.lam * problem.n_samples)
    return {"condition": condition, "methods": found}


def largest_eigenvalue(X: np.ndarray) -> float:
    """Return lambda_max(K) of the Gram matrix K = X X^T."""
    return float(np.linalg.norm(X, 2) ** 2)
