"""Our own: performance profiles (Dolan and More 2002) of the methods over 60 problems.

rho(tau) is the share of problems that a method solves within tau times the seconds of the fastest
method. The problems are all pairs of a data set, a loss and C; one run gives all gaps.
"""

from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import label_curves, light_grid, method_line, new_figure, state
from figures.kit.tables import Table
from figures.kit.traces import reached
from figures.own.subsets import DIGITS, REAL, random_rows
from fwlab.experiments import Cell, DataName

METHODS = (
    *("fw", "afw", "pfw", "blended-pairwise", "fcfw", "bafw", "bpfw", "bcfw", "bcafw"),
    *("bcpfw", "bbpfw", "dicg", "ascent", "newton", "subgradient"),
)
# those of the picture; the table has all
DRAWN = ("fw", "pfw", "bcfw", "bcpfw", "dicg", "ascent", "newton")
LOSSES = {
    "max hinge": (fwlab.MaxHinge(), 0.0),
    "top-3": (fwlab.TopK(3), 0.0),
    "Usunier-5": (fwlab.Usunier(5), 0.0),
    "top-3, smoothing 1": (fwlab.TopK(3), 1.0),
}
CS = (0.1, 1.0, 10.0)
GAPS = ("1e-2", "1e-4", "1e-6", "1e-8")
ROWS = {"quick": 30, "standard": 300, "full": 1000}
LIMIT = {"quick": 0.02, "standard": 0.6, "full": 5.0}
MOST_ITERATIONS = 10**5
SECONDS = {"quick": 5, "standard": 480, "full": 3600}
ALONE = True  # times are compared


def cells(size: str) -> list[Cell]:
    synthetic = {"synthetic": DataName("synthetic-a", "unit")}
    data, Cs = (DIGITS, CS[1:2]) if size == "quick" else (REAL | synthetic, CS)
    settings = {"rows": ROWS[size], "methods": METHODS, "limit": LIMIT[size]}
    return [
        Cell(
            f"{name}|{loss}|{C:g}",
            times_to_gaps,
            {
                "data": one,
                "loss": LOSSES[loss][0],
                "smoothing": LOSSES[loss][1],
                "C": C,
                **settings,
            },
        )
        for name, one in data.items()
        for loss in LOSSES
        for C in Cs
    ]


def times_to_gaps(
    data: DataName,
    loss: fwlab.Loss,
    smoothing: float,
    C: float,
    rows: int,
    methods: tuple[str, ...],
    limit: float,
) -> dict[str, Any]:
    """Return {method: {gap: [iterations, seconds]}} for the gaps that it reached in time."""
    X, y = random_rows(data, rows)
    classes = data.load().n_classes
    problem = fwlab.Problem(X, y, loss, 1 / (C * len(y)), smoothing=smoothing, n_classes=classes)
    found = {}
    for method in methods:
        fwlab.solve(problem, method, tol=0.0, max_iter=2)  # compiles
        result = fwlab.solve(
            problem, method, 1e-8, max_iter=MOST_ITERATIONS, time_limit=limit, check_every=1
        )
        found[method] = reached(result.trace)
    return found
