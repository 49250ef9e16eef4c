"""Our own: performance profiles (Dolan and More 2002) of the methods over 60 problems.

rho(tau) is the share of problems that a method solves within tau times the seconds of the fastest
method. The problems are all combinations of a data set, a loss and C; one run gives all gaps.
"""

from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import legend_below, light_grid, method_line, new_figure, state
from figures.kit.tables import Table
from figures.kit.traces import reached
from figures.own.subsets import DIGITS, REAL, random_rows
from fwlab.experiments import Cell, DataName

METHODS = (
    *("fw", "afw", "pfw", "blended-pairwise", "fcfw", "bafw", "bpfw", "bcfw", "bcafw"),
    *("bcpfw", "bbpfw", "dicg", "ascent", "newton", "subgradient"),
)
# the methods in the picture; the table has all
DRAWN = ("fw", "pfw", "bcfw", "bcpfw", "dicg", "ascent", "newton")
LOSSES = {
    "max hinge": (fwlab.MaxHinge(), 0.0),
    "top-3": (fwlab.TopK(3), 0.0),
    "Usunier-5": (fwlab.Usunier(5), 0.0),
    "top-3, smoothing 1": (fwlab.TopK(3), 1.0),
}
CS = (0.1, 1.0, 10.0)
GAPS = ("1e-2", "1e-4", "1e-6", "1e-8")
ROWS = {"quick": 30, "standard": 300, "full": 1000}
LIMIT = {"quick": 0.02, "standard": 0.6, "full": 5.0}
MOST_ITERATIONS = 10**5
# ratios named in the title and at the right end
TWICE, MOST = 2.0, 100.0
SECONDS = {"quick": 5, "standard": 480, "full": 3600}
ALONE = True  # times are compared


def cells(size: str) -> list[Cell]:
    synthetic = {"synthetic": DataName("synthetic-a", "unit")}
    data, Cs = (DIGITS, CS[1:2]) if size == "quick" else (REAL | synthetic, CS)
    settings = {"rows": ROWS[size], "methods": METHODS, "limit": LIMIT[size]}
    return [
        Cell(
            f"{name}|{loss}|{C:g}",
            times_to_gaps,
            {
                "data": one,
                "loss": LOSSES[loss][0],
                "smoothing": LOSSES[loss][1],
                "C": C,
                **settings,
            },
        )
        for name, one in data.items()
        for loss in LOSSES
        for C in Cs
    ]


def times_to_gaps(
    data: DataName,
    loss: fwlab.Loss,
    smoothing: float,
    C: float,
    rows: int,
    methods: tuple[str, ...],
    limit: float,
) -> dict[str, Any]:
    """Return {method: {gap: [iterations, seconds]}} for the gaps that it reached in time."""
    X, y = random_rows(data, rows)
    classes = data.load().n_classes
    problem = fwlab.Problem(X, y, loss, 1 / (C * len(y)), smoothing=smoothing, n_classes=classes)
    found = {}
    for method in methods:
        fwlab.solve(problem, method, tol=0.0, max_iter=2)  # compiles
        result = fwlab.solve(
            problem, method, 1e-8, max_iter=MOST_ITERATIONS, time_limit=limit, check_every=1
        )
        found[method] = reached(result.trace)
    return found


def plot(study: Study) -> list[Path]:
    """Draw a panel per gap: the share of problems solved within tau times the fastest."""
    found = {gap: ratios(study.values, gap) for gap in GAPS}
    figure = new_figure(6.4)
    state(figure, title_of(found, LIMIT[study.size]))
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    for ax, (gap, by_method) in zip(axes.flat, found.items(), strict=True):
        light_grid(ax)
        ax.set(xscale="log", ylim=(0, 1.02))
        ax.set_title(f"gap {gap}", fontsize="medium")
        for method in DRAWN:
            tau, share = profile(by_method[method])
            if not share[-1]:
                continue
            style = {**method_line(method), "drawstyle": "steps-post", "markevery": 0.25}
            ax.plot(tau, share, **style, label=method)
    for ax in axes[:, 0]:
        ax.set_ylabel("share of the problems")
    for ax in axes[1]:
        ax.set_xlabel("seconds / the fastest's")
    legend_below(figure, axes[0, 0], 4)
    caption = _caption(found, study.size)
    return [
        *study.save_figure(figure, caption),
        *study.save_table(_table(found, study.values), caption, "table"),
    ]


