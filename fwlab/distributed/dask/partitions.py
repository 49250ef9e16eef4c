"""Cut X into partitions of rows and bring each to the worker that keeps it.

A dask array is cut already: its row chunks stay where they are. Rows of a .npy file are read by the
worker; rows in the memory of the driver are sent to it. When a worker is gone, another one keeps
its partitions.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse

from fwlab.checks.arguments import as_features, as_integer
from fwlab.distributed.same_chunks import arrays_of, checksum
from fwlab.distributed.sources import (
    FileArray,
    RowsInMemory,
    file_array,
    unchanged,
    working_type,
)
from fwlab.identity import digest
from fwlab.operators.features import features_of

SECONDS_TO_ANSWER = 10.0
# a nanny starts a worker again within seconds; after that the others take its partitions
SECONDS_TO_REPLACE = 20.0
SECONDS_BETWEEN_LOOKS = 0.2


class WorkerLost(Exception):
    """The worker that was to receive something is gone."""


def sent(client: Any, value: Any, home: str) -> Any:
    """Return the future of a value that is sent to a worker. Raises WorkerLost if it is gone."""
    found = sent_to_each(client, value, [home])
    if not found:
        raise WorkerLost(home)
    return found[home]


def sent_to_each(client: Any, value: Any, homes: Sequence[str]) -> dict[str, Any]:
    """Send a value to several workers at once; return a future for each that is not gone."""

    async def send(home: str) -> Any:
        try:
            return await client.scatter(value, workers=[home], hash=False, asynchronous=True)
        except (AttributeError, KeyError, OSError):  # without a scheduler, worker or answer
            return None

    async def send_all() -> list[Any]:
        return await asyncio.gather(*map(send, homes))

    futures = zip(homes, client.sync(send_all), strict=True)
    return {home: future for home, future in futures if future is not None}


class RowPartitions(Protocol):
    """X in partitions; `cuts` are the first rows of the partitions, and the number of rows.

    `demand` begins a sentence, as in a Source.
    """

    cuts: list[int]
    dtype: type[np.floating]
    demand: str

    def home(self, client: Any, place: int, addresses: Sequence[str]) -> str:
        """Return the address of the worker that shall keep a partition."""

    def bring(self, client: Any, place: int, home: str) -> Any:
        """Return a future of the checked rows of a partition at a worker.

        Raises WorkerLost if the worker is gone.
        """


class Survey(NamedTuple):
    """Facts of the rows of a partition for the driver."""

    n_features: int
    is_sparse: bool
    squares: np.ndarray  # |x_i|^2
    fingerprint: str
    checksum: str


def survey(X: Any) -> Survey:
    """Return the facts of checked rows."""
    squares, is_sparse = features_of(X, None).square_norms(), scipy.sparse.issparse(X)
    return Survey(X.shape[1], is_sparse, squares, digest(*arrays_of(X)), checksum(X))


class RowsOfDask:
    """The row chunks of a dask array."""

    demand = RowsInMemory.demand

    def __init__(self, X: Any, client: Any) -> None:
        from distributed import futures_of

        rows, *columns = X.chunks
        if len(columns) != 1:
            raise ValueError(f"X must be 2-D; got shape {X.shape}.")
        if len(columns[0]) != 1:
            raise ValueError(
                f"X must have all columns in one chunk, as after X.rechunk({{1: -1}}); got "
                f"{len(columns[0])} chunks of columns."
            )
        if np.isnan(rows).any():
            raise ValueError("X must have chunks of known sizes: call X.compute_chunk_sizes().")
        if 0 in rows:
            raise ValueError(f"X must have rows in each chunk; chunk {rows.index(0)} has none.")
        self.cuts = np.cumsum([0, *rows]).tolist()
        self.dtype = working_type(X.dtype)
        stored = client.persist(X)
        futures = {future.key: future for future in futures_of(stored)}
        self.chunks = [futures[key] for (key,) in stored.__dask_keys__()]

    def home(self, client: Any, place: int, addresses: Sequence[str]) -> str:
        from distributed import wait

        chunk = self.chunks[place]
        with client.as_current():
            wait(chunk)
        holders = sorted(client.who_has([chunk])[chunk.key])
        return str(holders[0]) if holders else addresses[place % len(addresses)]

    def bring(self, client: Any, place: int, home: str) -> Any:
        name = f"chunk {place} of X"
        return client.submit(
            as_features, name, self.chunks[place], self.dtype, workers=[home], pure=False
        )


class EvenPartitions:
    """Partitions of nearly the same size, which the workers keep in turn."""

    def __init__(self, n: int, n_partitions: int) -> None:
        if n_partitions > n:
            raise ValueError(
                f"n_partitions must leave no partition without rows; got {n_partitions} for {n} "
                "rows."
            )
        self.cuts = [n * place // n_partitions for place in range(n_partitions + 1)]

    def home(self, client: Any, place: int, addresses: Sequence[str]) -> str:
        return addresses[place % len(addresses)]


class RowsOfFile(EvenPartitions):
    """Rows of a .npy file that every worker can read."""

    def __init__(self, X: Any, n_partitions: int) -> None:
        self.array = file_array("X", X, ndim=2)
        self.demand = unchanged(self.array)
        self.dtype = working_type(self.array.dtype)
        super().__init__(self.array.shape[0], n_partitions)

    def bring(self, client: Any, place: int, home: str) -> Any:
        rows = self.cuts[place], self.cuts[place + 1]
        return client.submit(read_rows, self.array, *rows, self.dtype, workers=[home], pure=False)


def read_rows(array: FileArray, start: int, stop: int, dtype: type[np.floating]) -> Any:
    """Return checked rows of a file."""
    rows = np.empty((stop - start, array.shape[1]), array.dtype)
    with array.opened() as file:
        array.fill(rows, file, start)
    return as_features(f"X[{start}:{stop}]", rows, dtype)


class RowsOfDriver(EvenPartitions):
    """Rows of an array or a scipy.sparse matrix in the memory of the driver."""

    demand = RowsInMemory.demand

    def __init__(self, X: Any, n_partitions: int) -> None:
        rows = RowsInMemory(X)
        self.X, self.dtype = rows.X, rows.dtype
        super().__init__(rows.n_samples, n_partitions)

    def bring(self, client: Any, place: int, home: str) -> Any:
        rows = self.X[self.cuts[place] : self.cuts[place + 1]]
        return sent(client, rows, home)


def partitions_of(X: Any, n_partitions: Any, client: Any) -> RowPartitions:
    """Return X in partitions. Raises an error with one sentence if that cannot be done."""
    if hasattr(X, "__dask_graph__"):
        if not hasattr(X, "chunks"):
            raise TypeError(f"X must be a dask array; got a {type(X).__name__} of dask.")
        if n_partitions is not None:
            raise ValueError(
                "n_partitions must be None for a dask array, whose row chunks are the partitions; "
                f"got {n_partitions!r}."
            )
        return RowsOfDask(X, client)
    if n_partitions is None:
        n_partitions = sum(client.nthreads().values())
    n_partitions = as_integer("n_partitions", n_partitions, low=1)
    if isinstance(X, str | PathLike | np.memmap):
        return RowsOfFile(X, n_partitions)
    return RowsOfDriver(X, n_partitions)


# ------------------------------------------------------------------ the workers that keep them


def checked_client(client: Any) -> Any:
    """Return a client whose scheduler answers, the current one for None.

    Raises an error with one sentence if there is none, or if it has no worker.
    """
    try:
        from distributed import Client, default_client
    except ImportError:
        raise ImportError(
            "DaskProblem needs the package distributed: pip install 'fwlab[dask]'."
        ) from None
    if client is None:
        try:
            client = default_client()
        except ValueError:
            raise ValueError(
                "client must be a distributed.Client if no Client is open; got None."
            ) from None
    if not isinstance(client, Client):
        raise TypeError(f"client must be a distributed.Client; got {client!r}.")
    if client.asynchronous:
        raise ValueError("client must not be asynchronous; got a Client(asynchronous=True).")
    if not addresses_of(client):
        raise ValueError(f"client must have workers; {address_of(client)!r} has none.")
    return client


def addresses_of(client: Any) -> list[str]:
    """Return the addresses of the workers. Raises OSError if the scheduler does not answer."""
    try:
        if client.status != "running":
            raise OSError(f"the client is {client.status}")
        return sorted(client.sync(client.scheduler.ncores, callback_timeout=SECONDS_TO_ANSWER))
    except (OSError, RuntimeError, AttributeError) as error:
        raise OSError(f"no dask scheduler answers at {address_of(client)!r} ({error}).") from None


def address_of(client: Any) -> str:
    """Return the address of a client's scheduler."""
    return str(getattr(client.scheduler, "address", "an unknown address"))


