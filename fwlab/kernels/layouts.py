"""Define the named layouts that kernels take, with the meaning of each array or number.

n is the number of samples, m of classes, d of features. numba compiles a NamedTuple from an
importable module and keeps its cache; a Python call takes about as long for one as for an array.
"""

from typing import NamedTuple

import numpy as np

# ---------------------------------------------------------------- the problem


class PolytopeWeights(NamedTuple):
    """The weights of a loss's polytope (kernels.domains.vertices), and what follows from them."""

    upper: np.ndarray  # (m-1,), non-increasing
    lower: np.ndarray  # (m-1,), non-increasing, at most `upper`
    n_upper: int  # non-zeros of `upper`
    n_lower: int
    sum_upper: float
    sum_lower: float


class LongPolytopeWeights(PolytopeWeights):
    """PolytopeWeights that are worth more code: numba compiles it only where rows are long."""


class EqualWeights(PolytopeWeights):
    """PolytopeWeights whose non-zero weights are all equal (kernels.domains.equal_weights)."""


class ZetaRange(NamedTuple):
    """The zeta that a point of a polytope allows, and the bounds that end them.

    The `top` largest entries need zeta >= low; the `bottom` smallest need zeta <= high, or 1 does
    if bottom is 0.
    """

    low: float
    high: float
    top: int
    bottom: int
    top_bound: float  # upper_1 + .. + upper_top
    bottom_bound: float  # the last `bottom` of lower, summed


class SamplePolytopes(NamedTuple):
    """The polytope and the costs of each sample; costs[cost_rows[i]] are the costs of sample i.

    An LMO needs no more. PolytopeWeights stand apart: their sums would double a call for one row.
    """

    y: np.ndarray  # (n,)
    costs: np.ndarray  # (1, m) or one row per class or sample; the entry at y[i] is not read
    cost_rows: np.ndarray  # (n,)
    upper: np.ndarray  # (m-1,), the weights of all polytopes
    lower: np.ndarray


class BlockDual(NamedTuple):
    """The dual problem as block steps see it."""

    polytopes: SamplePolytopes
    weights: PolytopeWeights
    omega: np.ndarray  # (n,), the sample weights
    curvatures: np.ndarray  # (n,), |x_i|^2 / (lam n)
    smoothing: float
    lam_n: float  # lam times n


class Block(NamedTuple):
    """The dual in one block a_i: kernels.steps.block has the formula."""

    row: int  # i
    y: int
    costs: np.ndarray  # (m,)
    omega: float
    curvature: float  # |x_i|^2 / (lam n)
    ridge: float  # smoothing / omega


class BlockNorm(NamedTuple):
    """A block norm in a pass: fixed class weights and no squares, or the squares |v_j|^2."""

    class_weights: np.ndarray  # (m,), fixed
    squares: np.ndarray  # (m,), which follow each step on the full dual; else (0,)
    q: float


class EntropyDual(NamedTuple):
    """The dual problem of the cross-entropy as block steps see it."""

    y: np.ndarray  # (n,)
    omega: np.ndarray  # (n,), the sample weights
    curvatures: np.ndarray  # (n,), |x_i|^2 / (lam n)
    lam_n: float  # lam times n


class RankingDual(NamedTuple):
    """A ranking dual at fixed delta: kernels.steps.ranking_pairs has the formula."""

    alpha_slope: float
    beta_slope: float
    alpha_curvature: float
    beta_curvature: float
    most: float  # upper bound of alpha and beta
    share: float  # 1/K of beta_j <= sum(alpha)/K, or 0
    follow: float  # price of max(beta), or 0


# ---------------------------------------------------------------- data


class Csr(NamedTuple):
    """The rows of a CSR matrix X (n, d)."""

    values: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray


class DenseBlocks(NamedTuple):
    """A dense X (n, d), or a Gram matrix (n, n), whose rows are visited in blocks of b."""

    X: np.ndarray
    grams: np.ndarray  # (n, b), products of row i with the rows of its block
    is_gram: bool
    single: bool  # whether scores are computed in the type of X, from a rounded W


