"""Rates of convergence on strongly concave duals: the dual error D* - D(A_t) from A = 0.

Four small top-2 problems: with smoothing, and with more features than samples and none, each with
the optimum on a face and in the interior of the domain.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.study import Study, part_name
from figures.kit.style import label_curves, light_grid, method_line, new_figure, state
from figures.kit.tables import Table
from fwlab.experiments import Cell

PANELS = {
    "all rows": ("fw", "fw-open-loop", "afw", "pfw", "blended-pairwise", "fcfw"),
    "row by row": ("bcfw", "bbpfw", "dicg", "ascent"),
}
METHODS = tuple(method for family in PANELS.values() for method in family)
ITERATIONS = {"quick": 100, "standard": 20_000, "full": 20_000}
SECONDS = {"quick": 3, "standard": 40, "full": 40}
# points kept of a curve, on a linear and on a logarithmic axis
POINTS = 100
# an error below this fraction of |D*| is due to rounding
FLOOR = 1e-13
# below the rounding floor, where runs end
TOL = 1e-15
COLUMNS = (
    "problem",
    "method",
    "order",
    "factor",
    "R2 order",
    "R2 factor",
    "fits better",
    "from",
    "to",
)


@dataclass(frozen=True)
class Setting:
    """A problem on unit rows of synthetic data, and where its optimum is supposed to be."""

    name: str
    d: int
    lam: float
    smoothing: float
    interior: bool
    n: int = 20
    m: int = 5
    separation: float = 0.0
    seed: int = 0

    def problem(self) -> fwlab.Problem:
        data = fwlab.datasets.synthetic(
            self.n, self.d, self.m, self.separation, rng=self.seed, normalize="unit"
        )
        return fwlab.Problem(
            data.X_train,
            data.y_train,
            fwlab.TopK(2),
            self.lam,
            smoothing=self.smoothing,
            n_classes=self.m,
        )


SETTINGS = (
    Setting("smoothing 0.1, face", d=5, lam=0.2, smoothing=0.1, interior=False),
    Setting("smoothing 2, interior", d=5, lam=0.2, smoothing=2.0, interior=True),
    Setting("d > n, face", d=60, lam=0.05, smoothing=0.0, interior=False, separation=0.5),
    Setting("d > n, interior", d=400, lam=0.02, smoothing=0.0, interior=True),
)


def cells(size: str) -> list[Cell]:
    settings = {"methods": list(METHODS), "iterations": ITERATIONS[size]}
    return [Cell(s.name, solve_setting, {"setting": s, **settings}) for s in SETTINGS]


def solve_setting(setting: Setting, methods: list[str], iterations: int) -> dict[str, Any]:
    """Return relative dual errors of every method, thinned for drawing, and fits to all errors."""
    problem = setting.problem()
    optimum = fwlab.solve(problem, "ascent", tol=0.0, max_iter=5000, check_every=1000)
    if setting.interior != is_interior(problem, optimum.A):
        raise RuntimeError(f"the optimum of {setting.name!r} is not where it is supposed to be")
    runs = {
        m: fwlab.solve(problem, m, tol=TOL, max_iter=iterations, check_every=1) for m in methods
    }
    best = max([optimum.dual, *[result.dual for result in runs.values()]])
    found: dict[str, Any] = {"optimum": best, "gap": optimum.gap, "methods": {}}
    for method, result in runs.items():
        t, errors = result.trace.iteration, (best - result.trace.dual) / abs(best)
        last = len(t) - 1
        kept = np.union1d(np.linspace(0, last, POINTS), np.geomspace(1, last, POINTS)).astype(int)
        curve = {"iteration": t[kept], "error": errors[kept]}
        found["methods"][method] = {**curve, "fit": fitted(t, errors)}
    return found


def is_interior(problem: fwlab.Problem, A: np.ndarray) -> bool:
    """Return whether A stays feasible if moved away from an interior point by a thousandth."""
    rng, loss = np.random.default_rng(0), problem.loss
    vertices = [loss.lmo(rng.normal(size=A.shape), problem.y) for _ in range(400)]
    center = np.mean(vertices, axis=0) / 2
    return problem.is_feasible(center + 1.001 * (A - center))


def fitted(iteration: np.ndarray, errors: np.ndarray) -> list[str]:
    """Fit the last nine tenths of the iterations before rounding by least squares.

    Returns p of errors like t^-p, q of errors like q^t, and R2 of both fits to log10(errors).
    """
    rounding = np.flatnonzero(errors <= FLOOR)
    stop = rounding[0] if len(rounding) else len(errors)
    used = slice(max(1, stop // 10), stop)
    t, log_error = iteration[used], np.log10(errors[used])
    if len(t) < 3:
        return ["-", "-", "-", "-", "too short", str(used.start), str(stop - 1)]
    (order, order_fit), (slope, slope_fit) = line(np.log10(t), log_error), line(t, log_error)
    better = "geometric" if slope_fit > order_fit else "power"
    numbers = [f"{-order:.2f}", f"{10**slope:.6f}", f"{order_fit:.4f}", f"{slope_fit:.4f}"]
    return [*numbers, better, str(t[0]), str(t[-1])]


def line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the slope of the least squares line and its R2."""
    slope, constant = np.polyfit(x, y, 1)
    rest = np.var(y - slope * x - constant)
    return float(slope), float(1 - rest / np.var(y))


