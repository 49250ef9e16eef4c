"""Run the machines of a comparison: each run is read from the store, or computed and stored."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fwlab.checks.arguments import as_integer, as_real
from fwlab.experiments.resume import arguments_from, continued, unfinished
from fwlab.experiments.store import (
    CHANGED,
    NOWHERE,
    Place,
    is_as_planned,
    load_run,
    place,
    problem_digest,
    why_not,
)
from fwlab.problem import Problem
from fwlab.result import Certificate, Result, Status
from fwlab.solvers.method import Method
from fwlab.solvers.recorder import Progress, Reporter
from fwlab.solvers.registry import require_taken
from fwlab.solvers.solve import solve
from fwlab.solvers.stopping import Limits, as_check_every
from fwlab.solvers.time_left import TimeLeft
from fwlab.streams import stderr
from fwlab.text import duration

Key = tuple[str, str]


@dataclass(frozen=True)
class Failure:
    """A run without a result. kind is "refused", "failed" or "not run"; message says why."""

    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


@dataclass(frozen=True)
class Settings:
    """The arguments that every run of a comparison has in common.

    Parameters
    ----------
    tol, relative, max_iter, time_limit, check_every
        As for `solve`.
    rng : int
        A seed and not a generator, so that each run can be repeated.
    method_options : dict
        Further options of the methods that are given by name.

    Raises
    ------
    TypeError, ValueError
        As `solve` does.
    """

    tol: float
    relative: bool
    max_iter: int
    time_limit: float | None
    rng: int
    check_every: int | str = 1
    method_options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        as_real("tol", self.tol, positive=False)
        as_integer("max_iter", self.max_iter, low=0)
        if self.time_limit is not None:
            as_real("time_limit", self.time_limit, positive=False)
        as_integer("rng", self.rng, low=0)
        as_check_every(self.check_every)

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments for `solve`; the methods hold their options."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "method_options"}


class RunOutcome(NamedTuple):
    """The outcome of a run, and the reason why it is not stored if that turned out only now.

    stored says whether the run was read from the store.
    """

    key: Key
    result: Result | Failure
    reason: str = ""
    stored: bool = False


@dataclass(frozen=True, eq=False)
class Task:
    """One run, the place where it is stored, and the unfinished run that it continues."""

    key: Key
    problem: Problem
    method: Method
    settings: Settings
    place: Place = NOWHERE
    resumes: Result | None = None

    @property
    def code(self) -> tuple[Any, ...]:
        """The method with its settings, and the classes that the problem consists of."""
        problem = self.problem
        own = type(problem), problem.loss, problem.regularizer
        return self.key[1], self.method, self.settings.arguments(), own


def planned(
    problems: dict[str, Problem],
    methods: dict[str, Method],
    settings: Settings,
    folder: Path | None,
) -> list[Task]:
    tasks = []
    for name, problem in problems.items():
        here = [Task((name, m), problem, method, settings) for m, method in methods.items()]
        tasks += here if folder is None else _placed(here, folder)
    return tasks


def _placed(tasks: list[Task], folder: Path) -> list[Task]:
    """Return the tasks of one problem with their places in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        data = problem_digest(tasks[0].problem)
    except Exception as error:
        return [replace(task, place=Place(reason=why_not(error))) for task in tasks]
    places = [place(folder, "-".join(task.key), ".npz", task.code, data) for task in tasks]
    return [replace(task, place=found) for task, found in zip(tasks, places, strict=True)]


def outcomes_of(tasks: list[Task], n_jobs: int, verbose: int = 0) -> Iterator[RunOutcome]:
    """Yield the outcomes as they arrive; show a bar on stderr, or one line per second if verbose.

    Several processes always show the bar.
    """
    from tqdm import tqdm

    seconds, lines = 0.2 if stderr().isatty() else 30.0, verbose > 0 and n_jobs == 1
    with tqdm(
        total=len(tasks), unit="run", mininterval=seconds, miniters=0, disable=lines, file=stderr()
    ) as bar:

        def watch(method: str, progress: Progress) -> None:
            bar.set_postfix_str(
                f"{method} iteration {progress.iteration} gap {progress.gap:.1e}", refresh=False
            )
            bar.update(0)

        here = _run_with_lines(tasks) if lines else (_run(task, watch) for task in tasks)
        for finished in here if n_jobs == 1 else _run_by_workers(tasks, n_jobs, watch):
            bar.set_postfix_str(" ".join(finished.key), refresh=False)
            bar.update()
            yield finished


