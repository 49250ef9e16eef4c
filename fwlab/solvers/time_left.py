"""Predict the time left of a run: a bound from its limits, and a guess from its gaps."""

import math
import time
from dataclasses import dataclass, field

from fwlab.result import Certificate
from fwlab.solvers.stopping import Limits
from fwlab.text import duration


@dataclass(eq=False)
class TimeLeft:
    """The time left of one run, by the user's clock from the first question on; judging counts.

    points holds the seconds and the logarithm of gap / tol of the checkpoints it was asked at.
    """

    limits: Limits
    began: float | None = None
    points: list[tuple[float, float]] = field(default_factory=list)

    def sentence(self, certificate: Certificate, iteration: int) -> str:
        """Return ", at most 12 s left", with a guess if the gaps promise less; "" if unknown."""
        clock, excess = time.monotonic(), self.limits.excess(certificate)
        self.began = clock if self.began is None else self.began
        now = clock - self.began
        if 0 < excess < math.inf:
            self.points.append((now, math.log(excess)))
        bound, guess = self._bound(now, iteration), self._guess()
        if bound == math.inf:
            return ""
        shown = f", at most {duration(bound)} left"
        return f"{shown}, {duration(guess)} if the gap goes on so" if guess < bound else shown

    def _bound(self, now: float, iteration: int) -> float:
        """Return the seconds until a limit is met, at the pace of the iterations so far."""
        limits, bound = self.limits, math.inf
        if iteration > 0:
            bound = now / iteration * (limits.max_iter - iteration)
        if limits.time_limit is not None:
            bound = min(bound, max(limits.time_limit - now, 0.0))
        return bound

    def _guess(self) -> float:
        """Return the seconds until the gap is tol, at the rate of the second half of the run."""
        if len(self.points) < 2:
            return math.inf
        now, excess = self.points[-1]
        then, before = next(point for point in self.points if point[0] >= now / 2)
        fallen = before - excess
        return max(excess, 0.0) * (now - then) / fallen if fallen > 0 else math.inf
