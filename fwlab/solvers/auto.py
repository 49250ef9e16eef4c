"""Choose a method for a problem."""

from dataclasses import dataclass
from typing import Any

from fwlab.kernels.steps.rules import EXACT
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.ascent import Ascent
from fwlab.solvers.entropy_auto import EntropyAuto
from fwlab.solvers.lbfgs import Lbfgs
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.newton import Newton


@dataclass(frozen=True)
class Auto(Method):
    """Newton's method, or with a kernel block ascent; for CrossEntropy and TopKEntropy L-BFGS.

    The first phase of Newton's method is block ascent, and lasts while that gains enough. Before
    L-BFGS on CrossEntropy, solvers.entropy_auto says when there is such a phase.
    """

    sentence = (
        "Newton where there is a W, with a kernel block ascent; ascent or lbfgs for entropies."
    )
    takes_entropy = True
    takes_tensors = True

    def choice(self, problem: PrimalDual) -> Method:
        """Return the method for this problem."""
        if problem.has_entropy:
            if problem.has_tensors or Ascent(EXACT).refuses(problem):
                return Lbfgs()
            return EntropyAuto() if problem.kernel is None else Ascent(EXACT)
        return Ascent(EXACT) if Newton().refuses(problem) else Newton()

    def refuses(self, problem: PrimalDual) -> str | None:
        return self.choice(problem).refuses(problem)

    def needs(self, problem: PrimalDual) -> Needs:
        return self.choice(problem).needs(problem)

    def start(self, state: State) -> tuple[Method, Any]:
        method = self.choice(state.problem)
        return method, method.start(state)

    def iterate(self, state: State, workspace: tuple[Method, Any]) -> None:
        method, its_workspace = workspace
        method.iterate(state, its_workspace)

    def progress(self, state: State, workspace: tuple[Method, Any]) -> float | None:
        method, its_workspace = workspace
        return method.progress(state, its_workspace)

    def warm_up(self, state: State) -> None:
        self.choice(state.problem).warm_up(state)
