"""Cells: computations of a study, stored by content, so that none is done twice or lost.

A cell is a function with its settings. Its result is found again by a hash of the settings, of the
data named in them, and of all code that the result depends on. Finished cells are written at once
and atomically: a study that is killed goes on where it was.
"""

import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from functools import lru_cache
from itertools import starmap
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from threadpoolctl import threadpool_limits

from fwlab import datasets
from fwlab.checks.arguments import as_integer
from fwlab.experiments.store import (
    CHANGED,
    Place,
    digest,
    is_as_planned,
    load_record,
    place,
    record_of,
    save_record,
    warn_not_stored,
)
from fwlab.solvers.interrupt import interrupted_runs_raise

BACKENDS = ("loky", "dask")
SECONDS_TO_CONNECT = 10


@dataclass(frozen=True)
class DataName:
    """A data set by name, which each worker loads for itself.

    name, normalize and rng are those of `datasets.load`; join_valid adds the validation part to
    the train part; rows keeps the first so many rows of each part.
    """

    # in a key, the numbers of the data stand for the code that reads them
    IDENTIFIED_BY_VALUE: ClassVar = True

    name: str
    normalize: str | None = None
    rng: int = 0
    join_valid: bool = False
    rows: int | None = None

    def load(self) -> datasets.Dataset:
        """The data set, read once in a process."""
        return _load(self)


@dataclass(frozen=True)
class Cell:
    """One computation: `function(**settings)`.

    name: for people, and unique in a study. function: returns what JSON holds, arrays become lists.
    settings: numbers, strings, arrays, losses, DataNames and
    containers of them. cost: expected seconds, for the time left; only ratios count.
    """

    name: str
    function: Callable[..., Any]
    settings: dict[str, Any]
    cost: float = 1.0


class CellsFailed(RuntimeError):
    """Some cells raised; the message names them and the first error."""


def run_cells(
    cells: Sequence[Cell],
    folder: str | Path,
    n_jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
) -> dict[str, Any]:
    """The results {cell name: result}, read from `folder` or computed and stored there.

    n_jobs processes of this machine, each with one BLAS thread; or backend="dask" with the address
    of a running scheduler, through joblib. Progress with the time left goes to stderr. Ctrl-C
    raises KeyboardInterrupt; cells that are finished stay stored.

    Raises ValueError or TypeError before any work, and CellsFailed after the other cells are done
    if some raised.
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
    """Return {cell name: record} as `run_cells` computes them, with "value", "seconds", "made_by".

    made_by says which code and machine made the value, at the time when it was computed.
    """
    n_jobs = as_integer("n_jobs", n_jobs, low=1)
    check_backend(backend, scheduler)
    places = cell_places(cells, Path(folder))
    warn_not_stored([(name, p.reason) for name, p in places.items() if p.reason])
    found = {name: load_record(p.file) for name, p in places.items() if p.file is not None}
    records = {name: record for name, record in found.items() if record is not None}
    waiting = [cell for cell in cells if cell.name not in records]
    failed: dict[str, str] = {}
    changed = []
    if waiting:
        # workers of this machine store what they finish, even when this process has been killed
        tasks = [(cell, places[cell.name], backend == "loky") for cell in waiting]
        with _workers(n_jobs, backend, scheduler) as work:
            for name, outcome in _with_progress(waiting, len(cells), work(tasks)):
                if "error" in outcome:
                    failed[name] = outcome["error"]
                    continue
                as_planned, records[name] = outcome.pop("as_planned"), outcome
                file = places[name].file
                if not as_planned:
                    changed.append((name, CHANGED))
                elif backend != "loky" and file is not None:
                    save_record(file, outcome)
    warn_not_stored(changed)
    if failed:
        name, error = next(iter(failed.items()))
        print(error, file=sys.stderr)
        last = error.strip().splitlines()[-1]
        raise CellsFailed(f"{len(failed)} of {len(cells)} cells failed; {name!r}: {last}")
    return {cell.name: records[cell.name] for cell in cells}


def check_backend(backend: Any, scheduler: Any) -> None:
    """Raise ValueError, or ImportError without dask's distributed, for what cannot work."""
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}; got {backend!r}.")
    if (backend == "dask") != (scheduler is not None):
        needed = "needs the address of a scheduler" if scheduler is None else "is for backend dask"
        raise ValueError(f"scheduler {needed}; got backend {backend!r}, scheduler {scheduler!r}.")
    if backend == "dask":
        try:
            import distributed  # noqa: F401 - only asks whether it is there
        except ImportError:
            raise ImportError(
                "backend 'dask' needs the package distributed: pip install 'fwlab[cluster]'."
            ) from None


