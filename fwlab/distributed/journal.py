"""Record the answers that a run gives its loop, so that a resumed run makes the same decisions.

The loop in solvers.loop begins at iteration 0 in each process. A resumed run skips the iterations
that earlier processes finished, and answers the questions of the loop about them from the journal.
The loop therefore judges and stops at the same iterations as in a run that nobody killed.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from fwlab.result import Certificate, Status
from fwlab.solvers.method import Method
from fwlab.solvers.recorder import Recorder
from fwlab.solvers.stopwatch import Times

JUDGED, CERTIFIED, PROGRESS, ROW = "judged", "certified", "progress", "row"


@dataclass(eq=False)
class Journal:
    """The answers of a run: certificates, progress and rows of the trace.

    Attributes
    ----------
    iterations : int
        The number of iterations that earlier processes finished.
    seconds : float
        The time that these iterations took.
    answers : dict
        The answers to each question, by iteration.
    """

    iterations: int = 0
    seconds: float = 0.0
    answers: dict[str, dict[int, Any]] = field(default_factory=dict)

    def answer(self, question: str, iteration: int, compute: Callable[[], Any]) -> Any:
        """Return the recorded answer at an iteration; compute and record it if there is none."""
        given = self.answers.setdefault(question, {})
        if iteration not in given:
            given[iteration] = compute()
        return given[iteration]

    def as_notes(self) -> dict[str, Any]:
        """Return all answers as lists and dicts, for JSON."""
        return {
            question: [
                [i, asdict(a) if isinstance(a, Certificate) else a] for i, a in given.items()
            ]
            for question, given in self.answers.items()
        }

    @classmethod
    def from_notes(cls, notes: dict[str, Any], iterations: int, seconds: float) -> "Journal":
        """Return the journal whose `as_notes` returned these notes."""
        answers = {question: dict(map(tuple, pairs)) for question, pairs in notes.items()}
        for question in (JUDGED, CERTIFIED):
            found = answers.get(question, {})
            answers[question] = {i: Certificate(**numbers) for i, numbers in found.items()}
        return cls(iterations, seconds, answers)


@dataclass(frozen=True)
class Repeating(Method):
    """Makes the iterations of a method, and skips those that earlier processes made."""

    method: Method

    def start(self, state: Any) -> Any:
        state.workspace = self.method.start(state)
        return state.workspace

    def iterate(self, state: Any, workspace: Any) -> None:
        if state.iteration >= state.journal.iterations:
            with state.timed():
                self.method.iterate(state, workspace)
        state.iteration += 1
        state.keep()

    def progress(self, state: Any, workspace: Any) -> float | None:
        progress: float | None = state.journal.answer(
            PROGRESS, state.iteration, lambda: self.method.progress(state, workspace)
        )
        return progress


@dataclass(eq=False)
class JournalRecorder(Recorder):
    """Records a trace that begins with the rows and the seconds of earlier processes.

    The processor's seconds are left out: workers of a cluster have their own.
    """

    def note(
        self, state: Any, certificate: Certificate, iteration: int, times: Times
    ) -> Status | None:
        rows = state.journal.answers.setdefault(ROW, {})
        if iteration in rows:
            self.rows.append(rows[iteration])
            return None
        status = super().note(state, certificate, iteration, _since_the_begin(state, times))
        rows[iteration] = self.rows[-1]
        return status

    def correct(self, state: Any, certificate: Certificate, iteration: int, times: Times) -> None:
        super().correct(state, certificate, iteration, _since_the_begin(state, times))

    def _row(self, *checkpoint: Any) -> dict[str, Any]:
        row = super()._row(*checkpoint)
        del row["cpu_seconds"]
        return row


def _since_the_begin(state: Any, times: Times) -> Times:
    return times._replace(wall=times.wall + state.journal.seconds)