def _run_with_lines(tasks: list[Task]) -> Iterator[RunOutcome]:
    """Run the tasks; print a line before each, and one per second while it runs."""
    for done, task in enumerate(tasks):
        settings, bound = task.settings, ""
        if settings.time_limit is not None:
            seconds = settings.time_limit * (len(tasks) - done)
            bound = f", at most {duration(seconds)} left for all"
        line = f"run {done + 1} of {len(tasks)}: {' '.join(task.key)}{bound}"
        print(line, file=stderr(), flush=True)
        done_before = 0 if task.resumes is None else task.resumes.nit
        left = max(settings.max_iter - done_before, 0)
        limits = Limits(settings.tol, settings.relative, left, settings.time_limit)
        yield _run(task, _printer(Reporter(task.key[1], None, 1, Progress, TimeLeft(limits))))


def _printer(reporter: Reporter) -> Callable[[str, Progress], None]:
    def watch(method: str, progress: Progress) -> None:
        gap = progress.gap
        certificate = Certificate(progress.primal, progress.dual, gap, augmented_gap=gap)
        reporter.report(progress.state, certificate, progress.iteration, progress.seconds)

    return watch


def _run_by_workers(
    tasks: list[Task], n_jobs: int, watch: Callable[[str, Progress], None]
) -> Iterator[RunOutcome]:
    from joblib import Parallel, delayed

    reasons = {task.key: _why_not_sent(task) for task in tasks}
    for key, reason in reasons.items():
        if reason:
            yield RunOutcome(key, Failure("failed", reason))
    # no memory maps: numba compiles a second version for such read-only arrays
    pool = Parallel(n_jobs, return_as="generator_unordered", max_nbytes=None)
    by_key = {task.key: task for task in tasks}
    for done in pool(delayed(_run)(task) for task in tasks if not reasons[task.key]):
        # A worker whose code differs from this process does not answer for it.
        yield _run(by_key[done.key], watch) if done.reason == CHANGED else done


def _why_not_sent(task: Task) -> str:
    """Return why the method or the loss cannot go to a worker process, "" if they can."""
    from joblib.externals.loky.backend.reduction import dumps

    try:
        dumps((task.method, task.problem.loss))
    except Exception as error:
        return f"it cannot be sent to a worker process ({_one_line(error)}); n_jobs=1 runs it here"
    return ""


def _run(task: Task, watch: Callable[[str, Progress], None] | None = None) -> RunOutcome:
    """Read a stored run, or compute and store it. An exception becomes a Failure."""
    file, reason = task.place.file, ""
    if file is not None and not is_as_planned(task.place, task.code):
        file, reason = None, CHANGED
    if file is not None and (stored := load_run(file)) is not None:
        return RunOutcome(task.key, stored, stored=True)
    outcome = _solved(task, watch)
    if file is not None and isinstance(outcome, Result):
        reason = _stored(outcome, file)
    return RunOutcome(task.key, outcome, reason)


def _stored(result: Result, file: Path) -> str:
    """Store a run, an interrupted one as unfinished; return why that failed, or ""."""
    try:
        if result.status is Status.INTERRUPTED:
            result.save(unfinished(file))
        else:
            result.save(file)
            unfinished(file).unlink(missing_ok=True)
    except OSError as error:
        return f"its file cannot be written ({_one_line(error)})"
    return ""


def _solved(task: Task, watch: Callable[[str, Progress], None] | None) -> Result | Failure:
    began = False

    def note(progress: Progress) -> None:
        nonlocal began
        began = True
        if watch is not None:
            watch(task.key[1], progress)

    try:
        require_taken(task.key[1], task.method, task.problem)
        # a run begins with the method as it was given, in this process as in a worker
        method, arguments, earlier = deepcopy(task.method), task.settings.arguments(), task.resumes
        if earlier is not None:
            arguments = arguments_from(earlier, arguments)
        result = solve(task.problem, method, callback=note, **arguments)
        result = result if earlier is None else continued(earlier, result)
        return replace(result, method=task.key[1])
    except Exception as error:
        refused = isinstance(error, ValueError) and not began
        if refused and not isinstance(error, np.linalg.LinAlgError):
            return Failure("refused", _one_line(error))
        return Failure("failed", f"{type(error).__name__}: {_one_line(error)}")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