class AnyRows(NamedTuple):
    """X of one of the three kinds; the arrays of the other kinds are empty."""

    kind: int  # DENSE, SPARSE or GRAM of kernels.steps.bent_path
    X: np.ndarray
    csr: Csr


# ---------------------------------------------------------------- active sets and directions


class Faces(NamedTuple):
    """The faces of some blocks: the classes of rows[r] are classes[starts[r] : starts[r + 1]]."""

    rows: np.ndarray  # (r,)
    starts: np.ndarray  # (r + 1,)
    classes: np.ndarray  # the true class of a row first


class ActiveSets(NamedTuple):
    """One active set per sample (kernels.steps.active_sets), or empty arrays."""

    classes: np.ndarray  # (n, capacity, support)
    entries: np.ndarray  # (n, capacity, support)
    atom_weights: np.ndarray  # (n, capacity)
    counts: np.ndarray  # (n,), atoms held
    starts: np.ndarray  # (n, m), dense starting rows; (0, m) if all of them are 0


class Products(NamedTuple):
    """<gradient, .> of the lowest and the highest point and of the iterate; their size."""

    lowest: float
    mean: float
    highest: float
    size: float


class Directions(NamedTuple):
    """One direction per block."""

    D: np.ndarray  # (n, m)
    slots: np.ndarray  # (n, 2), towards and away
    slopes: np.ndarray  # (n,)
    limits: np.ndarray  # (n,), largest feasible steps


class BlockPaths(NamedTuple):
    """The directions of all blocks and what the dual along them needs."""

    directions: Directions
    link_norms: np.ndarray  # (n,), |l_i|^2
    ridges: np.ndarray  # (n,), r_i |d_i|^2


class StepRecord(NamedTuple):
    """The output of the steps of a pass, per sample."""

    moves: np.ndarray  # (n,), |change|_1
    active_sets: ActiveSets
    estimates: np.ndarray  # (n,), the curvatures that adaptive steps estimate; or (0,)


class GapRecord(NamedTuple):
    """A StepRecord with gaps."""

    moves: np.ndarray
    active_sets: ActiveSets
    estimates: np.ndarray
    gaps: np.ndarray  # (n,), the block's part of n times the gap before its step


class JacobianRows(NamedTuple):
    """sum_i f_i J_i (x) x_i x_i^T over the rows with J_i not 0 (kernels.domains.jacobian)."""

    pools: np.ndarray  # (rows, m)
    normals: np.ndarray  # (rows, m)
    factors: np.ndarray  # (rows,), f
    samples: np.ndarray  # (rows,), their places in X


# ---------------------------------------------------------------- scratch


class VertexScratch(NamedTuple):
    """Scratch of an LMO call for one row."""

    margins: np.ndarray  # (m-1,)
    places: np.ndarray  # (n_upper,), where the vertex is not 0, among the classes without y
    entries: np.ndarray  # (n_upper,)


class Candidates(NamedTuple):
    """The entries that can differ from 0 in a projection: sorted ones, then a crowd.

    kernels.domains.crowd says when a crowd needs no order.
    """

    length: int  # sorted ones and crowd
    head: int  # sorted ones
    mean: float  # of the crowd; it replaces each entry


class ProjectionScratch(NamedTuple):
    """Scratch of the projection of one row; all (m-1,) but `order`, which has one entry more."""

    fit_upper: np.ndarray
    fit_lower: np.ndarray
    sums_upper: np.ndarray  # weights of each pool, summed
    sums_lower: np.ndarray
    sizes_upper: np.ndarray  # entries of each pool
    sizes_lower: np.ndarray
    beta: np.ndarray  # the entries without y, then the projection
    candidates: np.ndarray  # sorted entries that can differ from 0
    order: np.ndarray  # their indices


class BlockScratch(NamedTuple):
    """Scratch of a block step."""

    vertex: VertexScratch
    point: np.ndarray  # (m,), the point to project, or a gradient
    projection: ProjectionScratch
    new: np.ndarray  # (m,), the block after the step
    changed: np.ndarray  # (m,), the classes that the step changes come first


