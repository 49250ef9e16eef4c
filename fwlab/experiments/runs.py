"""The runs of a comparison as tasks of the engine: a problem, a method, and settings."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fwlab.checks.arguments import as_integer, as_real
from fwlab.experiments.engine import Failure, Watch, one_line
from fwlab.experiments.load import busy
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

# a problem and a method
Key = tuple[str, str]


class RunKey(NamedTuple):
    """Name a run by its problem, its method, its seed and its repetition, counted from 0."""

    problem: str
    method: str
    seed: int
    repetition: int = 0

    @property
    def pair(self) -> Key:
        """The problem and the method."""
        return self.problem, self.method


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
    n_threads : int
        As for `solve`.

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
    n_threads: int = 1

    def __post_init__(self) -> None:
        as_real("tol", self.tol, positive=False)
        as_integer("max_iter", self.max_iter, low=0)
        if self.time_limit is not None:
            as_real("time_limit", self.time_limit, positive=False)
        as_integer("rng", self.rng, low=0)
        as_check_every(self.check_every)
        as_integer("n_threads", self.n_threads, low=1)

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments for `solve`; the methods hold their options.

        One thread is left out: runs are stored under a hash of the arguments.
        """
        skipped = {"method_options", *(["n_threads"] if self.n_threads == 1 else [])}
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in skipped}


@dataclass(frozen=True, eq=False)
class ComparedRun:
    """One run, the place where it is stored, and the unfinished run that it continues.

    name is for people.
    """

    key: RunKey
    name: str
    problem: Problem
    method: Method
    settings: Settings
    place: Place = NOWHERE
    resumes: Result | None = None
    cost = 1.0

    @property
    def code(self) -> tuple[Any, ...]:
        """The method with its settings, and the classes that the problem consists of.

        A repetition has a number, except for the first.
        """
        problem, key = self.problem, self.key
        own = type(problem), problem.loss, problem.regularizer
        code = key.method, self.method, self.settings.arguments(), own
        return (*code, key.repetition) if key.repetition else code

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
        require_taken(self.key.method, self.method, self.problem)
        # a run begins with the method as it was given, in this process as in a worker
        method, arguments, earlier = deepcopy(self.method), self.settings.arguments(), self.resumes
        if earlier is not None:
            arguments = arguments_from(earlier, arguments)
        load = busy()
        result = solve(self.problem, method, callback=callback, **arguments)
        result = result if earlier is None else continued(earlier, result)
        return replace(result, method=self.key.method, made_by={**result.made_by, **load})


def planned(
    problems: dict[str, Problem],
    methods: dict[str, Method],
    settings: Settings,
    seeds: Sequence[int],
    repeat: int,
) -> list[ComparedRun]:
    """Return the runs, without places.

    A repetition makes all other runs before the next one begins, so that a change of the machine's
    speed meets all methods alike.
    """
    single = len(seeds) == repeat == 1
    keys = [
        RunKey(problem, method, seed, repetition)
        for repetition in range(repeat)
        for problem in problems
        for seed in seeds
        for method in methods
    ]
    return [
        ComparedRun(
            key,
            run_name(key, single),
            problems[key.problem],
            methods[key.method],
            replace(settings, rng=key.seed),
        )
        for key in keys
    ]


def run_name(key: RunKey, single: bool) -> str:
    """Return the name of a run for people; a single run of a method needs no seed in it."""
    name = " ".join(key.pair)
    return name if single else f"{name}, seed {key.seed}, repetition {key.repetition}"


def placed(runs: Sequence[ComparedRun], folder: Path) -> list[ComparedRun]:
    """Return the runs with their places in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    problems = {run.key.problem: run.problem for run in runs}
    data = {name: _data_of(problem) for name, problem in problems.items()}
    return [replace(run, place=_place(run, folder, data[run.key.problem])) for run in runs]


def _data_of(problem: Problem) -> str | Place:
    """Return a hash of the problem, or a place with the reason why it has none."""
    try:
        return digest(problem)
    except Exception as error:
        return Place(reason=why_not(error))


def _place(run: ComparedRun, folder: Path, data: str | Place) -> Place:
    if isinstance(data, Place):
        return data
    key, again = run.key, run.key.repetition
    name = "-".join([*key.pair, *([f"repetition{again}"] if again else [])])
    return place(folder, name, ".npz", run.code, data)