def plot(study: Study) -> list[Path]:
    """Draw errors on the left against log t, where powers are straight, on the right against t."""
    values = study.values
    caption = _caption(values, ITERATIONS[study.size])
    files = []
    for name, value in values.items():
        figure = new_figure(5.6)
        draw(figure, value["methods"])
        state(figure, title_of(name, value["methods"]))
        label_curves(figure.axes, fontsize=7.5)
        files += study.save_figure(figure, caption, part_name(name))
    rows = [
        [name, method, *found["fit"]]
        for name, value in values.items()
        for method, found in value["methods"].items()
    ]
    return [*files, *study.save_table(Table(COLUMNS, rows), caption, "table")]


def title_of(name: str, methods: dict[str, Any]) -> str:
    """Return which methods converge geometrically."""
    names = [method for method, found in methods.items() if found["fit"][4] == "geometric"]
    return f"{name}: geometric rates for {', '.join(names) or 'no method'}"


def last_geometric(found: list[dict[str, Any]]) -> float:
    """Return the last iteration of the geometric runs, or of all runs if there are none."""
    ends = {run["iteration"][-1]: run["fit"][4] == "geometric" for run in found}
    return float(max([end for end, geometric in ends.items() if geometric] or ends))


def draw(figure: Any, methods: dict[str, Any]) -> None:
    """Draw a row of panels per family of methods."""
    axes = figure.subplots(len(PANELS), 2, sharey=True)
    for pair, family in zip(axes, PANELS.values(), strict=True):
        for method in family:
            found = methods[method]
            errors = np.array(found["error"])
            shown = np.where(errors > FLOOR, errors, np.nan)
            for ax, places in zip(pair, (np.geomspace, np.linspace), strict=True):
                marks = np.searchsorted(found["iteration"], places(1, found["iteration"][-1], 7))
                style = {**method_line(method), "markevery": marks.tolist()}
                ax.plot(found["iteration"], shown, **style, label=method)
        powers, rates = pair
        rates.set_xlim(0, 1.1 * last_geometric([methods[method] for method in family]))
        powers.set(xscale="log", yscale="log", ylabel="dual error / |D*|")
        light_grid(powers)
        light_grid(rates)
    axes[-1, 0].set_xlabel("iteration (powers are straight)")
    axes[-1, 1].set_xlabel("iteration (rates are straight)")


def _caption(values: dict[str, Any], iterations: int) -> Caption:
    geometric = [
        f"{method} on {name}"
        for name, value in values.items()
        for method, found in value["methods"].items()
        if found["fit"][4] == "geometric"
    ]
    return Caption(
        title="Rates of convergence on strongly concave duals, synthetic data",
        shows=(
            "Dual error (D* - D) / |D*| from A = 0 against iterations, logarithmic on the left, "
            "linear on the right; the table has least-squares fits of a power and of a geometric "
            "rate to the last nine tenths of the iterations before rounding."
        ),
        settings=(
            f"{iterations} iterations at most; problems: "
            f"{'; '.join(str(setting) for setting in SETTINGS)}."
        ),
        agreement=f"A geometric rate fits better for: {', '.join(geometric) or 'none'}.",
    )
