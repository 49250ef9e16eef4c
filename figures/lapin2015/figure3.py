"""L15 Figure 3: time of the projection onto the top-k simplex and onto the knapsack set."""

import time
from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.exponents import NEAR, exponent
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.readings import Reading, Tried, told_failures
from figures.kit.study import Study
from figures.kit.style import curves, legend_below, log_axes, new_figure, series, state
from fwlab.experiments import Cell

KS = (1, 5, 10)
SETS = ("knapsack", *[f"top-{k} simplex" for k in KS])
DIMENSIONS = {
    "quick": (20, 200),
    "standard": (30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000),
    "full": (30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
}
POINTS = {"quick": 50, "standard": 1000, "full": 1000}
# entries of a batch that are in memory at once, and repetitions of each batch
ENTRIES, REPEATS, SEED = 10**7, 5, 0
# from this length on, the overhead of calls is negligible
LONG = 1000
# times that differ by less than this factor count as essentially the same
SAME = 2.0
SECONDS = {"quick": 3, "standard": 60, "full": 600}
ALONE = True  # times are compared


def cells(size: str) -> list[Cell]:
    return [
        Cell(f"d = {d}", milliseconds, {"d": d, "points": POINTS[size]}, cost=float(d))
        for d in DIMENSIONS[size]
    ]


def milliseconds(d: int, points: int) -> dict[str, float]:
    """Return the CPU time of all points: medians of REPEATS rounds in which all sets take turns.

    Only a part of the long rows is drawn and projected, and their time is scaled.
    """
    drawn = min(points, max(1, ENTRIES // d))
    rows = np.random.default_rng(SEED).standard_normal((drawn, d))
    times = np.empty((REPEATS + 1, len(SETS)))
    for repeat in range(REPEATS + 1):
        for column, name in enumerate(SETS):
            start = time.process_time()
            project(rows, name)
            times[repeat, column] = time.process_time() - start
    medians = 1e3 * np.median(times[1:], axis=0) * points / drawn
    return dict(zip(SETS, medians.tolist(), strict=True))


def project(rows: np.ndarray, name: str) -> np.ndarray:
    if name == "knapsack":
        return fwlab.project_knapsack(rows, 1.0, 1.0)
    return fwlab.project_topk_simplex(rows, int(name.split()[0].removeprefix("top-")), 1.0)


def columns(values: dict[str, Any]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the dimensions, and the times of each set."""
    dimensions = np.array([float(name.removeprefix("d = ")) for name in values])
    return dimensions, {name: np.array([v[name] for v in values.values()]) for name in SETS}


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Return the finding: exponents are 1 and the times of all sets the same.

    A distance is in units of the allowed one: NEAR for an exponent less its interval, the factor
    SAME for a time.
    """
    dimensions, times = columns(values)
    long, cells = dimensions >= LONG, {}
    for name, found in times.items():
        slope, half = exponent(dimensions[long], found[long])
        cells[f"exponent of {name}"] = max(0.0, abs(slope - 1) - half) / NEAR
    for name in SETS[1:]:
        ratios = np.abs(np.log(times[name] / times["knapsack"])) / np.log(SAME)
        for d, ratio in zip(dimensions[long], ratios[long], strict=True):
            cells[f"{name}, d = {d:.0f}"] = float(ratio)
    what = f"exponents within {NEAR:g} of 1, and times within a factor of {SAME:g} of the knapsack"
    one = [Tried(Reading("", source="L15 section 6.1"), cells)]
    return judge(one, 1.0, what, told_failures(one, 1.0), ("L15-scaling",))


def plot(study: Study) -> list[Path]:
    dimensions, times = columns(study.values)
    figure = new_figure(4.3)
    ax = figure.add_subplot()
    log_axes(ax, "dimension $d$")
    curves(ax, {name: (dimensions, times[name], series(index)) for index, name in enumerate(SETS)})
    ax.set_ylabel(f"CPU milliseconds for {POINTS[study.size]} points")
    slowest = max(np.max(times[name] / times["knapsack"]) for name in SETS[1:])
    state(
        figure,
        f"A top-k simplex costs {slowest:.2g} times the knapsack at most, whatever k",
    )
    legend_below(figure, ax, 2)
    return study.save_figure(figure, caption(dimensions, times, study.size))


def caption(dimensions: np.ndarray, times: dict[str, Any], size: str) -> Caption:
    tail = dimensions >= LONG if (dimensions >= LONG).sum() > 1 else dimensions > 0
    slopes = {
        name: np.polyfit(np.log(dimensions[tail]), np.log(found[tail]), 1)[0]
        for name, found in times.items()
    }
    ratios = [times[name] / times["knapsack"] for name in SETS[1:]]
    shown = ", ".join(f"{name} {slope:.2f}" for name, slope in slopes.items())
    return Caption(
        title="L15 Figure 3: time of projections, synthetic vectors",
        shows=(
            f"CPU time to project {POINTS[size]} vectors of N(0, 1) entries, against their length."
        ),
        settings=(
            f"radius 1, no bias, knapsack with upper bound 1 and sum at most 1; batches of at most "
            f"{ENTRIES:.0e} entries (longer ones scaled), median of {REPEATS} rounds, one thread, "
            f"seed {SEED}."
        ),
        agreement=(
            "The paper: linear in the dimension and essentially the same times. Exponents from "
            f"d = {dimensions[tail][0]:.0f} on: {shown}; the top-k simplex takes "
            f"{np.min(ratios):.2f} to {np.max(ratios):.2f} times as long as the knapsack."
        ),
    )
