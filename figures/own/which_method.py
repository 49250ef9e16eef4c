"""Our own: which method wins, over lambda_max(K)/(lam n) and smoothing: a phase diagram.

The grid is one synthetic set, whose lam follows from lambda_max(K)/(lam n); below it stand real
sets without smoothing. The upper panel counts passes over the samples, so it leaves out methods
whose iteration takes more than one pass; the lower one compares seconds.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import method_line, new_figure, state
from figures.kit.tables import Table
from figures.own.certified_gaps import DEFAULT
from figures.own.subsets import DIGITS, REAL, random_rows
from fwlab.experiments import Cell, DataName

# an iteration is one pass: an LMO, or a block step, per sample
ONE_PASS = (
    *("fw", "bcfw", "ascent", "afw", "pfw", "blended-pairwise", "bafw", "bpfw", "bcafw"),
    *("bcpfw", "bbpfw", "dicg"),
)
METHODS = (*ONE_PASS, "fcfw", "newton")
CONDITIONS = {"quick": (1.0, 100.0), "standard": (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)}
SMOOTHINGS = {"quick": (0.0, 0.1), "standard": (0.0, 0.01, 0.1, 1.0)}
CS = {"quick": (1.0,), "standard": (0.1, 1.0, 10.0)}
for _sizes in (CONDITIONS, SMOOTHINGS, CS):
    _sizes["full"] = _sizes["standard"]
ROWS = {"quick": 40, "standard": 300, "full": 1000}
LIMIT = {"quick": 0.02, "standard": 0.6, "full": 5.0}
FEATURES, CLASSES, SEPARATION = 20, 10, 1.0
K, TOL = 3, 1e-3  # relative
MOST_ITERATIONS = 10**5
# short runs are timed several times
REPEATS, SHORT = 3, 0.1
SECONDS = {"quick": 4, "standard": 250, "full": 2500}
ALONE = True  # times are compared


def cells(size: str) -> list[Cell]:
    settings = {"rows": ROWS[size], "limit": LIMIT[size], "methods": METHODS}
    grid = [
        Cell(
            f"grid|{condition:g}|{smoothing:g}",
            on_grid,
            {"condition": condition, "smoothing": smoothing, **settings},
        )
        for smoothing in SMOOTHINGS[size]
        for condition in CONDITIONS[size]
    ]
    data = DIGITS if size == "quick" else REAL
    return grid + [
        Cell(f"{name}|{C:g}", on_real_data, {"data": one, "C": C, **settings})
        for name, one in data.items()
        for C in CS[size]
    ]


def on_grid(
    condition: float, smoothing: float, rows: int, limit: float, methods: tuple[str, ...]
) -> dict[str, Any]:
    """Return what `contest` does for unit rows whose features have decreasing variances 1/j."""
    drawn = fwlab.datasets.synthetic(rows, FEATURES, CLASSES, SEPARATION, rng=0)
    X = drawn.X_train / np.sqrt(np.arange(1, FEATURES + 1))
    X /= np.linalg.norm(X, axis=1)[:, None]
    lam = largest_eigenvalue(X) / (rows * condition)
    problem = fwlab.Problem(
        X, drawn.y_train, fwlab.TopK(K), lam, smoothing=smoothing, n_classes=CLASSES
    )
    return contest(problem, limit, methods)


def on_real_data(
    data: DataName, C: float, rows: int, limit: float, methods: tuple[str, ...]
) -> dict[str, Any]:
    """Return what `contest` does for random rows of a real set."""
    X, y = random_rows(data, rows)
    classes = data.load().n_classes
    problem = fwlab.Problem(X, y, fwlab.TopK(K), 1 / (C * rows), n_classes=classes)
    return contest(problem, limit, methods)


def contest(problem: fwlab.Problem, limit: float, methods: tuple[str, ...]) -> dict[str, Any]:
    """Return lambda_max(K)/(lam n) and {method: [iterations, seconds]} of those that finish."""
    found = {}
    for method in methods:
        fwlab.solve(problem, method, tol=0.0, max_iter=2)  # compiles
        settings: dict[str, Any] = {
            "max_iter": MOST_ITERATIONS,
            "time_limit": limit,
            "check_every": 1,
        }
        results = [fwlab.solve(problem, method, TOL, relative=True, **settings)]
        if results[0].seconds < SHORT:
            results += [
                fwlab.solve(problem, method, TOL, relative=True, **settings)
                for _ in range(REPEATS - 1)
            ]
        if results[0].success:
            found[method] = [results[0].nit, min(result.seconds for result in results)]
    condition = largest_eigenvalue(problem.X) / (problem.lam * problem.n_samples)
    return {"condition": condition, "methods": found}


def largest_eigenvalue(X: np.ndarray) -> float:
    """Return lambda_max(K) of the Gram matrix K = X X^T."""
    return float(np.linalg.norm(X, 2) ** 2)


@dataclass(frozen=True)
class Contest:
    """A contest: the index of the cost in a run, the factor to its unit, and the methods.

    Methods within `near` times the least cost tie; of these the first one in METHODS wins.
    """

    place: int
    factor: float
    methods: tuple[str, ...]
    near: float

    def costs(self, value: dict[str, Any]) -> dict[str, float]:
        """Return the costs of the methods that reached the gap, in the order of METHODS.

        newton starts with ascent; a run that ends before its first Newton step is left out.
        """
        runs = value["methods"]
        found = {m: self.factor * runs[m][self.place] for m in self.methods if m in runs}
        if "ascent" in found and "newton" in found and runs["newton"][0] == runs["ascent"][0]:
            del found["newton"]
        return found

    def winner(self, value: dict[str, Any]) -> tuple[str, float]:
        """Return the winner and its cost, "" if no method reached the gap."""
        costs = self.costs(value)
        least = min(costs.values(), default=np.inf)
        return next(((m, c) for m, c in costs.items() if c <= self.near * least), ("", least))


PASSES = Contest(0, 1.0, ONE_PASS, 1.0)
MILLISECONDS = Contest(1, 1000.0, METHODS, 1.2)


def spell(cost: float) -> str:
    """Return a cost with two digits, or all digits before the point."""
    return f"{cost:.2g}" if cost < 10 else f"{cost:.0f}"


def plot(study: Study) -> list[Path]:
    """Draw the winner of each cell, by passes above and by seconds below."""
    values = study.values
    figure = new_figure(8.6)
    state(figure, title_of(values))
    axes = figure.subplots(2, 1, sharex=True)
    for ax, contest in zip(axes, (PASSES, MILLISECONDS), strict=True):
        draw(ax, values, contest, study.size)
    axes[0].set_title("fewest passes, of methods with one pass per iteration", fontsize="medium")
    axes[1].set_title("fewest milliseconds, of all methods", fontsize="medium")
    axes[-1].set_xlabel("λ_max(K) / (λn)")
    caption = _caption(values, study.size)
    return [
        *study.save_figure(figure, caption),
        *study.save_table(_table(values), caption, "table"),
    ]


def draw(ax: Any, values: dict[str, Any], contest: Contest, size: str) -> None:
    """Draw the grid as coloured cells, and below it a row of points for each real set."""
    sets = list(dict.fromkeys(c.split("|")[0] for c in values if not c.startswith("grid|")))
    lanes = [f"smoothing {s:g}" for s in reversed(SMOOTHINGS[size])] + sets
    side = np.sqrt(10.0)
    for cell, value in values.items():
        name = cell.split("|")
        winner, cost = contest.winner(value)
        color = method_line(winner)["color"] if winner else "#bbbbbb"
        text = f"{winner}\n{spell(cost)}" if winner else "none"
        x = value["condition"]
        if name[0] == "grid":
            y: float = lanes.index(f"smoothing {name[2]}")
            ax.fill_between([x / side, x * side], y - 0.5, y + 0.5, color=color, alpha=0.3, lw=0)
        else:
            y = lanes.index(name[0])
            text = text.replace("\n", " ")
            ax.plot(x, y + 0.22, "o", color=color, markersize=6, zorder=3)
            y -= 0.12
        ax.text(x, y, text, ha="center", va="center", fontsize=6.5, color="#1a1a1a", zorder=4)
    ax.axhline(len(SMOOTHINGS[size]) - 0.5, color="#000000", linewidth=0.8)
    ax.set(xscale="log", ylim=(len(lanes) - 0.4, -0.5))
    ax.set_yticks(range(len(lanes)), lanes, fontsize="small")
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)


def title_of(values: dict[str, Any]) -> str:
    """Return the winners of most problems by passes, where the second one wins, and by seconds."""
    told = f"By passes, {counted(values, PASSES)}"
    ranked = winners(values, PASSES)
    if len(ranked) > 1:
        most = max(v["condition"] for v in values.values() if PASSES.winner(v)[0] == ranked[1][0])
        told += f", where λ_max(K)/(λn) is at most {most:.2g}"
    return f"{told}; by seconds, {counted(values, MILLISECONDS)}"


def counted(values: dict[str, Any], contest: Contest) -> str:
    """Return the two methods that win most problems, with the numbers of problems."""
    (first, count), *others = [*winners(values, contest), ("no method", 0)][:2]
    second = "".join(f" and {method} {wins}" for method, wins in others if wins)
    return f"{first} wins {count} of {len(values)} problems{second}"


def winners(values: dict[str, Any], contest: Contest) -> list[tuple[str, int]]:
    """Return methods with the numbers of problems that they win, in descending order."""
    found = Counter(contest.winner(value)[0] for value in values.values())
    return [(method, count) for method, count in found.most_common() if method]


def for_pages(values: dict[str, Any], size: str) -> dict[str, Any]:
    """Return the number of problems and the regimes, for the page on which method to choose."""
    return {"problems": len(values), "regimes": regimes(values)}


def regimes(values: dict[str, Any]) -> list[list[str]]:
    """Return a row per method that is first in a contest of seconds, most wins first.

    A row has the method, the number of problems that it wins, the range of lambda_max(K)/(lam n) of
    these, and the range of the default method's time as a multiple of the winner's.
    """
    won: dict[str, list[dict[str, Any]]] = {}
    for value in values.values():
        won.setdefault(MILLISECONDS.winner(value)[0] or "none", []).append(value)
    return [
        [method, str(len(ones)), span([v["condition"] for v in ones]), slower(method, ones)]
        for method, ones in sorted(won.items(), key=lambda pair: -len(pair[1]))
    ]


def slower(method: str, values: list[dict[str, Any]]) -> str:
    """Return the range of the default method's time over that of a method."""
    costs = [MILLISECONDS.costs(value) for value in values]
    found = [c[DEFAULT] / c[method] for c in costs if DEFAULT in c and method in c]
    missed = len(values) - len(found)
    ratios = span(found) if found else ""
    return ratios + f"{'; ' * bool(ratios)}not in time: {missed}" * bool(missed)


