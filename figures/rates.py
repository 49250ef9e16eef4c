"""Rates of convergence on strongly concave duals: the dual error D* - D(A_t) from A = 0.

Four small top-2 problems: with smoothing, and with more features than samples and none, each with
the optimum on a face and in the interior of the domain. `run` stores every run and a table of
fitted slopes; finished runs are found again. `plot` reads what `run` stored and draws it.

    python -m figures.rates [FOLDER]
"""

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from fwlab._files import write_atomically
from fwlab._text import format_table
from fwlab.experiments import compare

METHODS = ("fw", "fw-open-loop", "afw", "pfw", "bcfw", "ascent")
ITERATIONS = 20_000
# below this fraction of |D*| an error is rounding
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
    """A problem on unit rows of synthetic data, and where its optimum is meant to be."""

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


def run(folder: Path, iterations: int = ITERATIONS) -> None:
    """Solve, and write folder/rates.npz: settings, errors of every run, and the slopes."""
    methods = [name for name in METHODS if name in fwlab.methods()]
    stored: dict[str, Any] = {}
    table = []
    for setting in SETTINGS:
        problem = setting.problem()
        optimum = fwlab.solve(problem, "ascent", tol=0.0, max_iter=5000, check_every=1000)
        place = "interior" if is_interior(problem, optimum.A) else "face"
        if setting.interior != (place == "interior"):
            raise RuntimeError(f"the optimum of {setting.name!r} is not where it was meant to be")
        runs = compare({setting.name: problem}, methods, tol=TOL, max_iter=iterations, out=folder)
        best = max([optimum.dual, *[result.dual for result in runs.results.values()]])
        stored[f"{setting.name}|optimum"] = np.array([best, optimum.gap])
        for (_, method), result in runs.results.items():
            errors = (best - result.trace.dual) / abs(best)
            stored[f"{setting.name}|{method}"] = errors
            fit = fitted(result.trace.iteration, errors)
            table.append([setting.name, method, *fit])
            label = f"$t^{{-{fit[0]}}}$" if fit[4] == "power" else f"${fit[1]}^t$"
            stored[f"{setting.name}|{method}|fit"] = label
    settings = {"iterations": iterations, "problems": [asdict(setting) for setting in SETTINGS]}
    text = format_table(COLUMNS, table, right=COLUMNS[2:6] + COLUMNS[7:])
    stored.update(settings=json.dumps(settings), methods=methods, table=text)
    write_atomically(folder / "rates.npz", lambda file: np.savez_compressed(file, **stored))


def is_interior(problem: fwlab.Problem, A: np.ndarray) -> bool:
    """Whether A stays feasible when it moves away from a point inside by a thousandth."""
    rng, loss = np.random.default_rng(0), problem.loss
    vertices = [loss.lmo(rng.normal(size=A.shape), problem.y) for _ in range(400)]
    center = np.mean(vertices, axis=0) / 2
    return problem.is_feasible(center + 1.001 * (A - center))


def fitted(iteration: np.ndarray, errors: np.ndarray) -> list[str]:
    """Least squares on the last nine tenths of the iterations before errors are rounding.

    order: p of errors like t^-p; factor: q of errors like q^t; R2 of both, on log10(errors).
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
    """Slope of the least squares line and its R2."""
    slope, constant = np.polyfit(x, y, 1)
    rest = np.var(y - slope * x - constant)
    return float(slope), float(1 - rest / np.var(y))


def plot(folder: Path) -> tuple[Path, Path]:
    """Draw folder/rates.npz: above against log t, where powers are straight, below against t, where
    geometric errors are."""
    from matplotlib.figure import Figure

    from fwlab.plot import save_figure

    with np.load(folder / "rates.npz", allow_pickle=False) as file:
        stored = dict(file)
    names = [problem["name"] for problem in json.loads(stored["settings"].item())["problems"]]
    figure = Figure(figsize=(4 * len(names), 8), layout="constrained")
    axes = figure.subplots(2, len(names), sharey=True)
    for column, name in enumerate(names):
        for method in stored["methods"]:
            errors = stored[f"{name}|{method}"]
            shown = np.where(errors > FLOOR, errors, np.nan)
            label = f"{method}  {stored[f'{name}|{method}|fit']}"
            for ax in axes[:, column]:
                ax.plot(np.arange(len(shown)), shown, label=label, linewidth=1.2)
        top, bottom = axes[:, column]
        top.set(title=name, xscale="log", yscale="log", xlabel="iteration (logarithmic)")
        bottom.set(yscale="log", xlabel="iteration")
        bottom.legend(title="fit", loc="upper right", fontsize="small")
    for ax in axes[:, 0]:
        ax.set_ylabel("dual error / |D*|")
    return save_figure(figure, folder / "rates")


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "results/rates")
    target.mkdir(parents=True, exist_ok=True)
    run(target)
    print(np.load(target / "rates.npz")["table"].item())
    print(*plot(target))
