"""Draw a comparison: a row of panels for each problem, one panel for each kind of x.

More than MOST_CURVES methods have several rows. Each row shows its part of the methods in colour,
with a legend of its own, and all others in grey.

Needs matplotlib. Each style value that the user has not changed in matplotlib's rcParams gets the
one in LOOK; a panel that is drawn for the user belongs to a figure of pyplot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fwlab.checks.arguments import as_positive_reals
from fwlab.experiments.curves import X_LABELS, Y_LABELS, Band, Curve, band, curves_of
from fwlab.experiments.engine import Failure
from fwlab.experiments.load import Load
from fwlab.experiments.runs import RunKey, Settings
from fwlab.plot import Style, draw_run, line_style, marked, styles
from fwlab.problem import Problem
from fwlab.result import Result
from fwlab.text import describe_problem, listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOST_CURVES, MOST_LEGEND_COLUMNS = 8, 6
LOOK: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.title_fontsize": "small",
    "lines.linewidth": 1.6,
}
# inches of a panel, and of the legend below all panels
PANEL, LEGEND = (5.5, 4.3), 0.9
BEHIND: dict[str, Any] = {"color": "#cccccc", "linewidth": 0.8, "zorder": 1}
# a line as wide as a panel
LETTERS_OF_A_TITLE = 60
UNBROKEN_EQUALS = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
LINES = "Bold: smallest value so far. Faint: value at every checkpoint, from iteration 1 on."
BANDS = "Bold: median of the smallest values so far of all runs. Shaded: their range."
AT_THE_FLOOR = "Hollow triangles: a value below the rounding error of the objectives."
NOTHING = "no finished run to draw"
ROUNDING = 1e-9
LOGARITHMIC = {"xscale": "log", "yscale": "log"}
Runs = dict[str, list[Result]]


class ComparedRuns(Protocol):
    """Problems, methods and results of a comparison, as its pictures take them."""

    @property
    def problems(self) -> Mapping[str, Problem]: ...
    @property
    def methods(self) -> Sequence[str]: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def runs(self) -> Mapping[RunKey, Result | Failure]: ...
    @property
    def clock(self) -> str: ...
    def finished(self, problem: str) -> Runs:
        """Return the results of the finished runs of a problem, by method."""


@dataclass(frozen=True)
class Drawing:
    """Describe a figure: the x of each panel, y, the size in inches, and other names of methods."""

    x: tuple[str, ...]
    y: str = "gap"
    figsize: tuple[float, float] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def checked(
        cls, comparison: ComparedRuns, x: Any, y: Any, figsize: Any, labels: Any, on_axes: bool
    ) -> Drawing:
        """Return the drawing that a user asks for. Raises ValueError or TypeError."""
        chosen = x if isinstance(x, list | tuple) else [x]
        if x is None:
            chosen = [comparison.clock] if on_axes else [comparison.clock, "iteration"]
        if not chosen or any(name not in list(X_LABELS) for name in chosen):
            raise ValueError(f"x must be one of {', '.join(X_LABELS)}, or a list; got {x!r}.")
        if y not in list(Y_LABELS):
            raise ValueError(f"y must be one of {', '.join(Y_LABELS)}; got {y!r}.")
        if on_axes and (len(chosen), len(comparison.problems)) != (1, 1):
            raise ValueError(
                f"ax takes one problem and one x; got {len(comparison.problems)} problems and "
                f"{len(chosen)} x."
            )
        if figsize is not None and len(as_positive_reals("figsize", figsize)) != 2:
            raise ValueError(f"figsize must be two numbers, width and height; got {figsize!r}.")
        if not isinstance(labels or {}, Mapping):
            raise TypeError(f"labels must be a dict {{method: text}}; got {labels!r}.")
        unknown = [name for name in labels or {} if name not in comparison.methods]
        if unknown:
            names = ", ".join(comparison.methods)
            raise ValueError(f"labels must name methods of {names}; got {unknown[0]!r}.")
        return cls(tuple(chosen), y, figsize, dict(labels or {}))


def comparison_figure(
    comparison: ComparedRuns, drawing: Drawing | None = None, by_pyplot: bool = False
) -> Figure:
    """Draw the panels of all problems and one legend on a new figure, by default off the screen."""
    from matplotlib import pyplot, rc_context
    from matplotlib.figure import Figure

    drawing = drawing or Drawing((comparison.clock, "iteration"))
    groups = _groups(comparison.methods)
    names = list(comparison.problems)
    with rc_context(_look()):
        size = drawing.figsize or _size(len(drawing.x), len(names) * len(groups))
        make: Any = pyplot.figure if by_pyplot else Figure
        figure: Figure = make(figsize=size, layout="constrained")
        shape: Any = {"sharey": "row", "squeeze": False, "subplot_kw": LOGARITHMIC}
        rows: Any = figure.subplots(len(names) * len(groups), len(drawing.x), **shape)
        notes: set[str] = set()
        for (name, group), panels in zip(product(names, groups), rows, strict=True):
            if group is groups[0]:
                _set_title(panels[0], comparison, name)
            notes |= _draw_row(panels, comparison, name, drawing, group)
            if len(groups) > 1:
                _add_legend(panels[-1], _handles(comparison, drawing, group))
        figure.legend(
            handles=(handles := _handles(comparison, drawing) if len(groups) == 1 else _others()),
            title=_title_of_legend(notes),
            loc="outside lower center",
            ncols=max(1, min(len(handles), MOST_LEGEND_COLUMNS)),
        )
    return figure


def _groups(methods: Sequence[str]) -> list[Sequence[str]]:
    """Return the methods of each row of panels: at most MOST_CURVES, and about equal numbers."""
    number = -(-len(methods) // MOST_CURVES)
    ends = [len(methods) * part // number for part in range(number + 1)]
    return [methods[first:last] for first, last in pairwise(ends)]


def draw_on_axes(ax: Any, comparison: ComparedRuns, drawing: Drawing) -> None:
    """Draw the one panel of a comparison of one problem on given axes, with a legend in it."""
    (name,) = comparison.problems
    ax.set(**LOGARITHMIC)
    _draw_panel(ax, comparison, name, drawing.x[0], drawing, comparison.methods)
    ax.set_ylabel(Y_LABELS[drawing.y])
    if handles := _handles(comparison, drawing):
        ax.legend(handles=handles)


def _look() -> Any:
    """Return the values of LOOK that the user's rcParams leave to us."""
    import matplotlib

    now: Any = matplotlib.rcParams
    default: Any = matplotlib.rcParamsDefault
    return {name: value for name, value in LOOK.items() if now[name] == default[name]}


