"""Draw the figure of a comparison: certified gaps against seconds and against iterations.

Needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fwlab.experiments.runs import Key, Settings
from fwlab.plot import GAP, SECONDS, draw_gaps, line_style, log_axes, styles
from fwlab.problem import Problem
from fwlab.result import Result
from fwlab.text import describe_problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOST_LEGEND_COLUMNS = 6
ITERATIONS = "iterations (each sees all n rows at least once)"
LINES = "Bold: smallest gap so far. Faint: gap at every checkpoint, from iteration 1 on."
AT_THE_FLOOR = "Hollow triangles: a gap below the rounding error of the objectives."
NOTHING = "no finished run to draw"


class ComparedRuns(Protocol):
    """Problems, methods and results of a comparison, as its pictures take them."""

    @property
    def problems(self) -> Mapping[str, Problem]: ...
    @property
    def methods(self) -> Sequence[str]: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def results(self) -> Mapping[Key, Result]: ...


def comparison_figure(comparison: ComparedRuns) -> Figure:
    """Draw two panels per problem, gap against seconds and against iterations, and one legend."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    names = list(comparison.problems)
    figure = Figure(figsize=(11.0, 4.3 * len(names) + 0.9), layout="constrained")
    at_floor = False
    for name, part in zip(names, figure.subfigures(len(names), squeeze=False)[:, 0], strict=True):
        at_floor |= _draw_problem(part, comparison, name)
    drawn = [m for m in comparison.methods if any(key[1] == m for key in comparison.results)]
    style = styles(comparison.methods)
    handles = [Line2D([], [], **line_style(style[m]), label=m) for m in drawn]
    figure.legend(
        handles=handles,
        title=f"{LINES} {AT_THE_FLOOR}" if at_floor else LINES,
        title_fontsize="small",
        loc="outside lower center",
        ncols=max(1, min(len(drawn), MOST_LEGEND_COLUMNS)),
        frameon=False,
    )
    return figure


def _draw_problem(figure: Any, comparison: ComparedRuns, name: str) -> bool:
    """Draw the two panels of one problem, and return whether some gap lies at the floor."""
    title = describe_problem(name, comparison.problems[name])
    figure.suptitle("\n".join([title, *_machines(comparison, name)]))
    by_seconds, by_iterations = figure.subplots(1, 2, sharey=True)
    log_axes(by_seconds, SECONDS)
    log_axes(by_iterations, ITERATIONS)
    by_seconds.set_ylabel(GAP)
    at_floor = False
    style = styles(comparison.methods)
    for method in comparison.methods:
        result = comparison.results.get((name, method))
        if result is not None:
            gaps = result.trace.gaps
            at_floor |= draw_gaps(by_seconds, gaps, gaps.seconds, style[method])
            draw_gaps(by_iterations, gaps, gaps.iteration, style[method])
    for ax in (by_seconds, by_iterations):
        _finish(ax, comparison)
    return at_floor


def _machines(comparison: ComparedRuns, name: str) -> list[str]:
    """Return a line per machine with its methods if seconds of several machines are drawn."""
    made: dict[str, list[str]] = {}
    for (problem, method), result in comparison.results.items():
        machine = result.made_by.get("processor", "an unknown machine")
        made.setdefault(machine, []).extend([method] if problem == name else [])
    if len(made) < 2:
        return []
    return [f"seconds of {', '.join(methods)}: {m}" for m, methods in made.items() if methods]


def _finish(ax: Any, comparison: ComparedRuns) -> None:
    """Add ticks and a line at tol, behind the data, or a sentence if there are no data."""
    tol, relative = comparison.settings.tol, comparison.settings.relative
    if not any(len(line.get_xdata()) for line in ax.lines):
        ax.text(0.5, 0.5, NOTHING, transform=ax.transAxes, ha="center")
        return
    _show_two_decades(ax)
    if tol > 0 and not relative:
        ax.axhline(tol, color="#888888", linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
        ax.annotate(
            f"tol = {tol:g}",
            (0.0, tol),
            xycoords=("axes fraction", "data"),
            xytext=(4, 3),
            textcoords="offset points",
            fontsize="small",
            color="#666666",
        )


def _show_two_decades(ax: Any) -> None:
    """Widen the x axis until two powers of ten label it. Labels between them would overlap."""
    from matplotlib.ticker import NullFormatter

    ax.xaxis.set_minor_formatter(NullFormatter())
    low, high = np.log10(ax.get_xlim())
    if np.floor(high) - np.ceil(low) < 1:
        ax.set_xlim(10.0 ** np.floor(low), 10.0 ** np.ceil(high))
