"""Run block-coordinate methods: each step changes one row of A at fresh scores, and W follows.

`ascent` maximises the dual over the row exactly, by a projection onto the true domain; `bcfw` goes
to the best point between the row and its LMO vertex (Lacoste-Julien et al. 2013); `bcafw`, `bcpfw`
and `bbpfw` take away, pairwise and blended pairwise steps, with one active set per row; `dicg`
takes a pairwise step from a vertex of the row's smallest face (Garber and Meshi 2016) and holds no
atoms. Each row makes its own decomposition-invariant step, because one step for all rows would end
at the smallest limit of any row.
"""

from dataclasses import dataclass, field
from typing import Any
from weakref import ref

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_integer
from fwlab.kernels.layouts import BlockDual, GapRecord, RowsToVisit, StepRecord
from fwlab.kernels.steps.rules import ADAPTIVE, AWAY, BLENDED, FRANK_WOLFE, INVARIANT, PAIRWISE
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.averaging import Average
from fwlab.solvers.dual_layout import dual_of, entropy_dual_of
from fwlab.solvers.gap_order import PASSES_BETWEEN_EXACT_GAPS, block_gaps, draw_by_gaps
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.orders import random_blocks
from fwlab.solvers.panel_groups import PanelGroups
from fwlab.solvers.row_active_sets import RowActiveSets
from fwlab.solvers.rows_to_visit import rows_to_visit
from fwlab.solvers.single_precision import suits_float32

ORDERS = ("permutation", "uniform", "cyclic", "gap")
ROW_BY_ROW = ("uniform", "gap")
SENTENCES = {
    FRANK_WOLFE: "Block-coordinate Frank-Wolfe with exact line search.",
    ADAPTIVE: "Block-coordinate Frank-Wolfe with one curvature estimate per block.",
    AWAY: "Block-coordinate away-step Frank-Wolfe, one active set per sample.",
    PAIRWISE: "Block-coordinate pairwise Frank-Wolfe, one active set per sample.",
    BLENDED: "Block-coordinate blended pairwise Frank-Wolfe, one active set per sample.",
    INVARIANT: "Decomposition-invariant pairwise Frank-Wolfe per block; it holds no atoms.",
}
WITH_ACTIVE_SETS = (AWAY, PAIRWISE, BLENDED)
# with 4 or 12 rows a pass over 16 000 rows of 1024 features takes a twentieth longer than with 8;
# with a Gram matrix, which holds the scores, 16 rows save a twentieth
BLOCK_ROWS, GRAM_BLOCK_ROWS = 8, 16
# suits_float32 argues about exact steps. Of 1159 runs on hostile data two of others, whose steps
# stayed large while the gap fell, would have ended 59 and 129 times as far away with float32 scores
# throughout; a run loses at most these passes.
MOST_SINGLE_PASSES = 10


@dataclass(eq=False)
class BlockWorkspace:
    """The workspace of a block method between passes.

    Attributes
    ----------
    grams : array (n, block_size)
        Products <x_i, x_r> within each block of rows.
    gaps : array (n,) or (0,)
        For order "gap" the gap of each block when last seen, else empty.
    moves : array (n,)
        The size |change|_1 of the last step of each block.
    active_sets : RowActiveSets
        Empty for the rules without active sets.
    passes : int
        Passes over all rows.
    work : float
        The cost of all steps so far, in passes over all rows.
    moving : array of int
        The rows that a shrunken method visits before its next pass over all rows.
    estimates : array (n,) or (0,)
        Curvatures of blocks for the rule ADAPTIVE, else empty.
    groups : PanelGroups
        The groups of panels that threads visit together.
    memories : list
        The memory of a step rule in Python for each block.
    average : Average or None
        The average of the points, if the method returns that.
    """

    grams: Floats
    gaps: Floats
    moves: Floats
    active_sets: RowActiveSets
    passes: int = 0
    work: float = 0.0
    moving: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    estimates: Floats = field(default_factory=lambda: np.empty(0))
    groups: PanelGroups = field(default_factory=lambda: PanelGroups(0, 0))
    memories: list[Any] = field(default_factory=list)
    average: Average | None = None
    # weak references: the problem of a chunk holds its samples
    _dual: tuple[ref[PrimalDual], BlockDual] | None = None
    _visit: tuple[ref[PrimalDual], RowsToVisit] | None = None

    def dual(self, problem: PrimalDual) -> BlockDual:
        """Return dual_of(problem), which is made once for each problem of a run."""
        if self._dual is None or self._dual[0]() is not problem:
            self._dual = ref(problem), dual_of(problem)
        return self._dual[1]

    def visit(self, problem: PrimalDual) -> RowsToVisit:
        """Return rows_to_visit(problem), which is made once for each problem of a run."""
        if self._visit is None or self._visit[0]() is not problem:
            self._visit = ref(problem), rows_to_visit(problem)
        return self._visit[1]


