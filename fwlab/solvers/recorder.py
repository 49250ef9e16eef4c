"""What leaves a run on the way: the trace's rows, progress lines, and the user's callback."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fwlab.arrays import Floats
from fwlab.problem import Certificate
from fwlab.result import Status, Trace
from fwlab.solvers.method import State

SECONDS_BETWEEN_LINES = 1.0


@dataclass(frozen=True, eq=False)
class Progress:
    """What a callback sees of a run; A and W are read-only."""

    iteration: int
    seconds: float
    primal: float
    dual: float
    gap: float
    state: State = field(repr=False)

    @property
    def A(self) -> Floats:
        """The dual variable, (n, m)."""
        return read_only(self.state.A)

    @property
    def W(self) -> Floats | None:
        """The primal variable, (m, d); None with a precomputed kernel."""
        state, kernel = self.state, self.state.problem.kernel
        if kernel == "precomputed":
            return None
        is_link = state.coefficients is not None or state.problem.regularizer.plain
        tracked = kernel is None and is_link and not state.keeps_best
        return read_only(state.link if tracked else state.weights())


Callback = Callable[[Progress], None]


class Counters(Protocol):
    """What a state counts, see `Trace`."""

    n_lmo: int
    n_steps: int
    step: float

    @property
    def active(self) -> int: ...


@dataclass(eq=False)
class Recorder:
    """Rows of the trace, one a checkpoint."""

    keeps_augmented_gap: bool = False
    rows: list[dict[str, Any]] = field(default_factory=list)

    def record(
        self, state: Counters, certificate: Certificate, iteration: int, seconds: float
    ) -> None:
        """Append a checkpoint."""
        row = {
            "iteration": iteration,
            "seconds": seconds,
            "primal": certificate.primal,
            "dual": certificate.dual,
            "gap": certificate.gap,
            "n_lmo": state.n_lmo,
            "n_steps": state.n_steps,
            "active": state.active,
            "step": state.step,
        }
        if self.keeps_augmented_gap:
            row["augmented_gap"] = certificate.augmented_gap
        if certificate.own_gap is not None:
            row["own_gap"] = certificate.own_gap
        self.rows.append(row)

    def replace_last(
        self, state: Counters, certificate: Certificate, iteration: int, seconds: float
    ) -> None:
        """Write the last checkpoint again."""
        self.rows.pop()
        self.record(state, certificate, iteration, seconds)

    def trace(self) -> Trace:
        """The rows as columns."""
        return Trace(**{name: np.array([row[name] for row in self.rows]) for name in self.rows[0]})


@dataclass(eq=False)
class Reporter:
    """Tells the user at each checkpoint; a callback or Ctrl-C in it can end the run.

    `progress` builds what the callback sees from iteration, seconds, primal, dual, gap and state.
    """

    method: str
    callback: Callable[[Any], None] | None
    verbose: int
    progress: Callable[..., Any]
    last_line: float = -np.inf

    def report(
        self, state: Any, certificate: Certificate, iteration: int, seconds: float
    ) -> Status | None:
        """Print a line if it is time, call the callback; the status to stop with, or None."""
        if self.verbose == 2 or (
            self.verbose == 1 and time.monotonic() >= self.last_line + SECONDS_BETWEEN_LINES
        ):
            self.last_line = time.monotonic()
            line = f"{self.method} {iteration:6d} {seconds:9.2f} s  gap {certificate.gap:.3e}"
            print(line, file=sys.stderr, flush=True)
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


def read_only(array: Floats) -> Floats:
    """A view that cannot be written to."""
    view = array.view()
    view.setflags(write=False)
    return view