def span(numbers: list[float]) -> str:
    """Return the smallest and the largest number with two digits."""
    low, high = (f"{number:.2g}" for number in (min(numbers), max(numbers)))
    return low if low == high else f"{low} to {high}"


def _table(values: dict[str, Any]) -> Table:
    rows = []
    for cell, value in values.items():
        name, *setting = cell.split("|")
        smoothing = setting[1] if name == "grid" else "0"
        for unit, contest in (("passes", PASSES), ("milliseconds", MILLISECONDS)):
            for method, cost in sorted(contest.costs(value).items(), key=lambda pair: pair[1]):
                entry = [name, f"{value['condition']:.3g}", smoothing]
                rows.append([*entry, unit, method, f"{cost:.4g}"])
    return Table(["data", "lambda_max(K)/(lam n)", "smoothing", "of", "method", "cost"], rows)


def _caption(values: dict[str, Any], size: str) -> Caption:
    unsolved = sum(not value["methods"] for value in values.values())
    return Caption(
        title="Which method wins, over λ_max(K)/(λn) and smoothing",
        shows=(
            f"The method that is first to reach a relative gap of {TOL:g}, and its cost: in passes "
            "above, in milliseconds below, where among methods within a fifth of the "
            "fastest the first in the list wins (newton starts with ascent, and "
            "counts only if it makes a Newton step). Coloured cells: synthetic data. "
            "Points: real sets without smoothing. The "
            "table has all methods."
        ),
        settings=(
            f"TopK({K}); synthetic: {ROWS[size]} unit rows, d = {FEATURES}, m = {CLASSES}, "
            f"features of variances 1/j, class means {SEPARATION:g} N(0, I); real: {ROWS[size]} "
            f"random unit rows, λ = 1/(C n), C = {', '.join(f'{C:g}' for C in CS[size])}; list: "
            f"{', '.join(METHODS)}; {LIMIT[size]:g} s a run, one thread; seed 0."
        ),
        agreement=(
            f"No paper has this figure. {title_of(values)}. No method reached the gap "
            f"in {unsolved}."
        ),
    )
