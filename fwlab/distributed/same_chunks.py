"""Read X ahead, chunk by chunk, and refuse a chunk that is not what it was on the first read.

A run holds numbers that an earlier read gave, such as |x_i|^2. The steps would be wrong for other
rows of X. Each read is therefore compared with a checksum of each chunk.

The checksum is a multilinear hash: the sum of 32-bit words, each times its own random odd number,
modulo 2^64. A change of a single word always changes the sum, and any other change does with a
chance of at least 1 - 2^-32. It takes little longer than a sum of the numbers: 4 ms for 32 MB,
SHA-256 40 ms.

A thread reads the next chunks and computes their checksums while the current one is worked on:
kernels release Python's lock, so that it reads while they run. Two chunks ahead even out reads that
take longer than others.
"""

import hashlib
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from fwlab.distributed.sources import AHEAD, Order, Source
from fwlab.kernels.products.checksum import weigh_words

WORDS = 1024
KEYS = np.random.default_rng(0).integers(2**64, size=WORDS, dtype=np.uint64) | np.uint64(1)

_END = object()


@dataclass(frozen=True)
class KnownRows:
    """Some rows of X as they were on the first read; `demand` begins the sentence of an error."""

    demand: str
    rows: slice
    checksum: str

    def require(self, X: Any) -> None:
        """Raise ValueError if X does not hold these rows."""
        if checksum(X) != self.checksum:
            rows = f"rows {self.rows.start} to {self.rows.stop - 1}"
            raise ValueError(f"{self.demand}; {rows} are not what they were on the first read.")


class SameChunks:
    """The chunks of a source, which must hold the same numbers on each read.

    Parameters
    ----------
    source : Source
    rows : int
        The number of rows per chunk, if the source leaves it open.
    """

    def __init__(self, source: Source, rows: int) -> None:
        self.source, self.rows = source, rows
        self.known: list[KnownRows] = []

    def read(self, order: Order | None = None) -> Generator[Any]:
        """Yield the chunks, which a thread reads ahead, or those at the places in `order`.

        The first read has no order. Raises ValueError if a chunk is not as on the first read.
        """
        return read_ahead(self._checked(order))

    def _checked(self, order: Order | None) -> Iterator[Any]:
        for turn, X in enumerate(self.source.chunks(self.rows, order)):
            place = turn if order is None else order[turn]
            if place == len(self.known):
                start = self.known[-1].rows.stop if self.known else 0
                rows = slice(start, start + X.shape[0])
                self.known.append(KnownRows(self.source.demand, rows, checksum(X)))
            else:
                self.known[place].require(X)
            yield X


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


def checksum(X: Any) -> str:
    """Return a checksum of an array or a CSR matrix: of types, shapes and bits."""
    hasher = hashlib.sha256()
    for array in map(np.ascontiguousarray, arrays_of(X)):
        hasher.update(f"{array.dtype.str}{array.shape}".encode())
        entries = array.reshape(-1).view(np.uint8)
        end = len(entries) - len(entries) % (4 * WORDS)
        words = entries[:end].view(np.uint32).reshape(-1, WORDS)
        sums = np.empty(len(words), np.uint64)
        with np.errstate(over="ignore"):  # without the JIT
            weigh_words(words, KEYS, sums)
        hasher.update(sums.data)
        hasher.update(entries[end:].data)
    return hasher.hexdigest()


def arrays_of(X: Any) -> tuple[np.ndarray, ...]:
    """Return the arrays that hold the numbers of an array or a CSR matrix."""
    return (X.data, X.indices, X.indptr) if scipy.sparse.issparse(X) else (X,)
