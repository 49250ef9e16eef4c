"""K19 Figure 4: the gap against iterations for flat, linear and exponential weights."""

from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kato2019.news20 import (
    MAX_ITER,
    READINGS,
    TOL,
    TOLERANCE,
    TOP_K,
    K,
    factor,
    reading_cell,
    run,
)
from figures.kit.captions import Caption
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.readings import Reading, Tried
from figures.kit.study import Study
from figures.kit.style import curves, label_curves, panels, series, state
from figures.kit.traces import best_so_far
from fwlab.experiments import Cell, DataName

METHOD = "fw"
# flat weights are the unweighted loss, so Figure 3 has their runs
LOSSES = {
    "flat": TOP_K,
    "linear": fwlab.WeightedTopK(fwlab.weights.linear(K)),
    "exp": fwlab.WeightedTopK(fwlab.weights.exponential(K)),
}
QUICK = Reading("digits", {"data": DataName("digits", "unit", rows=200)})
SYNTHETIC = Reading("synthetic, FMD's size", {"data": DataName("synthetic-a", "unit")})
CAPS = {"quick": 20, "standard": MAX_ITER, "full": 1000}
SECONDS = {"quick": 3, "standard": 40, "full": 400}
# iterations at which the curves are compared
PLACES = (1, 3, 10, 30, 100)


def cells(size: str) -> list[Cell]:
    return [
        reading_cell(
            reading,
            METHOD,
            max_iter=CAPS[size],
            loss=loss,
            loss_name="" if weights == "flat" else weights,
        )
        for reading in ([QUICK] if size == "quick" else [SYNTHETIC, *READINGS])
        for weights, loss in LOSSES.items()
    ]


def run_of(values: dict[str, Any], reading: str, weights: str) -> dict[str, Any]:
    """Return the stored run of a reading with these weights."""
    return values[f"{reading}|{run(METHOD, loss_name='' if weights == 'flat' else weights)}"]


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Choose the reading by the linear weights, and confirm it by the exponential ones."""
    tried = [
        Tried(
            reading,
            factors(values, reading.name, "linear"),
            factors(values, reading.name, "exp"),
        )
        for reading in READINGS
    ]
    what = f"gaps on News20 within a factor of {10**TOLERANCE:g} of those of the flat weights"
    return judge(tried, TOLERANCE, what, claims=("K19-fig4-weights",))


def factors(values: dict[str, Any], reading: str, weights: str) -> dict[str, float]:
    """Return how far the gap is from the gap of the flat weights, at a few iterations."""
    flat, other = (run_of(values, reading, w) for w in ("flat", weights))
    return {
        f"{weights}, iteration {place}": factor(gap_at(other, place), gap_at(flat, place))
        for place in PLACES
    }


def gap_at(value: dict[str, Any], iteration: int) -> float:
    """Return the smallest gap until an iteration, the last one if the run ended before."""
    iterations, gaps = best_so_far(value)
    return float(gaps[np.searchsorted(iterations, iteration, side="right") - 1])


def plot(study: Study) -> list[Path]:
    values = study.values
    names = shown(study)
    figure, axes = panels(names, (2.9, 0.6), "iteration", "certified gap")
    for name, ax in axes.items():
        runs = {weights: best_so_far(run_of(values, name, weights)) for weights in LOSSES}
        curves(ax, {w: (*run, series(index)) for index, (w, run) in enumerate(runs.items())})
    worst = max(
        max(factors(values, name, weights).values()) for name in names for weights in LOSSES
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
        worst = max(max(factors(values, name, weights).values()) for weights in LOSSES)
        told.append(f"{name}: a factor of {10**worst:.2g} at most")
    return Caption(
        title="K19 Figure 4: three weightings of the top-k hinge, synthetic data and News20",
        shows="Smallest certified gap so far of Frank-Wolfe with exact line search.",
        settings=(
            f"WeightedTopK with k = {K}, lam = 1/n unless the reading has a C, gap {TOL:g} or "
            f"{CAPS[size]} iterations. FMD's features are unavailable: synthetic data of its "
            "size, with rows of length 1, instead."
        ),
        agreement=(
            "Gaps of the linear and exponential weights over those of the flat ones, at "
            f"iterations {', '.join(map(str, PLACES))}: {'; '.join(told)}."
        ),
    )
