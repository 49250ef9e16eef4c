"""Measure the time of a method alone: wall seconds, and seconds of the processor.

Reading the processor's clock asks the system and takes some microseconds, a hundred times longer
than reading the wall's. It is read twice per checkpoint, the other one twice per iteration.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


class Times(NamedTuple):
    """Wall seconds, and the processor's seconds of all threads of this process."""

    wall: float
    cpu: float


@dataclass(eq=False)
class Stopwatch:
    """Both clocks of a run, which stand still while the run is judged.

    Attributes
    ----------
    wall, cpu : float
        The seconds so far.
    last : float
        The wall seconds of the last piece of work.
    """

    wall: float = 0.0
    cpu: float = 0.0
    last: float = 0.0
    _begun: float = 0.0

    @property
    def times(self) -> Times:
        """Both seconds so far."""
        return Times(self.wall, self.cpu)

    def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Return what the work returns; its wall time counts."""
        begun = time.perf_counter()
        outcome = work(*arguments)
        self.last = time.perf_counter() - begun
        self.wall += self.last
        return outcome

    def leave_out(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Return what the work returns; its processor's time does not count."""
        begun = time.process_time()
        outcome = work(*arguments)
        self._begun += time.process_time() - begun
        return outcome

    def resume(self) -> None:
        """Let the processor's time count from now on."""
        self._begun = time.process_time()

    def pause(self) -> None:
        """Let the processor's time count no longer."""
        self.cpu += time.process_time() - self._begun
