"""Hold the state of a run on a Dask cluster: W, the version of A, and the calls to the workers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

from scipy.sparse import csr_array

from fwlab.arrays import Floats
from fwlab.distributed.checkpoint import Checkpoint
from fwlab.distributed.dask.driver import Driver
from fwlab.distributed.dask.problem import DaskProblem
from fwlab.distributed.dask.proposals import NearestRows, Proposer
from fwlab.distributed.dask.worker import Request, Round, VersionPoint
from fwlab.distributed.state import OutOfCoreState

# the rounds after which the driver keeps the rows of A, so that lost ones need no more rounds again
ROUNDS_KEPT = 8


@dataclass(eq=False)
class DaskState(OutOfCoreState):
    """The state of a run, which the driver changes round by round.

    The workers hold A. `packed` and `driver.kept` share the rows that the driver has seen last.

    Attributes
    ----------
    driver : Driver
        The partitions; made at the start.
    version : int
        The number of moves of A.
    step_to_version : float
        The step to this version.
    """

    problem: DaskProblem  # type: ignore[assignment]  # its own kind only
    driver: Driver = field(init=False)
    version: int = field(init=False, default=0)
    step_to_version: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self._open(self.packed)
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
        self.driver.past.append(Round(proposer, self.link, step))
        self.link = self.link + step * direction
        self.version += 1
        self.step_to_version = step
        if len(self.driver.past) >= ROUNDS_KEPT:
            self.fetch()

    def ask(self, name: str, *more: Any) -> list[Any]:
        """Return the answers of all partitions at the current version of A."""
        point = VersionPoint(self.version, self.step_to_version, self.link)
        return self.driver.ask(Request(name, point, more))

    def fetch(self) -> None:
        """Fetch the rows of A from the workers, unless the driver has them."""
        if not self.driver.past:
            return
        rows = self.ask("rows")
        self.driver.keep(rows, self.version)
        self.packed[:] = [piece for partition in rows for piece in partition]

    def keep(self, now: bool = False) -> None:
        if self.checkpoint_file is not None and (now or self.checkpoint_file.is_due):
            self.fetch()
        super().keep(now)

    def resume(self, checkpoint: Checkpoint) -> None:
        self._open(checkpoint.packed)
        super().resume(checkpoint)

    def _open(self, packed: Sequence[csr_array]) -> None:
        """Give the workers these rows of A, part by part."""
        setups = self.problem.setups()
        ends = accumulate((len(setup.parts) for setup in setups), initial=0)
        rows = [list(packed[i:j]) for i, j in pairwise(ends)]
        self.driver = Driver(self.problem.placement, setups, rows)

    def _of_parts(self, work: str, question: Callable[..., Any], *more: Any) -> list[Any]:
        answers = self.ask("pieces", question, *more)
        return [found for partition in answers for found in partition]

    def _round_to_domain(self) -> float:
        roundings = self.propose(NearestRows())
        if any(rounding.changed for rounding in roundings):
            self.move(NearestRows(), self._link_of_zero(), 1.0)
        return self._after(roundings)

    def _product(self, total: Floats) -> Floats:
        for product in self.ask("product"):
            total += product
        return total
