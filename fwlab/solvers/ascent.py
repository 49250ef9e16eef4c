"""Ascend exactly by blocks, with most steps on the rows that still move.

Near the optimum most rows rest at a vertex of their domain, and an exact step leaves them exactly
there. Before each pass over all rows, the method visits the rows that moved in the last such pass a
few times more: on the faces of their blocks (kernels.steps.ascent_passes), or with a Gram matrix,
which holds the scores of all classes, on a copy of their part of K. Rows of the cross-entropy never
rest, and each pass visits all of them once (kernels.steps.entropy_passes).
"""

from copy import copy
from dataclasses import dataclass
from typing import cast

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_flag
from fwlab.kernels._jit import in_python
from fwlab.kernels.layouts import StepRecord
from fwlab.kernels.steps.ascent_passes import MOST_PASSES, MOVING, relative_cost
from fwlab.operators.capped_simplices import CappedSimplices
from fwlab.operators.features import GramFeatures
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.blocks import ROW_BY_ROW, BlockMethod, BlockWorkspace
from fwlab.solvers.entropy_start import start_between
from fwlab.solvers.method import State
from fwlab.solvers.orders import drawn_number
from fwlab.solvers.panel_groups import panel_groups, suits_groups
from fwlab.solvers.row_active_sets import RowActiveSets
from fwlab.solvers.single_precision import suits_float32

