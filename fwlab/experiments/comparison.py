"""Run methods on problems, store finished runs, and show them as a table, a figure and a CSV file.

Every number comes from a certificate that `solve` recomputed from A.
"""

import csv
import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.checks.arguments import as_integer, as_real
from fwlab.experiments.store import (
    CHANGED,
    NOWHERE,
    Place,
    is_as_planned,
    load_run,
    place,
    problem_digest,
    warn_not_stored,
    why_not,
)
from fwlab.files import write_atomically
from fwlab.problem import Problem
from fwlab.result import Result, Status, Trace
from fwlab.solvers.method import Method
from fwlab.solvers.recorder import Progress
from fwlab.solvers.registry import build, label, require_taken
from fwlab.solvers.solve import solve
from fwlab.text import format_table

COLUMNS = ("problem", "method", "iterations", "seconds", "primal", "dual", "gap", "status")
NUMBERS = {
    "iterations": "d",
    "seconds": ".4f",
    "primal": ".8f",
    "dual": ".8f",
    "gap": ".2e",
}

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

    rng is a seed and not a generator, so that each run can be repeated. Raises TypeError or
    ValueError as `solve` does.
    """

    tol: float
    relative: bool
    max_iter: int
    time_limit: float | None
    rng: int
    check_every: int
    method_options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        as_real("tol", self.tol, positive=False)
        as_integer("max_iter", self.max_iter, low=0)
        if self.time_limit is not None:
            as_real("time_limit", self.time_limit, positive=False)
        as_integer("rng", self.rng, low=0)
        as_integer("check_every", self.check_every, low=1)

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments for `solve`; the methods hold their options."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "method_options"}


@dataclass(frozen=True, eq=False)
class Comparison:
    """The results of `compare`.

    Attributes
    ----------
    problems, methods, settings
        The problems by name, the names of the methods, and the arguments of every run.
    results, failures : dict
        The Result of each finished run and the Failure of each other run, by (problem, method).
    not_stored : dict
        Why a run could not be stored, by (problem, method).
    """

    problems: dict[str, Problem]
    methods: tuple[str, ...]
    settings: Settings
    results: dict[Key, Result]
    failures: dict[Key, Failure]
    not_stored: dict[Key, str] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per run, in the requested order: COLUMNS, success and message.

        The numbers of a run without a result are None.
        """
        return [self._row(name, method) for name in self.problems for method in self.methods]

    def table(self) -> str:
        """Return the rows as text, followed by a sentence for each status that occurs."""
        rows = self.rows()
        lines = [[_cell(row, column) for column in COLUMNS] for row in rows]
        text = [format_table(COLUMNS, lines, right=tuple(NUMBERS)), ""]
        text += [f"{status.name}: {status.value}" for status in self._statuses()]
        text += [f"Not stored: {' '.join(key)}: {why}." for key, why in self.not_stored.items()]
        return "\n".join(text).rstrip()

    def to_csv(self, path: str | Path) -> None:
        """Write one row per checkpoint: problem, method and every column of the trace.

        A column is empty for a run that does not have it.
        """
        columns = [f.name for f in fields(Trace)]
        text = io.StringIO()
        writer = csv.DictWriter(text, ["problem", "method", *columns], lineterminator="\n")
        writer.writeheader()
        for (problem, method), result in self.results.items():
            trace = {name: column.tolist() for name, column in result.trace.as_dict().items()}
            for values in zip(*trace.values(), strict=True):
                row = dict(zip(trace, values, strict=True))
                writer.writerow({"problem": problem, "method": method, **row})
        write_atomically(Path(path), lambda file: file.write(text.getvalue().encode()))

    def plot(self, path: str | Path) -> tuple[Path, Path]:
        """Draw the gaps, write path.png and path.pdf, and return both paths. Needs matplotlib."""
        from fwlab.experiments.figure import comparison_figure
        from fwlab.plot import save_figure

        return save_figure(comparison_figure(self), Path(path))

    def _row(self, name: str, method: str) -> dict[str, Any]:
        row: dict[str, Any] = dict.fromkeys(COLUMNS)
        row.update(problem=name, method=method, success=False)
        failure = self.failures.get((name, method))
        if failure is not None:
            return {**row, "status": failure.kind, "message": failure.message}
        result = self.results[name, method]
        return {
            **row,
            "iterations": result.nit,
            **{column: getattr(result, column) for column in ("seconds", "primal", "dual", "gap")},
            "status": result.status.name,
            "success": result.success,
            "message": result.message,
        }

    def _statuses(self) -> list[Status]:
        seen = {result.status for result in self.results.values()}
        return [status for status in Status if status in seen]


