"""M20 Table 3: precision at six recalls, mean over the data sets, of six machines, two kernels."""

from pathlib import Path
from typing import Any

import numpy as np

from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.tables import Compared, Entry, Table, agreement
from figures.macha2020 import fits as macha
from figures.macha2020.fits import KERNELS, MACHINES, PREPROCESSING
from figures.macha2020.printed import RECALLS, TABLE_3
from fwlab.experiments import Cell

# within which a printed percentage counts as met
NEAR = 5.0
SECONDS = {"quick": 8, "standard": 420, "full": 45 * 3600}


def cells(size: str) -> list[Cell]:
    """Return all fits on all data sets."""
    return [cell for name in macha.names(size) for cell in macha.cells(name, size)]


Means = dict[tuple[str, str, str], np.ndarray]


def means(values: dict[str, Any], size: str) -> Means:
    """{(preprocessing, kernel, machine): mean test precisions (6,) over the data sets}."""
    return {
        (preprocessing, kernel, machine): np.mean(
            [
                macha.chosen(values, name, preprocessing, machine, kernel, size)["test"]
                for name in macha.names(size)
            ],
            axis=0,
        )
        for preprocessing in PREPROCESSING
        for kernel in KERNELS
        for machine in MACHINES
    }


def plot(study: Study) -> list[Path]:
    """The means, and a part with each data set by itself."""
    values, size = study.values, study.size
    found = means(values, size)
    rows: list[list[Entry]] = []
    for (preprocessing, kernel, machine), ours in found.items():
        printed = (None,) * len(RECALLS) if size == "quick" else TABLE_3[kernel][machine]
        entries = [Compared(float(o), p, ".2f") for o, p in zip(ours, printed, strict=True)]
        rows.append([preprocessing, kernel, machine, *entries])
    text = caption(values, found, size, [e for row in rows for e in row[3:]])
    header = [f"recall {recall:g}" for recall in RECALLS]
    table = Table(["features", "kernel", "machine", *header], rows)
    sets = Table(["data", "features", "kernel", "machine", *header], by_set(values, size))
    return [*study.save_table(table, text), *study.save_table(sets, text, "by_set")]


def by_set(values: dict[str, Any], size: str) -> list[list[Entry]]:
    return [
        [
            name,
            preprocessing,
            kernel,
            machine,
            *[
                f"{precision:.2f}"
                for precision in macha.chosen(values, name, preprocessing, machine, kernel, size)[
                    "test"
                ]
            ],
        ]
        for name in macha.names(size)
        for preprocessing in PREPROCESSING
        for kernel in KERNELS
        for machine in MACHINES
    ]


def observations(found: Means, preprocessing: str) -> str:
    """M20's three sentences on the table, counted on ours."""
    gauss, linear = (
        np.array([found[preprocessing, kernel, machine] for machine in MACHINES])
        for kernel in ("rbf", "linear")
    )
    machines = list(MACHINES)
    best = [
        f"{recall:g} {machines[int(j)]}"
        for recall, j in zip(RECALLS, gauss.argmax(axis=0), strict=True)
    ]
    return (
        f"{preprocessing}: the Gaussian kernel is better in {(gauss > linear).sum()} of "
        f"{gauss.size} entries; with it the best at each recall is {', '.join(best)}"
    )


def caption(values: dict[str, Any], found: Means, size: str, entries: list[Any]) -> Caption:
    seen = "; ".join(observations(found, preprocessing) for preprocessing in PREPROCESSING)
    where = "digits" if size == "quick" else "five data sets"
    return Caption(
        title=f"M20 Table 3: precision in percent at levels of recall, {where}",
        shows=(
            "Mean over the data sets of the test precision at the highest threshold that reaches "
            "the recall, ours (the paper's, difference); one cut of each set. The part by_set has "
            "each data set by itself."
        ),
        settings=f"sigma in {KERNELS['rbf']}; {macha.shown_settings(values, size)}",
        agreement=(
            f"{agreement(entries, NEAR, 'percent')} The paper: the Gaussian kernel is better for "
            "all machines, TopPush and TopPushK are best at small recalls, Pat&Mat at large ones. "
            f"Here, {seen}."
        ),
    )
