"""Our own: why printed tables of K19 and M20 differ from ours, four possible causes and controls.

Printed numbers and stored results of the papers' figures are read, and M20's Pat&Mat is run here.
What has no stored result is named as not measured.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from figures.kato2019 import news20_table
from figures.kato2019.machines import GAMMA, KS, TIMES_N, grid, readings
from figures.kato2019.printed import TABLES
from figures.kato2019.tables import chosen_entries, told_trials
from figures.kit.captions import Caption
from figures.kit.findings import FigureFinding
from figures.kit.pixels import GREY
from figures.kit.readings import Reading, Tried, within
from figures.kit.script import script
from figures.kit.study import KEPT, NotRun, Study
from figures.kit.style import label_curves, log_axes, new_figure, note, series, state
from figures.macha2020.program import CHECKS, gaps_along
from figures.own import also_tried
from fwlab import ranking
from fwlab.experiments import Cell, DataName
from fwlab.text import listed

# the stored tables of K19, by data set
STORED = {
    "Caltech101": "kato2019_table3",
    "Letter": "kato2019_table6",
    "News20": "kato2019_table7",
}
SMOOTHED = {f"K19, {name}": table for name, table in STORED.items()}
SMOOTHED["K19, Figure 3"] = "kato2019_figure3"
DATA = {size: (DataName("ionosphere"), 1) for size in ("standard", "full")}
DATA["quick"] = (DataName("digits", "unit", rows=60), 0)
LOOPS = {"quick": 100, "standard": 5000, "full": 20_000}
PAIR = ("ours", "Chu")
TAU, CS = 0.05, (0.1, 1.0)
NOT_MEASURED = "not measured: no such run is stored"
SECONDS = {"quick": 3, "standard": 95, "full": 140}
# of a cause, figures/kit/causes.py
NEAR_PIXELS = re.compile(
    re.escape(GREY) + r": [^;]*; (\d+ of \d+) cells near with it, (\d+ of \d+) in the control"
)
AGREES = (
    "A number agrees if it is as near as the figure asks, an accuracy within two standard errors."
)


def cells(size: str) -> list[Cell]:
    data, positive = DATA[size]
    common = {"data": data, "positive": positive}
    gap = Cell("Pat&Mat|gap", gaps, {**common, "C": CS[0], "loops": LOOPS[size]})
    best = [Cell(f"Pat&Mat|optimum|C={C:g}", optima, {**common, "C": C}) for C in CS]
    return [gap, *best, *also_tried.cells(size)]


def problem_of(data: DataName, positive: int, C: float, over: str = "all") -> ranking.Problem:
    """Return Pat&Mat with a stored linear kernel matrix, over all samples or the negatives."""
    part = data.load()
    y = (part.y_train == positive).astype(int)
    kernel = np.asarray(part.X_train @ part.X_train.T)
    return ranking.Problem(kernel, y, ranking.PatMat(TAU, over=over), C, "precomputed")


def gaps(data: DataName, positive: int, C: float, loops: int) -> dict[str, list[float]]:
    """Return relative gaps along the loops of the program, then with delta set by (32) again."""
    return gaps_along(problem_of(data, positive, C), loops, np.random.default_rng(0))


def optima(data: DataName, positive: int, C: float) -> dict[str, float]:
    """Return the optimal values over all samples and over the negatives."""
    part = data.load()
    y = (part.y_train == positive).astype(int)
    objectives = {over: ranking.PatMat(TAU, over=over) for over in ("all", "negatives")}
    return {
        over: ranking.solve(part.X_train, y, objective, C, tol=1e-6).dual
        for over, objective in objectives.items()
    }


# --- what is read -------------------------------------------------------------------------------


def stored(name: str, size: str, out: Path) -> tuple[dict[str, Any], FigureFinding] | None:
    """Return the values of a paper's figure and what follows from them, None if not stored."""
    study = Study(name, size, out)
    try:
        found = script(name).found(study)
    except NotRun:
        return None
    return (study.values, found) if found and found.tried else None


def nearest(tried: Iterator[Tried] | list[Tried], tolerance: float) -> str:
    """Return how many cells are near in the reading with most of them, "" without readings."""
    counts = [(within(one.cells, tolerance), len(one.cells)) for one in tried]
    return "{} of {}".format(*max(counts)) if counts else ""


