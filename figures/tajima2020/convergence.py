"""T20 Figures 1 and 2: objective error and gap against iterations, without and with the envelope.

The objective error is P(w_t) - P(w*), with w* from `auto` (the paper: at a gap of 1e-5). Figure 1
has the rows that its finding chooses. Figure 2 has rows of length 1, for which alone all methods
run with the envelope; the other reading of the rows enters its finding alone.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from figures.kit.captions import Caption
from figures.kit.causes import Cause
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.pixels import GREY, BlackAndWhite
from figures.kit.readings import Reading, Tried, told_failures, truth_distance
from figures.kit.script import Script
from figures.kit.study import Study
from figures.kit.style import (
    label_curves,
    line,
    log_axes,
    method_line,
    new_figure,
    note,
    state,
)
from figures.kit.traces import trace
from figures.tajima2020.machines import (
    BLACK_AND_WHITE,
    CALTECH,
    DERIVED,
    LACKING,
    LOSS,
    METHODS,
    RAW,
    READINGS,
    UNIT,
    black_and_white,
    data,
    under,
    weight,
)
from fwlab.experiments import Cell, DataName
from fwlab.text import listed

REFERENCE, TOL = "auto", 1e-8
# of the reference on real rows as they are, where errors are larger by orders of magnitude
TOL_RAW = 1e-3
# two methods whose errors differ by less than this factor converge similarly
SIMILAR = 2.0
MAX_ITER = {"quick": 50, "standard": 300, "full": 1000}
ENVELOPE = 0.01
HIGH = "high-dimensional, synthetic"
SECONDS = {"quick": 4, "standard": 160, "full": 900}
SHOWS = (
    "Objective error and certified gap at every iteration t, for the projected subgradient method "
    "(PG), Frank-Wolfe with the steps 2/(t + 1) (StdFW) and with exact line search (LSFW). W of "
    "PG is kept in the ball |W|^2 <= P(0)/lam, and its A is the average of minus its subgradients."
)


def cells(size: str, smoothings: tuple[float, ...]) -> list[Cell]:
    """Return all runs with the first smoothing, and only the line search with the others.

    Rows as they are have all runs without smoothing, and only the line search with it.
    """
    return [
        cell
        for reading in READINGS
        for name, source in under(reading, sets(size)).items()
        for smoothing in smoothings
        for method in methods_of(reading, smoothing, smoothings[0])
        for cell in [run_cell(size, reading, name, source, method, smoothing)]
    ] + [
        run_cell(size, RAW, name, source, method, 0.0)
        for name, source in black_and_white(size).items()
        for method in (methods_of(RAW, 0.0, smoothings[0]) if smoothings == (0.0,) else ())
    ]


def methods_of(reading: Reading, smoothing: float, first: float) -> tuple[str, ...]:
    """Return the methods that run, the one that finds P(w*) among them."""
    if smoothing == first and (reading == UNIT or smoothing == 0.0):
        return (*METHODS, REFERENCE)
    return ("LSFW",)


def run_cell(
    size: str,
    reading: Reading,
    name: str,
    source: DataName | BlackAndWhite,
    method: str,
    smoothing: float,
) -> Cell:
    """Return the cell of one run."""
    settings: dict[str, Any] = {"data": source, "loss": LOSS, "smoothing": smoothing}
    settings |= {"method": METHODS.get(method, method), "tol": TOL, "max_iter": MAX_ITER[size]}
    if method == REFERENCE:
        tol = TOL if reading == UNIT or name == HIGH else TOL_RAW
        settings |= {"tol": tol, "max_iter": 5000, "check_every": 5}
    if reading != UNIT:
        settings["C"] = weight(reading, name)
    cost = 0.5 if method == REFERENCE else 1.0
    return Cell(cell_name(name, method, smoothing, reading), trace, settings, cost)


def sets(size: str) -> dict[str, DataName]:
    """Return the available sets, and one with more features than rows, as in the paper's images."""
    return data(size) | ({} if size == "quick" else {HIGH: DataName("synthetic-a", "unit")})


