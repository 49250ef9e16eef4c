"""Change from ascent to lbfgs when passes converge slowly, for problems with the cross-entropy.

If few features let lbfgs renew its preconditioner by class, it is the method from the start. In all
other problems ascent comes first. With D_k the progress of pass k, about a multiple of the gap,
D_k / D_(k-1) is the part of the gap that a pass leaves. It grows during a run, and with C and the
correlation of the rows. As soon as it exceeds SLOWEST, lbfgs goes on from W(A): one of its
evaluations costs about one pass. For a sparse X it has a diagonal preconditioner and takes many
more steps, so that SLOWEST_SPARSE counts. Nothing is timed: runs repeat bit for bit.

Measured to relative gaps of 1e-3 and 1e-5, one thread: lbfgs takes 2 to 6 times as long on news20,
fashion_mnist with rows of length 1 and C = .1 to 10, and 6000 x 128 with 100 classes of separation
1. On 100 classes of separation .25, where auto leaves ascent or nearly so, it takes 1 to 1.4 times
the time of lbfgs.
"""

from dataclasses import dataclass
from typing import Any

import scipy.sparse

from fwlab.kernels.steps.rules import EXACT
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.ascent import Ascent
from fwlab.solvers.entropy_start import start_between
from fwlab.solvers.lbfgs import MOST_COST, Lbfgs
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.preconditioner import cost_by_class

SLOWEST, SLOWEST_SPARSE = 0.7, 0.95
# the first pass whose ratio to the pass before it counts
FIRST = 2


@dataclass(eq=False)
class Phase:
    """The method of this phase with its workspace, the passes so far and the last progress."""

    method: Method
    workspace: Any
    passes: int = 0
    progress: float = 0.0


@dataclass(frozen=True)
class EntropyAuto(Method):
    """Ascent while a pass leaves little of the gap, then L-BFGS."""

    takes_entropy = True

    def needs(self, problem: PrimalDual) -> Needs:
        return Needs()

    def start(self, state: State) -> Phase:
        phase = Phase(Ascent(EXACT), None)
        if cost_by_class(state.problem) <= MOST_COST:
            self._change(state, phase)
        else:
            phase.workspace = Ascent(EXACT).start(state)
        return phase

    def iterate(self, state: State, workspace: Phase) -> None:
        workspace.method.iterate(state, workspace.workspace)
        if isinstance(workspace.method, Ascent):
            before, workspace.passes = workspace.progress, workspace.passes + 1
            workspace.progress = Ascent(EXACT).progress(state, workspace.workspace)
            slowest = SLOWEST_SPARSE if scipy.sparse.issparse(state.problem.X) else SLOWEST
            if workspace.passes >= FIRST and workspace.progress > slowest * before:
                self._change(state, workspace)

    def progress(self, state: State, workspace: Phase) -> float | None:
        return workspace.method.progress(state, workspace.workspace)

    def warm_up(self, state: State) -> None:
        start_between(state)
        phase = Phase(Ascent(EXACT), Ascent(EXACT).start(state))
        phase.method.iterate(state, phase.workspace)
        self._change(state, phase)
        phase.method.iterate(state, phase.workspace)

    def _change(self, state: State, workspace: Phase) -> None:
        """Go on with L-BFGS, which keeps its own values."""
        workspace.method, state.needs = Lbfgs(), Lbfgs().needs(state.problem)
        workspace.workspace = Lbfgs().start(state)
