"""Run the cells of a study, and store each result so that it is computed only once.

A cell is a function with its settings. The key of its result is a hash of the settings, of the data
that they name, and of all code that the result depends on. Each finished cell is written at once
and atomically, so that a killed study can continue where it stopped.
"""

import json
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from functools import lru_cache
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from threadpoolctl import threadpool_limits

from fwlab import datasets
from fwlab.checks.arguments import as_integer
from fwlab.experiments.store import (
    CHANGED,
    Place,
    is_as_planned,
    load_record,
    place,
    record_of,
    save_record,
    warn_not_stored,
)
from fwlab.identity import digest
from fwlab.solvers.interrupt import interrupted_runs_raise
from fwlab.solvers.method import Method
from fwlab.solvers.registry import REGISTRY, registered, visitors
from fwlab.streams import stderr

BACKENDS = ("loky", "dask")
SECONDS_TO_CONNECT = 10


@dataclass(frozen=True)
class DataName:
    """The name of a data set, which each worker loads itself.

    Parameters
    ----------
    name, normalize, rng
        The arguments of `datasets.load`.
    join_valid : bool
        Whether to append the validation part to the train part.
    rows : int, optional
        Number of rows to keep, from the start of each part; all by default.
    """

    name: str
    normalize: str | None = None
    rng: int = 0
    join_valid: bool = False
    rows: int | None = None

    def load(self) -> datasets.Dataset:
        """Return the data set, which is read once per process."""
        return _load(self, _file_state(self.name))

    def identity(self) -> tuple[Any, ...]:
        """Return the entry of a key for the data: these fields and a hash of the numbers."""
        return *astuple(self), _data_digest(self, _file_state(self.name))


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
    n_jobs = as_integer("n_jobs", n_jobs, low=1)
    check_backend(backend, scheduler)
    places = cell_places(cells, Path(folder))
    warn_not_stored([(name, p.reason) for name, p in places.items() if p.reason])
    found = {name: load_record(p.file) for name, p in places.items() if p.file is not None}
    records = {name: record for name, record in found.items() if record is not None}
    waiting = [cell for cell in cells if cell.name not in records]
    failed: dict[str, str] = {}
    if waiting:
        parallel = n_jobs, backend, scheduler
        for name, outcome in _computed(waiting, places, len(cells), *parallel):
            if "error" in outcome:
                failed[name] = outcome["error"]
            else:
                records[name] = outcome
    if failed:
        name, error = next(iter(failed.items()))
        print(error, file=stderr())
        last = error.strip().splitlines()[-1]
        raise CellsFailed(f"{len(failed)} of {len(cells)} cells failed; {name!r}: {last}")
    return {cell.name: records[cell.name] for cell in cells}