# the key of a run, its outcome, and whether its code changed after it was planned
Outcome = tuple[Key, Result | Failure, bool]


def compare(
    problems: Mapping[str, Problem] | Problem,
    methods: Sequence[str | Method] | str | Method,
    tol: float = 1e-5,
    max_iter: int = 1000,
    n_jobs: int = 1,
    out: str | Path | None = None,
    relative: bool = False,
    time_limit: float | None = None,
    rng: int = 0,
    check_every: int = 1,
    **method_options: Any,
) -> Comparison:
    """Run every method on every problem.

    Progress is printed to stderr. If a method refuses a problem or a run fails, this becomes a row
    of the table. Ctrl-C ends the current run; the finished runs are returned.

    Parameters
    ----------
    problems : dict of Problem, or one Problem
        The problems by name; a problem alone is called "problem".
    methods : list of str or Method, or one of them
        Names from fwlab.methods(), and methods of your own.
    tol, max_iter, relative, time_limit, check_every
        As for `solve`; time_limit is in seconds and holds for each run.
    n_jobs : int
        Number of processes. They share the machine, so leave it at 1 to compare times.
    out : path, optional
        Folder of a stored comparison. Every finished run is stored in out/runs at once, and the
        next comparison with the same data, settings, code and versions of packages reads it there.
        The code includes your own: an edit in a loss, or in anything that it uses, except in
        comments and docstrings, makes another run. A run that cannot be identified in this way is
        not stored, and a NotStored warning says why.
    rng : int
        Seed of every run.
    method_options
        Further options of the methods that are given by name.

    Returns
    -------
    Comparison

    Raises
    ------
    TypeError, ValueError
        Before any run, if an argument is wrong.
    """
    settings = Settings(tol, bool(relative), max_iter, time_limit, rng, check_every, method_options)
    n_jobs = as_integer("n_jobs", n_jobs, low=1)
    problems, built = _checked_problems(problems), methods_by_name(methods, method_options)
    tasks = _tasks(problems, built, settings, None if out is None else Path(out) / "runs")
    not_stored = {task.key: task.place.reason for task in tasks if task.place.reason}
    warn_not_stored([(" ".join(key), reason) for key, reason in not_stored.items()])
    outcomes: dict[Key, Result | Failure] = {}
    try:
        for key, outcome, changed in _outcomes(tasks, n_jobs):
            outcomes[key] = outcome
            if changed:
                not_stored[key] = CHANGED
            if isinstance(outcome, Result) and outcome.status is Status.INTERRUPTED:
                break
    except KeyboardInterrupt:
        pass  # keep the finished runs
    return _comparison(problems, tuple(built), settings, outcomes, not_stored)


@dataclass(frozen=True, eq=False)
class _Task:
    """One run, and where it is stored."""

    key: Key
    problem: Problem
    method: Method
    settings: Settings
    place: Place = NOWHERE

    @property
    def code(self) -> tuple[Any, ...]:
        """The method with its settings, and the classes that the problem consists of."""
        problem = self.problem
        own = type(problem), problem.loss, problem.regularizer
        return self.key[1], self.method, self.settings, own


def _tasks(
    problems: dict[str, Problem],
    methods: dict[str, Method],
    settings: Settings,
    folder: Path | None,
) -> list[_Task]:
    tasks = []
    for name, problem in problems.items():
        here = [_Task((name, m), problem, method, settings) for m, method in methods.items()]
        tasks += here if folder is None else _placed(here, folder)
    return tasks