def cell_name(data_name: str, method: str, smoothing: float, reading: Reading = UNIT) -> str:
    rows = "" if reading == UNIT else f"|{reading.name}"
    return f"{data_name}|{method}|smoothing {smoothing:g}{rows}"


def shown(study: Study, smoothing: float) -> Reading:
    """Return the reading to draw."""
    if study.finding is None or smoothing:
        return UNIT
    return next(one for one in READINGS if one.name == study.finding.reading)


def draw(values: dict[str, Any], size: str, smoothing: float, reading: Reading) -> Any:
    """Draw a row per data set: the objective error on the left, the gap on the right."""
    names = list(sets(size))
    figure = new_figure(2.1 * len(names) + 0.8)
    axes = figure.subplots(len(names), 2, squeeze=False, sharex=True)
    for (left, right), name in zip(axes, names, strict=True):
        best = values[cell_name(name, REFERENCE, smoothing, reading)]
        log_axes(left, "")
        log_axes(right, "")
        for method, solver in METHODS.items():
            value = values[cell_name(name, method, smoothing, reading)]
            iteration = np.array(value["iteration"])[1:]
            style = method_line(solver)
            for ax, y in ((left, objective_error(value, best)), (right, gaps(value))):
                ax.plot(iteration, y, color=style["color"], linewidth=0.6, alpha=0.4)
                line(ax, iteration, np.minimum.accumulate(y), style, method)
        left.set_ylabel(name)
    axes[0, 0].set_title("objective error  P(w) \N{MINUS SIGN} P(w*)", fontsize="medium")
    axes[0, 1].set_title("certified gap  P(w) \N{MINUS SIGN} D(A)", fontsize="medium")
    for ax in axes[-1]:
        ax.set_xlabel("iteration")
    note(axes[0, 0], "bold: smallest so far")
    best_of = [least_errors(values, name, smoothing, reading) for name in names]
    first = sum(found["LSFW"] == min(found.values()) for found in best_of)
    envelope = f" with smoothing {smoothing:g}" if smoothing else ""
    state(
        figure,
        f"Line search (LSFW) ends with the smallest error on {first} of {len(names)} data sets"
        f"{envelope}, {reading.name}",
    )
    label_curves(axes.flat, fontsize=7.5)
    return figure


def objective_error(value: dict[str, Any], best: dict[str, Any]) -> np.ndarray:
    """Return P(w_t) - P(w*) at the stored iterations from 1 on, at least the gap of w* itself."""
    return np.maximum(np.array(value["primal"])[1:] - best["last_primal"], best["last_gap"])


def gaps(value: dict[str, Any]) -> np.ndarray:
    """Return the certified gap at the stored iterations from 1 on."""
    return np.array(value["gap"])[1:]


def plot(
    study: Study, title: str, smoothing: float, agreement: Callable[[dict[str, Any], str], str]
) -> list[Path]:
    """Save the figure of one smoothing; `agreement` compares it with what the paper sees."""
    values, size, reading = study.values, study.size, shown(study, smoothing)
    place = "on a few digits" if size == "quick" else "real data, and synthetic where it says so"
    caption = Caption(
        title=f"{title}, {place}",
        shows=SHOWS,
        settings=settings(values, size, smoothing, reading),
        agreement=agreement(values, size),
    )
    return study.save_figure(draw(values, size, smoothing, reading), caption)


def agreement_without_envelope(values: dict[str, Any], size: str) -> str:
    return (
        "The paper sees LSFW far ahead of both others where there are many features, all three "
        f"alike on Caltech101 and News20, and LSFW ahead of PG. {told_errors(values, size, 0.0)}."
    )


