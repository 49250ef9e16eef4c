"""T20 Figures 1 and 2: objective error and gap against iterations, without and with the envelope.

The objective error is P(w_t) - P(w*), with w* from `auto` at a gap of 1e-8 (the paper: 1e-5).
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from figures.kit.captions import Caption
from figures.kit.script import Script
from figures.kit.study import Study
from figures.kit.style import legend_below, line, log_axes, method_line, new_figure
from figures.kit.traces import trace
from figures.tajima2020.machines import DERIVED, LACKING, LOSS, METHODS, data
from fwlab.experiments import Cell, DataName

REFERENCE, TOL = "auto", 1e-8
MAX_ITER = {"quick": 50, "standard": 300, "full": 1000}
ENVELOPE = 0.01
HIGH = "high-dimensional, synthetic"
SECONDS = {"quick": 2, "standard": 80, "full": 300}
SHOWS = (
    "Objective error and certified gap at every iteration t, for the projected subgradient method "
    "(PG), Frank-Wolfe with the steps 2/(t + 1) (StdFW) and with exact line search (LSFW). W of "
    "PG is kept in the ball |W|^2 <= P(0)/lam, and its A is the average of minus its subgradients."
)


def cells(size: str, smoothings: tuple[float, ...]) -> list[Cell]:
    """Return all runs with the first smoothing, and only the line search with the others."""
    found = []
    for name, source in sets(size).items():
        settings = {"data": source, "loss": LOSS, "tol": TOL}
        for smoothing in smoothings:
            first = smoothing == smoothings[0]
            for method in METHODS if first else ("LSFW",):
                run = {"method": METHODS[method], "max_iter": MAX_ITER[size]}
                found.append((name, method, {**settings, **run, "smoothing": smoothing}, 1.0))
        best = {"method": REFERENCE, "max_iter": 5000, "check_every": 5}
        found.append((name, REFERENCE, {**settings, **best, "smoothing": smoothings[0]}, 0.5))
    return [
        Cell(cell_name(name, method, settings["smoothing"]), trace, settings, cost)
        for name, method, settings, cost in found
    ]


def sets(size: str) -> dict[str, DataName]:
    """Return the available sets, and one with more features than rows, as in the paper's images."""
    return data(size) | ({} if size == "quick" else {HIGH: DataName("synthetic-a", "unit")})


def cell_name(data_name: str, method: str, smoothing: float) -> str:
    return f"{data_name}|{method}|smoothing {smoothing:g}"


def draw(values: dict[str, Any], size: str, smoothing: float) -> Any:
    """Draw a row per data set: the objective error on the left, the gap on the right."""
    names = list(sets(size))
    figure = new_figure(2.4 * len(names) + 1.2)
    axes = figure.subplots(len(names), 2, squeeze=False, sharex=True)
    for (left, right), name in zip(axes, names, strict=True):
        best = values[cell_name(name, REFERENCE, smoothing)]
        log_axes(left, "")
        log_axes(right, "")
        for method, solver in METHODS.items():
            value = values[cell_name(name, method, smoothing)]
            iteration = np.array(value["iteration"])[1:]
            style, label = method_line(solver), f"{method} ({solver})"
            for ax, y in ((left, objective_error(value, best)), (right, gaps(value))):
                ax.plot(iteration, y, color=style["color"], linewidth=0.6, alpha=0.4)
                line(ax, iteration, np.minimum.accumulate(y), style, label)
        left.set_ylabel(name)
    axes[0, 0].set_title("objective error  P(w) \N{MINUS SIGN} P(w*)", fontsize="medium")
    axes[0, 1].set_title("certified gap  P(w) \N{MINUS SIGN} D(A)", fontsize="medium")
    for ax in axes[-1]:
        ax.set_xlabel("iteration")
    legend_below(figure, axes[0, 0], 3, "Bold: smallest so far. Faint: every checkpoint.")
    return figure


def objective_error(value: dict[str, Any], best: dict[str, Any]) -> np.ndarray:
    """Return P(w_t) - P(w*) at the stored iterations from 1 on, at least the gap of w* itself."""
    return np.maximum(np.array(value["primal"])[1:] - best["last_primal"], best["last_gap"])


