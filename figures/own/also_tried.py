"""Try with K19, beside the readings of its figures, one more scaling and the grid of gamma.

The rows of News20 divided by the root of their mean square were once a reading of Figures 2 to 4,
and were dropped after their distances in section 7.1 had been seen. Here all statements that choose
the reading are computed for them. The tables of the standard size have no smoothing by gamma; here
UTk (ours) of Table 6 chooses gamma in the text's grid, and the stored table is the control.
"""

from collections.abc import Mapping
from typing import Any

import fwlab
from figures.kato2019 import news20, statements, tables
from figures.kato2019.machines import (
    GAMMA,
    HERE,
    KS,
    PARTS,
    TIMES_N,
    grid,
    machine,
    on_rows,
)
from figures.kato2019.printed import TABLES
from figures.kit.judge import nearest
from figures.kit.readings import Reading, within
from fwlab.experiments import Cell, CrossValidation, sweep_cells

Values = Mapping[str, Any]
# one scaling, with gamma and with n gamma
DROPPED = Reading(
    "rows of mean square 1",
    {"data": news20.RAW, "divisor": news20.MEAN_SQUARE},
    news20.NO_SCALING,
)
BOTH = (
    DROPPED,
    Reading(DROPPED.name + news20.N_GAMMA, DROPPED.settings, program=news20.SMOOTHED_BY_N),
)
# of section 7.3, beside none
GAMMAS = (1e-3, 1e-2, 1e-1)
LETTER = "Letter"
LABEL = f"{LETTER}, {PARTS}"


def cells(size: str) -> list[Cell]:
    """Return the runs of the dropped scaling and the fits with gamma; none in the quick size."""
    if size == "quick":
        return []
    return [*statements.choosing_cells(BOTH, (DROPPED,)), *gamma_cells()]


def gamma_cells() -> list[Cell]:
    """Return the fits of UTk (ours) with each gamma, by the protocol of the stored table."""
    rows = HERE[LETTER][PARTS]
    fitted = {
        machine("ours", k, gamma): {"loss": fwlab.TopK(k), "smoothing": gamma, "method": "auto"}
        for k in KS
        for gamma in GAMMAS
    }
    fits = sweep_cells(rows.data, fitted, grid("standard").protocol, cost=2.0, data_name=LABEL)
    return [on_rows(fit, rows) for fit in fits]


def is_stored(values: Values) -> bool:
    return all(cell.name in values for cell in cells("standard"))


def told_scaling(values: Values, figures: Values) -> str:
    """Return how near the dropped scaling comes, beside the reading that the figures have.

    figures: the stored values of one of Figures 2 to 4.
    """
    there = {**figures, **values}
    kept = [statements.choosing(there, one) for one in news20.READINGS]
    dropped = [statements.choosing(there, one) for one in BOTH]
    control, best = nearest(kept), nearest([*kept, *dropped])
    told = [
        f"{within(one.cells, news20.TOLERANCE)} of {len(one.cells)} with {one.reading.name}"
        for one in (*dropped, control)
    ]
    would = "" if best.reading in BOTH else "not "
    return (
        "K19, Figures 2 to 4, statements that choose the reading of News20, within a factor of 2: "
        f"{', '.join(told)}. The dropped scaling would {would}have been chosen."
    )


def told_grid(values: Values, table: Values) -> str:
    """Return how many accuracies of UTk (ours) on Letter agree, with the grid and without.

    table: the stored values of Table 6.
    """
    there = {**table, **values}
    ways = {
        f"with gamma in 0, {', '.join(f'{gamma:g}' for gamma in GAMMAS)}": near(
            there, (0.0, *GAMMAS)
        ),
        "without smoothing": near(there, (0.0,)),
        "with n gamma": near(there, grid("standard").smoothings[TIMES_N], TIMES_N),
    }
    told = ", ".join(f"{count} {way}" for way, count in ways.items())
    return f"K19, Table 6, accuracies of UTk (ours) that agree: {told}."


def near(values: Values, smoothings: tuple[float, ...], unit: str = GAMMA) -> str:
    """Return how many accuracies agree if a fold chooses C and the smoothing: "3 of 16"."""
    protocol, far = grid("standard").protocol, []
    for k in KS:
        names = [machine("ours", k, smoothing, unit) for smoothing in smoothings]
        found = CrossValidation.of(LABEL, names, protocol, dict(values))
        for column, printed in enumerate(TABLES[LETTER]["ours"][KS.index(k)]):
            far.append(tables.distance(tables.choose(found, names, column, None), printed))
    return f"{sum(d <= tables.TOLERANCE for d in far)} of {len(far)}"
