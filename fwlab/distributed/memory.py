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
from fwlab.solvers.lbfgs import MOST_COST
from fwlab.solvers.lbfgs_history import LENGTH
from fwlab.solvers.preconditioner import MOST_FEATURES, OF_A_SCORE

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

# with an entropy: entries of the rows or the scores of a part of a chunk
ENTRIES = 2**18
# arrays of that size, of a part and what a certificate makes of its scores
OF_A_PART = 9
# arrays of the shape of W: steps and their images, the differences of the gradients where the
# preconditioner is renewed, and the point, the gradients and products of a step and a certificate
STEPS, DIFFERENCES, OF_A_STEP = 2 * LENGTH, LENGTH, 12
# arrays (d, d) of the preconditioner, and arrays (m, d, d) where it is renewed
SQUARES, BLOCKS = 6, 5
# of a row: label, weight, curvature, |x|^2, and what a certificate computes twice
PER_ROW_OF_ENTROPY = 24


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
        return int(8 * self.numbers(rows) + POOLED * chunk_bytes)

    def numbers(self, rows: int) -> float:
        """Return how many numbers a run holds beside the chunks, of at most `rows` rows each."""
        like_w = LIKE_W * self.m * self.d
        like_a = LIKE_A * self.m * (rows + min(rows, rows_of_part(self.m))) + LISTED * self.m * rows
        per_row = (PER_ROW + BLOCK_ROWS) * self.n
        return like_w + like_a + per_row

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


@dataclass(frozen=True)
class EntropyMemory(Memory):
    """The memory of a run with an entropy, which holds no A."""

    is_sparse: bool

    def numbers(self, rows: int) -> float:
        width = self.m if self.is_sparse else max(self.m, self.d)
        part = OF_A_PART * min(rows * width, max(ENTRIES, width))
        return part + self._of_the_method() + PER_ROW_OF_ENTROPY * self.n

    def _of_the_method(self) -> int:
        """Return the numbers that L-BFGS and its preconditioner hold."""
        m, d = self.m, self.d
        if self.is_sparse or d > min(self.n, MOST_FEATURES):
            return (STEPS + OF_A_STEP) * m * d
        held = (STEPS + OF_A_STEP) * m * d + SQUARES * d**2
        # the renewals of solvers.lbfgs, for many samples
        if d * (d + 2) > MOST_COST * (4 * d + OF_A_SCORE):
            return held
        return held + DIFFERENCES * m * d + BLOCKS * m * d**2 + ENTRIES