def _computed(
    waiting: list[Cell],
    places: dict[str, Place],
    n_all: int,
    n_jobs: int,
    backend: str,
    scheduler: str | None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each waiting cell with its record or its error, in any order."""
    here = backend == "loky"
    by_name = {cell.name: cell for cell in waiting}
    changed = []
    # Workers on this machine store their results themselves, even if this process is killed.
    tasks = [(cell, places[cell.name], here, registered()) for cell in waiting]
    with _workers(n_jobs, backend, scheduler) as work:
        for name, outcome in _with_progress(waiting, n_all, work(tasks)):
            as_planned, file = outcome.pop("as_planned"), places[name].file
            if not as_planned and (n_jobs > 1 or not here):
                # A worker whose code differs from this process must not compute its cells.
                _, outcome = _compute(by_name[name], places[name], True, {})
                as_planned = outcome.pop("as_planned")
            elif as_planned and not here and file is not None and "error" not in outcome:
                save_record(file, outcome)
            if not as_planned:
                changed.append((name, CHANGED))
            yield name, outcome
    warn_not_stored(changed)


def check_backend(backend: Any, scheduler: Any) -> None:
    """Raise ValueError for a wrong backend, ImportError for "dask" without distributed."""
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}; got {backend!r}.")
    if (backend == "dask") != (scheduler is not None):
        needed = "needs the address of a scheduler" if scheduler is None else "is for backend dask"
        raise ValueError(f"scheduler {needed}; got backend {backend!r}, scheduler {scheduler!r}.")
    if backend == "dask":
        try:
            import distributed  # noqa: F401 - only checks that it is installed
        except ImportError:
            raise ImportError(
                "backend 'dask' needs the package distributed: pip install 'fwlab[dask]'."
            ) from None


def cell_places(cells: Sequence[Cell], folder: Path) -> dict[str, Place]:
    """Return, per cell, the place of its stored result or the reason why it is not stored."""
    places = {cell.name: place(folder, cell.name, ".json", _code(cell), None) for cell in cells}
    if len(places) < len(cells):
        raise ValueError("cells must have different names; some name occurs twice.")
    return places


def _code(cell: Cell) -> tuple[Any, ...]:
    """Return the function of a cell, its settings, and the methods that it can call by name."""
    return cell.function, cell.settings, visitors()


def plain(value: Any) -> Any:
    """Return `value` as JSON reads it back: arrays and tuples are lists, keys are strings."""
    return json.loads(json.dumps(value, default=_plain_array))


def _plain_array(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a cell's result cannot hold {value!r}.")


def _file_state(name: str) -> tuple[int, ...] | None:
    """Return size and times of a user's file; the files of named sets have checksums."""
    try:
        state = Path(name).stat()
    except OSError:
        return None
    return state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


@lru_cache(maxsize=64)
def _data_digest(name: DataName, state: tuple[int, ...] | None) -> str:
    return digest(vars(_load(name, state)))


@lru_cache(maxsize=4)
def _load(name: DataName, state: tuple[int, ...] | None) -> datasets.Dataset:
    """Return the data set; a file that was replaced has another `state`."""
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


def _compute(
    cell: Cell, planned: Place, store: bool, methods: dict[str, Callable[..., Method]]
) -> tuple[str, dict[str, Any]]:
    """Return the cell's name with its record or its error; store the record if `store`.

    `methods` are the methods that the program registered; a worker process has to learn them.
    """
    REGISTRY.update(methods)
    began = time.perf_counter()
    as_planned = planned.file is None or is_as_planned(planned, _code(cell))
    try:
        value = cell.compute()
    except Exception:
        return cell.name, {"error": traceback.format_exc(), "as_planned": as_planned}
    record = record_of(value, time.perf_counter() - began)
    if store and as_planned and planned.file is not None:
        save_record(planned.file, record)
    return cell.name, {**record, "as_planned": as_planned}


@contextmanager
def _workers(n_jobs: int, backend: str, scheduler: str | None) -> Iterator[Callable[..., Any]]:
    """Provide a function that computes cells and yields their outcomes in any order."""
    if backend == "loky" and n_jobs == 1:
        yield lambda tasks: starmap(_compute, tasks)
        return
    from joblib import Parallel, delayed, parallel_config

    def work(tasks: list[tuple[Any, ...]]) -> Any:
        # no memory maps: they are read-only, and numba compiles a second version for such arrays
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
            # joblib would silently compute in this process
            raise ValueError(f"scheduler {scheduler!r} must have workers with 2 threads in all.")
        yield work


def _with_progress(
    cells: list[Cell], n_all: int, outcomes: Iterator[tuple[str, Any]]
) -> Iterator[tuple[str, Any]]:
    """Yield the outcomes as they arrive, and show their number and the time left on stderr."""
    from tqdm import tqdm

    costs = {cell.name: cell.cost for cell in cells}
    done = n_all - len(cells)
    layout = "{percentage:3.0f}% {desc} [{elapsed} so far, {remaining} left]"
    seconds = 0.2 if stderr().isatty() else 30.0
    with tqdm(
        total=sum(costs.values()),
        bar_format=layout,
        smoothing=0,
        mininterval=seconds,
        miniters=0,
        file=stderr(),
    ) as bar:
        bar.set_description_str(f"{done} of {n_all} cells", refresh=False)
        for name, outcome in outcomes:
            done += 1
            bar.set_description_str(f"{done} of {n_all} cells, {name}", refresh=False)
            bar.update(costs[name])
            yield name, outcome
