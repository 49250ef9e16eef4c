"""Ask all partitions of X a question, and repeat it for each partition whose worker is lost.

The driver submits a new task for each question and partition. The key of a task holds the question,
the version of A, the partition and the run. The task depends on X, on the block at the worker and
on the request, but never on a task of another round. If a block is lost, or cannot reach the
version of the request, the driver opens it again with the rows that it keeps and the rounds since
then.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import fields, is_dataclass
from itertools import count
from typing import Any

from scipy.sparse import csr_array

from fwlab.distributed.checkpoint import new_run
from fwlab.distributed.dask.partitions import (
    SECONDS_BETWEEN_LOOKS,
    Placement,
    WorkerLost,
    sent,
    sent_to_each,
)
from fwlab.distributed.dask.worker import Opening, Request, Round, Setup, Stale, answer, open_block

# the run ends if it asks more often in a row and no partition answers
MOST_ATTEMPTS = 10
SECONDS_TO_GATHER = 5.0


def bytes_of(value: Any) -> int:
    """Return the size of a message, with the arrays of the rows of A that it holds."""
    from dask.sizeof import sizeof

    if isinstance(value, csr_array):
        return sum(sizeof(part) for part in (value.data, value.indices, value.indptr))
    if isinstance(value, list | tuple):
        return sum(bytes_of(part) for part in value)
    if is_dataclass(value):
        return sum(bytes_of(getattr(value, part.name)) for part in fields(value))
    return int(sizeof(value))


class Driver:
    """Sends the requests of one run to the partitions, and collects their answers.

    Attributes
    ----------
    run : str
        The id of this run on the cluster; the key of each task contains it.
    kept : list of lists of csr_array
        Rows of A of each partition, piece by piece, at version `kept_version`.
    past : list of Round
        The rounds since that version.
    bytes_sent : int
        Bytes of the requests, rows and answers that the driver and the workers sent each other.
    """

    def __init__(
        self, placement: Placement, setups: Sequence[Setup], rows: Sequence[list[csr_array]]
    ) -> None:
        self.placement, self.client = placement, placement.client
        self.setups = setups
        self.run = new_run()
        self.past: list[Round] = []
        self.kept_version = self.bytes_sent = 0
        self.kept = list(rows)
        self._blocks: dict[int, Any] = {}
        self._numbers = count()

    def keep(self, rows: Sequence[list[csr_array]], version: int) -> None:
        """Keep rows of A at a version, to open lost blocks again with them."""
        self.kept, self.kept_version, self.past = list(rows), version, []

    def ask(self, request: Request) -> list[Any]:
        """Return the answers of all partitions, in the order of the partitions."""
        answers: dict[int, Any] = {}
        attempts = 0
        while waiting := [place for place in range(len(self.setups)) if place not in answers]:
            attempts += 1
            if attempts > MOST_ATTEMPTS:
                raise RuntimeError(
                    f"Partition {waiting[0]} was lost {MOST_ATTEMPTS} times in a row: its workers "
                    "end before they answer, as they do when their memory is too small."
                )
            known = len(answers)
            if attempts > 1:
                self._move_lost(waiting)
            for place, found in self._asked(waiting, request):
                if found is None or isinstance(found, Stale):
                    self._blocks.pop(place, None)
                else:
                    answers[place] = found
            attempts = 0 if len(answers) > known else attempts
        return [answers[place] for place in sorted(answers)]

    def close(self) -> None:
        """Drop the blocks, so that the workers free their memory."""
        self._blocks.clear()

    def _asked(self, places: list[int], request: Request) -> Iterator[tuple[int, Any]]:
        """Ask these partitions; yield the answer of each, None for a lost one."""
        homes = {place: self.placement.homes[place] for place in places}
        requests = sent_to_each(self.client, request, sorted({*homes.values()}))
        self.bytes_sent += len(requests) * bytes_of(request)
        futures, work = {}, f"{request.name}-{request.point.version}"
        for place, home in homes.items():
            try:
                if place not in self._blocks:
                    self._blocks[place] = self._opened(place, home)
                needs = self._blocks[place], self.placement.data[place], requests[home]
            except (WorkerLost, KeyError):
                yield place, None
            else:
                futures[place] = self._submitted(answer, work, place, *needs)
        self._wait(futures)
        answers = self._gathered(futures)
        for place, future in futures.items():
            yield place, answers[place] if answers else self._result(place, future)

    def _move_lost(self, places: list[int]) -> None:
        """Move partitions to other workers if their own are gone."""
        if lost := self.placement.lost(places):
            self.placement.move(lost)
            for place in lost:
                self._blocks.pop(place, None)

    def _opened(self, place: int, home: str) -> Any:
        """Let a worker open a block with the kept rows; return the future of the block."""
        rows, version = self.kept[place], self.kept_version
        opening = Opening(self.setups[place], rows, version, tuple(self.past))
        needs = self.placement.data[place], sent(self.client, opening, home)
        self.bytes_sent += bytes_of(opening)
        return self._submitted(open_block, f"open-{version}", place, *needs)

    def _submitted(self, function: Any, work: str, place: int, *needs: Any) -> Any:
        """Submit a task to the worker of a partition under a new key; return its future."""
        key = f"{work}-{place}-{next(self._numbers)}-{self.run}"
        home = self.placement.homes[place]
        return self.client.submit(function, *needs, key=key, workers=[home], pure=False)

    def _wait(self, futures: dict[int, Any]) -> None:
        """Wait until each task has ended, or until all tasks that have not lost their workers."""
        from distributed import wait

        while pending := [p for p, future in futures.items() if future.status == "pending"]:
            try:
                with self.client.as_current():
                    wait([futures[place] for place in pending], timeout=SECONDS_BETWEEN_LOOKS)
            except (TimeoutError, CancelledError):
                lost = self.placement.lost(pending)
                if len(lost) == len(pending):
                    return

    def _gathered(self, futures: dict[int, Any]) -> dict[int, Any]:
        """Return what all tasks returned, by partition; nothing if one of them did not."""

        async def gather() -> list[Any]:
            found: list[Any] = await self.client.gather([*futures.values()], asynchronous=True)
            return found

        if {future.status for future in futures.values()} != {"finished"}:
            return {}
        try:
            found = self.client.sync(gather, callback_timeout=SECONDS_TO_GATHER)
        except (AttributeError, CancelledError, OSError):  # as in sent_to_each
            return {}
        self.bytes_sent += sum(map(bytes_of, found))
        return dict(zip(futures, found, strict=True))

    def _result(self, place: int, future: Any) -> Any:
        """Return what a task returned, None if its worker was lost."""
        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        while future.status in ("finished", "error"):
            try:
                found = future.result(timeout=SECONDS_TO_GATHER)
            except TimeoutError:
                if self.placement.lost([place]):
                    break
            except (CancelledError, KilledWorker, CommClosedError):
                break
            else:
                self.bytes_sent += bytes_of(found)
                return found
        future.cancel()
        return None
