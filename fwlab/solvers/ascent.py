"""Ascend exactly by blocks, with most steps on the rows that still move.

Near the optimum most rows rest at a vertex of their domain, and an exact step leaves them exactly
there. Before each pass over all rows, the method visits the rows that moved in the last such pass a
few times more: on the faces of their blocks (solvers.face_steps), or with a Gram matrix, which
holds the scores of all classes, on a copy of their part of K.
"""

from copy import copy
from dataclasses import dataclass
from typing import cast

import numpy as np

from fwlab.arrays import Integers
from fwlab.checks.arguments import as_flag
from fwlab.operators.features import GramFeatures
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.blocks import ROW_BY_ROW, BlockMethod, BlockWorkspace
from fwlab.solvers.face_steps import MOST_PASSES, gain, visit_faces, warm_up_faces
from fwlab.solvers.method import State
from fwlab.solvers.row_active_sets import RowActiveSets

# a change of a row, as a fraction of its largest sum, that rounding errors may have made
AT_REST = 1e-12


@dataclass(frozen=True)
class Ascent(BlockMethod):
    """A pass over all rows; with shrink, steps on the rows that moved last come before it.

    Parameters
    ----------
    shrink : bool
        Whether to take the extra steps, which cost at most two passes. They have no effect with the
        orders "uniform" and "gap", whose passes do not visit all rows, and while they would visit
        too many rows: with a Gram matrix more than half of them.
    order, block_size
        As for `BlockMethod`.
    """

    sentence = "Exact block ascent on the true domain."

    shrink: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        as_flag("shrink", self.shrink)

    def iterate(self, state: State, workspace: BlockWorkspace) -> None:
        if len(workspace.moving) > 0:
            workspace.work += self.visit_moving(workspace, state)
        super().iterate(state, workspace)
        if self.shrink and self.order not in ROW_BY_ROW:
            largest = state.problem.polytopes.scale * state.problem.sample_weight
            workspace.moving = np.flatnonzero(workspace.moves > AT_REST * largest)

    def warm_up(self, state: State) -> None:
        if state.problem.kernel is None:
            warm_up_faces(state)

    def visit_moving(self, workspace: BlockWorkspace, state: State) -> float:
        """Step on the rows that moved last, alone; return the cost in passes over all rows."""
        if state.problem.kernel is not None:
            return self._visit_part_of_gram(workspace.moving, state)
        last = gain(workspace.moves, state.problem.curvatures)
        return visit_faces(state, workspace.moving, last, shuffles=self.order != "cyclic")

    def _visit_part_of_gram(self, index: Integers, state: State) -> float:
        """Make passes over the rows `index` alone; A and the link follow."""
        problem = state.problem
        if not 0 < 2 * len(index) <= problem.n_samples:
            return 0.0
        part, before = restricted(problem, index), state.A[index]
        A, link = before.copy(), state.link[:, index].copy()
        grams, moves = part.features.block_grams(self._block_size(part)), np.zeros(len(index))
        workspace = BlockWorkspace(grams, np.zeros(0), moves, RowActiveSets.none())
        passes = min(MOST_PASSES, problem.n_samples // len(index))
        for _ in range(passes):
            self._visit(self._draw(len(index), grams.shape[1], state.rng), part, link, A, workspace)
            state.n_steps += len(index)
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
