"""Read the next chunks in a thread while the current one is worked on.

Kernels release Python's lock, so that the thread reads while they run. Two chunks ahead even out
reads that take longer than others.
"""

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

AHEAD = 2
# chunks in memory at once: the one in use and the ones ahead
POOLED = AHEAD + 1

_END = object()


def read_ahead(chunks: Iterator[Any]) -> Generator[Any]:
    """Yield the chunks of an iterator, which a thread advances AHEAD chunks further.

    A chunk may be overwritten once the next one is asked for.
    """
    reader = ThreadPoolExecutor(1)
    try:
        pending: deque[Future[Any]] = deque(reader.submit(next, chunks, _END) for _ in range(AHEAD))
        while (chunk := pending.popleft().result()) is not _END:
            pending.append(reader.submit(next, chunks, _END))
            yield chunk
    finally:
        reader.shutdown(cancel_futures=True)