def _placed(tasks: list[_Task], folder: Path) -> list[_Task]:
    """Return the tasks of one problem with their places in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        data = problem_digest(tasks[0].problem)
    except Exception as error:
        return [replace(task, place=Place(reason=why_not(error))) for task in tasks]
    places = [place(folder, "-".join(task.key), ".npz", task.code, data) for task in tasks]
    return [replace(task, place=found) for task, found in zip(tasks, places, strict=True)]


def _outcomes(tasks: list[_Task], n_jobs: int) -> Iterator[Outcome]:
    """Yield the outcomes as they arrive, and show a progress bar on stderr."""
    from tqdm import tqdm

    seconds = 0.2 if sys.stderr.isatty() else 30.0
    with tqdm(total=len(tasks), unit="run", mininterval=seconds, miniters=0) as bar:

        def watch(method: str, progress: Progress) -> None:
            bar.set_postfix_str(
                f"{method} iteration {progress.iteration} gap {progress.gap:.1e}", refresh=False
            )
            bar.update(0)

        if n_jobs == 1:
            outcomes = (_run(task, watch) for task in tasks)
        else:
            from joblib import Parallel, delayed

            # no memory maps: numba compiles a second version for such read-only arrays
            pool = Parallel(n_jobs, return_as="generator_unordered", max_nbytes=None)
            by_key = {task.key: task for task in tasks}
            made = pool(delayed(_run)(task) for task in tasks)
            # A worker whose code differs from this process does not answer for it.
            outcomes = (_run(by_key[done[0]], watch) if done[2] else done for done in made)
        for finished in outcomes:
            bar.set_postfix_str(" ".join(finished[0]), refresh=False)
            bar.update()
            yield finished


def _run(task: _Task, watch: Callable[[str, Progress], None] | None = None) -> Outcome:
    """Read a stored run, or compute and store it. An exception becomes a Failure."""
    file = task.place.file
    changed = file is not None and not is_as_planned(task.place, task.code)
    if file is not None and not changed and (stored := load_run(file)) is not None:
        return task.key, stored, changed
    outcome = _solved(task, watch)
    if file is not None and not changed and isinstance(outcome, Result):
        if outcome.status is not Status.INTERRUPTED:
            outcome.save(file)
    return task.key, outcome, changed


def _solved(task: _Task, watch: Callable[[str, Progress], None] | None) -> Result | Failure:
    began = False

    def note(progress: Progress) -> None:
        nonlocal began
        began = True
        if watch is not None:
            watch(task.key[1], progress)

    try:
        require_taken(task.key[1], task.method, task.problem)
        result = solve(task.problem, task.method, callback=note, **task.settings.arguments())
        return replace(result, method=task.key[1])
    except Exception as error:
        refused = isinstance(error, ValueError) and not began
        if refused and not isinstance(error, np.linalg.LinAlgError):
            return Failure("refused", _one_line(error))
        return Failure("failed", f"{type(error).__name__}: {_one_line(error)}")


def _comparison(
    problems: dict[str, Problem],
    methods: tuple[str, ...],
    settings: Settings,
    outcomes: dict[Key, Result | Failure],
    not_stored: dict[Key, str],
) -> Comparison:
    results: dict[Key, Result] = {}
    failures: dict[Key, Failure] = {}
    missing = Failure("not run", "interrupted before it began or ended")
    for key in ((name, method) for name in problems for method in methods):
        outcome = outcomes.get(key, missing)
        if isinstance(outcome, Failure):
            failures[key] = outcome
        else:
            results[key] = outcome
    return Comparison(problems, methods, settings, results, failures, not_stored)


def _checked_problems(problems: Any) -> dict[str, Problem]:
    if isinstance(problems, Problem):
        return {"problem": problems}
    if not isinstance(problems, Mapping):
        raise TypeError(f"problems must be a dict {{name: Problem}}; got {problems!r}.")
    if not problems:
        raise ValueError("problems must hold at least one problem; got an empty dict.")
    for name, problem in problems.items():
        if not isinstance(name, str) or not isinstance(problem, Problem):
            raise TypeError(f"problems must map names to Problems; got {name!r}: {problem!r}.")
    return dict(problems)


def methods_by_name(methods: Any, options: dict[str, Any]) -> dict[str, Method]:
    """Return the methods by the names that tables and figures show.

    Raises TypeError or ValueError for unknown names or options, and for two equal names.
    """
    if isinstance(methods, str | Method):
        methods = [methods]
    if not isinstance(methods, Sequence):
        raise TypeError(f"methods must be a list of method names and Methods; got {methods!r}.")
    if not methods:
        raise ValueError("methods must hold at least one method; got an empty list.")
    built: dict[str, Method] = {}
    for method in methods:
        made = build(method, {} if isinstance(method, Method) else options)
        if label(method) in built:
            raise ValueError(f"methods must name each method once; got {label(method)!r} twice.")
        built[label(method)] = made
    return built


def _cell(row: dict[str, Any], column: str) -> str:
    value = row[column]
    if value is None:
        return "-"
    if column == "status" and value in ("refused", "failed", "not run"):
        return f"{value}: {row['message']}"
    return format(value, NUMBERS.get(column, ""))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
