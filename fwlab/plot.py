"""Figures of traces: the certified gap against seconds and against iterations, both logarithmic.

Needs matplotlib. Figures are made without pyplot, so no window opens and nothing global changes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fwlab._files import write_atomically
from fwlab._text import describe_problem
from fwlab._validation import Floats
from fwlab.result import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fwlab.experiments import Comparison

# colour, marker, line: fixed, so that a method looks the same in every figure, and apart in grey
STYLES = {
    "fw": ("#4d4d4d", "^", "--"),
    "fw-open-loop": ("#999999", "v", ":"),
    "afw": ("#009e73", "D", "--"),
    "pfw": ("#cc79a7", "P", "--"),
    "bafw": ("#117733", "d", "-."),
    "bpfw": ("#aa4499", "X", "-."),
    "bcfw": ("#0072b2", "s", "-"),
    "bcafw": ("#56b4e9", "<", "-"),
    "bcpfw": ("#332288", ">", "-"),
    "ascent": ("#d55e00", "o", "-"),
    "subgradient": ("#e69f00", "*", ":"),
    "sdca-lapin": ("#882255", "h", "-."),
    "sdca-chu-newton": ("#44aa99", "p", "-."),
    "sdca-chu-fixing": ("#999933", "H", "-."),
    "newton": ("#661100", "8", "--"),
    "auto": ("#000000", "x", "-"),
    "alternate": ("#6699cc", "1", "-."),
    "direct": ("#888888", "2", "-."),
}
OTHER = ("#000000", "+", "-")

MARKERS_A_LINE = 8
MOST_LEGEND_COLUMNS = 6
GAP = "certified gap (primal \N{MINUS SIGN} dual)"
SECONDS = "seconds (one thread, judging excluded)"
ITERATIONS = "iterations (each sees all n rows at least once)"
LINES = "Bold: smallest gap so far. Faint: gap at every checkpoint, from iteration 1 on."
AT_THE_FLOOR = "Hollow triangles: a gap below the rounding error of the objectives."
NOTHING = "no finished run to draw"


def plot_trace(trace: Trace, ax: Any = None) -> Any:
    """Draw the gap of one run against seconds on `ax`, new axes if None; returns the axes."""
    from matplotlib.figure import Figure

    if ax is None:
        ax = Figure(figsize=(6.0, 4.0), layout="constrained").add_subplot()
    log_axes(ax, SECONDS)
    ax.set_ylabel(GAP)
    _draw(ax, trace, trace.seconds, OTHER)
    return ax


def comparison_figure(comparison: Comparison) -> Figure:
    """Two panels a problem: gap against seconds and against iterations; one legend below."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    names = list(comparison.problems)
    figure = Figure(figsize=(11.0, 4.3 * len(names) + 0.9), layout="constrained")
    at_floor = False
    for name, part in zip(names, figure.subfigures(len(names), squeeze=False)[:, 0], strict=True):
        at_floor |= _draw_problem(part, comparison, name)
    drawn = [m for m in comparison.methods if any(key[1] == m for key in comparison.results)]
    handles = [Line2D([], [], **line_style(STYLES.get(m, OTHER)), label=m) for m in drawn]
    figure.legend(
        handles=handles,
        title=f"{LINES} {AT_THE_FLOOR}" if at_floor else LINES,
        title_fontsize="small",
        loc="outside lower center",
        ncols=max(1, min(len(drawn), MOST_LEGEND_COLUMNS)),
        frameon=False,
    )
    return figure


def save_figure(figure: Figure, path: Path) -> tuple[Path, Path]:
    """Write path.png and path.pdf, whatever of the two `path` ends in; returns both paths."""
    from matplotlib import rc_context

    stem = path.with_suffix("") if path.suffix.lower() in (".png", ".pdf") else path
    png, pdf = (stem.with_name(stem.name + ending) for ending in (".png", ".pdf"))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once for both files
    write_atomically(png, lambda file: figure.savefig(file, format="png", dpi=200))
    # no date: the same comparison gives the same bytes; 42: text in the PDF stays text
    with rc_context({"pdf.fonttype": 42}):
        write_atomically(
            pdf, lambda file: figure.savefig(file, format="pdf", metadata={"CreationDate": None})
        )
    return png, pdf


