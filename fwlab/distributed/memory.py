"""Choose the number of rows per chunk, so that a run stays within the memory that it may take.

A run holds X's chunks, a dense part of A for one chunk, some arrays of the shape of W, and a few
numbers per row; a certificate also holds parts of the chunk's scores. The packed A comes on top:
how many entries it has is seen only during the run.
"""

import re
from dataclasses import dataclass
from typing import Any

from fwlab.checks.arguments import as_integer
from fwlab.distributed.sources import POOLED, Source
from fwlab.kernels.steps.ascent_passes import COST_OF_CLASS, MOST_COST_OF_ONE
from fwlab.operators.scores import rows_of_part
from fwlab.solvers.blocks import BLOCK_ROWS

UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
# larger chunks are read no faster
CHUNK_BYTES = 2**25
LEAST_ROWS = 256
# arrays of the shape of W: the link, its padded copy, and what a certificate sums
LIKE_W = 5
# arrays (rows, m): A of a chunk and what a step makes of it; what a certificate makes of a part
LIKE_A = 6
# the classes that steps on the faces of a chunk's blocks list, at most, in arrays (rows, m)
LISTED = MOST_COST_OF_ONE / COST_OF_CLASS
# label, weight, row of costs, curvature, last move and place of a row; its face; its place in an
# order, the move up to which it rests, and whether it moved
PER_ROW = 14


def as_bytes(name: str, value: Any) -> int:
    """Return a number of bytes from an integer or a text such as "500MB", "2 GiB" or "250000"."""
    if not isinstance(value, str):
        return as_integer(name, value, low=1)
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([KMGT]?I?B)?\s*", value.upper())
    if found is None:
        raise ValueError(f'{name} must be bytes or a text such as "500MB"; got {value!r}.')
    return int(float(found[1]) * UNITS[found[2] or "B"])


@dataclass(frozen=True)
class Memory:
    """The memory that a run on n samples of d features and m classes may take, in bytes."""

    limit: int
    n: int
    d: int
    m: int

    def needed(self, rows: int, chunk_bytes: int) -> int:
        """Return the bytes of a run whose largest chunk has `rows` rows and chunk_bytes bytes."""
        like_w = LIKE_W * self.m * self.d
        like_a = LIKE_A * self.m * (rows + min(rows, rows_of_part(self.m))) + LISTED * self.m * rows
        per_row = (PER_ROW + BLOCK_ROWS) * self.n
        return int(8 * (like_w + like_a + per_row) + POOLED * chunk_bytes)

    def rows_per_chunk(self, source: Source) -> int:
        """Return the largest n / 2^i that fits. Raises ValueError if none does."""
        rows = self.n
        while rows > LEAST_ROWS and not self._fits(rows, source.chunk_bytes(rows)):
            rows = -(-rows // 2)
        self.check(rows, source.chunk_bytes(rows))
        return rows

    def _fits(self, rows: int, chunk_bytes: int) -> bool:
        return chunk_bytes <= CHUNK_BYTES and self.needed(rows, chunk_bytes) <= self.limit

    def check(self, rows: int, chunk_bytes: int) -> None:
        """Raise ValueError if chunks of this size do not fit."""
        least = self.needed(rows, chunk_bytes)
        if least > self.limit:
            raise ValueError(
                f"max_memory must be at least {least} bytes for {self.n} samples, {self.d} "
                f"features, {self.m} classes and chunks of {rows} rows; got {self.limit}."
            )
