"""Away-step and pairwise Frank-Wolfe with one active set a sample and one step for all.

Block i moves min(eta, b_i) along its own direction, b_i its largest feasible step: `bafw` takes the
steeper of its Frank-Wolfe and its away direction, `bpfw` the pairwise one. eta is the first maximum
of the dual along this bent path, found exactly by kernels.bent_path. A block that reaches its bound
drops its atom.

Simpler rules fail: one step for all blocks that respects every bound is held by the smallest weight
of any block, and directions scaled by their bounds shrink small weights that never reach zero.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.kernels.steps.bent_path import choose_directions, move_rows, write_free_slots
from fwlab.problem import Problem
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.row_active_sets import RowActiveSets


@dataclass(frozen=True, eq=False)
class Directions:
    """A direction a block, (n, m), with its slots towards and away, (n, 2), its slope and its
    largest feasible step, (n,)."""

    D: Floats
    slots: Integers
    slopes: Floats
    limits: Floats


@dataclass(frozen=True)
class BentPath(Method):
    """One step for all blocks, each cut at its own bound."""

    pairwise: bool

    @property
    def sentence(self) -> str:
        kind = "Pairwise" if self.pairwise else "Away-step"
        return f"{kind} Frank-Wolfe, one active set a sample and one bent path for all blocks."

    def needs(self, problem: Problem) -> Needs:
        return Needs(scores=True)

    def start(self, state: State) -> RowActiveSets:
        active_sets = RowActiveSets.holding(state.problem, state.A)
        state.active = active_sets.size
        return active_sets

    def iterate(self, state: State, active_sets: RowActiveSets) -> None:
        problem = state.problem
        active_sets.reserve(np.arange(problem.n_samples))
        directions = self.choose(state, active_sets)
        step = follow_bent_path(state, directions)
        slots, limits = directions.slots, directions.limits
        steps = np.minimum(step, limits)
        del directions
        move_rows(active_sets.arrays, slots, steps, limits, problem.polytopes.y, state.A)
        state.scores = problem.features.scores(state.link)
        state.step = step
        state.active = active_sets.size
        state.n_steps += 1
        state.n_lmo += problem.n_samples

    def choose(self, state: State, active_sets: RowActiveSets) -> Directions:
        """The direction of every block; its LMO vertex is left in its set's free slot."""
        problem, A, scores = state.problem, state.A, state.scores
        n, omega, ridge = problem.n_samples, problem.sample_weight, problem.ridge()
        found = Directions(
            np.empty_like(A), np.empty((n, 2), dtype=np.int64), np.empty(n), np.empty(n)
        )
        for rows, polytopes in problem.chunks():
            sets, shifted = active_sets.take(rows), scores[rows] + ridge[rows] * A[rows]
            columns, entries, _ = polytopes.compact_vertices(shifted)
            write_free_slots(columns, entries, omega[rows], sets)
            choose_directions(
                self.pairwise,
                polytopes.add_costs(shifted),
                polytopes.y,
                omega[rows] * polytopes.upper.sum(),
                sets,
                A[rows],
                found.D[rows],
                found.slots[rows],
                found.slopes[rows],
                found.limits[rows],
            )
        return found


def follow_bent_path(state: State, directions: Directions) -> float:
    """eta at the first maximum; the link moves there."""
    problem, features, D = state.problem, state.problem.features, directions.D
    moving = features.transposed_product(D)
    moving /= problem.lam_n
    rested = np.zeros_like(moving)
    squares = np.einsum("ij,ij->i", D, D)
    candidates = np.flatnonzero(directions.slopes > 0.0)
    order = candidates[np.argsort(directions.limits[candidates], kind="stable")]
    blocks = (
        directions.slopes,
        directions.limits,
        squares * problem.curvatures / problem.lam_n,
        squares * problem.ridge()[:, 0],
    )
    step = features.first_maximum(
        order,
        D,
        moving,
        rested,
        blocks,
        features.link_norm(moving, D, problem.lam_n),
        problem.lam,
        problem.lam_n,
    )
    moving *= step
    state.link += moving
    state.link += rested
    return float(step)
