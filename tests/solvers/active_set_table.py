"""Provide methods, cases, starts and written-out atoms for the tests of active sets."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from solvers.solver_table import LOSSES, Case, M, random_feasible

from fwlab.operators.vertices import PackedVertex
from fwlab.problem import Problem
from fwlab.solvers.atoms import ActiveSet
from fwlab.solvers.method import State
from fwlab.solvers.registry import build
from fwlab.solvers.row_active_sets import RowActiveSets

BETWEEN_TWO_ENDS = ("afw", "pfw", "blended-pairwise")
WHOLE_MATRIX = (*BETWEEN_TWO_ENDS, "fcfw")
BENT_PATH = ("bafw", "bpfw")
ONE_BLOCK = ("bcafw", "bcpfw", "bbpfw")
ALL = (*WHOLE_MATRIX, *BENT_PATH, *ONE_BLOCK)
PAIRWISE = ("pfw", "bpfw", "bcpfw")
STARTS = ("zero", "vertex", "inside")

# one loss of each kind; smoothing and weights take turns
KINDS = {name.split("-")[0]: name for name in LOSSES}
CASES = tuple(
    Case(loss, smoothing=0.1 * (place % 2), weighted=place % 4 < 2)
    for place, loss in enumerate(KINDS.values())
)
each_case = pytest.mark.parametrize("case", CASES, ids=str)


def start_point(case: Case, start: str) -> np.ndarray:
    """Return a feasible A0, (n, m)."""
    rng = np.random.default_rng(5)
    if start == "zero":
        return np.zeros((case.n, M))
    if start == "vertex":
        gradient = rng.normal(size=(case.n, M))
        return case.omega[:, None] * case.entry.loss.lmo(gradient, case.y)
    return random_feasible(case, rng)


def begin(problem: Problem, method: str, A0: np.ndarray, **options: Any) -> tuple[Any, State, Any]:
    """Return the method, its state and its workspace before the first iteration."""
    solver = build(method, options)
    state = State(problem, A0.copy(), np.random.default_rng(0), solver.needs(problem))
    return solver, state, solver.start(state)


def iterates(
    case: Case, method: str, start: str, count: int, **options: Any
) -> Iterator[tuple[State, Any]]:
    """State and active set at the start and after each of `count` iterations."""
    problem = case.problem()
    solver, state, workspace = begin(problem, method, start_point(case, start), **options)
    yield state, active_set(workspace)
    for _ in range(count):
        solver.iterate(state, workspace)
        yield state, active_set(workspace)


def active_set(workspace: Any) -> ActiveSet | RowActiveSets:
    """Return the active set or sets in a workspace."""
    if isinstance(workspace, RowActiveSets):
        return workspace
    return getattr(workspace, "active_set", None) or workspace.active_sets


def written_out(
    held: ActiveSet | RowActiveSets, y: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return weights (count,) and atoms (count, rows, m) of each active set.

    There is one set for all rows or one set per row. Atoms are read from the arrays that hold them.
    """
    if isinstance(held, ActiveSet):
        atoms = [
            dense(atom.classes, atom.entries, y) if isinstance(atom, PackedVertex) else atom.A
            for atom in held.atoms
        ]
        return [(held.atom_weights.copy(), np.array(atoms))]
    sets = []
    for i, count in enumerate(held.counts):
        atoms = [
            held.starts[i : i + 1]
            if held.classes[i, slot, 0] < 0
            else dense(held.classes[i, slot : slot + 1], held.entries[i, slot : slot + 1], y[[i]])
            for slot in range(count)
        ]
        sets.append((held.atom_weights[i, :count].copy(), np.array(atoms)))
    return sets


def dense(classes: np.ndarray, entries: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return rows with these entries, and minus their sum at y."""
    rows, A = np.arange(len(y)), np.zeros((len(y), M))
    np.add.at(A, (rows[:, None], classes), entries)
    np.add.at(A, (rows, y), -entries.sum(axis=1))
    return A


def gradient(problem: Problem, A: np.ndarray) -> np.ndarray:
    """Return -n times the gradient of the dual at A, (n, m)."""
    scores = problem.features.scores(problem.link(A))
    return problem.polytopes.add_costs(problem.shifted_scores(A, scores))


def all_vertices(case: Case, i: int) -> np.ndarray:
    """Return every vertex of block i, (v, m)."""
    loss = case.entry.loss
    if case.entry.kind == "StructuredHinge":
        loss = type(loss)(np.ones((M, M)) - np.eye(M))  # costs do not enter the domain
    return case.omega[i] * loss.vertices(M, int(case.y[i]))


def best_slope(method, g, a, weights, atoms, case, i):
    """Return the steepest allowed slope of a row, and the limits of the atoms that give it."""
    lowest, products = (all_vertices(case, i) @ g).min(), atoms @ g
    mean, highest = a @ g, products.max()
    worst = products >= highest - 1e-11
    if method in PAIRWISE:
        return highest - lowest, weights[worst]
    if len(weights) == 1 or mean - lowest > highest - mean + 1e-11:
        return mean - lowest, np.ones(1)
    limits = weights[worst] / (1 - weights[worst])
    tied = abs((mean - lowest) - (highest - mean)) <= 1e-11
    return highest - mean, np.append(limits, 1.0) if tied else limits


def exact_gains(method, g, a, weights, atoms, curvature, case, i):
    """Return the gains of the exact steps along all directions of steepest slope, to rounding."""
    points = np.vstack([all_vertices(case, i), atoms])
    lows = points[points @ g <= (points @ g).min() + 1e-11]
    worst = np.flatnonzero(atoms @ g >= (atoms @ g).max() - 1e-11)
    slope, _ = best_slope(method, g, a, weights, atoms, case, i)
    if method == "bbpfw":
        within, forward = np.ptp(atoms @ g), (a - lows[0]) @ g
        best = np.flatnonzero(atoms @ g <= (atoms @ g).min() + 1e-11)
        choices = [(u - a, 1.0) for u in lows if forward >= within - 1e-11]
        if within >= forward - 1e-11:
            choices += [(atoms[u] - atoms[v], weights[v]) for u in best for v in worst]
    elif method in PAIRWISE:
        choices = [(u - atoms[v], weights[v]) for u in lows for v in worst]
    else:
        choices = [(u - a, 1.0) for u in lows]
        if len(weights) > 1:
            choices += [(a - atoms[v], weights[v] / (1 - weights[v])) for v in worst]
        choices = [choice for choice in choices if -(choice[0] @ g) >= slope - 1e-10]
    gains = []
    for direction, limit in choices:
        rise, bend = -(direction @ g), curvature * (direction @ direction)
        step = min(limit, rise / bend) if bend > 0 else limit
        gains.append(step * rise - step**2 * bend / 2)
    return np.array(gains)
