"""Measure the time of a method alone: wall seconds, and seconds of the processor."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
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
    times : Times
        The sums over all work so far.
    last : float
        The wall seconds of the last piece of work.
    """

    times: Times = field(default_factory=lambda: Times(0.0, 0.0))
    last: float = 0.0

    def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Return what the work returns; its time counts."""
        wall, cpu = time.perf_counter(), time.process_time()
        outcome = work(*arguments)
        cpu, self.last = time.process_time() - cpu, time.perf_counter() - wall
        self.times = Times(self.times.wall + self.last, self.times.cpu + cpu)
        return outcome
