"""K19 Figure 1: the true and the pseudo effective domain for m = 3, k = 2, and two runs on them.

A block of the dual sums to zero, so for three classes it is a point of the plane: its negative
entries of the two other classes. The top-2 hinge allows the square of side 1/2, SDCA's pseudo
top-2 set is its diagonal. The animation shows a row's block and the dual in it: SDCA stays on the
diagonal and ends where the dual still rises, `ascent` goes on to the optimum.
"""

from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.readings import Reading, Tried, truth_distance
from figures.kit.study import Study
from figures.kit.style import SERIES, ink, label_curves, light_grid, new_figure, series, state
from fwlab.experiments import Cell

M, K, N, D, LAM, SEED = 3, 2, 8, 4, 0.1, 2
RUNS = {"sdca-lapin": "SDCA, pseudo top-2", "ascent": "ascent, true top-2"}
# what the animation shows of the runs: method, column, name
GAPS = (
    ("ascent", "gap", "ascent: gap of the true loss"),
    ("sdca-lapin", "gap", "SDCA: gap of the true loss"),
    ("sdca-lapin", "own_gap", "SDCA: gap of its own loss"),
)
ITERATIONS = {"quick": 5, "standard": 24, "full": 24}
GRID = 33
SECONDS = {"quick": 5, "standard": 10, "full": 10}
# least ratio of a gap that stays to a gap that vanishes
CLEARLY = 100


def cells(size: str) -> list[Cell]:
    return [
        Cell("domains", domains, {"m": M, "k": K}),
        Cell("runs", runs, {"size": ITERATIONS[size]}),
    ]


def domains(m: int, k: int) -> dict[str, Any]:
    """Vertices (v, 2) of both domains in the plane of the classes other than y = 2, in order
    around their centre."""
    losses = {"true": fwlab.TopK(k), "pseudo": fwlab.PseudoTopK(k)}
    return {name: around(-loss.vertices(m, 2)[:, :2]) for name, loss in losses.items()}


def around(points: np.ndarray) -> np.ndarray:
    centred = points - points.mean(axis=0)
    return points[np.argsort(np.arctan2(centred[:, 1], centred[:, 0]), kind="stable")]


def problem() -> fwlab.Problem:
    data = fwlab.datasets.synthetic(N, D, M, 1.0, rng=SEED, normalize="unit")
    return fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(K), LAM, n_classes=M)


def runs(size: int) -> dict[str, Any]:
    """The block of one row after each iteration, the dual around it, and the gaps. The row is the
    one whose block at the optimum is farthest from the diagonal."""
    training = problem()
    optimum = fwlab.solve(training, tol=1e-12, max_iter=5000, check_every=1)
    blocks = plane(training, optimum.A)
    row = int(np.abs(blocks[:, 0] - blocks[:, 1]).argmax())
    found: dict[str, Any] = {"optimum": blocks[row], "dual": optimum.dual, "gap": optimum.gap}
    for method in RUNS:
        path: list[np.ndarray] = []

        def keep(state: Any, path: list[np.ndarray] = path) -> None:
            path.append(state.A.copy())

        result = fwlab.solve(
            training, method, tol=1e-14, max_iter=size, callback=keep, check_every=1
        )
        own = result.trace.own_gap
        found[method] = {
            "block": [plane(training, A)[row] for A in path],
            "dual": [quadratic(training, A, row) for A in path],
            "gap": result.trace.gap,
            "own_gap": None if own is None else own,
        }
    return found


def others(y: int) -> list[int]:
    return [j for j in range(M) if j != y]


def plane(training: fwlab.Problem, A: np.ndarray) -> np.ndarray:
    """Minus the entries of the other classes, (n, 2)."""
    return np.array([-a[others(y)] for a, y in zip(A, training.y, strict=True)])


def quadratic(training: fwlab.Problem, A: np.ndarray, row: int) -> np.ndarray:
    """The dual where this row's block goes through the square: the coefficients of a quadratic
    function, found from nine of its values."""
    few, values = square(3), []
    for first, second in few:
        moved = A.copy()
        moved[row, others(training.y[row])] = (-first, -second)
        moved[row, training.y[row]] = first + second
        values.append(training.dual(moved))
    coefficients: np.ndarray = np.linalg.lstsq(monomials(few), np.array(values), rcond=None)[0]
    return coefficients


def surface(coefficients: Any) -> np.ndarray:
    """A quadratic function on the square, (GRID, GRID)."""
    values: np.ndarray = monomials(square(GRID)) @ np.asarray(coefficients)
    return values.reshape(GRID, GRID)


def square(n: int) -> np.ndarray:
    """n x n points of [0, 1/K]^2, (n^2, 2), the first coordinate running fastest."""
    side = np.linspace(0.0, 1 / K, n)
    return np.array([(first, second) for second in side for first in side])


