"""A comparison as one HTML page with interactive figures, which needs no network.

Needs plotly, whose script the page contains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.experiments.curves import MOST_POINTS, X_LABELS, Band, band, curves_of, x_of
from fwlab.experiments.figure import ComparedRuns, Runs
from fwlab.files import why_no_file
from fwlab.plot import GAP, styles
from fwlab.provenance import provenance
from fwlab.text import describe_problem, html_table

if TYPE_CHECKING:
    from fwlab.result import Result

# what the buttons of x say, the first one pressed
BUTTONS = {
    "cpu": "CPU s",
    "wall": "wall s",
    "iteration": "iterations",
    "calls": "calls",
    "passes": "passes",
}
NAMED_DASHES = {"-": "solid", "--": "dash", "-.": "dashdot", ":": "dot"}
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star")
HOVER = (
    "<b>%{fullData.name}</b><br>gap %{y:.3e}<br>iteration %{customdata[0]}"
    "<br>%{customdata[1]:.4f} s<extra></extra>"
)
OF_SEVERAL = "<b>%{fullData.name}</b><br>median gap %{y:.3e}<extra></extra>"
INTRODUCTION = """<p>Each curve is a certified duality gap: primal minus dual, recomputed from the
dual variables. Click a method in the legend to hide it, double-click to show it alone. The table
below the figures has the last value of each curve.{bands}</p>"""
BANDS = """ Of several runs of a method, the curve is the median of the smallest gaps so far, and
the band goes from the least to the largest of them."""
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>
<link rel="icon" href="data:,">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: auto; padding: 1rem;
  color: #1d1d1f; background: #fff; }}
h1, h2 {{ line-height: 1.25; }}
.wide, pre {{ overflow-x: auto; }}
table {{ border-collapse: collapse; margin: 1rem 0; font-size: .9rem; }}
caption {{ text-align: left; font-weight: 600; }}
td, th {{ text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #d5d8de; }}
</style></head>
<body><main><h1>{heading}</h1>
{body}
</main></body></html>
"""


def check_html_report(path: Path) -> None:
    """Raise ImportError without plotly, and ValueError if `path` cannot be a new file."""
    require_plotly()
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise ValueError(f"html must be a file in a folder that exists; got {str(path)!r}.")
    if reason := why_no_file(path):
        raise ValueError(f"html must be a file to write; got {str(path)!r}: {reason}.")


def require_plotly() -> Any:
    """Return plotly's module of figures. Raises ImportError, with a sentence, without plotly."""
    try:
        from plotly import graph_objects
    except ImportError as error:
        raise ImportError("html needs plotly: pip install 'fwlab[report]'.") from error
    return graph_objects


def html_report(comparison: ComparedRuns, runs: tuple[Sequence[str], list[list[str]]]) -> str:
    """Return the page: a figure per problem, the table, the settings and the environment.

    Raises ImportError without plotly.
    """
    several = len({(key.seed, key.repetition) for key in comparison.runs}) > 1
    parts = [INTRODUCTION.format(bands=BANDS if several else "")]
    for place, name in enumerate(comparison.problems):
        title = escape(describe_problem(name, comparison.problems[name]))
        parts += [f"<h2>{title}</h2>", figure_html(comparison, name, first=place == 0)]
    tables = [
        html_table("Runs", *runs),
        html_table("Settings", (), pairs(_settings(comparison))),
        html_table("Environment", (), pairs(provenance())),
    ]
    parts += [f'<div class="wide">{table}</div>' for table in tables]
    return PAGE.format(title="fwlab: comparison", heading="Comparison", body="\n".join(parts))


def pairs(values: dict[str, Any]) -> list[list[str]]:
    """Return a row for each name: the name in words and the value as text."""
    return [[name.replace("_", " "), str(value)] for name, value in values.items()]


def _settings(comparison: ComparedRuns) -> dict[str, Any]:
    """Return the settings of the runs, with all seeds in the place of the first one."""
    seeds = dict.fromkeys(key.seed for key in comparison.runs)
    settings = asdict(comparison.settings) | {"rng": ", ".join(map(str, seeds))}
    repeat = max((key.repetition + 1 for key in comparison.runs), default=1)
    return settings | ({"repetitions": repeat} if repeat > 1 else {})


def figure_html(comparison: ComparedRuns, name: str, first: bool) -> str:
    """Return the figure of one problem; plotly's script comes with the first one on a page."""
    runs = comparison.finished(name)
    if not runs:
        return "<p>No run of this problem finished.</p>"
    n, clock = comparison.problems[name].n_samples, comparison.clock
    figure = figure_of(runs, comparison.methods, n, clock)
    return str(
        figure.to_html(
            full_html=False,
            include_plotlyjs=first,
            config={"displaylogo": False, "responsive": True},
        )
    )


