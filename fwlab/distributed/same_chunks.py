"""Read X chunk by chunk, and refuse a chunk that is not what it was on the first read.

A run holds numbers that an earlier read gave, such as |x_i|^2. The steps would be wrong for other
rows of X. Each read is therefore compared with a checksum of each chunk.

The checksum is a multilinear hash: the sum of 32-bit words, each times its own random odd number,
modulo 2^64. A change of a single word always changes the sum, and any other change does with a
chance of at least 1 - 2^-32. It takes little longer than a sum of the numbers: 4 ms for 32 MB,
SHA-256 40 ms. The thread that reads ahead computes it.
"""

import hashlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from fwlab.distributed.sources import Order, Source, read_ahead
from fwlab.kernels.products.checksum import weigh_words

WORDS = 1024
KEYS = np.random.default_rng(0).integers(2**64, size=WORDS, dtype=np.uint64) | np.uint64(1)


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
