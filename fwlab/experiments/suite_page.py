"""The page of a suite: profiles, tables and the worst problem, in one file without a network.

Needs plotly, whose script the page contains.
"""

from html import escape
from typing import Any

import numpy as np

from fwlab.experiments.html_report import PAGE, pairs, plotly_styles, require_plotly
from fwlab.experiments.profiles import COSTS, GAPS, LARGEST_RATIO, Profiles
from fwlab.experiments.suite_report import SuiteReport
from fwlab.experiments.suite_tables import (
    duel_table,
    gap_name,
    method_table,
    problem_table,
    share_lines,
    wins,
)
from fwlab.provenance import provenance
from fwlab.text import describe_problem, html_table

PROFILES = """<p>A profile (Dolan and Mor\N{LATIN SMALL LETTER E WITH ACUTE} 2002) is the share of
the problems that a method brings to a certified relative gap within &tau; times the cost of the
best method. The gap is primal minus dual over the larger of both. The buttons choose it.</p>"""
SCORES = """<p>The score is the area under the profile over log &tau;, from 1 to 100, the mean over
the three gaps: 1 for a method that is the best on every problem. The methods are ordered by their
score in oracle calls, which are answers of an LMO and projections of one sample each.</p>"""
DUELS = """<p>On how many problems {method} spent less than another method to reach a gap; in
brackets the cost of the other one over that of {method}, the median over the problems that both
solved.</p>"""
PROBLEMS = """<p>The numbers are the least cost of the other methods over that of {method}: above 1
it is ahead. &ldquo;alone&rdquo;: no other method reached the gap in time; &ldquo;not solved&rdquo;:
another one did; &ldquo;-&rdquo;: none did. The gaps are the smallest that were certified.</p>"""
THEORY = """<p>After t &ge; 1 steps the error of the dual is proved to be at most the bound below,
where C is the curvature of the dual on its domain. The table has the largest part of the bound that
the error of each run reaches, and the t where it does, both from above: the error is at most the
best primal value of all methods minus the dual value, and C at most a number that follows from the
lengths of the samples and the weights of the loss. A run that is certainly above its bound would be
a defect of the program or of the proof.</p>"""
HOVER = "<b>%{fullData.name}</b><br>%{y:.0%} within %{x:.3g} times<extra></extra>"


def page_of(report: SuiteReport) -> str:
    """Return the page. Raises ImportError without plotly."""
    profiles, method = report.profiles, escape(report.method)
    n, limit = len(profiles.problems), report.comparison.settings.time_limit
    parts = [
        f"<p><b>{method}</b> and the built-in methods on {n} problems: version {report.version} "
        f"of the suite, size {report.suite.size}, at most {limit:g} s a run, one thread.</p>",
        *(f"<p>{escape(note)}</p>" for note in report.notes),
        "<h2>Performance profiles</h2>",
        PROFILES,
        *profile_figures(profiles, report.method),
        "<h2>Methods</h2>",
        SCORES,
        wide(html_table(f"Methods on {n} problems", *method_table(profiles))),
        f"<h2>Where {method} wins, and where not</h2>",
        *(f"<p>{escape(sentence)}</p>" for sentence in wins(profiles, report.method)),
        DUELS.format(method=method),
        wide(html_table(f"{report.method} against each", *duel_table(profiles, report.method))),
        PROBLEMS.format(method=method),
        wide(html_table("Problems", *problem_table(profiles, report.method))),
        *_theory(report),
        *_worst(report),
        "<h2>A table for a paper</h2>",
        f"<pre>{escape(report.to_latex())}</pre>",
        "<h2>How it was made</h2>",
        wide(html_table("Suite", (), pairs(facts_of(report)))),
        wide(html_table("Environment", (), pairs(provenance()))),
    ]
    title = f"fwlab suite: {report.method}"
    return PAGE.format(title=escape(title), heading=escape(title), body="\n".join(parts))


