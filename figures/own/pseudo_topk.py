"""Our own: where SDCA on the pseudo top-k, and Usunier's loss, end in terms of the true top-k.

The published code maximises the dual of the pseudo top-k. The true top-k primal at its W, and at
the W of Usunier's loss, minus the certified optimum, over k and C.
"""

from pathlib import Path
from typing import Any

import fwlab
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import light_grid, new_figure, series
from figures.kit.tables import Table
from figures.own.subsets import DIGITS, REAL, random_rows
from fwlab.experiments import Cell, DataName

KS = {"quick": (1, 3), "standard": (1, 2, 3, 5, 9), "full": (1, 2, 3, 5, 9)}
CS = {"quick": (1.0,), "standard": (1.0, 10.0, 100.0), "full": (1.0, 10.0, 100.0)}
ROWS = {"quick": 60, "standard": 600, "full": 4000}
LOSSES = ("true", "pseudo", "Usunier")
TOL = 1e-4  # relative
MOST_PASSES = 1000
SECONDS = {"quick": 2, "standard": 150, "full": 1000}


def cells(size: str) -> list[Cell]:
    data = DIGITS if size == "quick" else REAL
    return [
        Cell(f"{name}|{C:g}|{k}", primals, {"data": one, "rows": ROWS[size], "C": C, "k": k})
        for name, one in data.items()
        for C in CS[size]
        for k in KS[size]
    ]


def primals(data: DataName, rows: int, C: float, k: int) -> dict[str, Any]:
    """Return the true top-k primal and the test accuracy of the machine of each loss.

    own_gap is the gap of the problem that a run solves, over the larger of its objectives.
    """
    part = data.load()
    X, y = random_rows(data, rows)

    def problem(loss: fwlab.Loss) -> fwlab.Problem:
        return fwlab.Problem(X, y, loss, 1 / (C * len(y)), n_classes=part.n_classes)

    true = problem(fwlab.TopK(k))
    settings = {"tol": TOL, "relative": True, "max_iter": MOST_PASSES}
    results = {
        "true": fwlab.solve(true, "auto", **settings),
        "pseudo": fwlab.solve(problem(fwlab.PseudoTopK(k)), "sdca-lapin", **settings),
        "Usunier": fwlab.solve(problem(fwlab.Usunier(k)), "auto", **settings),
    }
    optimum = results["true"]
    return {
        "optimum": [optimum.dual, optimum.primal],
        **{
            name: {
                "primal": true.primal(result.W),
                "own_gap": result.gap / max(abs(result.primal), abs(result.dual)),
                "accuracy": fwlab.metrics.topk_accuracy(
                    part.y_test, part.X_test @ result.W.T, k
                ),
            }
            for name, result in results.items()
        },
    }
