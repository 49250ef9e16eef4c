"""Run the cells of a study, and store each result so that it is computed only once.

A cell is a function with its settings. The key of its result is a hash of the settings, of the data
that they name, and of all code that the result depends on.
"""

import json
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fwlab.experiments.engine import Failure, Watch, Workers, outcomes
from fwlab.experiments.progress import Bar
from fwlab.experiments.store import (
    Place,
    load_record,
    place,
    record_of,
    save_record,
    warn_not_stored,
)
from fwlab.solvers.interrupt import interrupted_runs_raise
from fwlab.solvers.registry import visitors
from fwlab.streams import stderr


@dataclass(frozen=True)
class Cell:
    """One computation: `function(**settings)`.

    Parameters
    ----------
    name : str
        A readable name, unique in the study.
    function : callable
        Returns a value that JSON can store; arrays become lists.
    settings : dict
        Numbers, strings, arrays, losses, DataNames and containers of them.
    cost : float
        Expected seconds, for the estimate of the time left; only ratios matter.
    """

    name: str
    function: Callable[..., Any]
    settings: dict[str, Any]
    cost: float = 1.0

    def compute(self) -> Any:
        """Return the value as JSON reads it back; Ctrl-C raises KeyboardInterrupt in any run."""
        with threadpool_limits(1, user_api="blas"), interrupted_runs_raise():
            return plain(self.function(**self.settings))


class CellsFailed(RuntimeError):
    """Some cells raised an exception. The message gives their number and the first error."""


@dataclass(frozen=True)
class CellTask:
    """A cell with the place of its record."""

    cell: Cell
    place: Place

    @classmethod
    def placed(cls, cell: Cell, folder: Path) -> "CellTask":
        """Return the task of a cell whose record is stored in a folder."""
        return cls(cell, place(folder, cell.name, ".json", _code(cell), None))

    @property
    def name(self) -> str:
        """The name of the cell."""
        return self.cell.name

    @property
    def cost(self) -> float:
        """The expected seconds."""
        return self.cell.cost

    @property
    def code(self) -> tuple[Any, ...]:
        """The function, its settings, and the methods that it can call by name."""
        return _code(self.cell)

    def stored(self, file: Path) -> dict[str, Any] | None:
        """Return the record in the file, None if there is none or a damaged one."""
        return load_record(file)

    def compute(self, watch: Watch | None) -> dict[str, Any] | Failure:
        """Return the record of the cell, or a Failure with the traceback."""
        began = time.perf_counter()
        try:
            value = self.cell.compute()
        except Exception:
            trace = traceback.format_exc()
            return Failure("failed", trace.strip().splitlines()[-1], trace)
        return record_of(value, time.perf_counter() - began)

    def store(self, outcome: dict[str, Any], file: Path) -> None:
        """Write the record to the file."""
        save_record(file, outcome)


def _code(cell: Cell) -> tuple[Any, ...]:
    return cell.function, cell.settings, visitors()


def run_cells(
    cells: Sequence[Cell],
    folder: str | Path,
    n_jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
) -> dict[str, Any]:
    """Return {cell name: result}, read from `folder` or computed and stored there.

    Progress and the time left are printed to stderr.

    Parameters
    ----------
    cells : sequence of Cell
        The computations, with different names.
    folder : path
        Where results are stored.
    n_jobs : int
        Number of processes on this machine, each with one BLAS thread.
    backend : "loky" or "dask"
        "dask" computes on a cluster, through joblib.
    scheduler : str, optional
        Address of a running dask scheduler, for backend="dask".

    Returns
    -------
    dict
        In the order of `cells`.

    Raises
    ------
    TypeError, ValueError
        Before any cell runs, if an argument is wrong.
    ImportError
        If backend is "dask" and the package distributed is not installed.
    OSError
        If no dask scheduler answers at the address.
    CellsFailed
        After all other cells have run, if some raised an exception.
    KeyboardInterrupt
        On Ctrl-C. Finished cells stay stored.
    """
    records = cell_records(cells, folder, n_jobs, backend, scheduler)
    return {name: record["value"] for name, record in records.items()}


def cell_records(
    cells: Sequence[Cell],
    folder: str | Path,
    n_jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
) -> dict[str, dict[str, Any]]:
    """Return {cell name: record}, computed or read from the folder.

    Parameters
    ----------
    cells, folder, n_jobs, backend, scheduler
        As for `run_cells`, which also lists the errors.

    Returns
    -------
    dict of dict
        A record holds the "value", the "seconds" that it took, and "made_by": the code and the
        machine that computed it.
    """
    workers = Workers(n_jobs, backend, scheduler)
    tasks = [CellTask.placed(cell, Path(folder)) for cell in cells]
    if len({task.name for task in tasks}) < len(tasks):
        raise ValueError("cells must have different names; some name occurs twice.")
    warn_not_stored([(task.name, task.place.reason) for task in tasks if task.place.reason])
    records, failed, not_stored = {}, {}, []
    for task, done in outcomes(tasks, workers, partial(Bar, noun="cells")):
        if isinstance(done.outcome, Failure):
            failed[task.name] = done.outcome
        else:
            records[task.name] = done.outcome
        if done.reason:
            not_stored.append((task.name, done.reason))
    warn_not_stored(not_stored)
    if failed:
        name, failure = next(iter(failed.items()))
        print(failure.traceback or failure.message, file=stderr())
        raise CellsFailed(
            f"{len(failed)} of {len(cells)} cells failed; {name!r}: {failure.message}"
        )
    return {cell.name: records[cell.name] for cell in cells}


def plain(value: Any) -> Any:
    """Return `value` as JSON reads it back: arrays and tuples are lists, keys are strings."""
    return json.loads(json.dumps(value, default=_plain_array))


def _plain_array(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a cell's result cannot hold {value!r}.")
