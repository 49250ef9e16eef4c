"""Run away-step and pairwise Frank-Wolfe with one active set per sample and one step for all.

Block i moves min(eta, b_i) along its own direction, b_i its largest feasible step: `bafw` takes the
steeper of its Frank-Wolfe and its away direction, `bpfw` the pairwise one. eta is the first maximum
of the dual along this bent path, found exactly by kernels.steps.bent_path. A block that reaches its
bound drops its atom.

Simpler rules fail. One step for all blocks that respects every bound is limited by the smallest
weight of any block, and directions scaled by their bounds shrink small weights that never reach
zero.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.kernels.layouts import BlockPaths, Directions
from fwlab.kernels.steps.bent_path import choose_directions, move_rows
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.dual_layout import dual_of
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.row_active_sets import RowActiveSets


@dataclass(frozen=True)
class BentPath(Method):
    """One step for all blocks, each cut at its own bound."""

    pairwise: bool

    @property
    def sentence(self) -> str:
        kind = "Pairwise" if self.pairwise else "Away-step"
        return f"{kind} Frank-Wolfe, one active set per sample and one bent path for all blocks."

    def needs(self, problem: PrimalDual) -> Needs:
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
        move_rows(active_sets.arrays, slots, steps, limits, problem.y, state.A)
        state.scores = problem.features.scores(state.link)
        state.step = step
        state.active = active_sets.size
        state.n_steps += 1
        state.n_lmo += problem.n_samples
        state.n_rows += problem.n_samples

    def choose(self, state: State, active_sets: RowActiveSets) -> Directions:
        """Return the direction of every block; its LMO vertex is left in its set's free slot."""
        A, n = state.A, state.problem.n_samples
        found = Directions(
            np.empty_like(A), np.empty((n, 2), dtype=np.int64), np.empty(n), np.empty(n)
        )
        dual, sets = dual_of(state.problem), active_sets.arrays
        choose_directions(self.pairwise, state.scores, dual, sets, A, found)
        return found


def follow_bent_path(state: State, directions: Directions) -> float:
    """Move the link to the first maximum along the bent path; return eta there."""
    problem, features, D = state.problem, state.problem.features, directions.D
    moving = features.transposed_product(D)
    moving /= problem.lam_n
    rested = np.zeros_like(moving)
    squares = np.einsum("ij,ij->i", D, D)
    candidates = np.flatnonzero(directions.slopes > 0.0)
    order = candidates[np.argsort(directions.limits[candidates], kind="stable")]
    link_norms = squares * problem.curvatures / problem.lam_n
    path = BlockPaths(directions, link_norms, squares * problem.ridge()[:, 0])
    square = features.link_norm(moving, D, problem.lam_n)
    lam, lam_n = problem.lam, problem.lam_n
    step = features.first_maximum(order, path, moving, rested, square, lam, lam_n)
    # a block that reaches its bound takes two products with each class of its direction
    bent = order[directions.limits[order] <= step]
    state.n_rows += 2 * np.count_nonzero(D, axis=1)[bent].sum() / problem.n_classes
    moving *= step
    state.link += moving
    state.link += rested
    return float(step)
