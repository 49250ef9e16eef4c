"""Solve a problem out of core at several C = 1 / (lam n), each from the one before."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy.sparse import csr_array

from fwlab.checks.arguments import as_integer, as_positive_reals
from fwlab.distributed.checkpoint import (
    code_of,
    difference,
    fingerprint_of_rows,
    problem_facts_of,
    start_of,
)
from fwlab.distributed.packed import PackedResult
from fwlab.distributed.problem import OutOfCoreProblem
from fwlab.distributed.solve import RowsToTake, chosen, rows_of_chunks, solve
from fwlab.distributed.validation import Accuracy, ValidationSet
from fwlab.experiments.engine import Watch, outcome
from fwlab.experiments.lock import locked
from fwlab.experiments.store import NOWHERE, Place, named_place, warn_not_stored
from fwlab.model import Model
from fwlab.npz import UnreadableFile
from fwlab.result import Status
from fwlab.say import say
from fwlab.solvers.method import Method
from fwlab.solvers.registry import visitors
from fwlab.text import describe

# options of a run that change none of its numbers
BESIDE = ("callback", "verbose", "checkpoint_every")


@dataclass(frozen=True, eq=False)
class PathPoint:
    """The run at one C.

    Attributes
    ----------
    C : float
    result : PackedResult
    accuracies : tuple of Accuracy
        On the validation samples, top-1 and, for a loss with k > 1, top-k; empty without them.
    file : Path or None
        Where the result is stored; None if it is not, such as on a full disk.
    stored : bool
        Whether an earlier call made it.
    """

    C: float
    result: PackedResult
    accuracies: tuple[Accuracy, ...]
    file: Path | None
    stored: bool


def path(
    problem: OutOfCoreProblem,
    Cs: Iterable[float],
    out: str | Path | None = None,
    validation: ValidationSet | tuple[Any, Any] | None = None,
    **solve_options: Any,
) -> Iterator[PathPoint]:
    """Yield the run at each C, in the order of Cs; the problem's own lam has no effect.

    The path holds no result but the current one. A caller that deletes each point before it asks
    for the next one has a single A in memory. Ascending Cs gain most from the A before them. Ctrl-C
    ends the path with the interrupted run.

    Parameters
    ----------
    problem : OutOfCoreProblem
    Cs : iterable of float
    out : path, optional
        Folder in which each result is stored when it is finished, as out/C=0.1.npz, with a model
        for `fwlab predict`. An unfinished run has its checkpoint there. A later call with equal
        arguments goes on where an earlier one was killed; a folder with the results of other
        problems or settings is refused.
    validation : ValidationSet or pair of X and y, optional
        Samples on which to measure the accuracies of each machine.
    **solve_options
        Arguments of `solve`, except checkpoint. A0 starts the first run; rng is an integer.
    """
    points = unlocked_path(problem, Cs, out, validation, **solve_options)
    return _under_lock(points, None if out is None else Path(out))


def _under_lock(points: Iterator[PathPoint], out: Path | None) -> Iterator[PathPoint]:
    with locked(out):
        yield from points


def unlocked_path(
    problem: OutOfCoreProblem,
    Cs: Iterable[float],
    out: str | Path | None = None,
    validation: ValidationSet | tuple[Any, Any] | None = None,
    **solve_options: Any,
) -> Iterator[PathPoint]:
    """Yield the points of `path`, for a caller that has locked the folder."""
    values = as_positive_reals("Cs", Cs)
    as_integer("rng", solve_options.get("rng", 0), low=0)
    if isinstance(validation, tuple):
        validation = ValidationSet(*validation, problem)
    return _points(problem, values, None if out is None else Path(out), validation, solve_options)


def _points(
    problem: OutOfCoreProblem,
    Cs: list[float],
    out: Path | None,
    validation: ValidationSet | None,
    options: dict[str, Any],
) -> Iterator[PathPoint]:
    ks = sorted({1, getattr(problem.loss, "k", 1)})
    start = Start.given(options.pop("A0", None), problem)
    method: Any = chosen(options.get("method", "auto"), problem.has_entropy)
    method = visitors().get(method, method) if isinstance(method, str) else method
    code = code_of(problem, method)
    for C in Cs:
        place = NOWHERE if out is None else named_place(out / f"C={C:.12g}.npz", code)
        problem_at_C = problem.with_lam(1.0 / (C * problem.n_samples))
        run = PathRun(problem_at_C, C, place, code, options, start)
        result, reason, stored = outcome(run)
        if reason := place.reason or reason:
            warn_not_stored([(run.name, reason)])
        accuracies: tuple[Accuracy, ...] = ()
        if validation is not None and result.W is not None:
            accuracies = tuple(validation.proved(result.W, result.distance, k) for k in ks)
        yield PathPoint(C, result, accuracies, None if reason else place.file, stored)
        if result.status is Status.INTERRUPTED:
            return
        start = Start.after(result, problem)
        del result


@dataclass(frozen=True, eq=False)
class Start:
    """The A that a run begins with, or with an entropy the W, and its fingerprint."""

    A0: Any
    fingerprint: str

    @classmethod
    def given(cls, A0: Any, problem: OutOfCoreProblem) -> "Start":
        """Return the start at the A0 of a caller, 0 for None."""
        A0 = start_of(A0, problem.has_entropy)
        return cls(A0, "0" if A0 is None else fingerprint_of_rows([csr_array(A0)]))

    @classmethod
    def after(cls, result: PackedResult, problem: OutOfCoreProblem) -> "Start":
        """Return the start at a result, with the rows of its A, which the next run takes."""
        if result.A is None:
            return cls.given(result.W, problem)
        A = result.A
        # the fingerprint first: it takes memory that the rows may take after it
        found = fingerprint_of_rows([A])
        return cls(RowsToTake(rows_of_chunks(problem, A)), found)


@dataclass(frozen=True, eq=False)
class PathRun:
    """One run of a path as a task of the engine."""

    problem: OutOfCoreProblem
    C: float
    place: Place
    code: Any
    options: dict[str, Any]
    start: Start
    cost = 1.0

    @property
    def name(self) -> str:
        """The C of the run."""
        return f"C = {self.C:g}"

    def stored(self, file: Path) -> PackedResult | None:
        """Return the result in the file, None if there is none or, with a line, a damaged one.

        Raises ValueError if it belongs to another run.
        """
        try:
            settings, result = Model.load(file).settings, PackedResult.load(file)
        except FileNotFoundError:
            return None
        except UnreadableFile as error:
            say(f"{file} is damaged and is computed again: {error.reason}")
            return None
        if found := difference(settings, self._facts()):
            raise ValueError(
                f"out must be a new folder or the folder of this path; {str(file)!r} holds "
                f"another run: {found}."
            )
        _unfinished(file).unlink(missing_ok=True)
        return result

    def compute(self, watch: Watch | None) -> PackedResult:
        """Return the result of the run, which goes on from its checkpoint unless that is damaged.

        An exception ends the path, because the next run starts from this one.
        """
        if self.place.file is None:
            return self._solved()
        checkpoint = _unfinished(self.place.file)
        try:
            return self._solved(checkpoint=checkpoint)
        except UnreadableFile as error:
            say(f"{checkpoint} is damaged, so the run at {self.name} begins anew: {error.reason}")
            checkpoint.unlink()
            return self._solved(checkpoint=checkpoint)

    def store(self, outcome: PackedResult, file: Path) -> None:
        """Store a finished result with its model; an interrupted one has its checkpoint."""
        if outcome.status is Status.INTERRUPTED:
            return
        model = Model.of(outcome, self.problem.classes, settings=self._facts())
        outcome.save(file, model.as_arrays())
        _unfinished(file).unlink(missing_ok=True)

    def _solved(self, **more: Any) -> PackedResult:
        """Return the result of the run, and drop the rows that it took."""
        result = solve(self.problem, **self.options, A0=self.start.A0, **more)
        if isinstance(self.start.A0, RowsToTake):
            self.start.A0.clear()
        return result

    def _facts(self) -> dict[str, Any]:
        """Return what tells the run from others."""
        given = {name: value for name, value in self.options.items() if name not in BESIDE}
        return {
            **problem_facts_of(self.problem),
            "start": self.start.fingerprint,
            **{n: describe(v) if isinstance(v, Method) else v for n, v in given.items()},
            "code": self.place.code,
        }


def _unfinished(file: Path) -> Path:
    """Return the file of the checkpoint of an unfinished run."""
    return file.with_suffix(".unfinished.npz")
