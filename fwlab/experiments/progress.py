"""Show the progress of a set of tasks on stderr: a bar, or a line before each task."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

from fwlab.result import Certificate
from fwlab.solvers.recorder import Progress, Reporter
from fwlab.solvers.time_left import TimeLeft
from fwlab.streams import stderr
from fwlab.text import duration


class Display(Protocol):
    """Shows the progress of tasks in a `with` block."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *error: Any) -> None: ...
    def begin(self, task: Any) -> Callable[[Progress], None] | None:
        """Show that a task begins; return what is to be called while it runs."""

    def end(self, task: Any) -> None:
        """Show that a task has ended."""


class Bar:
    """A bar with the time left, whose parts are as long as the tasks are expected to take."""

    def __init__(self, tasks: Sequence[Any], n_all: int, noun: str = "runs") -> None:
        from tqdm import tqdm

        self.done, self.n_all, self.noun = n_all - len(tasks), n_all, noun
        self.bar = tqdm(
            desc=self._counted(),
            total=sum(task.cost for task in tasks),
            bar_format="{percentage:3.0f}% {desc} [{elapsed} so far, {remaining} left]",
            smoothing=0,
            mininterval=0.2 if stderr().isatty() else 30.0,
            miniters=0,
            file=stderr(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.bar.close()

    def begin(self, task: Any) -> Callable[[Progress], None]:
        """Return a function that shows where the task is."""

        def watch(at: Progress) -> None:
            self._say(f"{task.name} iteration {at.iteration} gap {at.gap:.1e}")
            self.bar.update(0)

        return watch

    def end(self, task: Any) -> None:
        """Show one more finished task."""
        self.done += 1
        self._say(task.name)
        self.bar.update(task.cost)

    def _counted(self) -> str:
        return f"{self.done} of {self.n_all} {self.noun}"

    def _say(self, what: str) -> None:
        self.bar.set_description_str(f"{self._counted()}, {what}", refresh=False)


class LinePerRun:
    """A line before each run of a comparison, and one per second while it runs."""

    def __init__(self, runs: Sequence[Any], n_all: int) -> None:
        self.done, self.n_all = n_all - len(runs), n_all

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        pass

    def begin(self, run: Any) -> Callable[[Progress], None]:
        """Print that a run begins; return a function that prints where it is."""
        limits, bound = run.limits, ""
        if limits.time_limit is not None:
            seconds = run.settings.time_limit * (self.n_all - self.done)
            bound = f", at most {duration(seconds)} left for all"
        line = f"run {self.done + 1} of {self.n_all}: {run.name}{bound}"
        print(line, file=stderr(), flush=True)
        reporter = Reporter(run.key.method, None, 1, Progress, TimeLeft(limits))

        def watch(at: Progress) -> None:
            certificate = Certificate(at.primal, at.dual, at.gap, augmented_gap=at.gap)
            reporter.report(at.state, certificate, at.iteration, at.seconds)

        return watch

    def end(self, run: Any) -> None:
        """Count a finished run."""
        self.done += 1