def _draw_problem(figure: Any, comparison: Comparison, name: str) -> bool:
    """Title and two panels of one problem; whether some gap was drawn at the floor."""
    figure.suptitle(describe_problem(name, comparison.problems[name]))
    by_seconds, by_iterations = figure.subplots(1, 2, sharey=True)
    log_axes(by_seconds, SECONDS)
    log_axes(by_iterations, ITERATIONS)
    by_seconds.set_ylabel(GAP)
    at_floor = False
    for method in comparison.methods:
        result = comparison.results.get((name, method))
        if result is not None:
            style = STYLES.get(method, OTHER)
            at_floor |= _draw(by_seconds, result.trace, result.trace.seconds, style)
            _draw(by_iterations, result.trace, result.trace.iteration, style)
    for ax in (by_seconds, by_iterations):
        _finish(ax, comparison)
    return at_floor


def log_axes(ax: Any, xlabel: str) -> None:
    """Both axes logarithmic, with a grid behind the data."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel(xlabel)
    ax.grid(True, color="#e6e6e6", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def _finish(ax: Any, comparison: Comparison) -> None:
    """Ticks and a line at tol below the data, or a sentence where there are none."""
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
    """Widen the x axis until two powers of ten label it; labels between them would collide."""
    from matplotlib.ticker import NullFormatter

    ax.xaxis.set_minor_formatter(NullFormatter())
    low, high = np.log10(ax.get_xlim())
    if np.floor(high) - np.ceil(low) < 1:
        ax.set_xlim(10.0 ** np.floor(low), 10.0 ** np.ceil(high))


def _draw(ax: Any, trace: Trace, x: Any, style: tuple[str, str, str]) -> bool:
    """One run from iteration 1 on; whether some of its gaps lie at the floor.

    A gap that rounding makes zero or negative, or that is below one unit of rounding of the
    objectives, is drawn at that unit.
    """
    drawn = (trace.iteration > 0) & (x > 0)
    x, gap = x[drawn], trace.gap[drawn]
    objective = np.maximum(np.abs(trace.primal), np.abs(trace.dual))[drawn]
    floor = np.maximum(np.finfo(float).eps * objective, np.finfo(float).tiny)
    at_floor = gap <= floor
    gap = np.maximum(gap, floor)
    color = style[0]
    ax.plot(x, gap, color=color, linewidth=0.7, alpha=0.35)
    ax.plot(x, np.minimum.accumulate(gap), **line_style(style), markevery=marked(x))
    if at_floor.any():
        hollow = {"markerfacecolor": "white", "markersize": 6, "linestyle": "none"}
        ax.plot(x[at_floor], floor[at_floor], "v", color=color, **hollow)
    return bool(at_floor.any())


def line_style(style: tuple[str, str, str]) -> dict[str, Any]:
    """Keyword arguments of matplotlib's `plot` for a (colour, marker, line) of STYLES."""
    color, marker, line = style
    return {
        "color": color,
        "marker": marker,
        "linestyle": line,
        "linewidth": 1.6,
        "markersize": 6,
        "markeredgecolor": "white",
        "markeredgewidth": 0.5,
    }


def marked(x: Floats) -> list[int]:
    """Indices of markers, evenly spread along a logarithmic axis, the last point among them."""
    if len(x) == 0:
        return []
    places = np.geomspace(x[0], x[-1], MARKERS_A_LINE)
    return sorted({*np.searchsorted(x, places).clip(max=len(x) - 1).tolist(), len(x) - 1})
