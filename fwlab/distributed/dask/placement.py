"""Choose the worker that keeps each partition of X, and another one when a worker is gone."""

import time
from collections.abc import Iterable
from typing import Any

from fwlab.distributed.dask.partitions import RowPartitions, WorkerLost

SECONDS_TO_ANSWER = 10.0
# a nanny starts a worker again within seconds; after that the others take its partitions
SECONDS_TO_REPLACE = 20.0
SECONDS_BETWEEN_LOOKS = 0.2


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
