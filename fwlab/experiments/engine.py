"""Run a set of tasks: read each outcome from its store, or compute it and store it.

Comparisons, cells and cross-validations are sets of tasks. Tasks are computed here, by worker
processes, or on a cluster. A finished task is stored at once, so that a killed set goes on where it
stopped. A task that fails gives a Failure and stops no other one. Ctrl-C leaves the engine as
KeyboardInterrupt.

The runs of a path out of core are tasks too. Each starts from the A of the one before it, so that
the path asks for one `outcome` after the other.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from fwlab.checks.arguments import as_integer
from fwlab.experiments.progress import Bar, Display
from fwlab.experiments.store import CHANGED, Place, is_as_planned
from fwlab.solvers.method import Method
from fwlab.solvers.recorder import Progress
from fwlab.solvers.registry import REGISTRY, registered

BACKENDS = ("loky", "dask")
SECONDS_TO_CONNECT = 10

Watch = Callable[[Progress], None]


@dataclass(frozen=True)
class Failure:
    """A task without a result. kind is "refused", "failed" or "not run"; message says why."""

    kind: str
    message: str
    traceback: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class Task(Protocol):
    """One computation and the place of its outcome.

    Attributes
    ----------
    name : str
        For people.
    cost : float
        Expected seconds; only ratios matter.
    place : Place
        Where the outcome is stored, or why it is not.
    code : object
        The code and the settings of the computation, whose identity the place has.
    """

    @property
    def name(self) -> str: ...
    @property
    def cost(self) -> float: ...
    @property
    def place(self) -> Place: ...
    @property
    def code(self) -> Any: ...
    def stored(self, file: Path) -> Any:
        """Return the stored outcome, None if there is none or a damaged one.

        Raises ValueError if the file is that of another task.
        """

    def compute(self, watch: Watch | None) -> Any:
        """Return the outcome, or a Failure if an exception ends the computation.

        An exception that leaves this method ends the set.
        """

    def store(self, outcome: Any, file: Path) -> None:
        """Store an outcome. Raises OSError."""


T = TypeVar("T", bound=Task)


class Done(NamedTuple):
    """The outcome of a task, and why it is not stored if that turned out only now.

    is_read says whether the outcome was read from the store.
    """

    outcome: Any
    reason: str = ""
    is_read: bool = False


@dataclass(frozen=True)
class Workers:
    """The processes that compute the tasks.

    Parameters
    ----------
    n_jobs : int
        Number of processes on this machine; 1 is this process.
    backend : "loky" or "dask"
        "dask" computes on a cluster, through joblib.
    scheduler : str, optional
        Address of a running dask scheduler, for backend="dask".

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    ImportError
        If backend is "dask" and the package distributed is not installed.
    """

    n_jobs: int = 1
    backend: str = "loky"
    scheduler: str | None = None

    def __post_init__(self) -> None:
        as_integer("n_jobs", self.n_jobs, low=1)
        check_backend(self.backend, self.scheduler)

    @property
    def is_this_process(self) -> bool:
        """Whether the tasks are computed here."""
        return self.n_jobs == 1 and self.backend == "loky"

    @property
    def share_files(self) -> bool:
        """Whether the workers write to the same files as this process."""
        return self.backend == "loky"

    @contextmanager
    def at_work(self) -> Iterator[Callable[..., Any]]:
        """Provide a function that yields what calls return, in any order.

        It takes a function and the tuples of its arguments. Raises OSError if no scheduler answers.
        """
        if self.is_this_process:
            yield starmap
            return
        from joblib import Parallel, delayed, parallel_config

        # no memory maps: they are read-only, and numba compiles a second version for such arrays
        options = {"max_nbytes": None} if self.backend == "loky" else {}

        def work(function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Any:
            pool = Parallel(return_as="generator_unordered", **options)
            return pool(delayed(function)(*call) for call in calls)

        if self.backend == "loky":
            with parallel_config("loky", n_jobs=self.n_jobs):
                yield work
            return
        with _cluster(self.scheduler), parallel_config("dask"):
            yield work


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


@contextmanager
def _cluster(scheduler: Any) -> Iterator[None]:
    """Connect to a dask scheduler for a `with` block."""
    from distributed import Client

    try:
        client = Client(scheduler, timeout=SECONDS_TO_CONNECT, set_as_default=True)
    except (OSError, ValueError) as error:
        raise OSError(f"no dask scheduler answers at {scheduler!r} ({error}).") from None
    with client:
        if sum(client.ncores().values()) < 2:
            # joblib would silently compute in this process
            raise ValueError(f"scheduler {scheduler!r} must have workers with 2 threads in all.")
        yield


def outcomes(
    tasks: Sequence[T],
    workers: Workers = Workers(),
    display: Callable[[Sequence[T], int], Display] = Bar,
) -> Iterator[tuple[T, Done]]:
    """Yield each task with its outcome: the stored ones first, then the others as they finish.

    `display` makes what shows the progress, from the tasks to compute and the number of all.
    """
    waiting = []
    for task in tasks:
        found = _stored(task)
        if found is None:
            waiting.append(task)
        else:
            yield task, Done(found, is_read=True)
    if not waiting:
        return
    with display(waiting, len(tasks)) as shown:
        here = workers.is_this_process
        finished = _in_turn(waiting, shown) if here else _by_workers(waiting, workers, shown)
        for task, done in finished:
            shown.end(task)
            yield task, done


def outcome(task: Task) -> Done:
    """Return the outcome of one task, read from its store, or computed and stored."""
    found = _stored(task)
    return perform(task) if found is None else Done(found, is_read=True)


def _stored(task: Task) -> Any:
    return None if task.place.file is None else task.stored(task.place.file)


def perform(task: Task, watch: Watch | None = None, stores: bool = True) -> Done:
    """Compute a task and store its outcome, unless its code has changed since it was planned."""
    file = task.place.file
    is_planned = file is None or is_as_planned(task.place, task.code)
    outcome = task.compute(watch)
    if not is_planned:
        return Done(outcome, CHANGED)
    return Done(outcome, _kept(task, outcome) if stores else "")


def _kept(task: Task, outcome: Any) -> str:
    """Store an outcome; return why that failed, or ""."""
    if task.place.file is None or isinstance(outcome, Failure):
        return ""
    try:
        task.store(outcome, task.place.file)
    except OSError as error:
        return f"its file cannot be written ({one_line(error)})"
    return ""


def _in_turn(tasks: Sequence[T], shown: Display) -> Iterator[tuple[T, Done]]:
    for task in tasks:
        yield task, perform(task, shown.begin(task))


def _by_workers(tasks: Sequence[T], workers: Workers, shown: Display) -> Iterator[tuple[T, Done]]:
    sent = []
    for task in tasks:
        if reason := _why_not_sent(task):
            yield task, Done(Failure("failed", reason))
        else:
            sent.append(task)
    calls = [(i, task, workers.share_files, registered()) for i, task in enumerate(sent)]
    with workers.at_work() as work:
        for i, done in work(perform_elsewhere, calls):
            task = sent[i]
            if done.reason == CHANGED:
                # a worker whose code differs from this process does not answer for it
                done = perform(task, shown.begin(task))
            elif not workers.share_files:
                done = Done(done.outcome, _kept(task, done.outcome))
            yield task, done


def perform_elsewhere(
    i: int, task: Task, stores: bool, methods: dict[str, Callable[..., Method]]
) -> tuple[int, Done]:
    """Perform a task in a worker process, which has to learn the methods of the program.

    A worker that does not store leaves that to the process that gave it the task.
    """
    REGISTRY.update(methods)
    return i, perform(task, None, stores)


def _why_not_sent(task: Task) -> str:
    """Return why the code of a task cannot go to a worker process, "" if it can."""
    from joblib.externals.loky.backend.reduction import dumps

    try:
        dumps(task.code)
    except Exception as error:
        return f"it cannot be sent to a worker process ({one_line(error)}); n_jobs=1 runs it here"
    return ""


def one_line(error: Exception) -> str:
    """Return what an exception says, in one line."""
    return " ".join(str(error).split())
