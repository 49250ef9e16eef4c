"""Tell whether a machine was busy with other work during a run.

The load average of the system counts the processes that run or wait for a processor, this one
included, over the last minute. On a machine that has a processor for each of them, the seconds of
the processor and of the wall are equal for a run of one thread.
"""

import os
from dataclasses import dataclass
from typing import Any

from fwlab.result import Result

# in a shorter run a single wait of some ms would decide
SHORTEST = 0.1
# a run that has its processor for itself reaches .98 and more
LEAST_SHARE = 0.9


def busy() -> dict[str, str]:
    """Return the load average and the processors of this process, as `made_by` keeps them.

    There is no load average where the system has none.
    """
    try:
        load = {"load": f"{os.getloadavg()[0]:.2f}"}
    except (AttributeError, OSError):
        load = {}
    usable = getattr(os, "sched_getaffinity", None)
    processors = len(usable(0)) if usable else os.cpu_count() or 1
    return {**load, "processors": str(processors)}


@dataclass(frozen=True)
class Load:
    """How busy the machine of a run was.

    Attributes
    ----------
    average : float or None
        The load average when the run began.
    processors : int or None
        The processors that the run could use.
    share : float or None
        The processor's seconds over the wall's; None for a run too short to tell.
    """

    average: float | None
    processors: int | None
    share: float | None

    @classmethod
    def of(cls, result: Result) -> "Load":
        """Return the load during a run of `compare`; all is None for older runs."""
        made: dict[str, Any] = result.made_by
        average, processors = made.get("load"), made.get("processors")
        # nan, of older runs, is no number to compare either
        told = result.seconds >= SHORTEST and result.cpu_seconds >= 0.0
        return cls(
            None if average is None else float(average),
            None if processors is None else int(processors),
            result.cpu_seconds / result.seconds if told else None,
        )

    @property
    def is_high(self) -> bool:
        """Whether other work slowed the run down, as far as can be told."""
        if self.share is not None and self.share < LEAST_SHARE:
            return True
        if self.average is None or self.processors is None:
            return False
        return self.average > self.processors

    def __str__(self) -> str:
        parts = []
        if self.average is not None:
            parts.append(f"load {self.average:.2f} on {self.processors} processors")
        if self.share is not None:
            parts.append(f"CPU / wall {self.share:.2f}")
        return ", ".join([*parts, *(["loaded"] if self.is_high else [])]) or "not known"
