"""M20 Figure 3: primal and dual of TopPush, TopPushK and Pat&Mat on Ionosphere, three methods.

The training half of Ionosphere, raw, with the linear kernel, C = 1 and the quadratic surrogate. M20
compares its pairwise ascent on the dual with a gradient method on the primal, and sees "a little
gap" of Pat&Mat; here every method shows both values of its own point, and the interior-point
method closes all gaps.

    python -m figures.macha2020_figure3 [FOLDER]
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from fwlab import datasets, ranking
from fwlab._files import write_atomically

NAME = "macha2020_figure3"
OBJECTIVES = {
    "TopPush": ranking.TopPush(),
    "TopPushK, K = 5": ranking.TopPushK(5),
    "Pat&Mat, tau = 0.05": ranking.PatMat(0.05),
}
# name, colour, line style, what an iteration is
METHODS = {
    "pairwise": ("#d55e00", "-", "176 repeat loops"),
    "subgradient": ("#0072b2", "--", "one step"),
    "interior-point": ("#009e73", "-.", "one Newton step"),
}
LOOPS = 20_000  # of Algorithm 3.1, as in M20 4.2
ITERATIONS = {"quick": 10, "standard": 2000, "full": 20_000}
TOL = 1e-10
COLUMNS = ("iteration", "seconds", "primal", "dual", "gap")
MARKS = 7


def run(folder: Path, size: str = "standard") -> None:
    """Solve by all methods; folder/macha2020_figure3.npz gets the traces."""
    data = datasets.load("ionosphere")
    most = {method: ITERATIONS[size] for method in METHODS}
    most["pairwise"] = min(ITERATIONS[size], LOOPS // len(data.y_train))
    stored: dict[str, Any] = {"settings": json.dumps({"size": size, "data": data.source})}
    for name, objective in OBJECTIVES.items():
        for method, iterations in most.items():
            result = ranking.solve(
                data.X_train, data.y_train, objective, 1.0, method=method, tol=TOL,
                max_iter=iterations,
            )  # fmt: skip
            columns = result.trace.as_dict()
            stored.update({f"{name}|{method}|{column}": columns[column] for column in COLUMNS})
    write_atomically(folder / f"{NAME}.npz", lambda file: np.savez_compressed(file, **stored))


def plot(folder: Path) -> tuple[Path, Path]:
    """Draw folder/macha2020_figure3.npz: above primal and dual, below the relative gap."""
    from matplotlib.figure import Figure

    from fwlab.plot import save_figure

    with np.load(folder / f"{NAME}.npz", allow_pickle=False) as file:
        stored = dict(file)
    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots(2, len(OBJECTIVES), sharex=True)
    for column, name in enumerate(OBJECTIVES):
        values, gaps = axes[:, column]
        for method in METHODS:
            draw(values, gaps, stored, name, method)
        best = stored[f"{name}|interior-point|dual"][-1]
        values.set(title=name, xscale="log", ylim=(0.75 * best, 1.6 * best))
        gaps.set(xlabel="iteration", xscale="log", yscale="log", ylim=(TOL / 10, 3))
        for ax in (values, gaps):
            ax.grid(alpha=0.3)
    axes[0, 0].set_ylabel("primal (above) and dual (below)")
    axes[1, 0].set_ylabel("certified gap / max(|primal|, |dual|)")
    figure.legend(
        *axes[1, 0].get_legend_handles_labels(),
        title="Bold: best so far. Faint: every checkpoint.",
        loc="outside lower center",
        ncols=len(METHODS),
        frameon=False,
    )
    return save_figure(figure, folder / NAME)


def draw(values: Any, gaps: Any, stored: dict[str, Any], name: str, method: str) -> None:
    """The lines of one run, from iteration 1 on: the best so far, and faint every checkpoint."""
    colour, line, unit = METHODS[method]
    columns = {key: stored[f"{name}|{method}|{key}"][1:] for key in COLUMNS}
    seen, primal, dual = (columns[key] for key in ("iteration", "primal", "dual"))
    gap = columns["gap"] / np.maximum(np.abs(primal), np.abs(dual))
    faint: dict[str, Any] = {"color": colour, "linewidth": 0.5, "alpha": 0.3}
    style: dict[str, Any] = {"color": colour, "linestyle": line, "linewidth": 1.6}
    values.plot(seen, primal, **faint)
    gaps.plot(seen, gap, **faint)
    least, most = np.minimum.accumulate(primal), np.maximum.accumulate(dual)
    values.plot(seen, least, marker="v", markevery=marks(seen), **style)
    values.plot(seen, most, marker="^", markevery=marks(seen), **style)
    label = f"{method}, an iteration is {unit}"
    gaps.plot(seen, np.minimum.accumulate(gap), label=label, **style)


def marks(seen: np.ndarray) -> list[int]:
    """Positions of a few markers, evenly spread on a logarithmic axis."""
    wanted = np.geomspace(1, len(seen), min(MARKS, len(seen)))
    return sorted({int(place) - 1 for place in wanted})


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else f"results/{NAME}")
    target.mkdir(parents=True, exist_ok=True)
    run(target)
    print(*plot(target))
