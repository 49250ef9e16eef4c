"""How the gap falls with k: iterations of `ascent` to a gap of 1e-3.

Copy this file, change it, and run: python -m figures --file my_figure.py --quick
The first line above is its entry in the list; the name of the file is the name of the figure.
"""

from pathlib import Path
from typing import Any

import fwlab
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import light_grid, new_figure, series, state
from fwlab.experiments import Cell, DataName

KS = {"quick": (1, 2), "standard": (1, 2, 3, 5, 8), "full": (1, 2, 3, 5, 8)}
SECONDS = {"quick": 2, "standard": 3, "full": 3}  # estimates, on two cores


def cells(size: str) -> list[Cell]:  # each is computed once and stored, even if other cells change
    data = DataName("digits", "unit", rows=200)
    return [Cell(f"k = {k}", iterations, {"data": data, "k": k}) for k in KS[size]]


def iterations(data: DataName, k: int) -> dict[str, Any]:  # returns values that JSON can store
    part = data.load()
    problem = fwlab.Problem(part.X_train, part.y_train, fwlab.TopK(k), 1 / len(part.y_train))
    result = fwlab.solve(problem, tol=1e-3, max_iter=1000)
    return {"k": k, "iterations": result.nit, "gap": result.gap}


def plot(study: Study) -> list[Path]:  # draws study.values, {name of a cell: its result}
    values = list(study.values.values())
    figure = new_figure(3.5)
    ax = figure.add_subplot(xlabel="k", ylabel="iterations")
    ax.plot([v["k"] for v in values], [v["iterations"] for v in values], **series(0))
    light_grid(ax)
    state(figure, f"At most {max(v['iterations'] for v in values)} iterations, whatever k")
    said = f"No paper shows this; at most {max(v['iterations'] for v in values)} iterations."
    return study.save_figure(figure, Caption("Gap and k", "To 1e-3.", "lam = 1/n", said))