def _size(columns: int, rows: int) -> tuple[float, float]:
    """Return the inches of a figure: PANEL for each panel, or the user's figure.figsize."""
    from matplotlib import rcParams, rcParamsDefault

    own = rcParams["figure.figsize"] != rcParamsDefault["figure.figsize"]
    width, height = rcParams["figure.figsize"] if own else PANEL
    return width * columns, height * rows + LEGEND


def _set_title(ax: Any, comparison: ComparedRuns, name: str) -> None:
    """Write the problem above its first panel, with its machines if there are several."""
    runs = comparison.finished(name)
    title = describe_problem(name, comparison.problems[name]).replace(" = ", UNBROKEN_EQUALS)
    lines = [*wrap(title, LETTERS_OF_A_TITLE), *_machines(comparison, runs), *_loaded(runs)]
    ax.set_title("\n".join(lines), loc="left", fontsize="medium")


def _draw_row(
    panels: Any, comparison: ComparedRuns, name: str, drawing: Drawing, methods: Sequence[str]
) -> set[str]:
    """Draw the panels of a problem and some methods; return the sentences that explain them."""
    panels[0].set_ylabel(Y_LABELS[drawing.y])
    notes: set[str] = set()
    for ax, x in zip(panels, drawing.x, strict=True):
        notes |= _draw_panel(ax, comparison, name, x, drawing, methods)
    return notes


def _draw_panel(
    ax: Any,
    comparison: ComparedRuns,
    name: str,
    x: str,
    drawing: Drawing,
    methods: Sequence[str],
) -> set[str]:
    """Draw one panel, and return the sentences that explain it."""
    ax.set_xlabel(X_LABELS[x])
    runs, n = comparison.finished(name), comparison.problems[name].n_samples
    curves = curves_of(runs, x, drawing.y, n)
    style, notes = styles(comparison.methods), set[str]()
    for method, several in curves.items():
        if method not in methods:
            _draw_behind(ax, several)
        elif len(several) > 1:
            _draw_band(ax, band(several), _line(style[method]))
            notes.add(BANDS)
        elif several:
            at_floor = _draw_one(ax, several[0], style[method])
            notes |= {LINES, AT_THE_FLOOR} if at_floor else {LINES}
    if x != "iteration" and (missing := [m for m, several in curves.items() if not several]):
        named = listed([drawing.labels.get(method, method) for method in missing])
        notes.add(f"Not drawn over {x}: {named}, which recorded none.")
    _finish(ax, comparison, drawing)
    return notes


