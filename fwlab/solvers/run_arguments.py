"""Check the arguments that every run takes, of training in memory or out of core and of ranking."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwlab.checks.arguments import as_generator, as_integer
from fwlab.solvers.recorder import Progress, Reporter
from fwlab.solvers.stopping import Limits, checked_limits
from fwlab.solvers.time_left import TimeLeft


@dataclass(frozen=True, eq=False)
class RunArguments:
    """When a run stops, its random numbers, and what the user sees of it."""

    limits: Limits
    generator: np.random.Generator
    callback: Callable[[Any], None] | None
    verbose: int

    def reporter(self, name: str, progress: type[Progress]) -> Reporter:
        """Return what tells the user of a run of this name; progress as for Reporter."""
        return Reporter(name, self.callback, self.verbose, progress, TimeLeft(self.limits))


def checked_run(
    tol: Any,
    relative: Any,
    max_iter: Any,
    time_limit: Any,
    check_every: Any,
    rng: Any,
    callback: Any,
    verbose: Any,
) -> RunArguments:
    """Return the arguments of a run.

    Raises ValueError or TypeError with one sentence if an argument is not allowed.
    """
    limits = checked_limits(tol, relative, max_iter, time_limit, check_every)
    verbose = as_integer("verbose", verbose, low=0, high=2)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable; got {callback!r}.")
    return RunArguments(limits, as_generator(rng), callback, verbose)
