"""The loop of every run: it owns the clock, the stopping test and interruption.

A method only iterates. At each checkpoint the state is judged, outside the clock, and noted. What
the judge and the note do is the business of the driver of a problem.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from fwlab.checks.arguments import as_flag, as_integer, as_real
from fwlab.problem import Certificate
from fwlab.result import Status
from fwlab.solvers.interrupt import Interrupt

ROUNDING_FLOOR = 32 * np.finfo(float).eps

Judge = Callable[[], Certificate]
Note = Callable[[Certificate, int, float], Status | None]


class Iterative(Protocol):
    """A method to the loop: whatever `start` returns is handed to every iteration."""

    def start(self, state: Any) -> Any: ...

    def iterate(self, state: Any, workspace: Any) -> None: ...


@dataclass(frozen=True)
class Limits:
    """When to stop and how often to judge. time_limit counts all time since `began`."""

    tol: float
    relative: bool
    max_iter: int
    time_limit: float | None
    check_every: int = 1

    def met(self, certificate: Certificate) -> Status | None:
        """The status if the gap, or that of the problem which the method solves, is at most tol.

        tol = 0 is never met.
        """
        if self._small(certificate):
            return Status.CONVERGED
        own_gap, dual = certificate.own_gap, certificate.dual
        if own_gap is None:
            return None
        own = replace(certificate, primal=dual + own_gap, gap=own_gap)
        return Status.SOLVED_OTHER_PROBLEM if self._small(own) else None

    def at_floor(self, certificate: Certificate) -> bool:
        """Whether the gap cannot be told from rounding errors; never so with tol = 0."""
        return self.tol > 0 and bool(
            certificate.gap <= ROUNDING_FLOOR * _scale(certificate) < np.inf
        )

    def time_is_over(self, seconds: float) -> bool:
        """Whether the run has taken its time."""
        return self.time_limit is not None and seconds >= self.time_limit

    def status(self, certificate: Certificate, iteration: int, seconds: float) -> Status | None:
        """The reason to stop here, if there is one."""
        if met := self.met(certificate):
            return met
        if self.at_floor(certificate):
            return Status.ROUNDING_FLOOR
        if iteration >= self.max_iter:
            return Status.MAX_ITER
        return Status.TIME_LIMIT if self.time_is_over(seconds) else None

    def _small(self, certificate: Certificate) -> bool:
        scale = _scale(certificate) if self.relative else 1.0
        return self.tol > 0 and certificate.gap <= self.tol * scale < np.inf


def checked_limits(
    tol: Any, relative: Any, max_iter: Any, time_limit: Any, check_every: Any
) -> Limits:
    """The limits from a user's arguments. Raises ValueError or TypeError with one sentence."""
    return Limits(
        as_real("tol", tol, positive=False),
        as_flag("relative", relative),
        as_integer("max_iter", max_iter, low=0),
        None if time_limit is None else as_real("time_limit", time_limit, positive=False),
        as_integer("check_every", check_every, low=1),
    )


@dataclass(frozen=True)
class End:
    """The last checkpoint of a loop; seconds of the method alone."""

    certificate: Certificate
    status: Status
    iteration: int
    seconds: float


def run_loop(
    method: Iterative,
    state: Any,
    judge: Judge,
    note: Note,
    limits: Limits,
    began: float,
    interrupt: Interrupt,
) -> End:
    """Iterate until a limit is met, Ctrl-C was pressed, or `note` returns a status to stop with."""
    clock = time.perf_counter()
    workspace = method.start(state)
    seconds, iteration = time.perf_counter() - clock, 0
    while True:
        certificate = judge()
        status = limits.status(certificate, iteration, time.perf_counter() - began)
        status = note(certificate, iteration, seconds) or status
        if interrupt.pressed:
            status = Status.INTERRUPTED
        if status is not None:
            return End(certificate, status, iteration, seconds)
        clock = time.perf_counter()
        for _ in range(min(limits.check_every, limits.max_iter - iteration)):
            method.iterate(state, workspace)
            iteration += 1
            if interrupt.pressed or limits.time_is_over(time.perf_counter() - began):
                break
        seconds += time.perf_counter() - clock


def _scale(certificate: Certificate) -> float:
    return max(abs(certificate.primal), abs(certificate.dual))
