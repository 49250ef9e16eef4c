"""M20 Figure 3: primal and dual of TopPush, TopPushK and Pat&Mat on Ionosphere, by three methods.

M20 compares its pairwise ascent on the dual with a gradient method on the primal, and sees "a
little gap" of Pat&Mat. Here both values at each method's point are shown, and the gap. Pat&Mat also
runs as the authors' program starts it (`program.py`), with two of M20's C, because the text names
none; the control sets delta again. The other objectives run with both C.
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
from figures.macha2020.program import CHECKS, DELTA_FIRST, gaps_along
from fwlab import ranking
from fwlab.experiments import Cell, DataName

TAU = 0.05
PATMAT = f"Pat&Mat, tau = {TAU:g}"
OBJECTIVES = {
    "TopPush": ranking.TopPush(),
    "TopPushK, K = 5": ranking.TopPushK(5),
    PATMAT: ranking.PatMat(TAU),
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
SECONDS = {"quick": 3, "standard": 30, "full": 140}
# the objectives whose primal and dual meet in M20
MEETING = tuple(name for name in OBJECTIVES if name != PATMAT)
TEXT = Reading(f"the text, C = {C:g}", source="M20 4.4, Figure 3")
# of M20 4.2, with seeds of the program's random start
PROGRAM_CS, SEEDS = (0.1, 1.0), (0, 1, 2)
OTHER_CS = tuple(one for one in PROGRAM_CS if one != C)
PROGRAM_LOOPS = {"quick": 120, "standard": LOOPS, "full": LOOPS}
PROGRAM = {
    C: Reading(f"the start of the program, C = {C:g}", {"C": C}, program=DELTA_FIRST)
    for C in PROGRAM_CS
}


def cells(size: str) -> list[Cell]:
    data, positive = DATA[size]
    common = {"data": data, "positive": positive}
    return (
        [
            Cell(
                f"{name}|{method}",
                solved,
                {**common, "max_iter": MAX_ITER[size], "objective": objective, "method": method},
            )
            for name, objective in OBJECTIVES.items()
            for method in METHODS
        ]
        + [
            Cell(
                with_C(name, method, C),
                solved,
                {
                    **common,
                    "max_iter": MAX_ITER[size],
                    "objective": OBJECTIVES[name],
                    "method": method,
                    "C": C,
                },
            )
            for C in OTHER_CS
            for name in MEETING
            for method in METHODS
        ]
        + [
            Cell(
                started(C, seed),
                from_the_start,
                {**common, "C": C, "loops": PROGRAM_LOOPS[size], "seed": seed},
            )
            for C in PROGRAM_CS
            for seed in SEEDS
        ]
    )


def with_C(name: str, method: str, one: float) -> str:
    """Return the name of a run with this C."""
    return f"{name}|{method}" if one == C else f"{name}|{method}, C = {one:g}"


def started(C: float, seed: int) -> str:
    """Return the name of a run from the program's start."""
    return f"{PATMAT}|start of the program, C = {C:g}, seed {seed}"


def from_the_start(
    data: DataName, positive: int, C: float, loops: int, seed: int
) -> dict[str, list[float]]:
    """Return gaps from the program's start, then with delta set again; n loops an iteration."""
    part = data.load()
    y = (part.y_train == positive).astype(int)
    kernel = np.asarray(part.X_train @ part.X_train.T)
    objective = ranking.PatMat(TAU, over="all")
    problem = ranking.Problem(kernel, y, objective, C, "precomputed")
    found = gaps_along(problem, loops, np.random.default_rng(seed))
    return {"iteration": [done / len(y) for done in found["loops"]], "gap": found["gap"]}