def monomials(points: np.ndarray) -> np.ndarray:
    u, v = points.T
    return np.column_stack([np.ones_like(u), u, v, u * u, u * v, v * v])


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Judge what the sketch says: a subset of the feasible region can miss the optimum."""
    true, pseudo = (
        {tuple(np.round(corner, 9)) for corner in values["domains"][name]}
        for name in ("true", "pseudo")
    )
    sdca, ascent = (values["runs"][method] for method in ("sdca-lapin", "ascent"))
    statements = {
        "the broken region lies in the solid one": pseudo < true,
        "over it the optimum is not attained": sdca["gap"][-1] > CLEARLY * sdca["own_gap"][-1],
        "over the solid one it is": CLEARLY * ascent["gap"][-1] < sdca["gap"][-1],
    }
    tried = Tried(
        Reading("", source="K19 Figure 1"),
        {what: truth_distance(s) for what, s in statements.items()},
    )
    return judge([tried], 0.0, "statements of the sketch hold", claims=("K19-positive-gap",))


def plot(study: Study) -> list[Path]:
    values = study.values
    sets, found = values["domains"], values["runs"]
    figure = new_figure(4.8)
    ax = figure.add_subplot()
    draw_domains(ax, sets)
    gaps = [found[method]["gap"][-1] for method in RUNS]
    state(
        figure,
        f"SDCA stays on the diagonal and leaves a gap of {gaps[0]:.1g}; "
        f"on the whole square it is {gaps[1]:.0e}",
    )
    files = study.save_figure(figure, caption(found, study.size))
    return [*files, animate(study, sets, found)]


def draw_domains(ax: Any, sets: dict[str, Any]) -> None:
    true, pseudo = np.array(sets["true"]), np.array(sets["pseudo"])
    blue, red = SERIES[0][0], SERIES[1][0]
    ax.fill(*true.T, color=blue, alpha=0.15, zorder=0)
    ax.plot(*np.vstack([true, true[:1]]).T, "o-", color=blue)
    ax.plot(*pseudo.T, "s--", color=red, linewidth=2.5)
    ax.text(0.17, 0.35, "true:\ntop-2 hinge", color=blue, ha="center")
    ax.text(0.27, 0.2, "pseudo top-2,\nused by SDCA", color=ink(red))
    light_grid(ax)
    ax.set(aspect="equal", xlim=(-0.05, 0.55), ylim=(-0.05, 0.55))
    ax.set(xlabel="$-a_1$", ylabel="$-a_2$    (with $a_3 = -a_1 - a_2$, $y = 3$)")


def animate(study: Study, sets: dict[str, Any], found: dict[str, Any]) -> Path:
    """A frame an iteration: above the block of one row in both runs, below the gaps."""
    figure = new_figure(6.6)
    above, below = figure.subfigures(2, 1, height_ratios=(1.0, 1.15))
    squares = dict(zip(RUNS, above.subplots(1, 2), strict=True))
    gaps = below.subplots()
    frames = len(found["ascent"]["block"])
    past = draw_gaps(gaps, found)

    def draw(frame: int) -> None:
        for method, ax in squares.items():
            ax.clear()
            draw_square(ax, sets, found, method, frame)
        for line, (method, column, _) in zip(past, GAPS, strict=True):
            seen = found[method][column][: frame + 1]
            line.set_data(np.arange(len(seen)), seen)

    return study.save_animation(draw, frames, figure, "animation")


def draw_square(
    ax: Any, sets: dict[str, Any], found: dict[str, Any], method: str, frame: int
) -> None:
    value = found[method]
    step = min(frame, len(value["block"]) - 1)
    side = np.linspace(0.0, 1 / K, GRID)
    ax.contour(side, side, surface(value["dual"][step]), levels=9, cmap="Greys", linewidths=0.8)
    own = np.array(sets["pseudo" if method.startswith("sdca") else "true"])
    ax.plot(
        *np.vstack([own, own[:1]]).T, color=SERIES[0 if method == "ascent" else 1][0], alpha=0.6
    )
    past = np.array(value["block"][: step + 1])
    ax.plot(*past.T, color="black", linewidth=1.2)
    ax.plot(*past[-1], "o", color="black", markersize=7)
    ax.plot(*found["optimum"], "*", color=SERIES[1][0], markersize=13, zorder=5)
    ax.set(aspect="equal", xlim=(-0.04, 0.54), ylim=(-0.04, 0.54), xticks=(0, 0.5), yticks=(0, 0.5))
    ax.set_title(f"{RUNS[method]}\niteration {step}", fontsize=10)


def draw_gaps(ax: Any, found: dict[str, Any]) -> list[Any]:
    """Draw whole runs faintly, and return lines for what a frame shows of each."""
    past = []
    for index, (method, column, label) in enumerate(GAPS):
        gaps = np.array(found[method][column])
        ax.plot(np.arange(len(gaps)), gaps, color=SERIES[index][0], alpha=0.25, label=label)
        past += ax.plot([], [], **series(index))
    longest = max(len(found[method]["gap"]) for method in RUNS) - 1
    ax.set(yscale="log", xlim=(-0.5, longest + 0.5), ylim=(1e-9, 1e5), xlabel="iteration")
    ax.set_ylabel("certified gap")
    light_grid(ax)
    label_curves([ax])
    return past


def caption(found: dict[str, Any], size: str) -> Caption:
    sdca, ascent = found["sdca-lapin"], found["ascent"]
    return Caption(
        title="K19 Figure 1: the true and the pseudo domain, and two runs on synthetic data",
        shows=(
            "Left out class y = 3, a block is a point of the plane. The figure shows both "
            "domains; the animation the block of one row in two runs, with contours of the dual "
            "when the other rows stay, the true optimum as a star, and certified gaps, each named "
            "with its loss."
        ),
        settings=(
            f"m = {M}, k = {K}; synthetic: n = {N}, d = {D}, separation 1, unit rows, lam = {LAM}, "
            f"seed {SEED}; {ITERATIONS[size]} iterations."
        ),
        agreement=(
            f"The dual at the optimum is {found['dual']:.4f} (gap {found['gap']:.0e}); "
            f"SDCA ends with a gap of {sdca['gap'][-1]:.1e} of the true loss and "
            f"{sdca['own_gap'][-1]:.1e} of its own, ascent with {ascent['gap'][-1]:.1e}."
        ),
    )
