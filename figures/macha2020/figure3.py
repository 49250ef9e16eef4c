"""M20 Figure 3: primal and dual of TopPush, TopPushK and Pat&Mat on Ionosphere, by three methods.

M20 compares its pairwise ascent on the dual with a gradient method on the primal, and sees "a
little gap" of Pat&Mat. Here both values at each method's point are shown, and the gap.
"""

from pathlib import Path
from typing import Any

import numpy as np

from figures.kit.captions import Caption
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.readings import Reading, Tried, truth_distance
from figures.kit.study import Study
from figures.kit.style import legend_below, light_grid, log_axes, marked, new_figure, series, state
from figures.macha2020.fits import LOOPS
from fwlab import ranking
from fwlab.experiments import Cell, DataName

OBJECTIVES = {
    "TopPush": ranking.TopPush(),
    "TopPushK, K = 5": ranking.TopPushK(5),
    "Pat&Mat, tau = 0.05": ranking.PatMat(0.05),
}
METHODS = ("pairwise", "subgradient", "interior-point")
C, TOL = 1.0, 1e-10
MAX_ITER = {"quick": 10, "standard": 2000, "full": 20_000}
# the data and the positive class
DATA = {size: (DataName("ionosphere"), 1) for size in ("standard", "full")}
DATA["quick"] = (DataName("digits", "unit", rows=100), 0)
COLUMNS = ("iteration", "primal", "dual", "gap")
POINTS = 400
# a relative gap that is invisible in a figure
CLOSED = 1e-3
SECONDS = {"quick": 3, "standard": 15, "full": 120}


def cells(size: str) -> list[Cell]:
    data, positive = DATA[size]
    common = {"data": data, "positive": positive, "max_iter": MAX_ITER[size]}
    return [
        Cell(f"{name}|{method}", solved, {**common, "objective": objective, "method": method})
        for name, objective in OBJECTIVES.items()
        for method in METHODS
    ]


def solved(
    data: DataName, positive: int, objective: Any, method: str, max_iter: int
) -> dict[str, Any]:
    """Return a run: the best primal, dual and gap so far, thinned evenly in log(iteration)."""
    part = data.load()
    most = min(max_iter, LOOPS // len(part.y_train)) if method == "pairwise" else max_iter
    y = (part.y_train == positive).astype(int)
    result = ranking.solve(part.X_train, y, objective, C, method=method, tol=TOL, max_iter=most)
    trace = result.trace
    scale = np.maximum(np.abs(trace.primal), np.abs(trace.dual))
    columns = {
        "iteration": trace.iteration,
        "primal": np.minimum.accumulate(trace.primal),
        "dual": np.maximum.accumulate(trace.dual),
        "gap": np.minimum.accumulate(trace.gap / scale),
    }
    last = len(trace.iteration) - 1
    kept = np.unique(np.geomspace(1, max(last, 1), POINTS).round().astype(int))[: last or 1]
    return {name: columns[name][kept] for name in COLUMNS}


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Return the finding: primal and dual meet for TopPush and TopPushK but not for Pat&Mat."""
    cells, told = {}, []
    for name in OBJECTIVES:
        gap = min(values[f"{name}|{method}"]["gap"][-1] for method in METHODS)
        meet = not name.startswith("Pat&Mat")
        said = "primal and dual meet" if meet else "a gap remains"
        cells[f"{name}: {said}"] = truth_distance((gap <= CLOSED) == meet)
        if cells[f"{name}: {said}"]:
            told.append(f"of {name} the certified relative gap is {gap:.0e}")
    one = Tried(Reading("", source="M20 4.4, Figure 3"), cells)
    claims = ("M20-fig3-patmat", "M20-fig3-increments")
    return judge([one], 0.0, "statements hold", "; ".join(told), claims)


def plot(study: Study) -> list[Path]:
    values = study.values
    figure = new_figure(7.6)
    axes = figure.subplots(len(OBJECTIVES), 2, sharex=True)
    for (left, right), name in zip(axes, OBJECTIVES, strict=True):
        for method in METHODS:
            draw(left, right, values[f"{name}|{method}"], method)
        best = max(values[f"{name}|{method}"]["dual"][-1] for method in METHODS)
        left.set(ylabel=name, xscale="log", ylim=(0.75 * best, 1.6 * best))
        light_grid(left)
        log_axes(right, "")
        right.set_ylim(TOL / 10, 3)
    axes[0, 0].set_title("primal (above), dual (below)", fontsize="medium")
    axes[0, 1].set_title("relative certified gap", fontsize="medium")
    for ax in axes[-1]:
        ax.set_xlabel("iteration")
    gaps = [values[f"{name}|pairwise"]["gap"][-1] for name in OBJECTIVES]
    closed = sum(gap <= CLOSED for gap in gaps)
    state(
        figure,
        f"Pairwise ascent closes the gap to {CLOSED:g} for {closed} of {len(gaps)} objectives "
        f"(largest {max(gaps):.0e})",
    )
    legend_below(figure, axes[0, 1], len(METHODS))
    return study.save_figure(figure, caption(values, study.size))


def draw(bounds: Any, gaps: Any, value: dict[str, Any], method: str) -> None:
    """Draw the lines of one run."""
    seen, style = np.array(value["iteration"]), series(METHODS.index(method))
    every = marked(seen)
    for bound, marker in (("primal", "v"), ("dual", "^")):
        bounds.plot(seen, value[bound], **{**style, "marker": marker}, markevery=every)
    gaps.plot(seen, np.maximum(value["gap"], TOL / 10), **style, markevery=every, label=method)


def caption(values: dict[str, Any], size: str) -> Caption:
    gaps = {cell: value["gap"][-1] for cell, value in values.items()}
    told = [
        f"{name}: " + ", ".join(f"{method} {gaps[f'{name}|{method}']:.0e}" for method in METHODS)
        for name in OBJECTIVES
    ]
    return Caption(
        title="M20 Figure 3: primal and dual values, linear kernel",
        shows=(
            "The best primal, dual and relative gap so far. An iteration is n repeat loops of "
            "Algorithm 3.1 for pairwise, a step for subgradient and a Newton step for "
            "interior-point."
        ),
        settings=(
            f"C = {C:g}, quadratic surrogate with theta = 1, raw rows of the training part; "
            f"{LOOPS} repeat loops at most, {MAX_ITER[size]} iterations of the others at most, or "
            f"a relative gap of {TOL:g}."
        ),
        agreement=(
            f"Last relative gaps: {'; '.join(told)}. Delta is the best one after each pair step."
        ),
    )
