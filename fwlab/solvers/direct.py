"""Solve the completely dualised problem of an LpNorm (LP15 Problem 11), for every loss.

A pass makes one block step per row (kernels.steps.norm_block): a projection in the metric of the
current class weights, with the exact gradient, and then a line search on the full dual. The class
weights change with every row. Rows that can only move together are slow. After every few passes A
is therefore extrapolated along the change of these passes, projected back, and moved as far as the
full dual rises. The dual never falls.

At p = 1 there is no W(A), and near it the dual's regulariser is nearly the maximum of the |v_j|^2,
whose kinks stop steps of single rows. Below NEAR_ONE `direct` is `alternate`, whose class weights
belong to a p' > p that falls to p: W is the machine of p', and the pair (W, A) is certified at p.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.alternate import Alternate, AlternateWorkspace, pass_over_rows
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.segment import best_share, move

PASSES_BETWEEN = 3
NEAR_ONE = 1.04


@dataclass(eq=False)
class DirectWorkspace:
    """A after the last extrapolation, how far this one went, and the passes since the start."""

    last: Floats
    reach: float = 1.0
    passes: int = 0


@dataclass(frozen=True)
class Direct(Method):
    """A pass of block steps on the full dual; an extrapolation follows every third pass."""

    sentence = (
        "Block steps on the full dual of an LpNorm, and extrapolation, both with line search."
    )
    any_norm = True

    def needs(self, problem: PrimalDual) -> Needs:
        return Alternate().needs(problem) if problem.regularizer.p < NEAR_ONE else Needs()

    def start(self, state: State) -> DirectWorkspace | AlternateWorkspace:
        if state.problem.regularizer.p < NEAR_ONE:
            return Alternate().start(state)
        return DirectWorkspace(state.A.copy())

    def iterate(self, state: State, workspace: DirectWorkspace | AlternateWorkspace) -> None:
        if isinstance(workspace, AlternateWorkspace):
            Alternate().iterate(state, workspace)
            return
        squares = state.problem.square_norms(state.link, state.A)
        pass_over_rows(state, state.A, state.link, np.ones(len(squares)), squares)
        workspace.passes += 1
        if workspace.passes % PASSES_BETWEEN == 0:
            _extrapolate(state, workspace)

    def warm_up(self, state: State) -> None:
        state.problem.nearest_feasible(state.A, slice(None))


def _extrapolate(state: State, workspace: DirectWorkspace) -> None:
    """Continue along the change of the last passes, further if the dual rose all along before."""
    problem = state.problem
    D = state.A - workspace.last
    D *= workspace.reach
    D += state.A
    for rows, _ in problem.chunks():
        D[rows] = problem.nearest_feasible(D, rows)
    state.n_projections += problem.n_samples
    D -= state.A
    D_link = problem.link(D)
    share = best_share(problem, state.A, state.link, D, D_link)
    move(state.A, state.link, D, D_link, share)
    workspace.reach = max(1.0, workspace.reach * (2.0 if share == 1.0 else max(2 * share, 0.25)))
    workspace.last[:] = state.A
    state.step = share
