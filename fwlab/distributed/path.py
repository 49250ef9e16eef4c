"""Solve a problem out of core at several C = 1 / (lam n), each from the A of the one before."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy.sparse import csr_array

from fwlab.checks.arguments import as_integer, as_positive_reals
from fwlab.distributed.checkpoint import difference, fingerprint_of_rows
from fwlab.distributed.keeper import problem_facts_of
from fwlab.distributed.problem import OutOfCoreProblem
from fwlab.distributed.result import PackedResult
from fwlab.distributed.solve import solve
from fwlab.distributed.validation import Accuracy, ValidationSet
from fwlab.experiments.lock import locked
from fwlab.model import Model
from fwlab.result import Status
from fwlab.solvers.method import Method
from fwlab.text import describe

# options of a run that change none of its numbers
BESIDE = ("A0", "callback", "verbose", "checkpoint_every")


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
        Where the result is stored.
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

    Only the current result is held. Ascending Cs gain most from the A before them. Ctrl-C ends the
    path with the interrupted run.

    Parameters
    ----------
    problem : OutOfCoreProblem
    Cs : iterable of float
    out : path, optional
        Folder in which each result is stored when it is finished, as out/C=0.1.npz, with a model
        for `fwlab predict`. An unfinished run has its checkpoint there. A later call with equal arguments goes on where
        an earlier one was killed; a folder with the results of other problems or settings is
        refused.
    validation : ValidationSet or pair of X and y, optional
        Samples on which to measure the accuracies of each machine.
    **solve_options
        Arguments of `solve`, except checkpoint. A0 starts the first run; rng is an integer.
    """
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
    with locked(out):
        for C in Cs:
            run = PathRun(problem.with_lam(1.0 / (C * problem.n_samples)), C, out, options)
            result, stored = run.result()
            accuracies: tuple[Accuracy, ...] = ()
            if validation is not None and result.W is not None:
                accuracies = tuple(validation.proved(result.W, result.distance, k) for k in ks)
            yield PathPoint(C, result, accuracies, run.file, stored)
            if result.status is Status.INTERRUPTED:
                return
            options = {**options, "A0": result.A}
            del result


@dataclass(frozen=True)
class PathRun:
    """One run of a path and its files."""

    problem: OutOfCoreProblem
    C: float
    folder: Path | None
    options: dict[str, Any]

    @property
    def file(self) -> Path | None:
        """The file of the finished run."""
        return None if self.folder is None else self.folder / f"C={self.C:.12g}.npz"

    def result(self) -> tuple[PackedResult, bool]:
        """Return the result, and whether it was stored; store it if it is finished."""
        if self.file is None:
            return solve(self.problem, **self.options), False
        unfinished = self.file.with_suffix(".unfinished.npz")
        stored = self.file.exists()
        if stored:
            result = self._stored(self.file)
        else:
            result = solve(self.problem, **self.options, checkpoint=unfinished)
            if result.status is Status.INTERRUPTED:
                return result, False
            model = Model.of(result, self.problem.classes, settings=self._facts())
            result.save(self.file, model.as_arrays())
        unfinished.unlink(missing_ok=True)
        return result, stored

    def _stored(self, file: Path) -> PackedResult:
        """Return the result in the file. Raises ValueError if it belongs to another run."""
        if found := difference(Model.load(file).settings, self._facts()):
            raise ValueError(
                f"out must be a new folder or the folder of this path; {str(file)!r} holds "
                f"another run: {found}."
            )
        return PackedResult.load(file)

    def _facts(self) -> dict[str, Any]:
        """Return what tells the run from others."""
        start = self.options.get("A0")
        given = {name: value for name, value in self.options.items() if name not in BESIDE}
        return {
            **problem_facts_of(self.problem),
            "start": "0" if start is None else fingerprint_of_rows([csr_array(start)]),
            **{n: describe(v) if isinstance(v, Method) else v for n, v in given.items()},
        }
