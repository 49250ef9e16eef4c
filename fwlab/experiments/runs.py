"""The runs of a comparison as tasks of the engine: a problem, a method, and settings."""

from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.checks.arguments import as_integer, as_real
from fwlab.experiments.engine import Failure, Watch, one_line
from fwlab.experiments.resume import arguments_from, continued, unfinished
from fwlab.experiments.store import (
    NOWHERE,
    Place,
    load_run,
    place,
    why_not,
)
from fwlab.identity import digest
from fwlab.problem import Problem
from fwlab.result import Result, Status
from fwlab.solvers.method import Method
from fwlab.solvers.recorder import Progress
from fwlab.solvers.registry import require_taken
from fwlab.solvers.solve import solve
from fwlab.solvers.stopping import Limits, as_check_every

Key = tuple[str, str]


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


@dataclass(frozen=True, eq=False)
class ComparedRun:
    """One run, the place where it is stored, and the unfinished run that it continues."""

    key: Key
    problem: Problem
    method: Method
    settings: Settings
    place: Place = NOWHERE
    resumes: Result | None = None
    cost = 1.0

    @property
    def name(self) -> str:
        """The names of the problem and of the method."""
        return " ".join(self.key)

    @property
    def code(self) -> tuple[Any, ...]:
        """The method with its settings, and the classes that the problem consists of."""
        problem = self.problem
        own = type(problem), problem.loss, problem.regularizer
        return self.key[1], self.method, self.settings.arguments(), own

    @property
    def limits(self) -> Limits:
        """The limits that are left after the half that it continues, except for its time."""
        given, done = self.settings, 0 if self.resumes is None else self.resumes.nit
        left = max(given.max_iter - done, 0)
        return Limits(given.tol, given.relative, left, given.time_limit)

    def stored(self, file: Path) -> Result | None:
        """Return the stored result, None if there is none or a damaged one."""
        return load_run(file)

    def store(self, outcome: Result, file: Path) -> None:
        """Store the result, an interrupted one as unfinished."""
        if outcome.status is Status.INTERRUPTED:
            outcome.save(unfinished(file))
        else:
            outcome.save(file)
            unfinished(file).unlink(missing_ok=True)

    def compute(self, watch: Watch | None) -> Result | Failure:
        """Return the result; an exception becomes a Failure, refused if no iteration began."""
        began = False

        def note(progress: Progress) -> None:
            nonlocal began
            began = True
            if watch is not None:
                watch(progress)

        try:
            return self._solved(note)
        except Exception as error:
            refused = isinstance(error, ValueError) and not began
            if refused and not isinstance(error, np.linalg.LinAlgError):
                return Failure("refused", one_line(error))
            return Failure("failed", f"{type(error).__name__}: {one_line(error)}")

    def _solved(self, callback: Watch) -> Result:
        require_taken(self.key[1], self.method, self.problem)
        # a run begins with the method as it was given, in this process as in a worker
        method, arguments, earlier = deepcopy(self.method), self.settings.arguments(), self.resumes
        if earlier is not None:
            arguments = arguments_from(earlier, arguments)
        result = solve(self.problem, method, callback=callback, **arguments)
        result = result if earlier is None else continued(earlier, result)
        return replace(result, method=self.key[1])


def planned(
    problems: dict[str, Problem],
    methods: dict[str, Method],
    settings: Settings,
    folder: Path | None,
) -> list[ComparedRun]:
    """Return the runs, with their places if there is a folder."""
    runs = []
    for name, problem in problems.items():
        here = [ComparedRun((name, m), problem, method, settings) for m, method in methods.items()]
        runs += here if folder is None else _placed(here, folder)
    return runs


def _placed(runs: list[ComparedRun], folder: Path) -> list[ComparedRun]:
    """Return the runs of one problem with their places in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        data = digest(runs[0].problem)
    except Exception as error:
        return [replace(run, place=Place(reason=why_not(error))) for run in runs]
    places = [place(folder, "-".join(run.key), ".npz", run.code, data) for run in runs]
    return [replace(run, place=found) for run, found in zip(runs, places, strict=True)]