def gaps(value: dict[str, Any]) -> np.ndarray:
    """Return the certified gap at the stored iterations from 1 on."""
    return np.array(value["gap"])[1:]


def plot(
    study: Study, title: str, smoothing: float, agreement: Callable[[dict[str, Any], str], str]
) -> list[Path]:
    """Save the figure of one smoothing; `agreement` compares it with what the paper sees."""
    values, size = study.values, study.size
    place = "on a few digits" if size == "quick" else "real data, and synthetic where it says so"
    caption = Caption(
        title=f"{title}, {place}",
        shows=SHOWS,
        settings=settings(values, size, smoothing),
        agreement=agreement(values, size),
    )
    return study.save_figure(draw(values, size, smoothing), caption)


def agreement_without_envelope(values: dict[str, Any], size: str) -> str:
    return (
        "The paper sees LSFW far ahead of both others where there are many features, and all "
        f"three alike on Caltech101 and News20. Here {told_errors(values, size, 0.0)}."
    )


def agreement_with_envelope(values: dict[str, Any], size: str) -> str:
    changes, faster = [], []
    for name in sets(size):
        plain, smooth = (min(values[cell_name(name, "LSFW", s)]["gap"]) for s in (0.0, ENVELOPE))
        changes.append(f"{name} {plain:.1e} to {smooth:.1e}")
        if smooth < plain / 2:
            faster.append(name)
    return (
        "The paper: the envelope makes LSFW faster on Caltech101 and News20, and not where "
        "there are many features. Smallest gap of LSFW without and with it: "
        f"{'; '.join(changes)}; less than half on {', '.join(faster) or 'no set'}. Also "
        f"{told_errors(values, size, ENVELOPE)}."
    )


def least_errors(values: dict[str, Any], name: str, smoothing: float) -> dict[str, float]:
    """Return the smallest objective error of each method."""
    best = values[cell_name(name, REFERENCE, smoothing)]
    return {
        method: float(objective_error(values[cell_name(name, method, smoothing)], best).min())
        for method in METHODS
    }


def told_errors(values: dict[str, Any], size: str, smoothing: float) -> str:
    """Return a sentence: the smallest errors, and where the line search has the smallest."""
    errors = {name: least_errors(values, name, smoothing) for name in sets(size)}
    texts = [
        f"{name} {' / '.join(f'{e:.1e}' for e in found.values())}" for name, found in errors.items()
    ]
    first = [name for name, found in errors.items() if found["LSFW"] == min(found.values())]
    return (
        f"smallest objective errors, {' / '.join(METHODS)}: {'; '.join(texts)}; "
        f"LSFW has the smallest on {len(first)} of {len(errors)} sets"
    )


def settings(values: dict[str, Any], size: str, smoothing: float) -> str:
    rest = [values[cell_name(name, REFERENCE, smoothing)]["last_gap"] for name in sets(size)]
    return (
        f"weighted Usunier loss with weights max(0, 6 - j)/15, lam = 1/n, smoothing {smoothing:g}, "
        f"unit rows, from A = 0, {MAX_ITER[size]} iterations; P(w*) by `{REFERENCE}` with a "
        f"certified gap of at most {max(rest):.1e}; seed 0. {shown_data(size)}"
    )


def shown_data(size: str) -> str:
    if size == "quick":
        return "A few digits in place of the paper's sets."
    return f"{LACKING} In their place synthetic rows with more features than samples. {DERIVED}"


SCRIPTS = {
    "figure1": Script(
        "T20 Figure 1: objective error and gap against iterations, without the Moreau envelope.",
        SECONDS,
        partial(cells, smoothings=(0.0,)),
        partial(
            plot,
            title="T20 Figure 1: convergence without the Moreau envelope",
            smoothing=0.0,
            agreement=agreement_without_envelope,
        ),
    ),
    "figure2": Script(
        "T20 Figure 2: objective error and gap against iterations, with the Moreau envelope.",
        SECONDS,
        partial(cells, smoothings=(ENVELOPE, 0.0)),
        partial(
            plot,
            title=f"T20 Figure 2: convergence with the envelope, smoothing {ENVELOPE}",
            smoothing=ENVELOPE,
            agreement=agreement_with_envelope,
        ),
    ),
}
