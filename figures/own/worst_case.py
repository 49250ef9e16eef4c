"""Our own: the proved worst case of Frank-Wolfe with steps ell/(t+ell-1), and runs on real duals.

The error max D - D(A_t) in units of the curvature C = max <S - A, H (S - A)> over the domain, H
minus the Hessian of D: lam |w(V)|^2 + smoothing/n |V|_F^2 is <V, H V>. Proved for all t is
ell^2/(2 (ell - 1)) C/(t + ell); for the first t, a smaller bound by exact certificates, and a
training problem that comes near it. A run is drawn too high rather than too low: its error is
relative to the smallest primal found, and in units of a lower bound of C.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import label_curves, log_axes, new_figure, series, state
from figures.kit.tables import Table
from figures.own.subsets import DIGITS, REAL, random_rows
from fwlab.experiments import Cell, DataName

ELLS = (2, 4)
SMOOTHINGS = (0.0, 1.0)
FIRST = {"quick": (1, 2, 3), "standard": (1, 2, 3, 5, 8, 12, 20)}
FIRST["full"] = FIRST["standard"]
STEPS = {"quick": 50, "standard": 10_000, "full": 10_000}
ROWS = {"quick": 60, "standard": 200, "full": 200}
K, TOL = 3, 1e-10
# certificates need a bound slightly above the least one
SLACK = Fraction(1001, 1000)
POINTS = 120
STARTS = 5
RATIOS = (0.05, 0.1, 0.2, 0.5, 1, 2, 4)  # marked on the axis
SECONDS = {"quick": 4, "standard": 110, "full": 110}


def cells(size: str) -> list[Cell]:
    data = DIGITS if size == "quick" else REAL
    theory = [Cell(f"ell = {e}", worst_cases, {"ell": e, "times": FIRST[size]}) for e in ELLS]
    settings = {"rows": ROWS[size], "ells": ELLS, "steps": STEPS[size]}
    return theory + [
        Cell(f"{name}|{smoothing:g}", runs, {"data": one, "smoothing": smoothing, **settings})
        for name, one in data.items()
        for smoothing in SMOOTHINGS
    ]


def worst_cases(ell: int, times: tuple[int, ...]) -> dict[str, Any]:
    """Return the proved bound for all t, and for some t a certified bound and an attained error.

    The former is (c, ell), which means c C/(t + ell). The others are the bound of an exact
    certificate and the error of a training problem, in units of C.
    """
    # only this cell needs the packages that these import
    from figures.exact.performance_estimation import find_certificate, least_bound, open_loop_steps
    from figures.exact.rate_recurrence import prove_for_every_numerator, usual_constant
    from figures.exact.worst_case_training import rounded, slowest

    if not prove_for_every_numerator():
        raise RuntimeError("the bound for all t is not proved")
    found: dict[str, Any] = {"for_all": [float(usual_constant(ell)), ell], "t": list(times)}
    proved, reached = [], []
    for t in times:
        steps = open_loop_steps(t, ell, ell - 1)
        bound = (Fraction(least_bound(steps, "quadratic")) * SLACK).limit_denominator(10**6)
        if find_certificate(steps, bound, "quadratic") is None:
            raise RuntimeError(f"no certificate was found for ell = {ell}, t = {t}")
        proved.append(float(bound))
        problem = slowest(steps, lead=2e-4)
        if problem is None:
            raise RuntimeError(f"no slow training problem was found for ell = {ell}, t = {t}")
        training = rounded(*problem, decimals=4)
        reached.append(float(training.errors(steps)[-1] / training.curvature))
    return {**found, "proved": proved, "reached": reached}


def runs(
    data: DataName, smoothing: float, rows: int, ells: tuple[int, ...], steps: int
) -> dict[str, Any]:
    """Return upper bounds of the errors in units of C, thinned, and the largest share of a bound.

    This is the largest share of the bound for all t that any step reaches.
    """
    X, y = random_rows(data, rows)
    classes = data.load().n_classes
    problem = fwlab.Problem(X, y, fwlab.TopK(K), 1 / len(y), smoothing=smoothing, n_classes=classes)
    best = fwlab.solve(problem, "auto", TOL, max_iter=5000)
    curvature = curvature_found(problem)
    found: dict[str, Any] = {"curvature": curvature, "gap": best.gap}
    kept = np.unique(np.geomspace(1, steps, POINTS).astype(int))
    for ell in ells:
        rule = fwlab.FrankWolfe(step=fwlab.OpenLoop(ell))
        trace = fwlab.solve(problem, rule, tol=0.0, max_iter=steps, check_every=1).trace
        t = np.arange(1, steps + 1)
        errors = (best.primal + best.gap_error - trace.dual[1:]) / curvature
        bound = ell**2 / (2 * (ell - 1)) / (t + ell)
        found[f"ell = {ell}"] = {
            "t": kept,
            "error": errors[kept - 1],
            "share": float(np.max(errors / bound)),
            "errors_at_first": errors[:20],
        }
    return found


def curvature_found(problem: fwlab.Problem) -> float:
    """Return a lower bound of C: <V, H V> at differences V of two vertices.

    Local search maximises it from several starts.
    """
    rng = np.random.default_rng(0)
    loss, y = problem.loss, problem.y
    best = 0.0
    for _ in range(STARTS):
        slope = problem.X @ rng.normal(size=(problem.X.shape[1], problem.n_classes))
        value, last = 0.0, -1.0
        while value > last:
            V = loss.lmo(-slope, y) - loss.lmo(slope, y)
            W = problem.weights(V)
            square = problem.lam * np.sum(W**2)
            square += problem.smoothing * np.sum(V**2) / problem.n_samples
            value, last = float(square), value
            slope = problem.X @ W.T + problem.smoothing * V
        best = max(best, value, last)
    return best


def plot(study: Study) -> list[Path]:
    """Draw bounds, worst cases and runs, and below them the ratio of the two rules' errors."""
    values = study.values
    over = [share for share in shares(values).values() if share > 1]
    if over:
        raise ValueError(f"{len(over)} runs are above the proved bound, by up to {max(over):g}.")
    figure = new_figure(7.6)
    state(figure, title_of(values))
    frame, ratios = figure.subplots(2, 1, height_ratios=(3, 2), sharex=True)
    log_axes(frame, "")
    log_axes(ratios, "steps t")
    frame.set_ylabel("error / curvature C")
    ratios.set_ylabel("error of ell = 4 over ell = 2")
    for index, ell in enumerate(ELLS):
        draw_ell(frame, values, ell, series(index))
    draw_ratios(ratios, values)
    label_curves([frame, ratios], fontsize=7.5)
    caption = _caption(values, study.size)
    return [
        *study.save_figure(figure, caption),
        *study.save_table(_table(values), caption, "table"),
    ]


