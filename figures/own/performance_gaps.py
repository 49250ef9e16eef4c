"""Our own: seconds of every method to gaps of 1e-2 .. 1e-9 on A, B, letter and News20.

A and B are the synthetic sets of `datasets.synthetic`. A run that ended at its time limit has no
point below the gap that it reached.
"""

from pathlib import Path
from typing import Any

import fwlab
from figures.kit.captions import Caption
from figures.kit.study import Study, part_name
from figures.kit.style import label_curves, method_line, note, panels, state
from figures.kit.traces import data_names, trace_cells
from fwlab.experiments import Cell, DataName

PANELS = {
    "steps of all rows at once": (
        *("fw", "fw-open-loop", "afw", "pfw", "blended-pairwise", "fcfw"),
    ),
    "Frank-Wolfe row by row, or along a bent path": (
        *("bcfw", "bcafw", "bcpfw", "bbpfw", "dicg", "bafw", "bpfw"),
    ),
    "other methods": ("subgradient", "ascent", "newton", "auto"),
}
METHODS = tuple(method for methods in PANELS.values() for method in methods)
DATA = {
    "A (synthetic)": DataName("synthetic-a", "unit"),
    "B (synthetic)": DataName("synthetic-b", "unit"),
    "letter": DataName("letter", "unit"),
    "News20": DataName("news20_svd1024", "unit"),
}
QUICK = {"digits": DataName("digits", "unit", rows=200)}
K, TOL = 3, 1e-9
POWERS = tuple(f"1e{-digits}" for digits in range(2, 10))
LIMIT = {"quick": 0.3, "standard": 10.0, "full": 120.0}
MOST_ITERATIONS = 10**6
SECONDS = {"quick": 6, "standard": 500, "full": 5000}
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
    seconds_label = "seconds, one thread"
    text = caption(values, names, study.size)
    files = []
    for name in names:
        figure, axes = panels(
            tuple(PANELS), (2.5, 0.6), "certified gap", seconds_label, shared=True
        )
        for title, ax in axes.items():
            ax.set_xlim(2e-2, 5e-10)
            ax.plot(*fastest(values, name), color="#bbbbbb", linewidth=6, label="fastest of all")
            for method in PANELS[title]:
                gaps, seconds = reached(values[f"{name}|{method}"])
                ax.plot(gaps, seconds, **method_line(method), label=method)
            if not any(reached(values[f"{name}|{method}"])[0] for method in PANELS[title]):
                note(ax, f"none gets to {POWERS[0]} in time")
        state(figure, title_of(values, name))
        label_curves(axes.values())
        files += study.save_figure(figure, text, part_name(name))
    return files


def title_of(values: dict[str, Any], name: str) -> str:
    """Return which method is first at the smallest gap reached, and how many methods reach it."""
    for power in reversed(POWERS):
        times = times_to(values, name, power)
        if times:
            first = min(times, key=times.__getitem__)
            there = f"{len(times)} of {len(METHODS)} methods get to {power}"
            return f"{name}: {there}, {first} first ({times[first]:.2g} s)"
    return f"{name}: no method gets to {POWERS[0]}"


def fastest(values: dict[str, Any], name: str) -> tuple[list[float], list[float]]:
    """Return the gaps that any method reached, and the least seconds to each."""
    times = {power: times_to(values, name, power).values() for power in POWERS}
    return [float(p) for p in POWERS if times[p]], [min(times[p]) for p in POWERS if times[p]]


def times_to(values: dict[str, Any], name: str, power: str) -> dict[str, float]:
    """Return the seconds to a gap of all methods that reached it."""
    runs = {method: values[f"{name}|{method}"]["reached"] for method in METHODS}
    return {method: found[power][1] for method, found in runs.items() if power in found}


def reached(value: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Return the gaps 1e-2, 1e-3, .. that a run reached, and the seconds to each."""
    found = [
        (float(power), value["reached"][power][1]) for power in POWERS if power in value["reached"]
    ]
    return [gap for gap, _ in found], [seconds for _, seconds in found]


def caption(values: dict[str, Any], names: list[str], size: str) -> Caption:
    told = [f"{name}: {firsts(values, name)}" for name in names]
    return Caption(
        title="Time to a certified gap: every method on A and B (synthetic), letter and News20",
        shows=(
            "Solver seconds to the first certified gap below each power of ten, with "
            "smaller gaps to the right; a line ends at the last power that the run "
            "reached."
        ),
        settings=(
            f"TopK({K}), lam = 1/n, unit rows, gap {TOL:g} or {LIMIT[size]:g} s a run; seed 0."
        ),
        agreement=f"No paper has this figure. First at a gap: {'; '.join(told)}.",
    )


def firsts(values: dict[str, Any], name: str) -> str:
    """Return which method is first at 1e-3, 1e-5 and 1e-9."""
    told = []
    for power in ("1e-3", "1e-5", "1e-9"):
        times = times_to(values, name, power)
        best = min(times, key=times.__getitem__, default=None)
        told.append(f"{power} {best} ({times[best]:.2g} s)" if best else f"{power} none")
    return ", ".join(told)