@dataclass(frozen=True)
class BlockMethod(Method):
    """A pass of n block steps.

    Parameters
    ----------
    order : "permutation", "uniform", "cyclic" or "gap"
        "permutation" visits contiguous groups of block_size rows in fresh random order, and the
        rows of a group in random order. "uniform" draws n rows with replacement. "cyclic" keeps the
        order of the rows. "gap" draws n rows by their block gaps (solvers.gap_order).
    block_size : int, optional
        Rows whose scores are computed at once. It changes the time but, in a given order, not the
        iterates. By default it is 8 (16 with a Gram matrix), less for few classes, and 1 for
        "uniform", "gap" and sparse X.
    """

    rule: int
    order: str = "permutation"
    block_size: int | None = None

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise ValueError(f"order must be one of {ORDERS}; got {self.order!r}.")
        if self.block_size is not None:
            as_integer("block_size", self.block_size, low=1)
        if self.order in ROW_BY_ROW and self.block_size not in (None, 1):
            order = f'order="{self.order}"'
            raise ValueError(f"block_size must be 1 with {order}; got {self.block_size}.")

    @property
    def sentence(self) -> str:
        return SENTENCES[self.rule]

    @property
    def monotone(self) -> bool:
        return True

    def needs(self, problem: PrimalDual) -> Needs:
        return Needs(gram=True)

    def start(self, state: State) -> BlockWorkspace:
        problem = state.problem
        active_sets = RowActiveSets.none()
        if self.rule in WITH_ACTIVE_SETS:
            active_sets = RowActiveSets.holding(problem, state.A)
        state.active = active_sets.size
        grams = problem.features.block_grams(self._block_size(problem))
        gaps = np.zeros(problem.n_samples if self.order == "gap" else 0)
        return BlockWorkspace(grams, gaps, np.zeros(problem.n_samples), active_sets)

    def iterate(self, state: State, workspace: BlockWorkspace) -> None:
        self.change_to_gram(state, workspace)
        workspace.passes, workspace.work = workspace.passes + 1, workspace.work + 1.0
        problem = state.own_problem or state.problem
        if self.order == "gap":
            if workspace.passes % PASSES_BETWEEN_EXACT_GAPS == 1:
                scores = problem.features.scores(state.link)
                workspace.gaps[:] = block_gaps(problem, state.A, scores)
                state.n_lmo += problem.n_samples
                state.n_rows += problem.n_samples
            for rows in draw_by_gaps(workspace.gaps, state.rng):
                self.visit(rows, state, workspace)
        else:
            rows = self._draw(problem.n_samples, workspace.grams.shape[1], state.rng)
            self.visit(rows, state, workspace)
        state.active = workspace.active_sets.size
        state.n_steps += problem.n_samples
        state.n_rows += problem.n_samples
        self.count_answers(state)

    def count_answers(self, state: State) -> None:
        """Count the answers of oracles in a pass."""
        if self.rule in SENTENCES or self.order == "gap":
            # the away vertex of INVARIANT is the answer of another LMO, over a face
            state.n_lmo += (2 if self.rule == INVARIANT else 1) * state.problem.n_samples
        if self.rule not in SENTENCES:
            state.n_projections += state.problem.n_samples

    def change_to_gram(self, state: State, workspace: BlockWorkspace) -> None:
        """Take products through the Gram matrix once that costs less."""
        if workspace.work >= passes_until_gram(state.given_problem, state.max_gram_memory):
            state.use_gram()

    def progress(self, state: State, workspace: BlockWorkspace) -> float:
        """Return the sum of the block gaps, which order "gap" knows, or else of the last changes.

        A block that an exact step moves by s had a gap of about s times its curvature.
        """
        if self.order == "gap":
            return float(workspace.gaps.sum())
        return float(workspace.moves @ state.problem.curvatures)

    def visit(self, order: Integers, state: State, workspace: BlockWorkspace) -> None:
        """Make a step in each row of `order`; A and the link follow."""
        problem, link, A = state.own_problem or state.problem, state.link, state.A
        if problem.has_entropy:
            dual = entropy_dual_of(problem)
            problem.features.entropy_pass(order, workspace.grams, link, A, dual, workspace.moves)
            return
        active_sets = workspace.active_sets
        active_sets.reserve(order)
        parts = workspace.moves, active_sets.arrays, workspace.estimates
        record = GapRecord(*parts, workspace.gaps) if self.order == "gap" else StepRecord(*parts)
        may = self.order not in ROW_BY_ROW and workspace.passes <= MOST_SINGLE_PASSES
        single = may and suits_float32(problem, link, workspace.moves)
        problem.features.block_pass(
            self.rule, order, workspace.grams, single, link, A, workspace.dual(problem), record
        )

    def _block_size(self, problem: PrimalDual) -> int:
        """Return the rows per block, at most 2 m: grams takes at most twice the memory of A."""
        if self.order in ROW_BY_ROW:
            return 1
        size = self.block_size or (BLOCK_ROWS if problem.kernel is None else GRAM_BLOCK_ROWS)
        return min(size, 2 * problem.n_classes, problem.n_samples)

    def _draw(self, n: int, block_size: int, rng: np.random.Generator) -> Integers:
        if self.order == "uniform":
            return rng.integers(0, n, n)
        if self.order == "cyclic":
            return np.arange(n)
        return random_blocks(n, block_size, rng)


def passes_until_gram(problem: PrimalDual, max_gram_memory: int) -> float:
    """Return the number of passes before a method takes the Gram matrix, infinity for never.

    Passes over K cost less than passes over dense X where n <= d. K costs n^2 d flops, a pass over
    X up to 4 n d m. A method computes K when its passes have cost n^2 d flops: it then spends at
    most twice the least possible, whatever the number of passes.
    """
    n, d = problem.n_samples, problem.n_features
    dense = problem.kernel is None and not scipy.sparse.issparse(problem.X)
    if not dense or problem.X.dtype != np.float64 or n > d or 8 * n * n > max_gram_memory:
        return np.inf
    return -(-n // (4 * problem.n_classes))
