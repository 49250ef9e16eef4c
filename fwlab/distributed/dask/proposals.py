"""Propose where the dual variable of one partition shall move, from its rows of A and a copy of W.

The workers of a cluster call these on their partitions. A proposal changes nothing: the driver sums
the proposals of all partitions and decides how far all of them move.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array

from fwlab.arrays import Floats, Integers
from fwlab.distributed.methods import chunk_vertex
from fwlab.distributed.packed import packed
from fwlab.distributed.problem import ChunkProblem
from fwlab.distributed.state import ChunkState, Rounding
from fwlab.kernels.layouts import StepRecord
from fwlab.kernels.steps.rules import EXACT
from fwlab.solvers.blocks import BLOCK_ROWS
from fwlab.solvers.dual_layout import dual_of
from fwlab.solvers.row_active_sets import RowActiveSets

# the rounds that visit each row once: a whole pass per round needs up to twice the passes
ROUNDS_PER_PASS = 4


class Proposal(NamedTuple):
    """The sums over one partition that the driver needs to choose a step.

    With D the direction from A to the target:

    - product is D^T X, but U^T X for vertices U;
    - slope is n times the slope of the dual, but without the part of W for passes;
    - ridge is sum_i r_i |d_i|^2.
    """

    product: Floats  # (m, d)
    slope: float
    ridge: float
    progress: float  # falls about as the gap does
    n_rows: int  # rows visited


class PartitionView(Protocol):
    """A partition as a proposal sees it, in pieces whose dense rows of A take little memory."""

    @property
    def place(self) -> int:
        """The number of the partition."""

    def pieces(self) -> Iterator[tuple[ChunkProblem, csr_array]]:
        """Yield each piece with its rows of X, and its rows of A."""

    def grams(self, piece: int, part: ChunkProblem, size: int) -> Floats:
        """Return the products within each block of `size` rows of a piece, computed once."""


class Proposer(Protocol):
    """Work of one round. Equal proposers propose the same, bit for bit."""

    def __call__(self, partition: PartitionView, W: Floats) -> tuple[list[csr_array], Any]:
        """Return the target rows of each piece, and what the driver needs to know of them."""


@dataclass(frozen=True)
class Vertices:
    """The vertices that the LMO finds at W   (K19 Algorithm 1)."""

    def __call__(self, partition: PartitionView, W: Floats) -> tuple[list[csr_array], Proposal]:
        targets, product = [], np.zeros_like(W)
        slope = ridge = 0.0
        for part, rows in partition.pieces():
            vertex = chunk_vertex(part, rows.toarray(), part.features.scores(W))
            targets.append(vertex.rows)
            product += vertex.product
            slope += vertex.n_gap
            ridge += vertex.ridge
        n_rows = sum(rows.shape[0] for rows in targets)
        return targets, Proposal(product, slope, ridge, slope, n_rows)


@dataclass(frozen=True)
class QuarterPass:
    """The end of a quarter of a pass of exact block ascent, during which W follows this partition.

    Four turns visit each row once, in an order that seed, partition and turn determine.
    """

    seed: int
    turn: int

    def __call__(self, partition: PartitionView, W: Floats) -> tuple[list[csr_array], Proposal]:
        link, product, targets = W.copy(order="K"), np.zeros_like(W), []
        slope = ridge = progress = 0.0
        n_rows = 0
        for piece, (part, rows) in enumerate(partition.pieces()):
            A = rows.toarray()
            size = min(BLOCK_ROWS, 2 * part.n_classes, part.n_samples)
            grams = partition.grams(piece, part, size)
            order = self._order(partition.place, piece, part.n_samples, grams.shape[1])
            D, moves = _pass(part, order, grams, link, A)
            product += part.features.transposed_product(D)
            slope -= float(part.polytopes.cost_products(D).sum())
            if part.smoothing:
                r = part.ridge()[:, 0]
                slope -= float(r @ np.einsum("ij,ij->i", A, D))
                ridge += float(r @ np.einsum("ij,ij->i", D, D))
            D += A
            targets.append(packed(D))
            progress += float(moves @ part.curvatures)
            n_rows += len(order)
        return targets, Proposal(product, slope, ridge, progress, n_rows)

    def _order(self, place: int, piece: int, n: int, size: int) -> Integers:
        """Return the rows of a turn: blocks of `size` rows, and the rows of a block, shuffled."""
        number, quarter = divmod(self.turn, ROUNDS_PER_PASS)
        rng = np.random.default_rng([self.seed, place, piece, number])
        blocks = size * rng.permutation(-(-n // size))
        offsets = rng.permuted(np.tile(np.arange(size), (len(blocks), 1)), axis=1)
        order: Integers = (blocks[:, None] + offsets)[quarter::ROUNDS_PER_PASS].ravel()
        kept: Integers = order[order < n]
        return kept


def _pass(
    part: ChunkProblem, order: Integers, grams: Floats, link: Floats, A: Floats
) -> tuple[Floats, Floats]:
    """Visit rows; return the changes of A, (rows, m), and how far each row moved; W follows."""
    none, moves, target = np.empty(0), np.zeros(part.n_samples), A.copy()
    record = StepRecord(moves, RowActiveSets.none().arrays, none)
    part.features.block_pass(EXACT, order, grams, False, link, target, dual_of(part), record)
    target -= A
    return target, moves


@dataclass(frozen=True)
class NearestRows:
    """The rows of A, projected where they miss the domain by rounding errors that show."""

    def __call__(self, partition: PartitionView, W: Floats) -> tuple[list[csr_array], Rounding]:
        targets, roundings = [], []
        for part, rows in partition.pieces():
            state = ChunkState(part, rows.toarray(), np.random.default_rng(), whole_link=W)
            roundings.append(state.put_back())
            targets.append(packed(state.A) if roundings[-1].changed else rows)
        return targets, Rounding.of_all(roundings)
