"""Hold the rows of A of one partition where its rows of X are, with a version.

A block lives in the memory of a worker. The driver never sends the rows: it names a version and the
step that leads to it from the version before, so a call may be repeated. A block that was lost is
opened again from older rows and the rounds since then, and has the same bits.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from fwlab.arrays import Floats
from fwlab.distributed.certificate import Terms, TrackedTerms, chunk_terms, tracked_terms
from fwlab.distributed.problem import ChunkProblem
from fwlab.distributed.proposals import Proposer
from fwlab.solvers.threads import blas_threads


@dataclass(frozen=True, eq=False)
class Setup:
    """The place of a partition and its parts, without X."""

    place: int
    parts: tuple[ChunkProblem, ...]

    def pieces(self, rows: Any) -> list[Any]:
        """Cut rows of the partition, of X or of A, into the rows of its parts."""
        if len(self.parts) == 1:
            return [rows]
        cuts = accumulate((part.n_samples for part in self.parts), initial=0)
        return [rows[start:stop] for start, stop in pairwise(cuts)]


class VersionPoint(NamedTuple):
    """A version of A, the step to it from the version before, and its W."""

    version: int
    step: float
    W: Floats


class Round(NamedTuple):
    """A finished round: what was proposed at which W, and the step."""

    proposer: Proposer
    W: Floats
    step: float


class Stale(NamedTuple):
    """Says that a block has another version than the call asked for."""

    version: int


@dataclass(frozen=True, eq=False)
class Held:
    """The rows of A at a version, piece by piece, and the last target proposed there."""

    version: int
    rows: list[csr_array]
    targets: list[csr_array] | None = None


@dataclass(eq=False)
class RowBlock:
    """The rows of A of one partition.

    `held` changes in one assignment: a call that fails, or that runs twice, leaves a whole version.
    """

    setup: Setup
    held: Held
    products: dict[int, Floats] = field(default_factory=dict)

    def move(self, point: VersionPoint) -> bool:
        """Move to the version of a point; return whether the block is there."""
        held = self.held
        if held.version == point.version - 1 and held.targets is not None:
            pairs = zip(held.rows, held.targets, strict=True)
            self.held = Held(point.version, [between(*pair, point.step) for pair in pairs])
        return self.held.version == point.version

    def propose(self, X: Any, proposer: Proposer, W: Floats) -> Any:
        """Note a proposal's target; return what the driver needs to know of it."""
        held = self.held
        targets, answer = proposer(Partition(self, held, X), W)
        self.held = Held(held.version, held.rows, targets)
        return answer


@dataclass(frozen=True, eq=False)
class Partition:
    """A block at one version with its rows of X."""

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

    def grams(self, piece: int, part: ChunkProblem, size: int) -> Floats:
        products = self.block.products
        if piece not in products:
            products[piece] = part.features.block_grams(size)
        return products[piece]


def between(rows: csr_array, target: csr_array, step: float) -> csr_array:
    """Return the rows after a step towards a target; rows that do not move keep their bits."""
    if step == 1.0:
        return target
    return csr_array(rows + step * (target - rows))


# ------------------------------------------------------------------ what workers are asked


@dataclass(frozen=True, eq=False)
class Opening:
    """Rows of A of one partition at a version, and the rounds since then."""

    setup: Setup
    rows: csr_array
    version: int
    past: tuple[Round, ...] = ()


def open_block(X: Any, opening: Opening) -> RowBlock:
    """Return the block that the rows become by the rounds since then."""
    blas_threads(1)
    block = RowBlock(opening.setup, Held(opening.version, opening.setup.pieces(opening.rows)))
    for version, (proposer, W, step) in enumerate(opening.past, opening.version):
        block.propose(X, proposer, in_order(W, X))
        block.move(VersionPoint(version + 1, step, W))
    return block


@dataclass(frozen=True, eq=False)
class Request:
    """One question to all partitions: a name of ANSWERS, a point, and what else it takes."""

    name: str
    point: VersionPoint
    more: tuple[Any, ...] = ()


def answer(block: RowBlock, X: Any, request: Request) -> Any:
    """Return the answer of one partition to a request, or Stale."""
    blas_threads(1)
    if not block.move(request.point):
        return Stale(block.held.version)
    return ANSWERS[request.name](block, X, in_order(request.point.W, X), *request.more)


def in_order(W: Floats, X: Any) -> Floats:
    """Return W stored as the products with X need it."""
    return np.asfortranarray(W) if issparse(X) else np.ascontiguousarray(W)


def propose(block: RowBlock, X: Any, W: Floats, proposer: Proposer) -> Any:
    """Return what the driver needs to know of a proposal."""
    return block.propose(X, proposer, W)


def link_product(block: RowBlock, X: Any, W: Floats) -> Floats:
    """Return A^T X of one partition, (m, d)."""
    total = np.zeros_like(W)
    for part, rows in Partition(block, block.held, X).pieces():
        total += part.features.transposed_product(rows.toarray())
    return total


def terms(block: RowBlock, X: Any, W: Floats, norms: Floats, n_pieces: int) -> list[Terms]:
    """Return the part of each piece in the means of the certificate; norms bound the rows of W."""
    pieces = Partition(block, block.held, X).pieces()
    return [chunk_terms(part, rows.toarray(), W, norms, n_pieces) for part, rows in pieces]


def judge(block: RowBlock, X: Any, W: Floats) -> list[TrackedTerms]:
    """Return the part of each piece in the means of a certificate without bounds."""
    pieces = Partition(block, block.held, X).pieces()
    return [tracked_terms(part, rows.toarray(), W) for part, rows in pieces]


def rows_of(block: RowBlock, X: Any, W: Floats) -> csr_array:
    """Return the rows of A of one partition."""
    return csr_array(vstack(block.held.rows, format="csr"))


ANSWERS: dict[str, Callable[..., Any]] = {
    "propose": propose,
    "link": link_product,
    "judge": judge,
    "terms": terms,
    "rows": rows_of,
}
