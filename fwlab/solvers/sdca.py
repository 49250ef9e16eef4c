"""The published SDCA methods for the top-k SVM: exact block steps on the pseudo top-k domain.

That domain (L15 Algorithm 1 with Proposition 4, K19 (30)) is the one of PseudoTopK (K19 (31)) and a
part of TopK's. A point of it is feasible for either loss, and the dual has the same value. But on a
TopK problem with k > 1 the maximum over this domain may be less than the maximum of the dual. The
gap of the problem then stays positive where the gap of PseudoTopK, the methods' own gap, goes to 0
(K19 section 8).
"""

from dataclasses import dataclass

from fwlab.losses import PseudoTopK, TopK
from fwlab.problem import Problem
from fwlab.solvers.blocks import BlockMethod, Workspace
from fwlab.solvers.method import State


@dataclass(frozen=True)
class Sdca(BlockMethod):
    """A pass of n block steps on the dual of PseudoTopK; it takes the options of BlockMethod."""

    def start(self, state: State) -> Workspace:
        problem = state.problem
        if isinstance(problem.loss, TopK):
            problem = problem.with_loss(PseudoTopK(problem.loss.k))
        state.own_problem = problem
        return super().start(state)


def refuses_pseudo(problem: Problem) -> str | None:
    """Return why the SDCA methods do not take the problem, None if they do."""
    loss, m = problem.loss, problem.n_classes
    if not isinstance(loss, TopK | PseudoTopK):
        return f"its loss must be TopK or PseudoTopK; got {type(loss).__name__}."
    if problem.smoothing > 0:
        return f"its smoothing must be 0; got {problem.smoothing}."
    if loss.k >= m:
        return f"its k must be at most m - 1 = {m - 1}; got {loss.k}."
    return None
