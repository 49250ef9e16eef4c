"""End a run early enough that its certificate comes within the time limit.

The certificate is computed once, at the end, and may take longer than many iterations. Until one
has been computed, its time is predicted. The run ends as soon as another iteration, as long as the
last one, would leave too little time for it.
"""

import time
from dataclasses import dataclass, field

from fwlab.result import Certificate
from fwlab.solvers.run_state import RunState
from fwlab.solvers.stopwatch import Stopwatch

# the factor by which the time of the run grows until the prediction is made again
AGAIN = 4.0
# the certificate of a part of the work may take that much less than its share
MARGIN = 1.25


@dataclass(eq=False)
class Deadline:
    """The end of a run.

    Attributes
    ----------
    limit : float or None
        Seconds of the run, None for no end.
    began : float
        The value of time.perf_counter() from which on the limit counts.
    state : RunState
        Predicts the time of its certificate.
    clock : Stopwatch
        The clock of the method, which leaves predictions out.
    iteration, judgement, certificate : float
        Seconds that the next ones will take, as far as is known.
    """

    limit: float | None
    began: float
    state: RunState
    clock: Stopwatch
    iteration: float = field(init=False, default=0.0)
    judgement: float = field(init=False, default=0.0)
    certificate: float = field(init=False, default=0.0)
    _next_prediction: float = field(init=False, default=0.0)

    def note(self, certificate: Certificate, seconds: float) -> None:
        """Note the seconds of a checkpoint with this certificate."""
        if certificate.from_scratch:
            self.certificate, self._next_prediction = seconds, float("inf")
        else:
            self.judgement = seconds

    def is_over(self, judges: bool = False) -> bool:
        """Return whether another iteration would leave too little time for the certificate.

        `judges` says that a judgement comes before this iteration.
        """
        if self.limit is None:
            return False
        if self.iteration > 0 and self._next_prediction <= self._spent() < self.limit:
            predict = self.state.seconds_to_certify
            self.certificate = MARGIN * self.clock.leave_out(predict, self.judgement)
            self._next_prediction = AGAIN * self._spent()
        needed = self.iteration + self.certificate + (self.judgement if judges else 0.0)
        return self._spent() + needed >= self.limit

    def _spent(self) -> float:
        return time.perf_counter() - self.began
