"""Why all blocks share a bent path: where two simpler rules for one step of all blocks end.

Away and pairwise directions with one active set per sample, on digits. A common step that respects
every bound is limited by the smallest weight of any block. Directions scaled by their own bounds
stall, because small weights shrink and never reach 0. The bent path stops each block at its bound.
"""

from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import label_curves, line, log_axes, new_figure, series, state
from fwlab.experiments import Cell, DataName
from fwlab.kernels.steps.bent_path import move_rows
from fwlab.solvers.bent_path import BentPath, Directions, follow_bent_path
from fwlab.solvers.method import State

RULES = ("bent path", "common step", "scaled directions")
DIRECTIONS = {"away": False, "pairwise": True}
DATA = DataName("digits", "unit")
ITERATIONS = {"quick": 20, "standard": 600, "full": 600}
SECONDS = {"quick": 2, "standard": 10, "full": 10}
CHECKPOINTS = 200


def cells(size: str) -> list[Cell]:
    settings = {"data": DATA, "iterations": ITERATIONS[size]}
    return [
        Cell(f"{name}|{rule}", certificates, {**settings, "pairwise": pairwise, "rule": rule})
        for name, pairwise in DIRECTIONS.items()
        for rule in RULES
    ]


def digits() -> fwlab.Problem:
    data = DATA.load()
    return fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(3), 1 / len(data.y_train))


def certificates(data: DataName, iterations: int, pairwise: bool, rule: str) -> dict[str, Any]:
    """Return gap, relative dual error and atoms per sample after some of the iterations."""
    problem = digits()
    best = fwlab.solve(problem, "ascent", tol=1e-9, max_iter=5000).dual
    seen = np.unique(np.geomspace(1, iterations, CHECKPOINTS).astype(int))
    found, atoms = solve(problem, rule, BentPath(pairwise), set(seen))
    return {
        "iteration": seen,
        "gap": [c.gap for c in found],
        "error": [(best - c.dual) / best for c in found],
        "atoms": np.array(atoms) / problem.n_samples,
    }


def solve(
    problem: fwlab.Problem, rule: str, method: BentPath, seen: set[int]
) -> tuple[list[Any], list[int]]:
    """Return certificates and numbers of atoms after some of the iterations, starting at A = 0."""
    A = np.zeros((problem.n_samples, problem.n_classes))
    state = State(problem, A, np.random.default_rng(0), method.needs(problem))
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
    """Return how far each block moves along its direction, (n,)."""
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


def plot(study: Study) -> list[Path]:
    """Draw gap, dual error and atoms against iterations."""
    values = study.values
    rows = {
        "gap": "certified gap",
        "error": "dual error / optimum",
        "atoms": "atoms per sample",
    }
    figure = new_figure(7.6)
    axes = figure.subplots(len(rows), 2, sharey="row", sharex=True)
    for column, name in enumerate(DIRECTIONS):
        for row, (quantity, label) in enumerate(rows.items()):
            ax = axes[row, column]
            log_axes(ax, "iteration" if row == len(rows) - 1 else "")
            for index, rule in enumerate(RULES):
                value = values[f"{name}|{rule}"]
                line(ax, value["iteration"], value[quantity], series(index), rule)
            if column == 0:
                ax.set_ylabel(label)
        axes[0, column].set_title(f"{name} directions")
    ends = {name: value["gap"][-1] for name, value in values.items()}
    ratio = min(
        min(ends[f"{name}|{rule}"] for rule in RULES[1:]) / ends[f"{name}|{RULES[0]}"]
        for name in DIRECTIONS
    )
    state(
        figure,
        f"The bent path ends with a gap at least {ratio:.0f} times smaller than the simpler rules",
    )
    label_curves(axes.flat, fontsize=7.0)
    gaps = ", ".join(f"{name} {value['gap'][-1]:.1e}" for name, value in values.items())
    caption = Caption(
        title="One step for all blocks: the bent path and two simpler rules, on digits",
        shows="Certified gap, dual error and atoms per sample, against iterations.",
        settings=f"TopK(3), lam = 1/n, unit rows, {ITERATIONS[study.size]} iterations, no seed.",
        agreement=f"Gaps at the end: {gaps}.",
    )
    return study.save_figure(figure, caption)
