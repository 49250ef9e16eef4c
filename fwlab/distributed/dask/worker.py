"""Keep the rows of A of one partition on the worker that has its rows of X.

A block has a version number, which grows by one with each step of the run. The driver sends rows of
A only to open a block. After that, a request names a version and the step to it from the version
before. A block that already has the version makes no step, so the driver may repeat a request. If a
block is lost, the driver opens a new one with older rows and the rounds since then: the worker
repeats these rounds, and the rows have the same bits again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from fwlab.arrays import Floats
from fwlab.distributed.dask.proposals import Proposer
from fwlab.distributed.packed import between
from fwlab.distributed.problem import ChunkProblem
from fwlab.distributed.same_chunks import KnownRows
from fwlab.parts import add_products
from fwlab.threads import one_blas_thread


@dataclass(frozen=True, eq=False)
class Setup:
    """The number of a partition, its parts without X, and what its rows of X must be."""

    place: int
    parts: tuple[ChunkProblem, ...]
    known: KnownRows

    def pieces(self, X: Any) -> list[Any]:
        """Cut the rows of X of the partition into the rows of its parts."""
        if len(self.parts) == 1:
            return [X]
        cuts = accumulate((part.n_samples for part in self.parts), initial=0)
        return [X[start:stop] for start, stop in pairwise(cuts)]


class VersionPoint(NamedTuple):
    """The number of a version of A, the step to it from the version before, and its W."""

    version: int
    step: float
    W: Floats


class Round(NamedTuple):
    """A finished round: its proposer, the W that the proposer was given, and the step."""

    proposer: Proposer
    W: Floats
    step: float


class Stale(NamedTuple):
    """The answer of a block that cannot reach the version of a request, with its own version."""

    version: int


@dataclass(frozen=True, eq=False)
class Held:
    """The rows of A at a version and the target last proposed for them, both piece by piece."""

    version: int
    rows: list[csr_array]
    targets: list[csr_array] | None = None


@dataclass(eq=False)
class RowBlock:
    """The rows of A of one partition.

    `held` changes in one assignment. A call that fails, or that a worker makes twice, therefore
    never leaves rows of two versions.
    """

    setup: Setup
    held: Held
    products: dict[int, Floats] = field(default_factory=dict)

    def move(self, point: VersionPoint) -> bool:
        """Make the step to the version of a point; return whether the block has that version."""
        held = self.held
        if held.version == point.version - 1 and held.targets is not None:
            pairs = zip(held.rows, held.targets, strict=True)
            self.held = Held(point.version, [between(*pair, point.step) for pair in pairs])
        return self.held.version == point.version

    def propose(self, X: Any, proposer: Proposer, W: Floats) -> Any:
        """Compute a target and keep it for the next step; return the sums for the driver."""
        held = self.held
        targets, answer = proposer(Partition(self, held, X), W)
        self.held = Held(held.version, held.rows, targets)
        return answer


@dataclass(frozen=True, eq=False)
class Partition:
    """A block at one version, with its rows of X."""

    block: RowBlock
    held: Held
    X: Any

    @property
    def place(self) -> int:
        return self.block.setup.place

    def pieces(self) -> Iterator[tuple[ChunkProblem, csr_array]]:
        setup = self.block.setup
        for part, X, rows in zip(setup.parts, setup.pieces(self.X), self.held.rows, strict=True):
            yield part.holding(X), rows

    def dense_pieces(self) -> Iterator[tuple[ChunkProblem, Floats]]:
        """Yield each piece with its rows of X, and its dense rows of A."""
        return ((part, rows.toarray()) for part, rows in self.pieces())

    def grams(self, piece: int, part: ChunkProblem, size: int) -> Floats:
        products = self.block.products
        if piece not in products:
            products[piece] = part.features.block_grams(size)
        return products[piece]


# ------------------------------------------------------------------ functions that workers call


@dataclass(frozen=True, eq=False)
class Opening:
    """Rows of A of one partition, piece by piece, at a version, and the rounds since then."""

    setup: Setup
    rows: list[csr_array]
    version: int
    past: tuple[Round, ...] = ()


def open_block(X: Any, opening: Opening) -> RowBlock:
    """Make a block of the rows, and repeat the rounds since then."""
    with one_blas_thread:
        opening.setup.known.require(X)
        block = RowBlock(opening.setup, Held(opening.version, opening.rows))
        for version, (proposer, W, step) in enumerate(opening.past, opening.version):
            block.propose(X, proposer, in_order(W, X))
            block.move(VersionPoint(version + 1, step, W))
        return block


@dataclass(frozen=True, eq=False)
class Request:
    """One question to all partitions: a name in ANSWERS, a version, and further arguments."""

    name: str
    point: VersionPoint
    more: tuple[Any, ...] = ()


def answer(block: RowBlock, X: Any, request: Request) -> Any:
    """Return the answer of one partition, or Stale if it cannot reach the version."""
    with one_blas_thread:
        if not block.move(request.point):
            return Stale(block.held.version)
        if request.name in OF_ALL_ROWS:
            block.setup.known.require(X)
        return ANSWERS[request.name](block, X, in_order(request.point.W, X), *request.more)


def in_order(W: Floats, X: Any) -> Floats:
    """Return W stored by columns for a sparse X and by rows for a dense one."""
    return np.asfortranarray(W) if issparse(X) else np.ascontiguousarray(W)


def propose(block: RowBlock, X: Any, W: Floats, proposer: Proposer) -> Any:
    """Compute a target; return the sums for the driver."""
    return block.propose(X, proposer, W)


def product(block: RowBlock, X: Any, W: Floats) -> Floats:
    """Return A^T X of one partition, (m, d)."""
    return add_products(np.zeros_like(W), Partition(block, block.held, X).dense_pieces())


def of_pieces(
    block: RowBlock, X: Any, W: Floats, question: Callable[..., Any], *more: Any
) -> list[Any]:
    """Return question(part, A, W, *more) of each piece."""
    pieces = Partition(block, block.held, X).dense_pieces()
    return [question(part, A, W, *more) for part, A in pieces]


def rows_of(block: RowBlock, X: Any, W: Floats) -> list[csr_array]:
    """Return the rows of A of one partition, piece by piece."""
    return block.held.rows


ANSWERS: dict[str, Callable[..., Any]] = {
    "propose": propose,
    "product": product,
    "pieces": of_pieces,
    "rows": rows_of,
}
# these read X once; a comparison of X with what it was takes a tenth of their time
OF_ALL_ROWS = ("product", "pieces")
