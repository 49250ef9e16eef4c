"""Move the dual variable of a Dask cluster round by round: vertices or quarter passes, then a step.

In a round each partition proposes a target from its copy of W. The driver sums the directions in
the order of the partitions, and does one exact line search on the dual of the whole problem. With
steps of at most 1 the dual never falls, and A stays in its domain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.distributed.dask.proposals import ROUNDS_PER_PASS, Proposal, QuarterPass, Vertices
from fwlab.distributed.dask.state import DaskState
from fwlab.distributed.methods import LastGap, step_along
from fwlab.solvers.ascent import Ascent
from fwlab.solvers.frank_wolfe import FrankWolfe
from fwlab.solvers.method import Method


@dataclass(frozen=True)
class VertexRounds(Method):
    """A <- A + step (U - A) with the exact step   (K19 Algorithm 1, T20 3.1)."""

    def start(self, state: DaskState) -> LastGap:
        return LastGap() if state.resumed is None else LastGap.restored(state.resumed.arrays)

    def iterate(self, state: DaskState, last: LastGap) -> None:
        proposals = state.propose(Vertices())
        direction = product_of(proposals) / state.problem.lam_n - state.link
        last.gap = fsum(proposal.slope for proposal in proposals) / state.problem.n_samples
        last.passes += 1
        ridges = [part.ridge for part in proposals]
        state.step = step_along(state.problem, direction, last.gap, ridges)
        state.move(Vertices(), direction, state.step)
        state.n_steps += 1
        state.n_lmo += state.problem.n_samples

    def progress(self, state: DaskState, last: LastGap) -> float | None:
        return last.gap if np.isfinite(last.gap) else None


@dataclass(eq=False)
class Turns:
    """The number of quarter passes so far, and the progress of the last ROUNDS_PER_PASS."""

    turn: int = 0
    progress: list[float] = field(default_factory=list)

    def as_arrays(self, problem: Any) -> dict[str, Any]:
        """Return both for a checkpoint."""
        return {"turn": self.turn, "progress": np.array(self.progress)}

    @classmethod
    def restored(cls, arrays: Mapping[str, Any]) -> "Turns":
        """Return the turns that a checkpoint holds."""
        return cls(int(arrays["turn"]), arrays["progress"].tolist())


@dataclass(frozen=True)
class PassRounds(Method):
    """An iteration visits each row once: four rounds, each with a quarter of a pass per partition.

    Parameters
    ----------
    seed : int
        Determines the order of the rows of each pass.
    """

    seed: int

    def start(self, state: DaskState) -> Turns:
        return Turns() if state.resumed is None else Turns.restored(state.resumed.arrays)

    def iterate(self, state: DaskState, turns: Turns) -> None:
        for _ in range(ROUNDS_PER_PASS):
            self._turn(state, turns)

    def _turn(self, state: DaskState, turns: Turns) -> None:
        problem, proposer = state.problem, QuarterPass(self.seed, turns.turn)
        proposals = state.propose(proposer)
        direction = product_of(proposals) / problem.lam_n
        slope = fsum(proposal.slope for proposal in proposals) / problem.n_samples
        slope -= problem.lam * float(np.vdot(state.link, direction))
        state.step = step_along(problem, direction, slope, [part.ridge for part in proposals])
        state.move(proposer, direction, state.step)
        state.n_steps += sum(proposal.n_rows for proposal in proposals)
        turns.turn += 1
        turns.progress.append(fsum(proposal.progress for proposal in proposals))
        turns.progress = turns.progress[-ROUNDS_PER_PASS:]

    def progress(self, state: DaskState, turns: Turns) -> float | None:
        return sum(turns.progress) if turns.progress else None


def method_in_rounds(name: str, solver: Method, rng: np.random.Generator) -> Method:
    """Return the method that works in rounds. Raises ValueError if there is none."""
    if isinstance(solver, FrankWolfe) and solver.step == "exact":
        return VertexRounds()
    if isinstance(solver, Ascent) and (solver.order, solver.block_size) == ("permutation", None):
        return PassRounds(int(rng.integers(2**63)))
    raise ValueError(
        'method must be "ascent" with its own order, or "fw" with exact steps, on a cluster; '
        f"got {name!r}."
    )


def product_of(proposals: Sequence[Proposal]) -> Floats:
    """Return the sum of the products, in the order of the partitions."""
    total = proposals[0].product.copy(order="K")
    for proposal in proposals[1:]:
        total += proposal.product
    return total