def smoothing(size: str, out: Path) -> dict[str, tuple[str, str]]:
    """Return for each stored figure of K19 the near numbers by the text, and by the program."""
    found = {}
    for label, name in SMOOTHED.items():
        if there := stored(name, size, out):
            _, finding = there
            ranks = [[one for one in finding.tried if one.reading.rank == rank] for rank in (0, 1)]
            text, program = (nearest(ones, finding.tolerance) for ones in ranks)
            found[label] = text, program
    return found


def printed_advantages(other: str, names: Iterable[str] = tuple(TABLES)) -> list[float]:
    """Return the printed accuracy of UTk (ours) less that of another row, mean points, by k."""
    pairs = [(np.array(TABLES[name]["ours"]), np.array(TABLES[name][other])) for name in names]
    return [float(x) for x in 100 * np.mean([a - b for a, b in pairs], axis=(0, 2))]


def own_advantages(size: str, out: Path) -> tuple[list[str], dict[str, list[float]]]:
    """Return data sets, and our lead of UTk (ours) over UTk (Chu) there, mean points, by k.

    A line for gamma and one for n gamma have the same data sets, rows, folds and C: the sets are
    stored with the first reading of each.
    """
    names: list[str] = []
    found: dict[str, list[Any]] = {GAMMA: [], TIMES_N: []}
    for name, table in STORED.items():
        there = stored(table, size, out)
        first = {unit: one for unit in found if (one := first_reading(name, unit))}
        if there and first.keys() == found.keys():
            names.append(name)
            for unit, one in first.items():
                entries = chosen_entries(there[0], grid(size), name, one)
                ours, chu = (
                    np.array([[e.accuracy for e in entries[row, k]] for k in KS]) for row in PAIR
                )
                found[unit].append(ours - chu)
    return names, {
        unit: [float(x) for x in 100 * np.mean(points, axis=(0, 2))]
        for unit, points in found.items()
        if points
    }


def first_reading(name: str, unit: str) -> Reading | None:
    """Return the first reading of a table with this smoothing, that is no guess; None without."""
    fitting = (one for one in readings(name) if one.settings["unit"] == unit and one.rank < 2)
    return next(fitting, None)


def pixels(size: str, out: Path) -> tuple[str, str]:
    """Return the near accuracies of K19 Table 3 in black and white, and in grey, "" if not stored.

    The cause of the table, as the judge tells it, has both numbers.
    """
    there = stored("kato2019_table3", size, out)
    found = NEAR_PIXELS.search(there[1].because) if there else None
    return (found[1], found[2]) if found else ("", "")


# --- what is told -------------------------------------------------------------------------------


def items(values: dict[str, Any], size: str, out: Path = KEPT) -> list[dict[str, Any]]:
    """Return the four causes, each with what was measured, its control and what stays open.

    Those that explain a difference come first.
    """
    return [
        black_and_white(size, out),
        start_of_the_program(values),
        smoothing_by_n(size, out),
        tables_at_one(size, out),
    ]


def black_and_white(size: str, out: Path) -> dict[str, Any]:
    """Return the first cause: the published pixels of Caltech101 are black and white."""
    near, grey = pixels(size, out)
    return {
        "title": "Pixels in black and white",
        "what": "The published Caltech101 Silhouettes are black and white; the 16 x 16 set "
        f"here is made anew of them, and grey. {AGREES}",
        "measured": [
            f"K19, Caltech101: in black and white {near} accuracies agree" if near else NOT_MEASURED
        ],
        "control": f"The same rows with grey pixels{f': {grey} accuracies agree' if grey else ''}.",
        "open": "The authors' own cut of the rows, and their 16 x 16 file.",
    }


def smoothing_by_n(size: str, out: Path) -> dict[str, Any]:
    """Return the third cause: K19's program smooths by n gamma."""
    near = sorted(smoothing(size, out).items(), key=lambda item: not item[1][1])
    return {
        "title": "Smoothing by n gamma",
        "what": "K19's program, wtopk.py, smooths by n gamma where the text has gamma; n is the "
        f"number of training rows. {AGREES}",
        "measured": [told_smoothing(label, *both, size) for label, both in near] or [NOT_MEASURED],
        "control": "The same protocol with gamma, or without smoothing where the line says so.",
        "open": "The program is published; that it made the printed tables is not known.",
    }


