"""K19 Figure 3: the gap against iterations when the top-k hinge is smoothed; FW, AFW, PFW."""

from pathlib import Path
from typing import Any

from figures.kato2019 import statements
from figures.kato2019.news20 import (
    MAX_ITER,
    READINGS,
    TOL,
    TOLERANCE,
    K,
    cell_name,
    reading_cell,
)
from figures.kato2019.statements import EIGHT, METHODS, ONE_READING, Smoothed
from figures.kit.captions import Caption
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.readings import Reading, Tried, told_failures
from figures.kit.study import Study
from figures.kit.style import curves, label_curves, log_axes, new_figure, series, state
from figures.kit.traces import best_so_far
from fwlab.experiments import Cell, DataName

SMOOTHINGS = (0.0, 1e-3, 1e-2, 1e-1)
QUICK = Reading("digits", {"data": DataName("digits", "unit", rows=200)})
CAPS = {"quick": 20, "standard": MAX_ITER, "full": 1000}
SECONDS = {"quick": 4, "standard": 300, "full": 3000}


def cells(size: str) -> list[Cell]:
    """Return the runs of each smoothing; without smoothing readings of one scaling share theirs."""
    found = [
        reading_cell(reading, method, smoothing, CAPS[size])
        for reading in ([QUICK] if size == "quick" else READINGS)
        for method in METHODS
        for smoothing in SMOOTHINGS
        if smoothing or reading.program is None
    ]
    others = [] if size == "quick" else statements.choosing_cells()
    return [*found, *(cell for cell in others if cell.name not in {one.name for one in found})]


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Take the reading of News20 that Figures 2 to 4 choose together, by what section 7.2 says."""
    tried = [
        Tried(
            reading,
            statements.section_2(values, reading.name),
            statements.rest_of_section_2(values, reading.name),
        )
        for reading in READINGS
    ]
    what = "statements of section 7.2 hold within a factor of 2"
    claims = ("K19-fig3-gamma", "K19-fig3-eight")
    together = statements.chosen(values).name
    return judge(
        tried,
        TOLERANCE,
        what,
        lambda one: told_failures([one], TOLERANCE),
        claims,
        together=together,
    )


def plot(study: Study) -> list[Path]:
    values, reading = study.values, shown(study)
    figure = new_figure(8.4)
    axes = figure.subplots(len(METHODS), 1, sharex=True, sharey=True)
    for ax, (method, title) in zip(axes, METHODS.items(), strict=True):
        log_axes(ax, "iteration" if method == "pfw" else "")
        ax.set_title(title)
        ax.set_ylabel("certified gap")
        drawn = {}
        for index, smoothing in enumerate(SMOOTHINGS):
            gaps = best_so_far(values[cell_name(reading, method, smoothing)])
            drawn[f"smoothing {smoothing:g}" if smoothing else "no smoothing"] = (
                *gaps,
                series(index),
            )
        curves(ax, drawn)
        ax.axhline(1e-3, color="#888888", linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
    found = Smoothed(values, reading)
    cap = CAPS[study.size]
    needed = {title: found.iterations(m, 0.1) for m, title in METHODS.items()}
    counts = [f"{n:g} ({t})" if n <= cap else f"over {cap} ({t})" for t, n in needed.items()]
    state(
        figure,
        f"Smoothing 0.1: iterations to a gap of 1e-3 are {', '.join(counts)}; "
        f"the paper says {EIGHT}",
    )
    label_curves(axes)
    return study.save_figure(figure, caption(values, study.size, reading))


def shown(study: Study) -> str:
    """Return the name of the reading to draw."""
    return study.finding.reading if study.finding else QUICK.name


def caption(values: dict[str, Any], size: str, reading: str) -> Caption:
    found = Smoothed(values, reading)
    counts = ", ".join(f"{title} {found.iterations(m, 0.1):g}" for m, title in METHODS.items())
    plain = found.iterations("afw", 0.0)
    return Caption(
        title="K19 Figure 3: smoothing and convergence",
        shows=(
            "Smallest certified gap so far against iterations, one panel a method, one line a "
            f"smoothing parameter gamma; {reading}. {ONE_READING} With n gamma the gap is (27), "
            "which the program has; with gamma that of the smoothed problem, which is at most (27)."
        ),
        settings=(f"TopK({K}), lam = 1/n, gap {TOL:g} or {CAPS[size]} iterations."),
        agreement=(
            f"With smoothing 0.1 the gap is below 1e-3 after (the paper: {EIGHT}): {counts}. "
            f"Without smoothing AFW is there after {plain:g} iterations; by section 7.1 it does "
            "not get there within 1000 on this data set at lam = 1/n."
        ),
    )