def solved(
    data: DataName, positive: int, objective: Any, method: str, max_iter: int, C: float = C
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
    """Return the finding: primal and dual meet for TopPush and TopPushK but not for Pat&Mat.

    Pat&Mat chooses between the text and the program's start. The other two objectives confirm it,
    with the C of the reading; they have no delta, and start as the library does. As the optimal
    values have to meet, the method with the least gap counts, which need not be Algorithm 3.1.
    """
    gaps = [(TEXT, [least_gap(values, PATMAT)])]
    gaps += [(reading, ends(values, C)[0]) for C, reading in PROGRAM.items()]
    tried = [
        Tried(
            one,
            {f"{PATMAT}: a gap remains": truth_distance(CLOSED < min(found))},
            meeting(values, one.settings.get("C", C)),
        )
        for one, found in gaps
    ]
    told = "; ".join(f"{one.name}: {between(found)}" for one, found in gaps)
    claims = ("M20-fig3-patmat", "M20-fig3-increments")
    because = f"relative gaps of {PATMAT}: {told}"
    return judge(tried, 0.0, "statements hold", because, claims)


def meeting(values: dict[str, Any], C: float) -> dict[str, float]:
    """Return whether primal and dual of the other objectives meet with this C, as distances."""
    return {
        f"{name}: primal and dual meet": truth_distance(least_gap(values, name, C) <= CLOSED)
        for name in MEETING
    }


def least_gap(values: dict[str, Any], name: str, C: float = C) -> float:
    """Return the least certified relative gap of an objective, of all methods."""
    return min(float(values[with_C(name, method, C)]["gap"][-1]) for method in METHODS)


def ends(values: dict[str, Any], C: float) -> tuple[list[float], list[float]]:
    """Return the last gaps from the program's start, and of the control, by seed."""
    runs = [values[started(C, seed)]["gap"] for seed in SEEDS]
    return [run[CHECKS - 1] for run in runs], [run[-1] for run in runs]


def between(gaps: list[float]) -> str:
    """Return the least and the largest of some gaps in words."""
    texts = dict.fromkeys(f"{gap:.0e}" for gap in (min(gaps), max(gaps)))
    return " to ".join(texts)


def plot(study: Study) -> list[Path]:
    values = study.values
    figure = new_figure(7.6)
    axes = figure.subplots(len(OBJECTIVES), 2, sharex=True)
    for (left, right), name in zip(axes, OBJECTIVES, strict=True):
        for method in METHODS:
            draw(left, right, values[f"{name}|{method}"], method)
        best = max(values[f"{name}|{method}"]["dual"][-1] for method in METHODS)
        if name == PATMAT:
            draw_program(right, values[started(PROGRAM_CS[0], SEEDS[0])])
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
        f"(largest {max(gaps):.0e}); from the program's start with C = {PROGRAM_CS[0]:g} Pat&Mat "
        f"keeps {between(ends(values, PROGRAM_CS[0])[0])}",
    )
    legend_below(figure, axes[-1, 1], 2)
    return study.save_figure(figure, caption(values, study.size))


def draw(bounds: Any, gaps: Any, value: dict[str, Any], method: str) -> None:
    """Draw the lines of one run."""
    seen, style = np.array(value["iteration"]), series(METHODS.index(method))
    every = marked(seen)
    for bound, marker in (("primal", "v"), ("dual", "^")):
        bounds.plot(seen, value[bound], **{**style, "marker": marker}, markevery=every)
    gaps.plot(seen, np.maximum(value["gap"], TOL / 10), **style, markevery=every, label=method)


def draw_program(ax: Any, run: dict[str, Any]) -> None:
    """Draw the gap from the program's start, without the control."""
    shown = {key: run[key][:CHECKS] for key in ("iteration", "gap")}
    name = f"start of the program, C = {PROGRAM_CS[0]:g}"
    ax.plot(*shown.values(), **series(len(METHODS)), markevery=[0, CHECKS - 1], label=name)


def caption(values: dict[str, Any], size: str) -> Caption:
    gaps = {cell: value["gap"][-1] for cell, value in values.items()}
    told = [
        f"{name}{f', C = {one:g}' if one != C else ''}: "
        + ", ".join(f"{method} {gaps[with_C(name, method, one)]:.0e}" for method in METHODS)
        for one, names in ((C, tuple(OBJECTIVES)), *((one, MEETING) for one in OTHER_CS))
        for name in names
    ]
    program = "; ".join(
        f"C = {C:g}: {between(left)}, and at most {max(again):.0e} once delta is set by (32) "
        "again, after as many loops more"
        for C in PROGRAM_CS
        for left, again in [ends(values, C)]
    )
    return Caption(
        title="M20 Figure 3: primal and dual values, linear kernel",
        shows=(
            "The best primal, dual and relative gap so far. An iteration is n repeat loops of "
            "Algorithm 3.1 for pairwise, a step for subgradient and a Newton step for "
            "interior-point. The authors' program draws alpha and beta, sets delta by (32) from "
            "this beta, and then projects alpha and beta; it sums over all samples, and (10) over "
            "the negatives. The line of the program is the run with the first seed."
        ),
        settings=(
            f"C = {C:g}, quadratic surrogate with theta = 1, raw rows of the training part; "
            f"{LOOPS} repeat loops at most, {MAX_ITER[size]} iterations of the others at most, or "
            f"a relative gap of {TOL:g}. From the program's start: {PROGRAM_LOOPS[size]} loops, C "
            f"of section 4.2, because the text names none; seeds {SEEDS[0]} to {SEEDS[-1]}."
        ),
        agreement=(
            f"Last relative gaps: {'; '.join(told)}. Delta is the best one after each pair step. "
            f"Pat&Mat from the program's start: {program}."
        ),
    )