# The gap is .05 to .5 of what `progress` sums up, and the part hardly changes during a run. Only
# after a first pass from A = 0, which visits no faces, it is larger, by a factor of 1.2 to 3 (14
# problems).
AFTER_FIRST_PASS = 2.0
NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Ascent(BlockMethod):
    """A pass over all rows; with shrink, steps on the rows that moved last come before it.

    Parameters
    ----------
    shrink : bool
        Whether to take the extra steps, which cost at most two iterations. They do nothing with the
        orders "uniform" and "gap", whose passes do not visit all rows, with the cross-entropy, and
        while they would visit too many rows: with a Gram matrix more than half of them.
    order, block_size
        As for `BlockMethod`; the cross-entropy does not take the order "gap".
    """

    sentence = "Exact block ascent on the true domain."

    takes_entropy = True

    shrink: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        as_flag("shrink", self.shrink)

    def refuses(self, problem: PrimalDual) -> str | None:
        if isinstance(problem.polytopes, CappedSimplices):
            why = "it has no step for shares whose bounds move with the label's"
            return f"it does not take {problem.loss!r}, because {why}; use lbfgs."
        if problem.has_entropy and self.order == "gap":
            return f'its order must not be "gap" with {problem.loss!r}, whose blocks have no gaps.'
        return None

    def start(self, state: State) -> BlockWorkspace:
        if state.problem.has_entropy and not state.A.any():
            start_between(state)
        workspace = super().start(state)
        if state.problem.has_entropy:
            return workspace
        workspace.groups = panel_groups(state.problem)
        return workspace

    def warm_up(self, state: State) -> None:
        if state.problem.has_entropy:
            return
        if suits_groups(state.problem) and self.order not in ROW_BY_ROW:
            workspace, problem = self.start(state), state.problem
            record = StepRecord(workspace.moves, workspace.active_sets.arrays, workspace.estimates)
            visit, dual = workspace.visit(problem), workspace.dual(problem)
            data = problem.X, state.link, state.A, dual, record
            workspace.groups.compile(self.rule, visit, *data)

    def iterate(self, state: State, workspace: BlockWorkspace) -> None:
        if self.order in ROW_BY_ROW or state.problem.has_entropy:
            super().iterate(state, workspace)
            return
        self.change_to_gram(state, workspace)
        problem = state.problem
        if problem.kernel is None:
            moving = self._pass(problem, state.link, state.A, workspace, state.rng)
            _, faces, classes, passes = workspace.visit(problem).counts.tolist()
            workspace.work += passes * in_python(relative_cost)(faces, classes, *state.A.shape)
            state.n_steps += passes * faces
            state.n_projections += passes * faces
            state.n_rows += passes * classes / problem.n_classes
        else:
            workspace.work += self.visit_part_of_gram(workspace.moving, state)
            workspace.moving = NO_ROWS
            moving = self._pass(problem, state.link, state.A, workspace, state.rng)
        workspace.moving = moving if self.shrink else NO_ROWS
        workspace.passes, workspace.work = workspace.passes + 1, workspace.work + 1.0
        state.n_steps += problem.n_samples
        state.n_projections += problem.n_samples
        state.n_rows += problem.n_samples

    def progress(self, state: State, workspace: BlockWorkspace) -> float:
        """Return the progress of block methods, as if the first pass had been a later one.

        A row of the cross-entropy that moves by |d|_1 gains about |d|_1^2 (1/omega + curvature) / 2
        or more.
        """
        problem = state.problem
        if problem.has_entropy:
            omega = np.where(problem.sample_weight > 0, problem.sample_weight, np.inf)
            return float(workspace.moves**2 @ (1.0 / omega + problem.curvatures))
        factor = AFTER_FIRST_PASS if workspace.passes == 1 else 1.0
        return factor * super().progress(state, workspace)

    def _pass(
        self,
        problem: PrimalDual,
        link: Floats,
        A: Floats,
        workspace: BlockWorkspace,
        rng: np.random.Generator,
    ) -> Integers:
        """Visit the faces of workspace.moving, then all rows; return the rows that moved then."""
        visit, moving = workspace.visit(problem), workspace.moving
        visit.counts[:] = len(moving), 0, 0, 0
        visit.moving[: len(moving)] = moving
        if self.order == "permutation":
            visit.random[0] = drawn_number(rng)
        record = StepRecord(workspace.moves, workspace.active_sets.arrays, workspace.estimates)
        single, dual = suits_float32(problem, link, workspace.moves), workspace.dual(problem)
        if problem.kernel is None and workspace.groups.panels > 0:
            workspace.groups.iterate(self.rule, visit, single, problem.X, link, A, dual, record)
        else:
            grams = workspace.grams
            problem.features.ascent_pass(self.rule, visit, grams, single, link, A, dual, record)
        return visit.moving[: visit.counts[MOVING]].copy()

    def visit_part_of_gram(self, index: Integers, state: State) -> float:
        """Make passes over the rows `index` alone; return the cost in passes over all rows.

        A and the link follow.
        """
        problem = state.problem
        if not 0 < 2 * len(index) <= problem.n_samples:
            return 0.0
        part, before = restricted(problem, index), state.A[index]
        A, link = before.copy(), state.link[:, index].copy()
        grams, moves = part.features.block_grams(self._block_size(part)), np.zeros(len(index))
        workspace = BlockWorkspace(grams, np.zeros(0), moves, RowActiveSets.none())
        passes = min(MOST_PASSES, problem.n_samples // len(index))
        for _ in range(passes):
            self._pass(part, link, A, workspace, state.rng)
            state.n_steps += len(index)
            state.n_projections += len(index)
            state.n_rows += len(index)
        state.A[index] = A
        state.link += problem.features.rows(index).transposed_product(A - before) / problem.lam_n
        return passes * len(index) / problem.n_samples


def restricted(problem: PrimalDual, index: Integers) -> PrimalDual:
    """Return the problem with a Gram matrix for block steps on some of the samples.

    lam n stays the same.
    """
    other = copy(problem)
    other.features = GramFeatures(cast(GramFeatures, problem.features).K[np.ix_(index, index)])
    other.lam = problem.lam_n / len(index)
    other.y = problem.y[index]
    other.sample_weight = problem.sample_weight[index]
    other.polytopes = problem.polytopes.take(index)
    other.curvatures = problem.curvatures[index]
    return other