def told_smoothing(label: str, text: str, program: str, size: str) -> str:
    """Return how many numbers of a figure agree with gamma and with n gamma, in words.

    The tables of a size may have no gamma but 0.
    """
    is_table = "Figure" not in label
    what = "accuracies" if is_table else "statements"
    smoothed = any(grid(size).smoothings[GAMMA]) or not is_table
    plain = "with gamma" if smoothed else "without smoothing"
    by_n = f"with n gamma {program}" if program else "no whole table with n gamma is stored"
    return f"{label}: {plain} {text} {what} agree; {by_n}"


def tables_at_one(size: str, out: Path) -> dict[str, Any]:
    """Return the fourth cause: the loss of the others, and what the tables say of it at k = 1."""
    chu, lapin = (printed_advantages(other) for other in ("Chu", "Lapin"))
    names, own = own_advantages(size, out)
    plain, smoothed = (by_k(own[unit]) if own else NOT_MEASURED for unit in (GAMMA, TIMES_N))
    sets = f" on {listed(names)}" if names else ""
    there = f" (printed there: {by_k(printed_advantages('Chu', names))})" if names else ""
    return {
        "title": "Another loss: the printed tables at k = 1",
        "what": "Chu and Lapin are K19's rows UTk (Chu) and UTk (Lapin), two earlier methods, both "
        "for the pseudo top-k loss. Without smoothing this loss, the top-k and the Crammer-Singer "
        "loss are one at k = 1. Another loss explains no advantage there.",
        "measured": [
            f"printed K19 minus printed Chu, on all six sets: {by_k(chu)}",
            f"printed K19 minus printed Lapin, on all six sets: {by_k(lapin)}",
            f"computed here{sets}, K19 with n gamma minus Chu: {smoothed}{there}",
        ],
        "control": f"Computed here{sets}, K19 without smoothing minus Chu: {plain}. Both lines "
        "have the same sets, rows, folds and C; with n gamma a fold also chooses whether K19 is "
        "smoothed, and Chu never is.",
        "open": "The grids and the stopping rules of the other programs are not stated.",
    }


def start_of_the_program(values: dict[str, Any]) -> dict[str, Any]:
    """Return the second cause: M20's program sums over all samples, and its start."""
    gap = values["Pat&Mat|gap"]["gap"]
    loops = values["Pat&Mat|gap"]["loops"][CHECKS - 1]
    optimum = [
        f"C = {C:g}: {v['all']:.4g} over all samples, {v['negatives']:.4g} over the negatives"
        for C in CS
        for v in [values[f"Pat&Mat|optimum|C={C:g}"]]
    ]
    return {
        "title": "Pat&Mat over all samples, and its start",
        "what": "Pat&Mat is M20's ranking machine with a threshold: at most tau n of the rows that "
        "(10) sums over may lie above it; beta has the dual variables of these rows, delta is the "
        "one of (10) itself. M20's program sums over all samples where (10) has the negatives, and "
        "sets delta by (32) before it projects beta.",
        "measured": [
            f"relative gap with the program's start, after {loops} loops: {gap[CHECKS - 1]:.1e}",
            *(f"optimal value, {text}" for text in optimum),
        ],
        "control": "With the program's start, then delta set by (32) again, and as many loops "
        f"more: a relative gap of {gap[-1]:.0e}.",
        "open": "The linear half of Table 3 needs the program's start in every fit.",
    }


def tried(values: dict[str, Any], size: str, out: Path = KEPT) -> list[str]:
    """Return what else was tried with K19, a sentence each, with its control."""
    figure, table = (stored(name, size, out) for name in ("kato2019_figure3", STORED["Letter"]))
    scaling = f"{also_tried.DROPPED.name}: {NOT_MEASURED}."
    grid_of_gamma = f"the grid of gamma: {NOT_MEASURED}."
    if figure and table and also_tried.is_stored(values):
        scaling = also_tried.told_scaling(values, figure[0])
        grid_of_gamma = also_tried.told_grid(values, table[0])
    news20 = stored(STORED["News20"], size, out)
    trials = f"other readings of News20: {NOT_MEASURED}"
    if news20 and news20_table.is_stored(news20[0]):
        (trials,) = told_trials(news20[0])
    return [scaling, grid_of_gamma, f"K19, Table 7, {trials}."]