def agreement_with_envelope(values: dict[str, Any], size: str) -> str:
    return (
        "The paper: the envelope makes LSFW faster on Caltech101 and News20, and not where "
        f"there are many features. {told_gaps(values, size)}. With rows of length 1: "
        f"{told_errors(values, size, ENVELOPE, (UNIT,))}."
    )


def least_errors(
    values: dict[str, Any], name: str, smoothing: float, reading: Reading = UNIT
) -> dict[str, float]:
    """Return the smallest objective error of each method."""
    best = values[cell_name(name, REFERENCE, smoothing, reading)]
    runs = {method: values[cell_name(name, method, smoothing, reading)] for method in METHODS}
    return {method: float(objective_error(run, best).min()) for method, run in runs.items()}


def told_differences(values: dict[str, Any], size: str) -> dict[str, Any]:
    """Return what holds of Figure 1 with the rows that the text allows."""
    errors = {name: least_errors(values, name, 0.0, RAW) for name in data(size)}
    ahead = listed(name for name, e in errors.items() if e["LSFW"] < e["PG"]) or "no set"
    factors = listed(f"{spread(values, name):.3g}" for name in errors)
    return {
        "finding": "By their Figure 1, Tajima et al. say, the line search LSFW is ahead of the "
        f"projected subgradient PG, and three methods are similar on {listed(data(size))}. Here, "
        f"with {RAW.name}, LSFW is ahead of PG on {ahead}, and the errors of the three differ by "
        f"factors of {factors} after {MAX_ITER[size]} iterations. With Caltech101 in black and "
        f"white, as it is published, its factor is {spread(values, BLACK_AND_WHITE):.3g}. The "
        "paper gives no number for what is similar."
    }


def told_errors(
    values: dict[str, Any],
    size: str,
    smoothing: float,
    readings: Sequence[Reading] = READINGS,
) -> str:
    """Return the smallest errors, and where the line search has the smallest."""
    told = []
    for reading in readings:
        errors = {name: least_errors(values, name, smoothing, reading) for name in sets(size)}
        texts = [
            f"{name} {' / '.join(f'{e:.1e}' for e in found.values())}"
            for name, found in errors.items()
        ]
        first = [name for name, found in errors.items() if found["LSFW"] == min(found.values())]
        told.append(
            f"{reading.name}: {'; '.join(texts)}; LSFW has the smallest on {len(first)} of "
            f"{len(errors)} sets"
        )
    return f"Smallest objective errors, {' / '.join(METHODS)}, {'. '.join(told)}"


def smallest_gaps(values: dict[str, Any], name: str, reading: Reading) -> tuple[float, float]:
    """Return the smallest gap of the line search without and with the envelope."""
    plain, smooth = (values[cell_name(name, "LSFW", s, reading)] for s in (0.0, ENVELOPE))
    return float(gaps(plain).min()), float(gaps(smooth).min())


def told_gaps(values: dict[str, Any], size: str) -> str:
    told = []
    for reading in READINGS:
        pairs = {name: smallest_gaps(values, name, reading) for name in sets(size)}
        texts = [f"{name} {plain:.2e} to {smooth:.2e}" for name, (plain, smooth) in pairs.items()]
        told.append(f"{reading.name}: {'; '.join(texts)}")
    return f"Smallest gap of LSFW without and with it, {'. '.join(told)}"


def similar(
    values: dict[str, Any], name: str, reading: Reading, stored: str = ""
) -> dict[str, float]:
    """Return the distances of T20's two statements on the methods on one of its sets.

    stored: the name of the stored data, if it is another.
    """
    errors = least_errors(values, stored or name, 0.0, reading)
    alike = max(errors.values()) <= SIMILAR * min(errors.values())
    return {
        f"{name}: no error is twice another": truth_distance(alike),
        f"{name}: LSFW is ahead of PG": truth_distance(errors["LSFW"] < errors["PG"]),
    }