def facts_of(report: SuiteReport) -> dict[str, Any]:
    """Return what the suite is, how long its runs took, and which machines made them."""
    suite, rows = report.suite, report.comparison.rows()
    seconds = sum(row["wall_seconds"] or 0.0 for row in rows)
    loaded = sum(bool(row["loaded"]) for row in rows)
    machines = dict.fromkeys(str(row["machine"]) for row in rows if row["machine"])
    dates = [str(row["date"]) for row in rows if row["date"]]
    return {
        "version of the suite": report.version,
        "size": suite.size,
        "problems": f"{len(suite.problems)} of {suite.n_listed}",
        "missing sets": ", ".join(suite.missing) or "none",
        "seconds of all runs": f"{seconds:.0f}",
        "runs on a loaded machine": f"{loaded} of {len(rows)}",
        "processor": ", ".join(machines),
        "runs made": f"{min(dates)} to {max(dates)}" if dates else "-",
    }


def profile_figures(profiles: Profiles, method: str) -> list[str]:
    """Return a figure for each kind of cost; plotly's script comes with the first one.

    The line of `method` is thicker than the others.
    """
    found = []
    for place, (kind, name) in enumerate(COSTS.items()):
        figure = profile_figure(profiles, kind, method)
        text = figure.to_html(
            full_html=False,
            include_plotlyjs=place == 0,
            config={"displaylogo": False, "responsive": True},
        )
        found += [f"<h3>By {name}</h3>", str(text)]
    return found


def profile_figure(profiles: Profiles, kind: str, thick: str) -> Any:
    """Return a plotly figure of the profiles, with a button for each gap."""
    plotly = require_plotly()
    looks = plotly_styles(profiles.methods)
    looks[thick]["line"]["width"] = 4
    shapes = {
        gap: [_step(profiles, kind, gap, method, looks[method]) for method in profiles.methods]
        for gap in GAPS
    }
    shown = GAPS[0]
    figure = plotly.Figure([plotly.Scatter(**trace) for trace in shapes[shown]])
    figure.update_layout(
        template="simple_white",
        height=480,
        margin={"l": 60, "r": 15, "t": 60, "b": 60},
        xaxis={
            "title": f"\N{GREEK SMALL LETTER TAU}: {COSTS[kind]} / the least",
            "type": "log",
            "range": [0, np.log10(LARGEST_RATIO)],
            "showgrid": True,
            "dtick": 1,
        },
        yaxis={
            "title": "share of the problems",
            "range": [-0.02, 1.02],
            "tickformat": ".0%",
            "showgrid": True,
        },
        legend={"orientation": "h", "y": -0.2},
        updatemenus=[_menu(shapes)],
    )
    return figure


def _step(
    profiles: Profiles, kind: str, gap: float, method: str, look: dict[str, Any]
) -> dict[str, Any]:
    tau, rho = profiles.profile(kind, gap, method)
    line = {**look["line"], "shape": "hv"}
    return {**look, "name": method, "x": tau, "y": rho, "line": line, "hovertemplate": HOVER}


def _menu(shapes: dict[float, list[dict[str, Any]]]) -> dict[str, Any]:
    """Return a button for each gap."""
    return {
        "type": "buttons",
        "direction": "right",
        "x": 0.0,
        "xanchor": "left",
        "y": 1.14,
        "active": 0,
        "font": {"size": 11},
        "showactive": True,
        "buttons": [
            {
                "label": f"gap {gap_name(gap)}",
                "method": "update",
                "args": [{axis: [trace[axis] for trace in found] for axis in ("x", "y")}],
            }
            for gap, found in shapes.items()
        ],
    }


def _theory(report: SuiteReport) -> list[str]:
    """Return each run with a proved worst case beside its bound."""
    parts = ["<h2>Beside the proved worst case</h2>", THEORY]
    if report.method not in report.rates:
        parts.append(
            f"<p>For {escape(report.method)} there is no proved rate here; there are rates of "
            "Frank-Wolfe with exact line search and with the steps ell/(t + ell), ell = 2 .. 6.</p>"
        )
    header = ["problem", *(f"{method}, at most {rate}" for method, rate in report.rates.items())]
    wide_table = html_table("Parts of the proved bounds", header, share_lines(report.shares))
    return [*parts, wide(wide_table)]


def _worst(report: SuiteReport) -> list[str]:
    """Return the worst problem, and the lines that load it from its file."""
    name = report.worst
    return [
        f"<h2>The worst problem of {escape(report.method)}</h2>",
        f"<p>{escape(describe_problem(name, report.worst_problem))}</p>",
        f"<pre>{escape(report.worst_lines)}</pre>",
    ]


def wide(table: str) -> str:
    """Return a table in a frame that can be scrolled sideways."""
    return f'<div class="wide">{table}</div>'
