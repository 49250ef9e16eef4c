"""Ascend exactly by blocks, with most steps on the rows that still move.

Near the optimum most rows rest at a vertex of their domain, and an exact step leaves them exactly
there. Before each pass over all rows, the method visits the rows that moved in the last such pass a
few times more, on a copy of their part of X.
"""

from copy import copy
from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Integers
from fwlab.checks.arguments import as_flag
from fwlab.operators.features import GramFeatures
from fwlab.problem import Problem
from fwlab.solvers.blocks import ROW_BY_ROW, BlockMethod, BlockWorkspace
from fwlab.solvers.method import State
from fwlab.solvers.row_active_sets import RowActiveSets

MOST_PASSES = 50
# a change of a row, as a fraction of its largest sum, that rounding errors may have made
AT_REST = 1e-12


@dataclass(frozen=True)
class Ascent(BlockMethod):
    """A pass over all rows; with shrink, up to n steps on the rows that moved last come before it.

    Parameters
    ----------
    shrink : bool
        Whether to take the extra steps. It has no effect while half of the rows move, and with the
        orders "uniform" and "gap", whose passes do not visit all rows.
    order, block_size
        As for `BlockMethod`.
    """

    sentence = "Exact block ascent on the true domain."

    shrink: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        as_flag("shrink", self.shrink)

    def iterate(self, state: State, workspace: BlockWorkspace) -> None:
        if workspace.moving is not None:
            self.visit_alone(workspace.moving, state)
        super().iterate(state, workspace)
        if not self.shrink or self.order in ROW_BY_ROW:
            return
        largest = state.problem.polytopes.scale * state.problem.sample_weight
        moving = np.flatnonzero(workspace.moves > AT_REST * largest)
        few = 0 < 2 * len(moving) <= state.problem.n_samples
        workspace.moving = moving if few else None

    def visit_alone(self, index: Integers, state: State) -> None:
        """Make passes over only the rows `index`; A and the link follow."""
        part, before = restricted(state.problem, index), state.A[index]
        A, is_gram = before.copy(), state.problem.kernel is not None
        link = state.link[:, index].copy() if is_gram else state.link
        grams, moves = part.features.block_grams(self._block_size(part)), np.zeros(len(index))
        workspace = BlockWorkspace(grams, np.zeros(0), moves, RowActiveSets.none())
        for _ in range(min(MOST_PASSES, state.problem.n_samples // len(index))):
            self._visit(self._draw(len(index), grams.shape[1], state.rng), part, link, A, workspace)
            state.n_steps += len(index)
        state.A[index] = A
        if is_gram:
            rows = state.problem.features.rows(index)
            state.link += rows.transposed_product(A - before) / state.problem.lam_n


def restricted(problem: Problem, index: Integers) -> Problem:
    """Return the problem for block steps on some of the samples.

    lam n stays the same. A Gram matrix is cut to these samples. X stays whole, because the block
    steps use only its features.
    """
    other = copy(problem)
    if isinstance(problem.features, GramFeatures):
        other.features = GramFeatures(problem.features.K[np.ix_(index, index)])
    else:
        other.features = problem.features.rows(index)
    other.lam = problem.lam_n / len(index)
    other.y = problem.y[index]
    other.sample_weight = problem.sample_weight[index]
    other.polytopes = problem.polytopes.take(index)
    other.curvatures = problem.curvatures[index]
    return other
