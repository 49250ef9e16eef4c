"""Decide whether a certificate, the number of iterations or the time ends a run."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fwlab.checks.arguments import as_flag, as_integer, as_real
from fwlab.result import Certificate, Status

# a gap below this fraction of the values may be at the level of rounding errors
LIKELY_FLOOR = 1e-8
# where the gap is this fraction of its rounding error, less gap would prove little more
HIDDEN = 1 / 8


@dataclass(frozen=True)
class Limits:
    """When to stop and how often to judge; time_limit counts the seconds of the whole run.

    check_every is None for "auto".
    """

    tol: float
    relative: bool
    max_iter: int
    time_limit: float | None
    check_every: int | None = 1

    def met(self, certificate: Certificate) -> Status | None:
        """Return the status that a small gap gives, or None. tol = 0 is never met.

        The gap counts with its rounding error. The small gap may belong to another problem that the
        method solves.
        """
        if certificate.contradiction:
            return None
        if self._small(certificate.proved_gap, certificate):
            return Status.CONVERGED
        own_gap = certificate.own_gap
        if own_gap is None:
            return None
        own = replace(certificate, primal=certificate.dual + own_gap, gap=own_gap)
        small = self._small(own.proved_gap, own)
        return Status.SOLVED_OTHER_PROBLEM if small else None

    def at_floor(self, certificate: Certificate) -> bool:
        """Return whether the rounding error hides the gap from scratch; False with tol = 0."""
        gap, error = certificate.gap, certificate.gap_error
        hidden = gap <= HIDDEN * error or (gap <= error and not self._small(error, certificate))
        return self.tol > 0 and certificate.from_scratch and hidden and error < np.inf

    def may_end(self, certificate: Certificate, floor: float | None) -> bool:
        """Return whether a run may end at this certificate, which the method tracks.

        floor is the last rounding error that is known, None if there is none yet.
        """
        if certificate.contradiction or self.met(certificate):
            return True
        floor = LIKELY_FLOOR * _scale(certificate) if floor is None else floor
        return self.tol > 0 and certificate.gap <= floor

    def reachable(self, certificate: Certificate) -> float:
        """Return a tol that a run to this rounding floor meets; infinity for a fraction of 0.

        Another run may judge another iterate: its gap is hidden there or meets the tol.
        """
        scale = _scale(certificate) if self.relative else 1.0
        met = max(certificate.proved_gap, (1 + HIDDEN) * certificate.gap_error)
        return met / scale * 1.05 if scale > 0 else np.inf

    def excess(self, certificate: Certificate) -> float:
        """Return the factor by which the gap, or the method's own gap, misses tol."""
        goal = self.tol * (_scale(certificate) if self.relative else 1.0)
        gap, own = certificate.gap, certificate.own_gap
        return (gap if own is None else min(gap, own)) / goal if goal > 0 else np.inf

    def status(
        self, certificate: Certificate, iteration: int, is_late: bool, is_stuck: bool = False
    ) -> Status | None:
        """Return the reason to stop here, or None.

        is_late says that the time is over, is_stuck that rounding hides all further progress.
        """
        if certificate.contradiction:
            return Status.INCONSISTENT
        if met := self.met(certificate):
            return met
        if is_stuck or self.at_floor(certificate):
            return Status.ROUNDING_FLOOR
        if iteration >= self.max_iter:
            return Status.MAX_ITER
        return Status.TIME_LIMIT if is_late else None

    def _small(self, gap: float, certificate: Certificate) -> bool:
        scale = _scale(certificate) if self.relative else 1.0
        return self.tol > 0 and gap <= self.tol * scale < np.inf


def checked_limits(
    tol: Any, relative: Any, max_iter: Any, time_limit: Any, check_every: Any
) -> Limits:
    """Return the limits of a user's arguments.

    Raises ValueError or TypeError with one sentence if an argument is not allowed.
    """
    return Limits(
        as_real("tol", tol, positive=False),
        as_flag("relative", relative),
        as_integer("max_iter", max_iter, low=0),
        None if time_limit is None else as_real("time_limit", time_limit, positive=False),
        as_check_every(check_every),
    )


def as_check_every(value: Any) -> int | None:
    """Return the number of iterations between checkpoints, None for "auto".

    Raises ValueError or TypeError with one sentence for anything else.
    """
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f'check_every must be "auto" or an integer; got {value!r}.')
        return None
    return as_integer("check_every", value, low=1)


def _scale(certificate: Certificate) -> float:
    return max(abs(certificate.primal), abs(certificate.dual))