def ratios(values: dict[str, Any], gap: str, column: int = 1) -> dict[str, np.ndarray]:
    """Return {method: its seconds over the least of all, per problem}, inf where not reached.

    Column 0 compares iterations in place of seconds. Problems that no method solves are included.
    """
    costs = np.array(
        [
            [value[m].get(gap, (np.inf, np.inf))[column] for m in METHODS]
            for value in values.values()
        ]
    )
    costs = np.maximum(costs, np.finfo(float).tiny)  # a sufficiently good start
    least = costs.min(axis=1, keepdims=True)
    found = np.divide(costs, least, out=np.full_like(costs, np.inf), where=np.isfinite(costs))
    return dict(zip(METHODS, found.T, strict=True))


def profile(found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return tau and rho(tau), the share of the problems with a ratio of at most tau.

    The steps extend to the right end.
    """
    solved = np.sort(found[found <= MOST])
    share = np.arange(1, len(solved) + 1) / len(found)
    last = share[-1] if len(solved) else 0.0
    return np.concatenate([[1.0], solved, [MOST]]), np.concatenate([[0.0], share, [last]])


def within(found: np.ndarray, tau: float) -> float:
    """Return the share of the problems with a ratio of at most tau."""
    return float(np.mean(found <= tau))


def best_within(by_method: dict[str, np.ndarray], tau: float) -> tuple[str, float]:
    """Return the method that solves the most problems within tau times the fastest, and its
    share."""
    share = {method: within(found, tau) for method, found in by_method.items()}
    best = max(share, key=share.__getitem__)
    return best, share[best]


def title_of(found: dict[str, dict[str, np.ndarray]], limit: float) -> str:
    """Return the shares of the problems that the methods shown solve to the smallest gap."""
    gap, by_method = list(found.items())[-1]
    solved = {method: float(np.mean(np.isfinite(by_method[method]))) for method in DRAWN}
    ranked = sorted(solved, key=solved.__getitem__, reverse=True)
    told = [f"{method} {solved[method]:.0%}" for method in ranked if solved[method]]
    n = len(by_method[ranked[0]])
    return f"Share of {n} problems solved to {gap} in {limit:g} s: {', '.join(told) or 'none'}"


def _table(found: dict[str, dict[str, np.ndarray]], values: dict[str, Any]) -> Table:
    rows = []
    for gap, by_method in found.items():
        passes = ratios(values, gap, 0)
        for method, one in by_method.items():
            shares = [within(one, tau) for tau in (1.0, TWICE, 10.0)]
            shares += [float(np.mean(np.isfinite(one))), within(passes[method], TWICE)]
            rows.append([gap, method, *(f"{share:.2f}" for share in shares)])
    header = ["gap", "method", "fastest", "within 2 times", "within 10 times", "solved"]
    return Table([*header, "within 2 times, iterations"], rows)


def _caption(found: dict[str, dict[str, np.ndarray]], size: str) -> Caption:
    left_out = ", ".join(m for m in METHODS if m not in DRAWN)
    told = "; ".join(
        f"{gap}: {method} ({share:.0%})"
        for gap, by_method in found.items()
        for method, share in [best_within(by_method, TWICE)]
    )
    return Caption(
        title="Performance profiles of the methods, real and synthetic data",
        shows=(
            "The share of the problems that a method solves to a certified gap within tau times "
            "the seconds of the fastest of all methods, those of the table too. It has, besides, "
            f"{left_out}, and the shares when iterations are compared."
        ),
        settings=(
            f"{', '.join(LOSSES)}; C = {', '.join(f'{C:g}' for C in CS)}, lam = 1/(C n); "
            f"{ROWS[size]} random rows of length 1; {LIMIT[size]:g} s a run, one thread; seed 0."
        ),
        agreement=(
            f"No paper has this figure. {title_of(found, LIMIT[size])}. Most often within twice "
            f"the fastest: {told}."
        ),
    )