class EntropyScratch(NamedTuple):
    """Scratch of an entropy's block step (kernels.steps.entropy_row); all arrays are (m,)."""

    shares: np.ndarray  # of the row, at y the sum of the others
    old: np.ndarray  # of the row, at b 0
    lifts: np.ndarray  # h, at b -inf
    e: np.ndarray
    steps: np.ndarray  # d
    new: np.ndarray  # the shares after the step, at y the sum of the others


class Visits(NamedTuple):
    """Passes over faces: at most `most`, until one gains no more than `least`."""

    order: np.ndarray  # places in Faces; shuffled before each pass if the state is not 0
    state: np.ndarray  # (1,) uint64, of the random numbers (kernels.steps.orders)
    most: int
    least: float


class FaceScratch(NamedTuple):
    """Scratch of a step on a face; the first entries belong to its classes."""

    all_scores: np.ndarray  # (m,), of all classes
    scores: np.ndarray  # (m,)
    point: np.ndarray  # (m,)
    change: np.ndarray  # (m,)
    projection: ProjectionScratch


class RowsToVisit(NamedTuple):
    """The rows that iterations of ascent visit next (kernels.steps.ascent_passes), and scratch."""

    counts: np.ndarray  # rows that moved last; then of the last visit: faces, classes, passes
    moving: np.ndarray  # (n,), the rows that moved last come first
    at_rest: np.ndarray  # (n,), the |change|_1 up to which a row rests
    random: np.ndarray  # (1,) uint64, of the random numbers (kernels.steps.orders); 0 for none
    order: np.ndarray  # (n,), of a pass over all rows; drawn with random numbers
    face: FaceScratch


class Links(NamedTuple):
    """W in rows that start at lines of the cache, and its copy for scores in float32."""

    W: np.ndarray  # (m, >= d)
    rounded: np.ndarray  # (m, >= d), in the type of X; or (0, ..)


class PanelSteps(NamedTuple):
    """The steps of a group of panels (kernels.steps.panels), one for each of g rows.

    The entries of A that step s changes are listed from starts[s] to before stops[s].
    """

    bounds: np.ndarray  # (panels + 1,), the steps at which the panels start
    places: np.ndarray  # (g,), where Faces lists the row
    rows: np.ndarray  # (g,)
    starts: np.ndarray  # (g,)
    stops: np.ndarray  # (g,)
    classes: np.ndarray  # (g m,), of the entries; the list of a panel starts at bounds[panel] m
    changes: np.ndarray  # (g m,), of the entries, over lam n
    slopes: np.ndarray  # (g,), - <delta_i + r_i a_i, d_i>
    ridges: np.ndarray  # (g,), r_i |d_i|^2


class LinkChange(NamedTuple):
    """The change V of W by a group of panels."""

    V: np.ndarray  # (m, d); rows of classes without entries do not count
    counts: np.ndarray  # (m,), the entries of A that change
    products: np.ndarray  # (m,), <w_j, v_j> with w_j before the change
    squares: np.ndarray  # (m,), |v_j|^2


class PanelScratch(NamedTuple):
    """Scratch of a panel of PANEL_ROWS rows."""

    near: np.ndarray  # (rows, d), the rows of X
    wide: np.ndarray  # (rows, > d), the same in float64
    products: np.ndarray  # (rows, rows), of the rows with each other
    scores: np.ndarray  # (rows, m)


class MetricScratch(NamedTuple):
    """Scratch of a projection in a diagonal metric."""

    point: np.ndarray  # (m,)
    last: np.ndarray  # (m,)
    projection: ProjectionScratch


class NormScratch(NamedTuple):
    """Scratch of a block-norm step; all arrays except the last two are (m,)."""

    linear: np.ndarray
    metric: np.ndarray
    direction: np.ndarray
    class_weights: np.ndarray
    squares: np.ndarray
    vertex: VertexScratch
    projection: MetricScratch
