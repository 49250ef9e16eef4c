"""Run methods on problems, store finished runs, and show them as a table, a figure and a CSV file.

Every number comes from a certificate that `solve` recomputed from A.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, overload

import numpy as np

from fwlab.checks.arguments import as_flag, as_integer
from fwlab.experiments.engine import Failure, Workers, outcomes
from fwlab.experiments.lock import locked
from fwlab.experiments.plan import ComparisonPlan, Folder
from fwlab.experiments.progress import Bar, LinePerRun
from fwlab.experiments.runs import Key, Settings
from fwlab.experiments.store import warn_not_stored
from fwlab.files import write_atomically, write_text_atomically
from fwlab.problem import Problem
from fwlab.result import Result, Status
from fwlab.solvers.method import Method
from fwlab.solvers.registry import build, label
from fwlab.text import format_table, html_table, in_brackets
from fwlab.trace import Trace

TIMES = ("wall_seconds", "seconds")
# which machine made a run and when; read from the store, or at which iteration it was resumed
MADE = ("machine", "date", "stored", "resumed")
COLUMNS = ("problem", "method", "iterations", *TIMES, "primal", "dual", "gap", "status")
NUMBERS = {
    "iterations": "d",
    "wall_seconds": ".4f",
    "seconds": ".4f",
    "primal": ".8f",
    "dual": ".8f",
    "gap": ".2e",
}


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
    stored : frozenset
        The runs that were read from the store, by (problem, method): made earlier, perhaps on
        another machine.
    """

    problems: dict[str, Problem]
    methods: tuple[str, ...]
    settings: Settings
    results: dict[Key, Result]
    failures: dict[Key, Failure]
    not_stored: dict[Key, str] = field(default_factory=dict)
    stored: frozenset[Key] = frozenset()

    def __repr__(self) -> str:
        runs = len(self.problems) * len(self.methods)
        converged = sum(result.success for result in self.results.values())
        return in_brackets(
            "Comparison",
            [
                f"problems = {', '.join(self.problems)}",
                f"methods = {', '.join(self.methods)}",
                f"tol = {self.settings.tol:g}",
                f"{len(self.results)} of {runs} runs finished",
                f"{converged} converged",
            ],
        )

    def _repr_html_(self) -> str:
        return html_table("Comparison", *self.cells())

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per run, in the requested order: COLUMNS, MADE, success and message.

        The numbers of a run without a result are None.
        """
        return [self._row(name, method) for name in self.problems for method in self.methods]

    def cells(self) -> tuple[tuple[str, ...], list[list[str]]]:
        """Return the header of the table and its rows as texts.

        A column says when and where runs were made, if any was not made just now in one go.
        """
        rows = self.rows()
        header: tuple[str, ...] = COLUMNS
        if any(row["stored"] or row["resumed"] for row in rows):
            rows, header = [{**row, "made": _made(row)} for row in rows], (*COLUMNS, "made")
        return header, [[_cell(row, column) for column in header] for row in rows]

    def table(self) -> str:
        """Return the rows as text, followed by a sentence for each status that occurs."""
        text = [format_table(*self.cells(), right=tuple(NUMBERS)), ""]
        text += [f"{status.name}: {status.value}" for status in self._statuses()]
        text += [f"Not stored: {' '.join(key)}: {why}." for key, why in self.not_stored.items()]
        return "\n".join(text).rstrip()

    def to_csv(self, path: str | Path) -> None:
        """Write one row per checkpoint: problem, method, every column of the trace, and MADE.

        A column is empty for a run that does not have it.
        """
        columns = [f.name for f in fields(Trace)]
        text = io.StringIO()
        writer = csv.DictWriter(text, ["problem", "method", *columns, *MADE], lineterminator="\n")
        writer.writeheader()
        for (problem, method), result in self.results.items():
            trace = {name: column.tolist() for name, column in result.trace.as_dict().items()}
            made = self._made((problem, method))
            for values in zip(*trace.values(), strict=True):
                row = dict(zip(trace, values, strict=True))
                writer.writerow({"problem": problem, "method": method, **row, **made})
        write_atomically(Path(path), lambda file: file.write(text.getvalue().encode()))

    def to_frame(self) -> Any:
        """Return `rows` as a pandas DataFrame. Raises ImportError without pandas."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas.") from error
        return DataFrame(self.rows())

    def to_html(self, path: str | Path) -> None:
        """Write one page with interactive figures, the table, the settings and the environment.

        The page needs no network and no other file. Raises ImportError without plotly.
        """
        from fwlab.experiments.html_report import html_report

        write_text_atomically(Path(path), html_report(self, self.cells()))

    @overload
    def plot(self, path: None = None) -> np.ndarray: ...
    @overload
    def plot(self, path: str | Path) -> tuple[Path, Path]: ...
    def plot(self, path: str | Path | None = None) -> np.ndarray | tuple[Path, Path]:
        """Draw the gaps against seconds and against iterations. Needs matplotlib.

        Without a path, return the axes (problems, 2). With one, write path.png and path.pdf, and
        return both paths.
        """
        from fwlab.experiments.figure import comparison_figure
        from fwlab.plot import save_figure

        figure = comparison_figure(self)
        if path is not None:
            return save_figure(figure, Path(path))
        return np.array(figure.axes).reshape(len(self.problems), 2)

    def _row(self, name: str, method: str) -> dict[str, Any]:
        row: dict[str, Any] = dict.fromkeys((*COLUMNS, *MADE))
        row.update(problem=name, method=method, success=False)
        failure = self.failures.get((name, method))
        if failure is not None:
            return {**row, "status": failure.kind, "message": failure.message}
        result = self.results[name, method]
        return {
            **row,
            "iterations": result.nit,
            **{column: getattr(result, column) for column in (*TIMES, "primal", "dual", "gap")},
            "status": result.status.name,
            **self._made((name, method)),
            "success": result.success,
            "message": result.message,
        }

    def _made(self, key: Key) -> dict[str, Any]:
        made = self.results[key].made_by
        return {
            "machine": made.get("processor"),
            "date": made.get("date"),
            "stored": key in self.stored,
            "resumed": made.get("resumed"),
        }

    def _statuses(self) -> list[Status]:
        seen = {result.status for result in self.results.values()}
        return [status for status in Status if status in seen]


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
    check_every: int | str = 1,
    verbose: int = 0,
    resume: bool = False,
    **method_options: Any,
) -> Comparison:
    """Run every method on every problem.

    Progress goes to stderr: a bar, or with verbose=1 a line per second with the time left. If a
    method refuses a problem or a run fails, this becomes a row of the table. Ctrl-C ends the
    current run; the finished runs are returned.

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
        Folder of a stored comparison. out/comparison.toml holds settings, hashes of the data,
        versions and processor. A further call with the same problems and settings adds its methods
        to the comparison; with others it is refused. Every finished run is stored in out/runs at
        once, and the next comparison with the same code and versions of packages reads it there.
        The code includes your own: an edit in a loss, or in anything that it uses, except in
        comments and docstrings, makes another run. A run that cannot be identified in this way is
        not stored, and a NotStored warning says why.
    rng : int
        Seed of every run.
    resume : bool
        Go on from the unfinished runs of an interrupted comparison in `out`; their iterations and
        seconds count. By default they begin anew.
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
    plan = ComparisonPlan(
        _checked_problems(problems),
        methods_by_name(methods, method_options),
        Settings(tol, bool(relative), max_iter, time_limit, rng, check_every, method_options),
        None if out is None else Path(out),
        as_integer("n_jobs", n_jobs, low=1),
        as_integer("verbose", verbose, low=0, high=1),
        as_flag("resume", resume),
    )
    with locked(plan.out):
        return run_plan(plan)


def run_plan(plan: ComparisonPlan) -> Comparison:
    """Run a comparison, and keep what became of it in its folder, which the caller has locked."""
    folder, runs = Folder.opened(plan), plan.runs()
    not_stored = {run.key: run.place.reason for run in runs if run.place.reason}
    warn_not_stored([(" ".join(key), reason) for key, reason in not_stored.items()])
    found: dict[Key, Result | Failure] = {}
    stored: set[Key] = set()
    display = LinePerRun if plan.verbose and plan.n_jobs == 1 else Bar
    try:
        for run, done in outcomes(runs, Workers(plan.n_jobs), display):
            found[run.key] = done.outcome
            if done.reason:
                not_stored[run.key] = done.reason
            if done.is_read:
                stored.add(run.key)
            if isinstance(done.outcome, Result) and done.outcome.status is Status.INTERRUPTED:
                break
    except KeyboardInterrupt:
        pass  # keep the finished runs
    methods = list(plan.methods)
    if folder is not None:
        folder.note(runs, found, stored)
        others = folder.others(plan.methods)
        known = {*methods, *(method for _, method in others)}
        methods = [method for method in folder.record.flags["methods"] if method in known]
        found |= others
        stored |= set(others)
    return _comparison(plan, tuple(methods), found, not_stored, stored)


def _comparison(
    plan: ComparisonPlan,
    methods: tuple[str, ...],
    found: dict[Key, Result | Failure],
    not_stored: dict[Key, str],
    stored: set[Key],
) -> Comparison:
    results: dict[Key, Result] = {}
    failures: dict[Key, Failure] = {}
    missing = Failure("not run", "interrupted before it began or ended")
    for key in ((name, method) for name in plan.problems for method in methods):
        outcome = found.get(key, missing)
        if isinstance(outcome, Failure):
            failures[key] = outcome
        else:
            results[key] = outcome
    read = frozenset(stored & set(results))
    return Comparison(plan.problems, methods, plan.settings, results, failures, not_stored, read)


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
    if column == "status" and value in ("refused", "failed", "not run", "not stored"):
        return f"{value}: {row['message']}"
    return format(value, NUMBERS.get(column, ""))


def _made(row: dict[str, Any]) -> str | None:
    """Return when and on which machine a run was made, if it was not made just now in one go."""
    resumed = f"resumed at {row['resumed']}" if row["resumed"] else ""
    stored = f"{row['date']} on {row['machine']}" if row["stored"] else ""
    return "; ".join(filter(None, (stored, resumed))) or ("now" if row["machine"] else None)
