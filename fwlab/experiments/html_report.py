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
from fwlab.experiments.figure import ComparedRuns
from fwlab.files import why_no_file
from fwlab.plot import GAP, SECONDS, styles
from fwlab.provenance import provenance
from fwlab.text import describe_problem, html_table

if TYPE_CHECKING:
    from fwlab.result import Result

# points of a curve; more cannot be told apart
MOST_POINTS = 400
ITERATIONS = "iteration"
NAMED_DASHES = {"-": "solid", "--": "dash", "-.": "dashdot", ":": "dot"}
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star")
HOVER = (
    "<b>%{fullData.name}</b><br>gap %{y:.3e}<br>iteration %{customdata[0]}"
    "<br>%{customdata[1]:.4f} s<extra></extra>"
)
INTRODUCTION = """<p>Each curve is a certified duality gap: primal minus dual, recomputed from the
dual variables. Click a method in the legend to hide it, double-click to show it alone. The table
below the figures has the last value of each curve.</p>"""
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>fwlab: comparison</title>
<link rel="icon" href="data:,">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: auto; padding: 1rem;
  color: #1d1d1f; background: #fff; }}
h1, h2 {{ line-height: 1.25; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; margin: 1rem 0; font-size: .9rem; }}
caption {{ text-align: left; font-weight: 600; }}
td, th {{ text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #d5d8de; }}
</style></head>
<body><main><h1>Comparison</h1>
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
    parts = [INTRODUCTION]
    for place, name in enumerate(comparison.problems):
        title = escape(describe_problem(name, comparison.problems[name]))
        parts += [f"<h2>{title}</h2>", figure_html(comparison, name, first=place == 0)]
    tables = [
        html_table("Runs", *runs),
        html_table("Settings", (), pairs(asdict(comparison.settings))),
        html_table("Environment", (), pairs(provenance())),
    ]
    parts += [f'<div class="wide">{table}</div>' for table in tables]
    return PAGE.format(body="\n".join(parts))


def pairs(values: dict[str, Any]) -> list[list[str]]:
    """Return a row for each name: the name in words and the value as text."""
    return [[name.replace("_", " "), str(value)] for name, value in values.items()]


def figure_html(comparison: ComparedRuns, name: str, first: bool) -> str:
    """Return the figure of one problem; plotly's script comes with the first one on a page."""
    results = {
        method: result
        for method in comparison.methods
        if (result := comparison.results.get((name, method))) is not None
    }
    if not results:
        return "<p>No run of this problem finished.</p>"
    figure = figure_of(results, comparison.methods)
    return str(
        figure.to_html(
            full_html=False,
            include_plotlyjs=first,
            config={"displaylogo": False, "responsive": True},
        )
    )


def figure_of(results: dict[str, Result], methods: Sequence[str]) -> Any:
    """Return a plotly figure of the gaps, with buttons for both axes."""
    plotly = require_plotly()
    looks = plotly_styles(methods)
    curves = {method: curve(result) for method, result in results.items()}
    figure = plotly.Figure(
        [
            plotly.Scatter(
                x=points[:, 1],
                y=points[:, 2],
                customdata=points[:, :2],
                name=method,
                mode="lines+markers",
                hovertemplate=HOVER,
                **looks[method],
            )
            for method, points in curves.items()
        ]
    )
    figure.update_layout(
        template="simple_white",
        height=600,
        margin={"l": 70, "r": 20, "t": 130, "b": 60},
        xaxis={"title": SECONDS, "type": "log", "showgrid": True},
        yaxis={"title": GAP, "type": "log", "showgrid": True, "exponentformat": "power"},
        legend={"orientation": "h", "y": -0.22},
        updatemenus=menus(list(curves.values())),
    )
    return figure


def curve(result: Result) -> Floats:
    """Return iteration, seconds and gap of the positive gaps from iteration 1 on, thinned."""
    trace = result.trace
    points = np.column_stack([trace.iteration, trace.seconds, trace.gap]).astype(float)
    points = points[(points[:, 0] > 0) & (points[:, 2] > 0)]
    if len(points) <= MOST_POINTS:
        return points
    kept = np.geomspace(1, len(points), MOST_POINTS).round().astype(int) - 1
    thinned: Floats = points[np.unique(kept)]
    return thinned


def plotly_styles(methods: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the colour, the dashes and the symbol of each method for plotly."""
    return {
        method: {
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


def menus(curves: Sequence[Floats]) -> list[dict[str, Any]]:
    """Return three rows of buttons: what x is, and whether each axis is logarithmic."""
    by_seconds = {"x": [points[:, 1] for points in curves]}
    by_iterations = {"x": [points[:, 0] for points in curves]}
    choices: list[list[tuple[str, str, list[Any]]]] = [
        [
            ("seconds", "update", [by_seconds, {"xaxis.title.text": SECONDS}]),
            ("iterations", "update", [by_iterations, {"xaxis.title.text": ITERATIONS}]),
        ],
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
            "showactive": True,
            "buttons": [{"label": n, "method": m, "args": a} for n, m, a in buttons],
        }
        for y, buttons in zip((1.36, 1.24, 1.12), choices, strict=True)
    ]
