"""Hold the state of a run on a Dask cluster: W, the version of A, and the calls to the workers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

from scipy.sparse import csr_array, vstack

from fwlab.arrays import Floats
from fwlab.distributed.block import Point, Request, Round
from fwlab.distributed.calls import Calls
from fwlab.distributed.certificate import certificate_of, norms_of_rows
from fwlab.distributed.dask_problem import DaskProblem
from fwlab.distributed.proposals import NearestRows, Proposer
from fwlab.distributed.state import OutOfCoreState
from fwlab.result import Certificate

# the rounds after which the driver keeps the rows of A, so that lost ones need no more rounds again
ROUNDS_KEPT = 8


@dataclass(eq=False)
class DaskState(OutOfCoreState):
    """The state of a run, which the driver changes round by round.

    The workers hold A. `packed`, part by part, and `calls.kept`, partition by partition, hold the
    rows that the driver has seen last.

    Attributes
    ----------
    calls : Calls
        The partitions; made at the start.
    version : int
        The number of moves of A.
    step_to_version : float
        The step to this version.
    """

    problem: DaskProblem  # type: ignore[assignment]
    calls: Calls = field(init=False)
    version: int = field(init=False, default=0)
    step_to_version: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        problem = self.problem
        setups = problem.setups()
        ends = accumulate((len(setup.parts) for setup in setups), initial=0)
        rows = [_stacked(self.packed[start:stop]) for start, stop in pairwise(ends)]
        self.calls = Calls(problem.placement, setups, rows)
        self.link = self._link_of_zero()
        if not self.is_zero:
            self.link = self._link_from_scratch()

    @property
    def is_zero(self) -> bool:
        return self.version == 0 and super().is_zero

    @property
    def A(self) -> csr_array:
        """The dual point, (n, m), fetched from the workers."""
        self.fetch()
        return super().A

    def propose(self, proposer: Proposer) -> list[Any]:
        """Return the proposals of all partitions, in their order."""
        return self.ask("propose", proposer)

    def move(self, proposer: Proposer, direction: Floats, step: float) -> None:
        """Move A a step of the way to what was proposed, and W along its direction (m, d)."""
        self.calls.past.append(Round(proposer, self.link, step))
        self.link = self.link + step * direction
        self.version += 1
        self.step_to_version = step
        if len(self.calls.past) >= ROUNDS_KEPT:
            self.fetch()

    def ask(self, name: str, *more: Any) -> list[Any]:
        """Return the answers of all partitions at the current version of A."""
        point = Point(self.version, self.step_to_version, self.link)
        return self.calls.each(Request(name, point, more))

    def fetch(self) -> None:
        """Fetch the rows of A from the workers, unless the driver has them."""
        if not self.calls.past:
            return
        rows = self.ask("rows")
        self.calls.keep(rows, self.version)
        setups = zip(self.calls.setups, rows, strict=True)
        self.packed = [csr_array(piece) for setup, held in setups for piece in setup.pieces(held)]

    def keep(self, now: bool = False) -> None:
        if self.keeper is not None and (now or self.keeper.is_due):
            self.fetch()
        super().keep(now)

    def _certificate(self, work: str, from_scratch: bool) -> Certificate:
        found = self.ask("terms", norms_of_rows(self.link), len(self.problem.parts))
        terms = [term for partition in found for term in partition]
        return certificate_of(self.problem, terms, self.link, from_scratch)

    def _round_to_domain(self) -> float:
        roundings = self.propose(NearestRows())
        self.infeasibility = max(rounding.infeasibility for rounding in roundings)
        if not any(rounding.changed for rounding in roundings):
            return 0.0
        self.move(NearestRows(), self._link_of_zero(), 1.0)
        return float(sum(rounding.moved for rounding in roundings)) / self.problem.lam_n

    def _link_from_scratch(self) -> Floats:
        link = self._link_of_zero()
        for product in self.ask("link"):
            link += product
        link /= self.problem.lam_n
        return link


def _stacked(rows: Sequence[csr_array]) -> csr_array:
    return csr_array(vstack(rows, format="csr"))
