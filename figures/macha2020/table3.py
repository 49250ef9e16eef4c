"""M20 Table 3: precision at six recalls, mean over the data sets, of six machines, two kernels.

M20 runs Algorithm 3.1 for 20000 repeat loops and mentions no scaling of the features. Here fits are
made in that way on raw features, and to the optimum on raw and standardised ones.
"""

from pathlib import Path
from typing import Any

import numpy as np

from figures.kit.captions import Caption
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.readings import Reading, Tried
from figures.kit.study import Study
from figures.kit.tables import Compared, Entry, Table
from figures.macha2020 import fits as macha
from figures.macha2020.fits import BY_LOOPS, KERNELS, MACHINES
from figures.macha2020.printed import RECALLS, TABLE_2, TABLE_3
from fwlab.experiments import Cell

# features and training, as in the names of cells
READINGS = {
    BY_LOOPS: Reading(f"raw features, {macha.LOOPS} loops", source="M20 4.2, 4.3"),
    "raw": Reading("raw features, to the optimum"),
    "standardised": Reading("standardised features, to the optimum"),
}
# the machines that choose among these readings
CHOOSING = ("TopPush", "TopPushK, K = 10", "Pat&Mat, tau = 0.05")
SECONDS = {"quick": 12, "standard": 520, "full": 90 * 3600}


def cells(size: str) -> list[Cell]:
    """Return all fits on all data sets."""
    return [
        cell
        for name in macha.names(size)
        for cell in [*macha.cells(name, size), *macha.loop_cells(name, size)]
    ]


Means = dict[tuple[str, str, str], np.ndarray]


def means(values: dict[str, Any], size: str) -> Means:
    """Return {(preprocessing, kernel, machine): mean test precisions (6,) over the data sets}."""
    return {
        (preprocessing, kernel, machine): np.mean(
            [
                macha.chosen(values, name, preprocessing, machine, kernel, size)["test"]
                for name in macha.names(size)
            ],
            axis=0,
        )
        for preprocessing in READINGS
        for kernel in KERNELS
        for machine in MACHINES
    }


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Return the finding: three machines choose features and training, the others confirm them.

    A distance is in units of two deviations of the difference between two random splits of the
    sets.
    """
    found = means(values, size)
    tried, told = [], []
    for way, reading in READINGS.items():
        parts: tuple[dict[str, float], dict[str, float]] = {}, {}
        for kernel in KERNELS:
            near = 0
            for machine in MACHINES:
                far = distances(found[way, kernel, machine], np.array(TABLE_3[kernel][machine]))
                part = parts[machine not in CHOOSING]
                part |= {
                    f"{kernel} {machine} at {r:g}": d for r, d in zip(RECALLS, far, strict=True)
                }
                near += sum(d <= 1 for d in far)
            told.append(f"{reading.name}, {kernel} {near} of {len(MACHINES) * len(RECALLS)}")
        tried.append(Tried(reading, *parts))
    what = "precisions within two deviations of a random split"
    because = f"near are {'; '.join(told)}"
    claims = ("M20-table3-gauss", "M20-table3-recall")
    return judge(tried, 1.0, what, because, claims)


def distances(ours: np.ndarray, printed: np.ndarray) -> list[float]:
    """Return the distances at RECALLS; each of the two tables has its own split."""
    far = np.abs(ours - printed) / (2 * np.sqrt(2) * deviation(printed))
    return [float(d) for d in far]


def deviation(printed: np.ndarray) -> np.ndarray:
    """Return the binomial deviation, in per cent, of a mean of precisions over the test parts.

    A precision p at recall r with n positives is a share of r n / p rows.
    """
    share = printed / 100
    positives = [n * percentage / 100 for *_, (n, percentage) in TABLE_2.values()]
    variance = sum(share * (1 - share) * share / (np.array(RECALLS) * n) for n in positives)
    return 100 * np.sqrt(variance) / len(positives)


def plot(study: Study) -> list[Path]:
    """Save the means, and a part with each data set."""
    values, size = study.values, study.size
    found = means(values, size)
    rows: list[list[Entry]] = []
    for (preprocessing, kernel, machine), ours in found.items():
        printed = (None,) * len(RECALLS) if size == "quick" else TABLE_3[kernel][machine]
        entries = [Compared(float(o), p, ".2f") for o, p in zip(ours, printed, strict=True)]
        rows.append([preprocessing, kernel, machine, *entries])
    text = caption(values, found, size)
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
        for preprocessing in READINGS
        for kernel in KERNELS
        for machine in MACHINES
    ]


def observations(found: Means, preprocessing: str) -> str:
    """Return M20's three statements about the table, counted in ours."""
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


def shown_loops(values: dict[str, Any]) -> str:
    """Return the description of the fits by repeat loops in a caption."""
    gaps = {
        kernel: [v["gap"] for name, v in values.items() if BY_LOOPS in name and kernel in name]
        for kernel in KERNELS
    }
    told = " and ".join(f"{np.median(found):.0e} ({kernel})" for kernel, found in gaps.items())
    return (
        f"With {macha.LOOPS} loops, rounded to whole iterations of n loops, the median relative "
        f"gap is {told}."
    )


def caption(values: dict[str, Any], found: Means, size: str) -> Caption:
    seen = "; ".join(observations(found, preprocessing) for preprocessing in READINGS)
    where = "digits" if size == "quick" else "five data sets"
    return Caption(
        title=f"M20 Table 3: precision in percent at levels of recall, {where}",
        shows=(
            "Mean over the data sets of the test precision at the highest threshold that reaches "
            "the recall, ours (the paper's, difference); each set is split once. The "
            "part by_set has each data set separately."
        ),
        settings=(
            f"sigma in {KERNELS['rbf']}; {macha.shown_settings(values, size)} {shown_loops(values)}"
        ),
        agreement=(
            "The paper: the Gaussian kernel is better for all machines, TopPush and TopPushK are "
            f"best at small recalls, Pat&Mat at large ones. Here, {seen}."
        ),
    )
