"""Why all blocks share a bent path: two simpler rules for one step of all blocks, and their end.

Away and pairwise directions with one active set a sample, on digits. A common step that respects
every bound is held by the smallest weight of any block; directions scaled by their own bounds
stall, because small weights shrink and never reach 0; the bent path cuts each block at its bound.

    python -m figures.bent_path [FOLDER]
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from fwlab._files import write_atomically
from fwlab.kernels.bent_path import move_rows
from fwlab.solvers._state import State
from fwlab.solvers.bent_path import BentPath, Directions, follow_bent_path

RULES = ("bent path", "common step", "scaled directions")
DIRECTIONS = {"away": False, "pairwise": True}
ITERATIONS, CHECKPOINTS = 600, 200
STYLES = {"bent path": ("#d55e00", "-"), "common step": ("#0072b2", "--")}
STYLES["scaled directions"] = ("#009e73", "-.")


def digits() -> fwlab.Problem:
    data = fwlab.datasets.load("digits", normalize="unit")
    return fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(3), 1 / len(data.y_train))


def run(folder: Path, iterations: int = ITERATIONS) -> None:
    """Solve by all rules; folder/bent_path.npz gets gaps, dual errors and atoms a sample."""
    problem = digits()
    best = fwlab.solve(problem, "ascent", tol=1e-9, max_iter=5000).dual
    seen = np.unique(np.geomspace(1, iterations, CHECKPOINTS).astype(int))
    settings = json.dumps({"iterations": iterations, "optimum": best})
    stored: dict[str, Any] = {"settings": settings, "iteration": seen}
    for name, pairwise in DIRECTIONS.items():
        for rule in RULES:
            certificates, atoms = solve(problem, rule, BentPath(pairwise), set(seen))
            stored[f"{name}|{rule}|gap"] = [c.gap for c in certificates]
            stored[f"{name}|{rule}|error"] = [(best - c.dual) / best for c in certificates]
            stored[f"{name}|{rule}|atoms"] = np.array(atoms) / problem.n_samples
    write_atomically(folder / "bent_path.npz", lambda file: np.savez_compressed(file, **stored))


def solve(
    problem: fwlab.Problem, rule: str, method: BentPath, seen: set[int]
) -> tuple[list[Any], list[int]]:
    """Certificates and numbers of atoms after some of the iterations, from A = 0 on."""
    A = np.zeros((problem.n_samples, problem.n_classes))
    state = State(problem, A, np.random.default_rng(0))
    sets = method.start(state)
    certificates, atoms = [], []
    for iteration in range(1, max(seen) + 1):
        sets.reserve(np.arange(problem.n_samples))
        path = method.choose(state, sets)
        steps = take_step(state, path, rule)
        move_rows(sets.arrays, path.slots, steps, path.limits, problem.y, state.A)
        state.refresh()
        if iteration in seen:
            certificates.append(problem.certificate(state.A, state.link, state.scores))
            atoms.append(sets.size)
    return certificates, atoms


def take_step(state: State, path: Directions, rule: str) -> np.ndarray:
    """How far each block moves along its direction, (n,)."""
    problem, limits = state.problem, path.limits
    if rule == "bent path":
        return np.minimum(follow_bent_path(state, path), limits)
    if rule == "common step":
        shares, bound = np.where(limits > 0, 1.0, 0.0), limits[limits > 0].min(initial=np.inf)
    else:
        shares, bound = limits, 1.0
    D = path.D * shares[:, None]
    bend = problem.curvature(D, problem.link(D))
    if bend == 0.0:
        return np.zeros_like(limits)
    return min(bound, path.slopes @ shares / problem.n_samples / bend) * shares


def plot(folder: Path) -> tuple[Path, Path]:
    """Draw folder/bent_path.npz: gap, dual error and atoms against iterations."""
    from matplotlib.figure import Figure

    from fwlab.plot import save_figure

    with np.load(folder / "bent_path.npz", allow_pickle=False) as file:
        stored = dict(file)
    seen = stored["iteration"]
    rows = {
        "gap": "certified gap",
        "error": "dual error / optimum",
        "atoms": "atoms held a sample",
    }
    figure = Figure(figsize=(9, 9.5), layout="constrained")
    axes = figure.subplots(len(rows), 2, sharey="row", sharex=True)
    for column, name in enumerate(DIRECTIONS):
        for row, (quantity, label) in enumerate(rows.items()):
            ax = axes[row, column]
            for rule, (colour, line) in STYLES.items():
                values = stored[f"{name}|{rule}|{quantity}"]
                ax.plot(seen, values, color=colour, linestyle=line, linewidth=1.4, label=rule)
            ax.set(yscale="log", xscale="log", xlim=(1, seen[-1]))
            ax.grid(alpha=0.3)
            if column == 0:
                ax.set_ylabel(label)
        axes[0, column].set_title(f"{name} directions")
        axes[-1, column].set_xlabel("iteration")
    axes[0, 0].legend(loc="lower left")
    return save_figure(figure, folder / "bent_path")


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "results/bent_path")
    target.mkdir(parents=True, exist_ok=True)
    run(target)
    print(*plot(target))
