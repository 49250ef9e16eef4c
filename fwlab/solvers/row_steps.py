"""Make the steps of a block method one by one, in Python, as a step rule chooses them.

The kernels of the compiled methods give the directions and make the moves (kernels.steps): only the
choice of the step lies between them. The dual along the direction d of row i has the curvature

    (q_i + r_i) |d|^2 / n,

q_i and r_i the block's curvature and its ridge in kernels.steps.block.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.kernels._jit import in_python
from fwlab.kernels.layouts import ActiveSets, Block
from fwlab.kernels.steps.active_sets import move_row, row_direction
from fwlab.kernels.steps.blended_pairwise import blended_direction
from fwlab.kernels.steps.block import block_gap, block_of, make_block_scratch, towards_vertex
from fwlab.kernels.steps.pairwise_rule import POINT
from fwlab.kernels.steps.rules import AWAY, BLENDED, FRANK_WOLFE, PAIRWISE
from fwlab.solvers.blocks import BlockWorkspace
from fwlab.solvers.method import State
from fwlab.solvers.step_rules import Direction, StepRule, chosen_step

# towards, away, slope and limit, as kernels.steps.active_sets.choose_direction returns them
Ends = tuple[int, int, float, float]


def visit_rows(
    rule: int, step_rule: StepRule, order: Integers, state: State, workspace: BlockWorkspace
) -> None:
    """Make a step in each row of `order`; A, the link and the active sets follow.

    `rule`, one of DIRECTIONS, gives the directions. A row whose direction is 0 is not offered to
    the step rule.
    """
    problem, A, new = state.problem, state.A, np.empty(state.problem.n_classes)
    dual, sets = workspace.dual(problem), workspace.active_sets.arrays
    scratch = make_block_scratch(problem.n_classes, dual.weights.n_upper)
    for i in order.tolist():
        workspace.moves[i] = 0.0
        if dual.omega[i] == 0.0:
            continue
        block, old = in_python(block_of)(dual, i), A[i]
        given = problem.features.row_scores(i, state.link), block, dual.weights, scratch
        if len(workspace.gaps) > 0:
            workspace.gaps[i] = block_gap(*given, old)
        ends = DIRECTIONS[rule](*given, sets, old, new)
        if ends[3] == 0.0:
            continue
        direction = _direction(block, new, ends, state, workspace)
        step = chosen_step(step_rule, direction, workspace.memories[i])
        _move(sets, block, ends, step, old, new)
        change = new - old
        workspace.moves[i] = np.abs(change).sum()
        problem.features.add_row(i, change / dual.lam_n, state.link)
        old[:] = new


def _direction(
    block: Block, D: Floats, ends: Ends, state: State, workspace: BlockWorkspace
) -> Direction:
    """Return the direction D (m,) of a row, for a step rule."""
    n = state.problem.n_samples
    smoothness, square = (block.curvature + block.ridge) / n, float(D @ D)
    return Direction(
        iteration=workspace.passes - 1,
        slope=ends[2] / n,
        limit=ends[3],
        state=state,
        measure_curvature=lambda: smoothness * square,
        measure_square=lambda: square,
        row=block.row,
        row_smoothness=smoothness,
    )


def _move(
    sets: ActiveSets, block: Block, ends: Ends, step: float, old: Floats, new: Floats
) -> None:
    """Replace the direction in `new` by the row after the step; its active set follows."""
    if len(sets.counts) == 0:
        new *= step
        new += old
        return
    towards, away, _, limit = ends
    new[:] = old
    move_row(sets, block.row, towards, away, step, limit, block.y, new)


def _vertex_direction(
    scores: Floats, block: Block, weights: Any, scratch: Any, sets: Any, old: Floats, new: Floats
) -> Ends:
    """Write the direction to the LMO's vertex, which no active set holds."""
    slope, _ = towards_vertex(scores, block, weights, scratch, old, new)
    new -= old
    return POINT, POINT, slope, 1.0


DIRECTIONS: dict[int, Callable[..., Ends]] = {
    FRANK_WOLFE: _vertex_direction,
    AWAY: partial(row_direction, False),
    PAIRWISE: partial(row_direction, True),
    BLENDED: blended_direction,
}
