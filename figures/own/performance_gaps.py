"""Our own: seconds of every method to gaps of 1e-2 .. 1e-9 on A, B, letter and News20.

A and B are the synthetic sets of `datasets.synthetic`. A run that its time limit ended has no point
below the gap that it reached.
"""

from pathlib import Path
from typing import Any

import fwlab
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import legend_below, method_line, panels
from figures.kit.traces import data_names, trace_cells
from fwlab.experiments import Cell, DataName

METHODS = (
    *("fw", "fw-open-loop", "afw", "pfw", "blended-pairwise", "fcfw", "bafw", "bpfw"),
    *("bcfw", "bcafw", "bcpfw", "bbpfw", "dicg", "subgradient", "ascent", "newton", "auto"),
)
DATA = {
    "A (synthetic)": DataName("synthetic-a", "unit"),
    "B (synthetic)": DataName("synthetic-b", "unit"),
    "letter": DataName("letter", "unit"),
    "News20": DataName("news20_svd1024", "unit"),
}
QUICK = {"digits": DataName("digits", "unit", rows=200)}
K, TOL = 3, 1e-9
POWERS = tuple(f"1e{-digits}" for digits in range(2, 10))
LIMIT = {"quick": 0.3, "standard": 20.0, "full": 120.0}
MOST_ITERATIONS = 10**6
SECONDS = {"quick": 6, "standard": 1000, "full": 5000}
ALONE = True  # times are compared


def cells(size: str) -> list[Cell]:
    return trace_cells(
        QUICK if size == "quick" else DATA,
        {method: {"method": method} for method in METHODS},
        LIMIT[size],
        loss=fwlab.TopK(K),
        tol=TOL,
        max_iter=MOST_ITERATIONS,
        time_limit=LIMIT[size],
    )


def plot(study: Study) -> list[Path]:
    values = study.values
    names = data_names(values)
    seconds_label = "seconds (one thread, judging excluded)"
    figure, axes = panels(names, (4.0, 1.2), "certified gap", seconds_label)
    for name, ax in axes.items():
        ax.set_xlim(2e-2, 5e-10)
        for method in METHODS:
            gaps, seconds = reached(values[f"{name}|{method}"])
            ax.plot(gaps, seconds, **method_line(method), label=method)
    legend_below(figure, axes[names[0]], 3)
    return study.save_figure(figure, caption(values, names, study.size))


def reached(value: dict[str, Any]) -> tuple[list[float], list[float]]:
    """The gaps 1e-2, 1e-3, .. that a run reached, and the seconds it took to each."""
    found = [
        (float(power), value["reached"][power][1]) for power in POWERS if power in value["reached"]
    ]
    return [gap for gap, _ in found], [seconds for _, seconds in found]


def caption(values: dict[str, Any], names: list[str], size: str) -> Caption:
    told = [f"{name}: {firsts(values, name)}" for name in names]
    return Caption(
        title="Time to a certified gap: every method on A and B (synthetic), letter and News20",
        shows=(
            "Solver seconds to the first certified gap below each power of ten, from left to right "
            "the smaller gaps; a line ends at the last power that the run reached."
        ),
        settings=(
            f"TopK({K}), lam = 1/n, unit rows, gap {TOL:g} or {LIMIT[size]:g} s a run; seed 0."
        ),
        agreement=f"No paper has this figure. First at a gap: {'; '.join(told)}.",
    )


def firsts(values: dict[str, Any], name: str) -> str:
    """Who is first at 1e-3, 1e-5 and 1e-9."""
    told = []
    for power in ("1e-3", "1e-5", "1e-9"):
        times = {
            method: values[f"{name}|{method}"]["reached"][power][1]
            for method in METHODS
            if power in values[f"{name}|{method}"]["reached"]
        }
        best = min(times, key=times.__getitem__, default=None)
        told.append(f"{power} {best} ({times[best]:.2g} s)" if best else f"{power} none")
    return ", ".join(told)
