"""Record a run: the rows of the trace, progress lines, and the user's callback."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fwlab.arrays import Floats, is_tensor, namespace_of
from fwlab.result import Certificate, Status
from fwlab.solvers.run_state import RunState
from fwlab.solvers.stopwatch import Times
from fwlab.solvers.time_left import TimeLeft
from fwlab.streams import stderr
from fwlab.trace import Trace

SECONDS_BETWEEN_LINES = 1.0


@dataclass(frozen=True, eq=False)
class Progress:
    """The argument of a callback. Subclasses add read-only views of the variables."""

    iteration: int
    seconds: float
    primal: float
    dual: float
    gap: float
    state: Any = field(repr=False)


@dataclass(eq=False)
class Reporter:
    """Reports each checkpoint to the user; the callback, or Ctrl-C during it, can end the run.

    progress is the class of the callback's argument; time_left adds its sentence to the lines.
    """

    method: str
    callback: Callable[[Any], None] | None
    verbose: int
    progress: type[Progress]
    time_left: TimeLeft | None = None
    last_line: float = -np.inf

    def report(
        self, state: RunState, certificate: Certificate, iteration: int, seconds: float
    ) -> Status | None:
        """Print a line if it is time, call the callback; return a status to stop with, or None."""
        if self.verbose == 2 or (
            self.verbose == 1 and time.monotonic() >= self.last_line + SECONDS_BETWEEN_LINES
        ):
            self.last_line = time.monotonic()
            line = f"{self.method} {iteration:6d} {seconds:9.2f} s  gap {certificate.gap:.3e}"
            left = "" if self.time_left is None else self.time_left.sentence(certificate, iteration)
            print(f"{line}{left}", file=stderr(), flush=True)
        if self.callback is None:
            return None
        try:
            numbers = (certificate.primal, certificate.dual, certificate.gap)
            self.callback(self.progress(iteration, seconds, *numbers, state))
        except StopIteration:
            return Status.STOPPED_BY_CALLBACK
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        return None


@dataclass(eq=False)
class Recorder:
    """Keeps one row of the trace per checkpoint, and reports it."""

    reporter: Reporter
    keeps_augmented_gap: bool = False
    rows: list[dict[str, Any]] = field(default_factory=list)

    def note(
        self, state: RunState, certificate: Certificate, iteration: int, times: Times
    ) -> Status | None:
        """Record and report a checkpoint; return a status to stop with, if any."""
        self.rows.append(self._row(state, certificate, iteration, times))
        return self.reporter.report(state, certificate, iteration, times.wall)

    def correct(
        self, state: RunState, certificate: Certificate, iteration: int, times: Times
    ) -> None:
        """Write the last checkpoint again, with another certificate."""
        self.rows[-1] = self._row(state, certificate, iteration, times)

    def trace(self) -> Trace:
        """Return the rows as columns."""
        return Trace(**{name: np.array([row[name] for row in self.rows]) for name in self.rows[0]})

    def _row(
        self, state: RunState, certificate: Certificate, iteration: int, times: Times
    ) -> dict[str, Any]:
        row = {
            "iteration": iteration,
            "seconds": times.wall,
            "cpu_seconds": times.cpu,
            "primal": certificate.primal,
            "dual": certificate.dual,
            "gap": certificate.gap,
            "n_lmo": state.n_lmo,
            "n_steps": state.n_steps,
            "active": state.active,
            "step": state.step,
        }
        if state.counts_work:
            row["n_projections"], row["n_rows"] = state.n_projections, state.n_rows
        if self.keeps_augmented_gap:
            row["augmented_gap"] = certificate.augmented_gap
        if certificate.own_gap is not None:
            row["own_gap"] = certificate.own_gap
        return row


def read_only(array: Floats) -> Floats:
    """Return a view that cannot be written to; a copy of a tensor, which has none."""
    if is_tensor(array):
        copy: Floats = namespace_of(array).asarray(array, copy=True)
        return copy
    if array is None:
        return array
    view = array.view()
    view.setflags(write=False)
    return view