def _draw_behind(ax: Any, several: Sequence[Curve]) -> None:
    """Draw the median of a method that another row shows."""
    if several:
        median = band(several)
        ax.plot(median.x, median.median, **BEHIND)


def _draw_one(ax: Any, run: Curve, style: Style) -> bool:
    return draw_run(ax, run.x, run.y, run.floor, _line(style))


def _draw_band(ax: Any, several: Band, line: dict[str, Any]) -> None:
    ax.fill_between(several.x, several.low, several.high, color=line["color"], alpha=0.15, lw=0)
    ax.plot(several.x, several.median, **line, markevery=marked(several.x))


def _line(style: Style) -> dict[str, Any]:
    """Return a method's line; the rcParams give its width and the size of its markers."""
    line = line_style(style)
    del line["linewidth"], line["markersize"]
    if line["marker"] == "+":  # it is all edge
        line |= {"markeredgecolor": line["color"], "markeredgewidth": 1.2}
    return line


def _handles(
    comparison: ComparedRuns, drawing: Drawing, methods: Sequence[str] | None = None
) -> list[Any]:
    """Return the entries of the legend: the methods of which a run finished."""
    from matplotlib.lines import Line2D

    finished = {method for name in comparison.problems for method in comparison.finished(name)}
    style = styles(comparison.methods)
    return [
        Line2D([], [], **_line(style[method]), label=drawing.labels.get(method, method))
        for method in (comparison.methods if methods is None else methods)
        if method in finished
    ]


def _others() -> list[Any]:
    from matplotlib.lines import Line2D

    return [Line2D([], [], **BEHIND, label="the methods of the other rows")]


def _add_legend(ax: Any, handles: list[Any]) -> None:
    """Add the legend of a row of panels, to the right of its last one."""
    if handles:
        ax.legend(handles=handles, loc="center left", bbox_to_anchor=(1.01, 0.5))


def _title_of_legend(notes: set[str]) -> str:
    known = [note for note in (LINES, BANDS, AT_THE_FLOOR) if note in notes]
    return "\n".join([" ".join(known), *sorted(notes - set(known))])


def _machines(comparison: ComparedRuns, runs: Runs) -> list[str]:
    """Return a line per machine with its methods if seconds of several machines are drawn."""
    everywhere = {
        _machine(result)
        for name in comparison.problems
        for results in comparison.finished(name).values()
        for result in results
    }
    if len(everywhere) < 2:
        return []
    made: dict[str, dict[str, None]] = {}
    for method, results in runs.items():
        for result in results:
            made.setdefault(_machine(result), {})[method] = None
    return [f"seconds of {', '.join(methods)}: {machine}" for machine, methods in made.items()]


def _machine(result: Result) -> str:
    return result.made_by.get("processor", "an unknown machine")


def _loaded(runs: Runs) -> list[str]:
    """Return a line if some runs were made on a loaded machine."""
    results = [result for several in runs.values() for result in several]
    loaded = sum(Load.of(result).is_high for result in results)
    return [f"{loaded} of {len(results)} runs on a loaded machine"] if loaded else []


def _finish(ax: Any, comparison: ComparedRuns, drawing: Drawing) -> None:
    """Add ticks and a line at tol, behind the data, or a sentence if there are no data."""
    tol, relative = comparison.settings.tol, comparison.settings.relative
    if not any(len(line.get_xdata()) for line in ax.lines):
        ax.text(0.5, 0.5, NOTHING, transform=ax.transAxes, ha="center")
        return
    _show_flat_lines(ax)
    _show_two_decades(ax)
    if tol > 0 and not relative and drawing.y == "gap":
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


def _show_flat_lines(ax: Any) -> None:
    """Set the limits of y if its values differ by rounding only, from which no limits follow."""
    values = np.concatenate([line.get_ydata() for line in ax.lines])
    low, high = values.min(), values.max()
    if high <= low * (1 + ROUNDING):
        ax.autoscale(enable=False, axis="y")
        ax.set_ylim(low / 3, high * 3)


def _show_two_decades(ax: Any) -> None:
    """Widen the x axis until two powers of ten label it. Labels between them would overlap."""
    from matplotlib.ticker import NullFormatter

    ax.xaxis.set_minor_formatter(NullFormatter())
    low, high = np.log10(ax.get_xlim())
    if np.floor(high) - np.ceil(low) < 1:
        ax.set_xlim(10.0 ** np.floor(low), 10.0 ** np.ceil(high))
