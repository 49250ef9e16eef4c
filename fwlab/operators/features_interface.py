"""State the products with X that each kind of X offers (operators.features).

The link is W = A^T X / (lam n), or for a Gram matrix K the transposed scores A^T K / (lam n).
"""

from collections.abc import Callable
from typing import Protocol

from fwlab.arrays import Floats, Integers
from fwlab.kernels.layouts import (
    BlockDual,
    BlockNorm,
    BlockPaths,
    EntropyDual,
    GapRecord,
    RowsToVisit,
    StepRecord,
)

ScoreWriter = Callable[[slice, Floats], None]


class Features(Protocol):
    """Products with X (n, d); `width` is the length of a row of the link."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def row_length(self) -> float:
        """The mean number of products in a score, 0 if links hold the scores."""

    def rows(self, index: Integers) -> "Features":
        """Return these rows of X, for products only; links keep their width."""

    def square_norms(self) -> Floats:
        """Return |x_i|^2, (n,)."""

    def transposed_product(self, A: Floats) -> Floats:
        """Return A^T X, (m, width)."""

    def transposed_vertex_product(self, columns: Integers, entries: Floats, m: int) -> Floats:
        """Return U^T X, (m, width), for compact vertices U (RowPolytopes.compact_vertices)."""

    def scores(self, W: Floats) -> Floats:
        """Return X W^T, (n, m), for a link W: a new array."""

    def score_writer(self, W: Floats) -> ScoreWriter:
        """Return a function that writes the scores of a slice of rows into an array (rows, m).

        The slice has a start and a stop; the array is C-ordered.
        """

    def link_norm(self, W: Floats, A: Floats, lam_n: float) -> float:
        """Return |W|^2 for the link W of A."""

    def row_scores(self, i: int, W: Floats) -> Floats:
        """Return the scores of sample i for a link W, (m,)."""

    def add_row(self, i: int, change: Floats, W: Floats) -> None:
        """Add change^T x_i, for a change (m,), to the link W in place."""

    def class_products(self, W: Floats, other: Floats, A: Floats, lam_n: float) -> Floats:
        """Return <w_j, other_j> for two links.

        Parameters
        ----------
        W, other : array (m, width)
            A link, and the link of A.
        A, lam_n : array (n, m), float
            The dual point of `other`, and lam times n.

        Returns
        -------
        array (m,), one product per class

        """

    def block_grams(self, size: int) -> Floats:
        """Return <x_i, x_r> for the rows r of row i's block of `size` rows, (n, size)."""

    def block_pass(
        self,
        rule: int,
        order: Integers,
        grams: Floats,
        single: bool,
        link: Floats,
        A: Floats,
        dual: BlockDual,
        record: StepRecord | GapRecord,
        /,
    ) -> None:
        """Run a block method once over the rows (kernels.steps.passes); change the link and A.

        Parameters
        ----------
        rule : int
            A number of kernels.steps.rules.
        order : array of int
            Rows to visit; with dense X all rows of a block one after the other.
        grams : array (n, b)
            The products that block_grams(b) returned.
        single : bool
            Whether the scores of dense float32 X may be computed in float32.
        link, A : array (m, width), (n, m)
            The link and the dual point.
        dual, record : BlockDual, StepRecord or GapRecord
            The dual problem; `record` receives gaps and moves, and holds the active sets.

        """

    def ascent_pass(
        self,
        rule: int,
        visit: RowsToVisit,
        grams: Floats,
        single: bool,
        link: Floats,
        A: Floats,
        dual: BlockDual,
        record: StepRecord,
        /,
    ) -> None:
        """Visit the faces of rows that moved, then all rows (kernels.steps.ascent_passes).

        With a Gram matrix there are no faces to visit. The other arguments are as for block_pass.
        """

    def entropy_pass(
        self,
        order: Integers,
        grams: Floats,
        link: Floats,
        A: Floats,
        dual: EntropyDual,
        moves: Floats,
        /,
    ) -> None:
        """Step exactly on the rows of a dual with an entropy (kernels.steps.entropy_passes).

        `order`, `grams`, `link` and `A` are as for block_pass. moves (n,) receives the sizes
        |change|_1 of the rows.
        """

    def norm_pass(
        self, order: Integers, link: Floats, A: Floats, dual: BlockDual, norm: BlockNorm, /
    ) -> None:
        """Make one pass with an LpNorm (kernels.steps.norm_passes); change the link and A.

        Parameters
        ----------
        order : array of int
            Rows to visit.
        link, A : array (m, width), (n, m)
            The link and the dual point.
        dual, norm : BlockDual, BlockNorm
            The dual problem, and class weights or squares, which follow the steps.

        """

    def first_maximum(
        self,
        order: Integers,
        path: BlockPaths,
        moving: Floats,
        rested: Floats,
        square: float,
        lam: float,
        lam_n: float,
        /,
    ) -> float:
        """Return the step of kernels.steps.bent_path; move `moving` and `rested` to this step.

        Parameters
        ----------
        order : array of int
            Blocks with a positive slope, by limit.
        path : BlockPaths
            The directions.
        moving, rested : array (m, width)
            Links of the blocks that move and of the blocks at their limit.
        square, lam, lam_n : float
            |moving|^2 before, lam, and lam times n.

        """


class DataFeatures(Features, Protocol):
    """Products with the rows of X themselves, and bounds of their rounding errors."""

    def row_terms(self) -> Integers | int:
        """Return the number of products in a score: one number, or one per row (n,)."""

    def column_error_norms(self, norms: Floats) -> Floats:
        """Return gamma |x_i|, (n,), with the relative errors gamma of sums in transposed_product.

        norms (n,) are bounds of |x_i|.
        An entry of A^T X is right to sum_i gamma_k |a_ij| |x_ik|.
        """