def cell_places(cells: Sequence[Cell], folder: Path) -> dict[str, Place]:
    """Return where each cell's result is stored, or why it is not."""
    places = {cell.name: place(folder, cell.name, ".json", _code(cell), None) for cell in cells}
    if len(places) < len(cells):
        raise ValueError("cells must have different names; some name occurs twice.")
    return places


def _code(cell: Cell) -> tuple[Any, ...]:
    """What a cell runs, with the numbers of its data."""
    return cell.function, _with_data(cell.settings)


def plain(value: Any) -> Any:
    """`value` as JSON gives it back: arrays and tuples are lists, keys are strings."""
    return json.loads(json.dumps(value, default=_plain_array))


def _plain_array(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a cell's result cannot hold {value!r}.")


def _with_data(value: Any) -> Any:
    """The settings with the data themselves, as a hash, beside their names."""
    if isinstance(value, DataName):
        return "data", *astuple(value), _data_digest(value)
    if isinstance(value, dict):
        return {key: _with_data(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_with_data(entry) for entry in value]
    return value


@lru_cache(maxsize=64)
def _data_digest(name: DataName) -> str:
    return digest(name.load())


@lru_cache(maxsize=4)
def _load(name: DataName) -> datasets.Dataset:
    data = datasets.load(name.name, normalize=name.normalize, rng=name.rng)
    if name.join_valid and data.y_valid is not None:
        stack = scipy.sparse.vstack if scipy.sparse.issparse(data.X_train) else np.vstack
        X, y = stack([data.X_train, data.X_valid]), np.append(data.y_train, data.y_valid)
        data = replace(data, X_train=X, y_train=y, X_valid=None, y_valid=None)
    if name.rows is not None:
        parts = ("X_train", "y_train", "X_valid", "y_valid", "X_test", "y_test")
        whole = {part: getattr(data, part) for part in parts}
        first: Any = {p: None if v is None else v[: name.rows] for p, v in whole.items()}
        data = replace(data, **first)
    return data


def _compute(cell: Cell, planned: Place, store: bool) -> tuple[str, dict[str, Any]]:
    """The cell's name, and its record, stored if it can be, or its error."""
    began = time.perf_counter()
    as_planned = planned.file is None or is_as_planned(planned, _code(cell))
    try:
        with threadpool_limits(1, user_api="blas"), interrupted_runs_raise():
            value = plain(cell.function(**cell.settings))
    except Exception:
        return cell.name, {"error": traceback.format_exc()}
    record = record_of(value, time.perf_counter() - began)
    if store and as_planned and planned.file is not None:
        save_record(planned.file, record)
    return cell.name, {**record, "as_planned": as_planned}


@contextmanager
def _workers(n_jobs: int, backend: str, scheduler: str | None) -> Iterator[Callable[..., Any]]:
    """A function that computes cells at their places, in any order."""
    if backend == "loky" and n_jobs == 1:
        yield lambda tasks: starmap(_compute, tasks)
        return
    from joblib import Parallel, delayed, parallel_config

    def work(tasks: list[tuple[Cell, Place, bool]]) -> Any:
        # no memory maps: those are read-only arrays, to the kernels another type
        options = {"max_nbytes": None} if backend == "loky" else {}
        workers = Parallel(return_as="generator_unordered", **options)
        return workers(delayed(_compute)(*task) for task in tasks)

    if backend == "loky":
        with parallel_config("loky", n_jobs=n_jobs):
            yield work
        return
    from distributed import Client

    try:
        client = Client(scheduler, timeout=SECONDS_TO_CONNECT, set_as_default=True)
    except (OSError, ValueError) as error:
        raise OSError(f"no dask scheduler answers at {scheduler!r} ({error}).") from None
    with client, parallel_config("dask"):
        if sum(client.ncores().values()) < 2:
            # joblib would quietly do the work in this process
            raise ValueError(f"scheduler {scheduler!r} must have workers with 2 threads in all.")
        yield work


def _with_progress(
    cells: list[Cell], n_all: int, outcomes: Iterator[tuple[str, Any]]
) -> Iterator[tuple[str, Any]]:
    """The outcomes as they come in; stderr shows their number and the time left."""
    from tqdm import tqdm

    costs = {cell.name: cell.cost for cell in cells}
    done = n_all - len(cells)
    layout = "{percentage:3.0f}% {desc} [{elapsed} so far, {remaining} left]"
    seconds = 0.2 if sys.stderr.isatty() else 30.0
    with tqdm(
        total=sum(costs.values()), bar_format=layout, smoothing=0, mininterval=seconds, miniters=0
    ) as bar:
        bar.set_description_str(f"{done} of {n_all} cells", refresh=False)
        for name, outcome in outcomes:
            done += 1
            bar.set_description_str(f"{done} of {n_all} cells, {name}", refresh=False)
            bar.update(costs[name])
            yield name, outcome