def draw_ell(ax: Any, values: dict[str, Any], ell: int, style: dict[str, Any]) -> None:
    """Draw the bounds, the worst cases found and the runs of one step rule."""
    theory = values[f"ell = {ell}"]
    constant, shift = theory["for_all"]
    measured = of_runs(values)
    t = np.array(next(iter(measured.values()))[f"ell = {ell}"]["t"])
    plain = {"color": style["color"], "linewidth": 1.8}
    ax.plot(t, constant / (t + shift), **plain, label=f"proved for all t, ell = {ell}")
    marks = {**style, "linestyle": "none", "markersize": 5}
    ax.plot(theory["t"], theory["reached"], **marks, label=f"slowest problem found, ell = {ell}")
    ax.plot(theory["t"], theory["proved"], color=style["color"], linewidth=0.8)
    errors = [value[f"ell = {ell}"]["error"] for value in measured.values()]
    band(ax, t, errors, style, f"real duals, ell = {ell}")


def draw_ratios(ax: Any, values: dict[str, Any]) -> None:
    """Draw the ratio of the errors of both step rules: worst cases, and each run."""
    ax.axhline(1.0, color="#4d4d4d", linewidth=0.8)
    ax.set_yticks(RATIOS, [f"{ratio:g}" for ratio in RATIOS])
    ax.yaxis.set_minor_formatter("")
    first, second = (values[f"ell = {ell}"] for ell in ELLS)
    ratio = np.divide(second["reached"], first["reached"])
    ax.plot(first["t"], ratio, **{**series(7), "linestyle": "-"}, label="worst case")
    smoothed = []
    for index, (name, value) in enumerate(of_runs(values).items()):
        data, smoothing = name.split("|")
        t, ratio = np.array(value["ell = 2"]["t"]), ratio_of(value)
        if smoothing == "0":
            ax.plot(t, ratio, **{**series(index // 2 + 2), "markevery": 25}, label=data)
        else:
            smoothed.append(ratio)
    band(ax, t, smoothed, {"color": "#8c8c8c", "linestyle": "-"}, "with smoothing")


def band(ax: Any, t: Any, runs: Any, style: dict[str, Any], label: str) -> None:
    """Shade what several runs cover, with a line at the median, which has the label."""
    color = style["color"]
    ax.fill_between(t, np.min(runs, axis=0), np.max(runs, axis=0), color=color, alpha=0.2, lw=0)
    line = {"color": color, "linestyle": style["linestyle"], "linewidth": 1.2}
    ax.plot(t, np.median(runs, axis=0), **line, zorder=1, label=label)


def of_runs(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of the runs on real duals."""
    return {name: value for name, value in values.items() if "|" in name}


def shares(values: dict[str, Any]) -> dict[str, float]:
    """Return the largest share of the proved bounds that each run reaches."""
    found = {}
    for name, value in of_runs(values).items():
        for ell in ELLS:
            theory, run = values[f"ell = {ell}"], value[f"ell = {ell}"]
            early = np.array(run["errors_at_first"])[np.array(theory["t"]) - 1]
            found[f"{name}|{ell}"] = max(run["share"], float(np.max(early / theory["proved"])))
    return found


def ratio_of(value: dict[str, Any]) -> np.ndarray:
    """Return the error with ell = 4 over the error with ell = 2 at each stored step."""
    return np.divide(value["ell = 4"]["error"], value["ell = 2"]["error"])


def crossings(values: dict[str, Any]) -> dict[str, int | None]:
    """Return the step from which ell = 4 has the smaller error until the end, or None."""
    found: dict[str, int | None] = {}
    for name, value in of_runs(values).items():
        above = np.flatnonzero(ratio_of(value) >= 1)
        t = value["ell = 4"]["t"]
        after = above[-1] + 1 if len(above) else 0
        found[name] = int(t[after]) if after < len(t) else None
    return found


def title_of(values: dict[str, Any]) -> str:
    """Return how much worse ell = 4 is in the worst case, and where it is better at the end."""
    first, second = (values[f"ell = {ell}"] for ell in ELLS)
    ratio = second["reached"][-1] / first["reached"][-1]
    found = crossings(values)
    ahead = {name: step for name, step in found.items() if step is not None}
    worse = f"No run is above its proof. ell = 4 is {ratio:.2f} times worse than ell = 2 in the "
    if not ahead:
        return f"{worse}worst case, and on none of {len(found)} real duals ahead at the end"
    best = max(1 / ratio_of(values[name])[-1] for name in ahead)
    return (
        f"{worse}worst case; after {min(ahead.values())} steps or more it is ahead on "
        f"{len(ahead)} of {len(found)} real duals, by up to {best:.2g} times"
    )


def _table(values: dict[str, Any]) -> Table:
    rows = []
    part, crossed = shares(values), crossings(values)
    for name, value in of_runs(values).items():
        data, smoothing = name.split("|")
        ends = [f"{value[f'ell = {ell}']['error'][-1]:.2e}" for ell in ELLS]
        parts = [f"{part[f'{name}|{ell}']:.3f}" for ell in ELLS]
        when = crossed[name]
        rows.append([data, smoothing, f"{value['curvature']:.4g}", *parts, *ends, str(when or "-")])
    most = [f"largest part of the proof, ell = {ell}" for ell in ELLS]
    last = [f"last error / C, ell = {ell}" for ell in ELLS]
    return Table(["data", "smoothing", "C at least", *most, *last, "ell = 4 ahead from"], rows)


def _caption(values: dict[str, Any], size: str) -> Caption:
    theory = [values[f"ell = {ell}"] for ell in ELLS]
    loose = max(np.max(np.divide(one["proved"], one["reached"])) - 1 for one in theory)
    closest = max(shares(values).values())
    when = "; ".join(
        f"{name.replace('|', ', smoothing ')}: {step or 'never'}"
        for name, step in crossings(values).items()
    )
    return Caption(
        title="Frank-Wolfe with fixed steps: the proof, the worst case and real duals",
        shows=(
            "Above, errors of the dual in units of its curvature C. Thick: the bound that is "
            "proved for every dual and all t. Marks: a training problem for each t that is slow "
            "after t steps, run in exact fractions, on a thin line that an exact certificate "
            "proves. Shaded: what runs on real duals cover, drawn too high rather than too low, "
            "with their median. Below, the ratio of both errors."
        ),
        settings=(
            f"Steps ell/(t+ell-1), t = 1, 2, ..; real duals: TopK({K}), lam = 1/n, {ROWS[size]} "
            f"random rows of length 1, smoothing {' and '.join(map(str, SMOOTHINGS))}; "
            f"errors relative to the primal of a run with a gap of {TOL:g}; C from "
            f"below by {STARTS} climbs; seed 0."
        ),
        agreement=(
            f"No paper has this figure. {title_of(values)}. The worst case is for "
            f"t = {theory[0]['t'][-1]}; certificates and slowest problems are within "
            f"{loose:.1%}. The nearest run is at {closest:.2f} of its proof. ell = 4 is ahead for "
            f"good from step: {when}."
        ),
    )
