"""Pass over an X in chunks as the methods for tensors pass over theirs, for losses with an entropy.

The dual point A(W) of a machine W follows from its scores, so that a run holds W and no A. The
method and the certificate are the ones on tensors (solvers.tensor_lbfgs, tensor_certificate). Each
evaluation of P with its gradient, and each certificate, is one pass over the chunks. A part of a
chunk is small enough that its scores take little memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats, cut
from fwlab.distributed.memory import ENTRIES
from fwlab.distributed.problem import ChunkProblem, OutOfCoreProblem
from fwlab.distributed.shown import chunks_shown
from fwlab.operators.tensor_rows import Part, TensorRows
from fwlab.solvers.interrupt import Interrupt
from fwlab.solvers.preconditioner import MOST_FEATURES


class PassEnded(Exception):
    """Ctrl-C was pressed during a pass that may end early."""


@dataclass(eq=False)
class PassWatch:
    """Shows how far a pass is, and ends it after the chunk during which Ctrl-C was pressed."""

    shows_progress: bool = False
    interrupt: Interrupt = field(default_factory=Interrupt)
    may_end: bool = False

    def chunks(self, problem: OutOfCoreProblem) -> Iterator[ChunkProblem]:
        """Yield the part of each chunk. Raises PassEnded."""
        for _, part in chunks_shown(problem, "pass", self.shows_progress):
            yield part
            if self.may_end and self.interrupt.pressed:
                raise PassEnded

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Let passes of a `with` block end early; the block then ends, too."""
        self.may_end = True
        try:
            yield
        except PassEnded:
            pass
        finally:
            self.may_end = False


@dataclass(frozen=True, eq=False)
class ChunkRows(TensorRows):
    """The rows of a problem out of core, which is its X."""

    X: OutOfCoreProblem
    watch: PassWatch = field(default_factory=PassWatch)

    # a factor takes longer for more, as in memory
    most_features: ClassVar = MOST_FEATURES

    @property
    def xp(self) -> Any:
        return np

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.n_samples, self.X.n_features

    @property
    def is_sparse(self) -> bool:
        return self.X.is_sparse

    def part_length(self, n_classes: int) -> int:
        entries = n_classes if self.is_sparse else max(n_classes, self.X.n_features)
        return max(1, ENTRIES // entries)

    def slices(self, n_classes: int) -> list[slice]:
        size = self.part_length(n_classes)
        return [piece for rows, _ in self.X.cuts for piece in cut(rows, size)]

    def parts(self, n_classes: int, dtype: Any) -> Iterator[Part]:
        size = self.part_length(n_classes)
        for (rows, _), part in zip(self.X.cuts, self.watch.chunks(self.X), strict=True):
            X = scipy.sparse.csr_array(part.X) if part.is_sparse else part.X
            for piece in cut(rows, size):
                own = X[piece.start - rows.start : piece.stop - rows.start]
                yield piece, own.astype(dtype, copy=False)

    def square_norms(self) -> Floats:
        return self.X.squares

    def row_terms(self) -> int:
        return self.X.row_terms


def rows_as_one_part(problem: OutOfCoreProblem, watch: PassWatch) -> ChunkProblem:
    """Return the problem of all samples, for the methods on tensors."""
    whole = ChunkProblem(problem, slice(0, problem.n_samples), problem.is_sparse)
    rows: Any = ChunkRows(problem, watch)
    whole.X = whole.features = rows
    return whole