def by_k(points: list[float]) -> str:
    """Return differences by k in words."""
    return ", ".join(f"{x:+.2f} points at k = {k}" for k, x in zip(KS, points, strict=True))


def for_pages(values: dict[str, Any], size: str) -> dict[str, Any]:
    """Return the four causes for the site, and one sentence for the front page."""
    found, chu = items(values, size), printed_advantages("Chu")
    gap = values["Pat&Mat|gap"]["gap"]
    return {
        "items": found,
        "tried": tried(values, size),
        "finding": "In the printed tables of Kato and Hirohashi (K19) their machine leads Chu's by "
        f"{chu[0]:.2f} points at k = 1, where without smoothing both are one machine, and by at "
        f"most {max(chu[1:]):.2f} at k = 3, 5 and 10; an optimum that is missed explains no lead "
        "at k = 1. The start of the program of Mácha et al. (M20) leaves Pat&Mat a relative gap "
        f"of {gap[CHECKS - 1]:.1e}; once delta is set again, it falls to {gap[-1]:.0e}.",
    }


def plot(study: Study) -> list[Path]:
    """Draw the printed advantages by k, and the gap of Pat&Mat with its control."""
    values = study.values
    figure = new_figure(6.6)
    above, below = figure.subplots(2, 1)
    chu = printed_advantages("Chu")
    state(
        figure,
        f"K19's printed lead over Chu is largest where both losses are one: {chu[0]:.2f} points "
        "with k\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}1",
    )
    _, own = own_advantages(study.size, study.out)
    lines = {
        "printed, over Chu": chu,
        "printed, over Lapin": printed_advantages("Lapin"),
        "ours without smoothing, over Chu": own.get(GAMMA, []),
        "ours with n gamma, over Chu": own.get(TIMES_N, []),
    }
    for index, (label, points) in enumerate(lines.items()):
        if points:
            above.plot(range(len(KS)), points, **series(index), label=label)
    above.set_xticks(range(len(KS)), [f"k = {k}" for k in KS])
    above.axhline(0.0, color="#888888", linewidth=0.8)
    above.set_ylabel("points of accuracy, mean")
    run = values["Pat&Mat|gap"]
    log_axes(below, "repeat loops")
    below.set(xscale="linear", ylabel="relative gap of Pat&Mat")
    parts = {"start of M20's program": slice(CHECKS), "delta set again": slice(CHECKS, None)}
    for index, (label, part) in enumerate(parts.items()):
        drawn = np.maximum(np.abs(run["gap"][part]), 1e-16)
        below.plot(run["loops"][part], drawn, **series(index), label=label)
    note(
        below, f"Ionosphere, C = {CS[0]:g}, tau = {TAU:g}", xy=(0.02, 0.04), ha="left", va="bottom"
    )
    label_curves([above, below], fontsize=8)
    return study.save_figure(figure, caption(study))


def caption(study: Study) -> Caption:
    found = items(study.values, study.size, study.out)
    told = [f"{one['title']}: {'; '.join(one['measured'])}. {one['control']}" for one in found]
    return Caption(
        title="Why the printed tables differ",
        shows=(
            "Above: the accuracy of the proposed unweighted machine less that of another one, mean "
            "over data sets and top-1, 3, 5, 10, by the k of the loss; printed in K19 Tables 2 to "
            "7 on six sets, and ours on the sets that are stored with both smoothings. Below: the "
            "gap of Pat&Mat from the start of M20's program, and after delta is set by (32) again."
        ),
        settings=(
            f"Pat&Mat over all samples, quadratic, linear kernel, raw rows, tau = {TAU:g}, C = "
            f"{CS[0]:g}, seed 0; all else is read from stored results and printed tables."
        ),
        agreement=" ".join([*told, *tried(study.values, study.size, study.out)]),
    )
