"""Our own: the certified gap of every method on digits against seconds, in one figure."""

from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import label_curves, line, log_axes, method_line, new_figure, state
from figures.kit.traces import trace_cells
from fwlab.experiments import Cell, DataName
from fwlab.text import listed

# alternate and direct are methods for lp-norms, lbfgs is for the cross-entropy
OTHERS = ("alternate", "direct", "lbfgs")
METHODS = tuple(name for name in fwlab.methods() if name not in OTHERS)
# in colour; more colours could not be distinguished
SHOWN = ("ascent", "bcpfw", "fcfw", "bcfw", "fw", "afw", "pfw", "subgradient")
GREY = "#cccccc"
LETTERS = 11.0  # points; the front page shows this figure 350 pixels wide to a telephone
K, TOL, POWER = 3, 1e-9, "1e-5"
POWERS = ("1e-3", POWER, "1e-9")  # columns of the table that the site shows
DEFAULT = "ascent"
ROWS = {"quick": 100, "standard": None, "full": None}
LIMIT = {"quick": 0.1, "standard": 3.0, "full": 30.0}
MOST_ITERATIONS = 10**6
SECONDS = {"quick": 5, "standard": 60, "full": 500}
ALONE = True  # times are compared


def cells(size: str) -> list[Cell]:
    return trace_cells(
        {"digits": DataName("digits", "unit", rows=ROWS[size])},
        {method: {"method": method} for method in METHODS},
        LIMIT[size],
        loss=fwlab.TopK(K),
        tol=TOL,
        max_iter=MOST_ITERATIONS,
        time_limit=LIMIT[size],
    )


def plot(study: Study) -> list[Path]:
    """Draw the smallest gap so far of each method, with the methods of SHOWN in colour."""
    values = {method: study.values[f"digits|{method}"] for method in METHODS}
    figure = new_figure(6.4)
    ax = figure.add_subplot()
    log_axes(ax, "seconds, one thread")
    ax.set_ylabel("certified gap, smallest so far")
    for method, value in values.items():
        gap = np.minimum.accumulate(np.maximum(value["gap"], TOL / 10))[1:]
        seconds = np.array(value["seconds"])[1:]
        if method in SHOWN:
            line(ax, seconds, gap, method_line(method), method)
        else:
            ax.plot(seconds, gap, color=GREY, linewidth=0.8, zorder=1)
    ax.axhline(float(POWER), color="#666666", linewidth=0.8, linestyle=":", zorder=0)
    state(figure, title_of(values, LIMIT[study.size]))
    label_curves([ax], fontsize=LETTERS)
    return study.save_figure(figure, caption(values, study.size))


def title_of(values: dict[str, Any], limit: float) -> str:
    """Return how many methods reach a gap, and how long the default method takes."""
    times = {m: v["reached"][POWER][1] for m, v in values.items() if POWER in v["reached"]}
    told = (
        f"{len(times)} of {len(values)} methods certify a gap of {POWER} on digits in {limit:g} s"
    )
    return (
        f"{told}; {DEFAULT}, the default, in {times[DEFAULT]:.2g} s" if DEFAULT in times else told
    )


def for_pages(values: dict[str, Any], size: str) -> dict[str, Any]:
    """Return the finding, and a row per method: seconds to each gap of POWERS, "" for none."""
    runs = {name.partition("|")[2]: value for name, value in values.items()}
    return {
        "finding": title_of(runs, LIMIT[size]),
        "limit": f"{LIMIT[size]:g}",
        "gaps": POWERS,
        "seconds": arrivals({method: value["reached"] for method, value in runs.items()}),
    }


def arrivals(reached: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Return a row per method: seconds to each gap of POWERS, "" for a gap not reached in time.

    Methods that reach smaller gaps come first; of equals, the faster ones.
    """

    def order(method: str) -> list[float]:
        return [reached[method].get(power, (0, np.inf))[1] for power in reversed(POWERS)]

    return [
        [m, *(f"{reached[m][p][1]:.2g}" if p in reached[m] else "" for p in POWERS)]
        for m in sorted(reached, key=order)
    ]


def caption(values: dict[str, Any], size: str) -> Caption:
    sdca = [value["last_gap"] for method, value in values.items() if method.startswith("sdca")]
    return Caption(
        title="The certified gap of every method on digits",
        shows=(
            "The smallest certified gap so far against solver seconds. A line ends at a gap of "
            f"{TOL:g} or at the time limit. {len(SHOWN)} methods are in colour, and in grey "
            f"{listed([m for m in METHODS if m not in SHOWN])}. The dotted line is a gap of "
            f"{POWER}. newton and auto start with ascent. The SDCA methods maximise "
            f"the dual of the pseudo top-k, which is a different problem."
        ),
        settings=(
            f"TopK({K}), lam = 1/n, unit rows, gap {TOL:g} or {LIMIT[size]:g} s a run, judging "
            "included; each iteration is judged; seed 0."
        ),
        agreement=(
            f"No paper has this figure. {title_of(values, LIMIT[size])}. The SDCA methods end at "
            f"a gap of {min(sdca):.1e} or more."
        ),
    )
