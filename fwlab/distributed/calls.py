"""Ask all partitions of X the same question, and ask again what a lost worker did not answer.

Each round submits tasks of its own, whose keys hold the run, the version of A and the partition; a
task depends on X, on the block that the worker holds, and on the request, and never on a task of
another round. A block that was lost, or that is not at the version asked for, is opened again from
the rows that the driver kept and the rounds since then.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from itertools import count
from typing import Any

from scipy.sparse import csr_array

from fwlab.distributed.block import Opening, Request, Round, Setup, Stale, answer, open_block
from fwlab.distributed.checkpoint import new_run
from fwlab.distributed.placement import SECONDS_BETWEEN_LOOKS, Placement
from fwlab.distributed.row_partitions import WorkerLost, sent

# a partition that is lost more often without any answer in between ends the run
MOST_ATTEMPTS = 10
SECONDS_TO_GATHER = 5.0


class Calls:
    """The partitions of one run.

    Attributes
    ----------
    run : str
        The id of this run on the cluster, in the key of each task.
    kept : list of csr_array
        Rows of A of each partition, at version `kept_version`.
    past : list of Round
        The rounds since then.
    bytes_sent : int
        Bytes of requests, rows and answers that travelled between the driver and the workers.
    """

    def __init__(
        self, placement: Placement, setups: Sequence[Setup], rows: Sequence[csr_array]
    ) -> None:
        self.placement, self.client = placement, placement.client
        self.setups = setups
        self.run = new_run()
        self.past: list[Round] = []
        self.kept_version = self.bytes_sent = 0
        self.kept = list(rows)
        self._blocks: dict[int, Any] = {}
        self._numbers = count()

    def keep(self, rows: Sequence[csr_array], version: int) -> None:
        """Keep rows of A at a version, from which lost blocks are opened again."""
        self.kept, self.kept_version, self.past = list(rows), version, []

    def each(self, request: Request) -> list[Any]:
        """Return the answers of all partitions, in their order."""
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
        """Let the workers forget the blocks."""
        self._blocks.clear()

    def _asked(self, places: list[int], request: Request) -> Iterator[tuple[int, Any]]:
        """Yield the answer of each of these partitions, None for a lost one."""
        futures, requests = {}, {}
        work = f"{request.name}-{request.point.version}"
        for place in places:
            home = self.placement.homes[place]
            try:
                if place not in self._blocks:
                    self._blocks[place] = self._opened(place, home)
                if home not in requests:
                    requests[home] = self._sent(request, home)
            except WorkerLost:
                yield place, None
                continue
            needs = self._blocks[place], self.placement.data[place], requests[home]
            futures[place] = self._submitted(answer, work, place, *needs)
        self._wait(futures)
        for place, future in futures.items():
            yield place, self._result(place, future)

    def _move_lost(self, places: list[int]) -> None:
        """Move the partitions whose workers are gone."""
        if lost := self.placement.lost(places):
            self.placement.move(lost)
            for place in lost:
                self._blocks.pop(place, None)

    def _opened(self, place: int, home: str) -> Any:
        """Return the future of a block that is opened at a worker."""
        rows, version = self.kept[place], self.kept_version
        opening = self._sent(Opening(self.setups[place], rows, version, tuple(self.past)), home)
        needs = self.placement.data[place], opening
        return self._submitted(open_block, f"open-{version}", place, *needs)

    def _sent(self, value: Any, home: str) -> Any:
        """Return the future of a value that is sent to a worker."""
        from dask.sizeof import sizeof

        self.bytes_sent += sizeof(value)
        return sent(self.client, value, home)

    def _submitted(self, function: Any, work: str, place: int, *needs: Any) -> Any:
        """Return the future of a task at the home of a partition, under a key of its own."""
        key = f"{work}-{place}-{next(self._numbers)}-{self.run}"
        home = self.placement.homes[place]
        return self.client.submit(function, *needs, key=key, workers=[home], pure=False)

    def _wait(self, futures: dict[int, Any]) -> None:
        """Wait until each task has ended or its worker has."""
        from distributed import wait

        while pending := [p for p, future in futures.items() if future.status == "pending"]:
            try:
                with self.client.as_current():
                    wait([futures[place] for place in pending], timeout=SECONDS_BETWEEN_LOOKS)
            except (TimeoutError, CancelledError):
                lost = self.placement.lost(pending)
                if len(lost) == len(pending):
                    return

    def _result(self, place: int, future: Any) -> Any:
        """Return what a task returned, None if it ended with its worker."""
        from dask.sizeof import sizeof
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
                self.bytes_sent += sizeof(found)
                return found
        future.cancel()
        return None