class Placement:
    """The home of each partition: the address of a worker, and a future of the rows of X there."""

    def __init__(self, client: Any, rows: RowPartitions) -> None:
        self.client, self.rows = client, rows
        addresses = addresses_of(client)
        self.n_workers = len(addresses)
        places = range(len(rows.cuts) - 1)
        self.homes = [rows.home(client, place, addresses) for place in places]
        self.data = [rows.bring(client, place, self.homes[place]) for place in places]

    def __len__(self) -> int:
        return len(self.homes)

    def lost(self, places: Iterable[int]) -> list[int]:
        """Return the partitions among these whose home is gone, or whose rows of X are."""
        alive = set(addresses_of(self.client))
        whole = ("pending", "finished", "error")
        return [
            place
            for place in places
            if self.homes[place] not in alive
            or getattr(self.data[place], "status", None) not in whole
        ]

    def move(self, places: Iterable[int]) -> None:
        """Bring partitions to the workers that keep the fewest, when a lost worker is replaced."""
        alive = self._after_replacement()
        kept = {address: 0 for address in alive}
        for place, home in enumerate(self.homes):
            if home in kept and place not in places:
                kept[home] += 1
        for place in places:
            home = min(alive, key=lambda address: (kept[address], address))
            kept[home] += 1
            self.homes[place] = home
            try:
                self.data[place] = self.rows.bring(self.client, place, home)
            except WorkerLost:
                self.data[place] = None

    def _after_replacement(self) -> list[str]:
        """Return the addresses of all workers, once the lost ones are replaced or it takes long."""
        deadline = time.monotonic() + SECONDS_TO_REPLACE
        while len(alive := addresses_of(self.client)) < self.n_workers:
            if time.monotonic() >= deadline:
                break
            time.sleep(SECONDS_BETWEEN_LOOKS)
        if not alive:
            raise OSError(f"no worker is left at {address_of(self.client)!r}.")
        return alive