def grey_pixels(values: dict[str, Any], one: Tried) -> list[Cause]:
    """Return the colour of Caltech101's pixels as a cause, in the reading of the text."""
    if one.reading != RAW:
        return []
    present = similar(values, CALTECH, RAW, BLACK_AND_WHITE)
    binary, grey = (spread(values, name) for name in (BLACK_AND_WHITE, CALTECH))
    number = f"the errors differ by a factor of {binary:.3g} in place of {grey:.3g}"
    return [Cause(GREY, number, present, {cell: one.cells[cell] for cell in present})]


def spread(values: dict[str, Any], name: str) -> float:
    """Return the largest error over the least, of the three methods on rows as they are."""
    errors = least_errors(values, name, 0.0, RAW).values()
    return max(errors) / min(errors)


def accelerated(values: dict[str, Any], name: str, reading: Reading) -> dict[str, float]:
    """Return the distance of the statement that the envelope makes the line search faster."""
    plain, smooth = smallest_gaps(values, name, reading)
    return {f"{name}: the envelope makes LSFW faster": truth_distance(smooth < plain)}


def finding(
    values: dict[str, Any],
    size: str,
    statements: Callable[[dict[str, Any], str, Reading], dict[str, float]],
    claims: tuple[str, ...],
    causes: Callable[[dict[str, Any], Tried], list[Cause]] | None = None,
) -> FigureFinding:
    """Return the finding: Caltech101 chooses the reading of the rows, News20 confirms it."""
    tried = [
        Tried(reading, *(statements(values, name, reading) for name in ("Caltech101", "News20")))
        for reading in READINGS
    ]
    what = f"statements on 2 of the paper's 5 sets after {MAX_ITER[size]} iterations hold"
    declared = partial(causes, values) if causes else ()
    return judge(tried, 0.0, what, told_failures(tried, 0.0), claims, declared)


def settings(values: dict[str, Any], size: str, smoothing: float, reading: Reading) -> str:
    references = [cell_name(name, REFERENCE, smoothing, reading) for name in sets(size)]
    rest = [values[name]["last_gap"] for name in references]
    return (
        f"weighted Usunier loss with weights max(0, 6 - j)/15, lam = 1/n, smoothing {smoothing:g}, "
        f"from A = 0, {MAX_ITER[size]} iterations. The picture: {reading.name}, P(w*) by "
        f"`{REFERENCE}` with a certified gap of at most {max(rest):.1e}. {RAW.name.capitalize()}: "
        f"real sets to a gap of {TOL_RAW:g}; seed 0. {shown_data(size)}"
    )


def shown_data(size: str) -> str:
    if size == "quick":
        return "A few digits in place of the paper's sets."
    return f"{LACKING} In their place synthetic rows with more features than samples. {DERIVED}"


SCRIPTS = {
    "figure1": Script(
        "T20 Figure 1: objective error and gap against iterations, without the Moreau envelope.",
        SECONDS,
        partial(cells, smoothings=(0.0,)),
        partial(
            plot,
            title="T20 Figure 1: convergence without the Moreau envelope",
            smoothing=0.0,
            agreement=agreement_without_envelope,
        ),
        partial(
            finding,
            statements=similar,
            claims=("T20-lsfw-faster", "T20-lsfw-similar", "T20-lsfw-pg"),
            causes=grey_pixels,
        ),
        told_differences,
    ),
    "figure2": Script(
        "T20 Figure 2: objective error and gap against iterations, with the Moreau envelope.",
        SECONDS,
        partial(cells, smoothings=(ENVELOPE, 0.0)),
        partial(
            plot,
            title=f"T20 Figure 2: convergence with the envelope, smoothing {ENVELOPE}",
            smoothing=ENVELOPE,
            agreement=agreement_with_envelope,
        ),
        partial(
            finding,
            statements=accelerated,
            claims=("T20-moreau-faster", "T20-moreau-others"),
        ),
    ),
}
