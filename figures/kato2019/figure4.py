"""K19 Figure 4: the gap against iterations for flat, linear and exponential weights."""

from pathlib import Path
from typing import Any

from figures.kato2019 import statements
from figures.kato2019.news20 import MAX_ITER, SCALINGS, TOL, TOLERANCE, K
from figures.kato2019.statements import (
    LOSSES,
    ONE_READING,
    PLACES,
    run_of,
    section_3,
    weighted_cell,
)
from figures.kit.captions import Caption
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.readings import Reading, Tried
from figures.kit.study import Study
from figures.kit.style import curves, label_curves, panels, series, state
from figures.kit.traces import best_so_far
from fwlab.experiments import Cell, DataName

QUICK = Reading("digits", {"data": DataName("digits", "unit", rows=200)})
SYNTHETIC = Reading("synthetic, FMD's size", {"data": DataName("synthetic-a", "unit")})
CAPS = {"quick": 20, "standard": MAX_ITER, "full": 1000}
SECONDS = {"quick": 3, "standard": 80, "full": 800}


def cells(size: str) -> list[Cell]:
    """Return the runs with each weights, which no smoothing changes."""
    found = [
        weighted_cell(reading, weights, CAPS[size])
        for reading in ([QUICK] if size == "quick" else [SYNTHETIC, *SCALINGS])
        for weights in LOSSES
    ]
    others = [] if size == "quick" else statements.choosing_cells()
    return [*found, *(cell for cell in others if cell.name not in {one.name for one in found})]


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Take the scaling of News20 that Figures 2 to 4 choose together, by what section 7.3 says."""
    tried = [
        Tried(
            reading,
            section_3(values, reading.name, "linear"),
            section_3(values, reading.name, "exp"),
        )
        for reading in SCALINGS
    ]
    what = f"gaps on News20 within a factor of {10**TOLERANCE:g} of those of the flat weights"
    together = statements.chosen_scaling(values)
    return judge(tried, TOLERANCE, what, claims=("K19-fig4-weights",), together=together)


def plot(study: Study) -> list[Path]:
    values = study.values
    names = shown(study)
    figure, axes = panels(names, (2.9, 0.6), "iteration", "certified gap")
    for name, ax in axes.items():
        runs = {weights: best_so_far(run_of(values, name, weights)) for weights in LOSSES}
        curves(ax, {w: (*run, series(index)) for index, (w, run) in enumerate(runs.items())})
    worst = max(
        max(section_3(values, name, weights).values()) for name in names for weights in LOSSES
    )
    state(
        figure,
        f"Flat, linear or exponential weights: gaps differ by a factor of {10**worst:.2g} at most",
    )
    label_curves(axes.values())
    return study.save_figure(figure, caption(values, study.size, names))


def shown(study: Study) -> list[str]:
    """Return the names of the readings to draw."""
    return [SYNTHETIC.name, study.finding.reading] if study.finding else [QUICK.name]


def caption(values: dict[str, Any], size: str, names: list[str]) -> Caption:
    told = []
    for name in names:
        worst = max(max(section_3(values, name, weights).values()) for weights in LOSSES)
        told.append(f"{name}: a factor of {10**worst:.2g} at most")
    return Caption(
        title="K19 Figure 4: three weightings of the top-k hinge, synthetic data and News20",
        shows=(
            "Smallest certified gap so far of Frank-Wolfe with exact line search, without "
            f"smoothing. {ONE_READING}"
        ),
        settings=(
            f"WeightedTopK with k = {K}, lam = 1/n, gap {TOL:g} or "
            f"{CAPS[size]} iterations. FMD's features are unavailable: synthetic data of its "
            "size, with rows of length 1, instead."
        ),
        agreement=(
            "Gaps of the linear and exponential weights over those of the flat ones, at "
            f"iterations {', '.join(map(str, PLACES))}: {'; '.join(told)}."
        ),
    )