def figure_of(runs: Runs, methods: Sequence[str], n: int, clock: str) -> Any:
    """Return a plotly figure of the gaps, with buttons for both axes.

    n is the number of samples, and clock the x that is shown first.
    """
    plotly = require_plotly()
    looks = plotly_styles(methods)
    shapes = {x: traces(runs, looks, x, n) for x in BUTTONS}
    figure = plotly.Figure([plotly.Scatter(**trace) for trace in shapes[clock]])
    figure.update_layout(
        template="simple_white",
        height=600,
        margin={"l": 70, "r": 20, "t": 130, "b": 60},
        xaxis={"title": X_LABELS[clock], "type": "log", "showgrid": True},
        yaxis={"title": GAP, "type": "log", "showgrid": True, "exponentformat": "power"},
        legend={"orientation": "h", "y": -0.22},
        updatemenus=menus(shapes, clock),
    )
    return figure


def traces(runs: Runs, looks: dict[str, Any], x: str, n: int) -> list[dict[str, Any]]:
    """Return plotly's curves of the runs over one kind of x; before a median comes its band."""
    found: list[dict[str, Any]] = []
    curves = curves_of(runs, x, "gap", n)
    for method, results in runs.items():
        look = {"name": method, "legendgroup": method, **looks[method]}
        if len(results) == 1:
            points = curve(results[0], n)
            seen = {"x": points[:, list(X_LABELS).index(x)], "y": points[:, -1]}
            times = points[:, [0, list(X_LABELS).index("wall")]]
            found.append({**look, **seen, "customdata": times, "hovertemplate": HOVER})
            continue
        median = band(curves[method]) if curves[method] else Band(*np.empty((4, 0)))
        found.append(
            {
                "x": np.concatenate([median.x, median.x[::-1]]),
                "y": np.concatenate([median.high, median.low[::-1]]),
                "fill": "toself",
                "fillcolor": looks[method]["line"]["color"],
                "opacity": 0.2,
                "mode": "none",
                "hoverinfo": "skip",
                "showlegend": False,
                "legendgroup": method,
            }
        )
        seen = {"x": median.x, "y": median.median}
        found.append({**look, **seen, "hovertemplate": OF_SEVERAL})
    return found


def curve(result: Result, n: int) -> Floats:
    """Return a row for each positive gap from iteration 1 on, thinned: all x, and the gap."""
    columns = [x_of(result, x, n) for x in X_LABELS]
    points = np.column_stack([*columns, result.trace.gap])
    points = points[(points[:, 0] > 0) & (points[:, -1] > 0)]
    if len(points) <= MOST_POINTS:
        return points
    kept = np.geomspace(1, len(points), MOST_POINTS).round().astype(int) - 1
    thinned: Floats = points[np.unique(kept)]
    return thinned


def plotly_styles(methods: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the colour, the dashes and the symbol of each method for plotly."""
    return {
        method: {
            "mode": "lines+markers",
            "line": {"color": colour, "dash": dash_of(dashes), "width": 2},
            "marker": {"symbol": SYMBOLS[place % len(SYMBOLS)], "size": 6, "maxdisplayed": 12},
        }
        for place, (method, (colour, _, dashes)) in enumerate(styles(methods).items())
    }


def dash_of(dashes: Any) -> str:
    """Return matplotlib's dashes as plotly writes them."""
    if isinstance(dashes, str):
        return NAMED_DASHES[dashes]
    return ",".join(f"{2 * length:g}px" for length in dashes[1])


def menus(shapes: dict[str, list[dict[str, Any]]], clock: str) -> list[dict[str, Any]]:
    """Return three rows of buttons: what x is, and whether each axis is logarithmic."""
    xs = [
        (
            BUTTONS[x],
            "update",
            [
                {axis: [trace[axis] for trace in found] for axis in ("x", "y")},
                {"xaxis.title.text": X_LABELS[x]},
            ],
        )
        for x, found in shapes.items()
    ]
    choices: list[list[tuple[str, str, list[Any]]]] = [
        xs,
        [(f"x {kind}", "relayout", [{"xaxis.type": kind}]) for kind in ("log", "linear")],
        [(f"gap {kind}", "relayout", [{"yaxis.type": kind}]) for kind in ("log", "linear")],
    ]
    return [
        {
            "type": "buttons",
            "direction": "right",
            "x": 0.0,
            "xanchor": "left",
            "y": y,
            "active": active,
            "font": {"size": 11},
            "showactive": True,
            "buttons": [{"label": n, "method": m, "args": a} for n, m, a in buttons],
        }
        for y, active, buttons in zip(
            (1.36, 1.24, 1.12), (list(shapes).index(clock), 0, 0), choices, strict=True
        )
    ]
