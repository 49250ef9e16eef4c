"""The choice of a method for a problem."""

from dataclasses import dataclass
from typing import Any

from fwlab.kernels.steps.passes import EXACT
from fwlab.solvers.ascent import Ascent
from fwlab.solvers.method import Method, State
from fwlab.solvers.newton import Newton, refuses_kernels


@dataclass(frozen=True)
class Auto:
    """Newton's method, whose first phase is block ascent and lasts while that gains enough; block
    ascent alone with a kernel."""

    def start(self, state: State) -> tuple[Method, Any]:
        method = Ascent(EXACT) if refuses_kernels(state.problem) else Newton()
        return method, method.start(state)

    def iterate(self, state: State, workspace: tuple[Method, Any]) -> None:
        method, its_workspace = workspace
        method.iterate(state, its_workspace)
