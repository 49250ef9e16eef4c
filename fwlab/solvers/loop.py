"""Run the loop of training and of ranking: it owns the clock and interruption.

A method only iterates. At each checkpoint, outside the clock, the state is judged from what the
method tracks; solvers.schedule says when. Before the run ends, the certificate is computed from
scratch: when the gap is small enough to stop, or should be, because the drift of tracked numbers
must not decide; or else after the last iteration.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fwlab.result import Certificate, Status
from fwlab.solvers.deadline import Deadline
from fwlab.solvers.interrupt import Interrupt
from fwlab.solvers.method import Method
from fwlab.solvers.recorder import Recorder
from fwlab.solvers.run_state import RunState
from fwlab.solvers.schedule import Schedule
from fwlab.solvers.stopping import Limits
from fwlab.solvers.stopwatch import Stopwatch, Times


@dataclass(frozen=True)
class End:
    """The last checkpoint of a run, and the times of the method alone.

    reachable is the tol that the certificate meets.
    """

    certificate: Certificate
    status: Status
    iteration: int
    times: Times
    reachable: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """The message for the user: the status and its explanation."""
        if found := self.certificate.contradiction:
            return self.status.value, found[0].upper() + found[1:]
        if self.status is Status.ROUNDING_FLOOR:
            return self.status.value, f"tol={self.reachable:.1e} can be reached."
        return (self.status.value,)

    def fields(self, recorder: Recorder, called: float, notes: Iterable[str]) -> dict[str, Any]:
        """Return the fields that the results of all runs share.

        called is the value of time.perf_counter() at the call; the message ends with the notes.
        """
        certificate = self.certificate
        return {
            "primal": certificate.primal,
            "dual": certificate.dual,
            "gap": certificate.gap,
            "gap_error": certificate.gap_error,
            "success": self.status is Status.CONVERGED,
            "status": self.status,
            "message": " ".join((*self.sentences, *notes)),
            "trace": recorder.trace(),
            "wall_seconds": time.perf_counter() - called,
        }


def run_loop(
    method: Method,
    state: RunState,
    limits: Limits,
    recorder: Recorder,
    began: float,
    interrupt: Interrupt,
) -> End:
    """Iterate until a limit is met, Ctrl-C was pressed, or the callback stops the run.

    Parameters
    ----------
    method : Method
        Its `start` returns the workspace that every iteration gets.
    state : RunState
        The state of the run, which the method changes in place.
    limits : Limits
        The stopping test.
    recorder : Recorder
        Keeps the trace and tells the user.
    began : float
        The value of time.perf_counter() from which on the time limit counts.
    interrupt : Interrupt
        Says whether Ctrl-C was pressed.

    Returns
    -------
    End
        The last checkpoint, whose certificate was computed from scratch.
    """
    clock = Stopwatch()
    clock.resume()
    workspace = clock.run(method.start, state)
    iteration, floor = 0, None
    schedule, expects_end = Schedule(limits.check_every), False
    deadline = Deadline(limits.time_limit, began, state, clock)
    while True:
        clock.pause()
        judging = time.perf_counter()
        certificate = _checkpoint(state, limits, expects_end, floor)
        floor = certificate.gap_error if certificate.from_scratch else floor
        noted = recorder.note(state, certificate, iteration, clock.times)
        deadline.note(certificate, time.perf_counter() - judging)
        status = noted or limits.status(certificate, iteration, deadline.is_over(), state.is_stuck)
        status = Status.INTERRUPTED if interrupt.pressed else status
        if status is not None:
            break
        progress, excess = method.progress(state, workspace), limits.excess(certificate)
        schedule.note(iteration, progress, excess, state.checkpoint_cost)
        sample = partial(clock.leave_out, _sampled_excess, state, limits, certificate)
        clock.resume()
        while iteration < limits.max_iter and not (interrupt.pressed or state.is_stuck):
            progress = clock.run(_iterate, method, state, workspace)
            iteration += 1
            deadline.iteration = clock.last
            due = schedule.is_due(iteration, progress)
            if (due and not schedule.postpones(iteration, progress, sample)) or deadline.is_over():
                break
        ends = iteration >= limits.max_iter or deadline.is_over(judges=True)
        expects_end = ends or schedule.expects_end(progress)
    certificate = _from_scratch(state, recorder, certificate, iteration, clock.times)
    return _ended(certificate, status, iteration, clock.times, limits)


def _iterate(method: Method, state: RunState, workspace: Any) -> float | None:
    """Make an iteration, and return the progress after it."""
    method.iterate(state, workspace)
    return method.progress(state, workspace)


def _sampled_excess(state: RunState, limits: Limits, last: Certificate) -> float | None:
    """Return about the factor by which the gap misses tol, or None if samples do not tell."""
    gap = state.sampled_gap()
    return None if gap is None else limits.excess(replace(last, gap=gap))


def _from_scratch(
    state: RunState, recorder: Recorder, certificate: Certificate, iteration: int, times: Times
) -> Certificate:
    """Return the last certificate, computed from scratch; the trace gets its numbers."""
    if not certificate.from_scratch:
        certificate = state.certify()
        recorder.correct(state, certificate, iteration, times)
    return certificate


def _ended(
    certificate: Certificate, status: Status, iteration: int, times: Times, limits: Limits
) -> End:
    """Return the end of a run for this status, with a certificate from scratch."""
    if certificate.contradiction:
        status = Status.INCONSISTENT
    status = limits.met(certificate) or status
    return End(certificate, status, iteration, times, limits.reachable(certificate))


def _checkpoint(
    state: RunState, limits: Limits, expects_end: bool, floor: float | None
) -> Certificate:
    """Return the certificate here, from scratch if the run is expected to end or may end."""
    if not expects_end:
        certificate = state.judge()
        if certificate.from_scratch or not limits.may_end(certificate, floor):
            return certificate
    return state.certify()
