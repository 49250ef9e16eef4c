"""Our own: how small a gap is small enough to know the labels and the accuracy of the optimum.

`Result.proved` says which test labels are certainly the exact optimum's, `Result.proved_accuracy`
gives an interval that holds the optimum's accuracy. Both are computed at falling gaps, beside the
share of labels that really differ from the optimum's.
"""

from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import log_axes, new_figure, series
from figures.kit.tables import Table
from figures.own.subsets import DIGITS, REAL, random_rows
from fwlab.experiments import Cell, DataName

DATA = {name: REAL[name] for name in ("letter", "News20", "Fashion")}
ROWS = {"quick": 100, "standard": 4000, "full": 4000}
SMALLEST = {"quick": 4, "standard": 10, "full": 10}  # powers of ten
SECONDS = {"quick": 2, "standard": 60, "full": 60}


def cells(size: str) -> list[Cell]:
    data = DIGITS if size == "quick" else DATA
    settings = {"rows": ROWS[size], "smallest": SMALLEST[size]}
    return [Cell(name, proofs_at_gaps, {"data": one, **settings}) for name, one in data.items()]


def proofs_at_gaps(data: DataName, rows: int, smallest: int) -> dict[str, list[Any]]:
    """Return what machines with gaps below 0.1, 0.01, .. prove about the test part.

    Each run goes on from the one before. changed: the share of rows whose label differs from one
    that the last machine proves.
    """
    part = data.load()
    X, y = random_rows(data, rows)
    problem = fwlab.Problem(X, y, fwlab.MaxHinge(), 1 / len(y), n_classes=part.n_classes)
    found: dict[str, list[Any]] = {"gap": [], "proved": [], "interval": [], "accuracy": []}
    labels, A = [], None
    for power in range(1, smallest + 1):
        result = fwlab.solve(problem, "auto", 10.0**-power, max_iter=5000, A0=A)
        A = result.A
        labels.append(result.predict(part.X_test))
        found["gap"].append(result.gap + result.gap_error)
        found["proved"].append(result.proved(part.X_test).mean())
        found["interval"].append(result.proved_accuracy(part.X_test, part.y_test))
        found["accuracy"].append(np.mean(labels[-1] == part.y_test))
    known = result.proved(part.X_test)
    return {**found, "changed": [np.mean(known & (one != labels[-1])) for one in labels]}
