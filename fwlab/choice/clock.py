"""Say when a proof must end: at its time limit, or after Ctrl-C."""

import time
from dataclasses import dataclass, field

from fwlab.result import Status
from fwlab.solvers.interrupt import Interrupt

# of the time limit, for the knots that come before the walk
FIRST_SHARE = 0.5


@dataclass(eq=False)
class Clock:
    """The time limit in seconds, None for no end, and Ctrl-C, which a run inside may have met."""

    limit: float | None
    interrupt: Interrupt
    began: float = field(default_factory=time.perf_counter)

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self.began

    @property
    def remaining(self) -> float | None:
        """Seconds that a run inside may take."""
        return None if self.limit is None else max(0.0, self.limit - self.spent)

    def note(self, status: Status) -> None:
        """Note that a run has ended with this status."""
        self.interrupt.pressed = self.interrupt.pressed or status is Status.INTERRUPTED

    def is_over(self, before_walk: bool = False) -> bool:
        """Return whether to end now; before the walk a share of the limit counts."""
        if self.interrupt.pressed or self.limit is None:
            return self.interrupt.pressed
        return self.spent >= self.limit * (FIRST_SHARE if before_walk else 1.0)
