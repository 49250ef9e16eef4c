"""One iteration of ascent: passes over the faces of the rows that move, then one over all rows.

Near the optimum most blocks hold few classes: with k = 1 two to four, with larger k a few more than
k. An exact step on the face of these classes costs much less than one over all classes. Only the
pass over all rows lets other classes enter a block, and finds the rows that move.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.layouts import Faces, Visits
from fwlab.kernels.steps.face_passes import face_passes, gain_of_pass, keep_held, list_held
from fwlab.kernels.steps.orders import draw_blocks
from fwlab.kernels.steps.passes import dense_pass, sparse_pass

# The cost of a step in units of a class of an exact step over all classes: a class on a face, and
# a row, whose entries of X come from memory. Measured on dense X and on CSR.
COST_OF_CLASS, COST_OF_ROW = 1.5, 10.0
# The cost of an iteration besides its steps, in the same units: Python's part of it and a share of
# the judgements take about 100 us, and a class of a row with few features takes .013 us. On nine
# sets of 100 to 1,732 rows 2,000 and 4,000 need more time, 16,000 and 40,000 no less.
COST_OF_ITERATION = 8000.0
# the cost of all passes over the faces between two passes over all rows, in iterations, and the
# largest cost of one in passes over all rows
MOST_COST, MOST_COST_OF_ONE = 2.0, 0.6
MOST_PASSES = 50
# places of RowsToVisit.counts
MOVING, FACES, CLASSES, PASSES = 0, 1, 2, 3


@compiled
def relative_cost(rows, classes, n, m):
    """Return the cost of a pass over faces, from their numbers of rows and classes."""
    return (COST_OF_CLASS * classes + COST_OF_ROW * rows) / (n * (m + COST_OF_ROW))


@compiled
def share_of_steps(n, m):
    """Return the part of an iteration with a pass over all rows that its steps take."""
    steps = n * (m + COST_OF_ROW)
    return steps / (steps + COST_OF_ITERATION)


@compiled(allocates=True)
def faces_of(A, index, dual, most):
    """Return the faces of those rows in `index` whose blocks can move on their faces.

    Such a block holds a wrong class and, because the others hold 0, at least n_lower of them. There
    are none if a pass over all of them costs more than `most`.
    """
    y = dual.polytopes.y
    rows, starts = np.empty(len(index), dtype=np.int64), np.empty(len(index) + 1, dtype=np.int64)
    kept = keep_held(A, index, y, max(1, dual.weights.n_lower), rows, starts)
    if relative_cost(kept, starts[kept], A.shape[0], A.shape[1]) > most:
        kept = 0
    classes = np.empty(starts[kept], dtype=np.int64)
    list_held(A, rows[:kept], y, classes)
    return Faces(rows[:kept], starts[: kept + 1], classes)


@compiled(allocates=True)
def visit_faces(visit, X, W, A, dual, moves):
    """Pass over the faces of the rows that moved while that gains more than another iteration.

    moves (n,) are |change|_1 in the last pass over all rows. X and W are as for face_passes.
    """
    counts, n, m = visit.counts, A.shape[0], A.shape[1]
    faces = faces_of(A, visit.moving[: counts[MOVING]], dual, MOST_COST_OF_ONE)
    if len(faces.rows) == 0:
        return
    cost = relative_cost(len(faces.rows), len(faces.classes), n, m) * share_of_steps(n, m)
    most = min(MOST_PASSES, int(MOST_COST / cost))
    least = cost * gain_of_pass(moves, dual.curvatures)
    order, last = np.empty(len(faces.rows), dtype=np.int64), np.empty(len(faces.rows))
    _count_in_steps(1, order)
    visits = Visits(order, visit.random, most, least)
    counts[PASSES] = face_passes(visits, faces, X, W, A, dual, visit.face, last)
    counts[FACES], counts[CLASSES] = len(faces.rows), len(faces.classes)


@compiled
def _count_in_steps(step, out):
    """Set `out` to 0, step, 2 step, ..; numba takes long to compile np.arange."""
    for place in range(len(out)):
        out[place] = place * step


@compiled(allocates=True)
def _draw_order(visit, block_size):
    """Draw the order of a pass over all rows, unless it is fixed."""
    if visit.random[0] != 0:
        starts = np.empty(-(-len(visit.order) // block_size), dtype=np.int64)
        _count_in_steps(block_size, starts)
        draw_blocks(visit.order, starts, block_size, visit.random)


@compiled
def _list_moving(visit, moves):
    count = 0
    for i in range(len(moves)):
        visit.moving[count] = i
        count += moves[i] > visit.at_rest[i]
    visit.counts[MOVING] = count


@compiled(allocates=True)
def dense_ascent(rule, visit, data, W, A, dual, record):
    """Visit the faces of the rows that moved (layouts.RowsToVisit), then all rows of a dense X."""
    visit_faces(visit, data.X, W, A, dual, record.moves)
    _draw_order(visit, data.grams.shape[1])
    dense_pass(rule, visit.order, data, W, A, dual, record)
    _list_moving(visit, record.moves)


@compiled(allocates=True)
def sparse_ascent(rule, visit, csr, W_T, A, dual, record):
    """Make the same passes over the rows of a CSR matrix, with the transpose of W, (d, m)."""
    visit_faces(visit, csr, W_T, A, dual, record.moves)
    _draw_order(visit, 1)
    sparse_pass(rule, visit.order, csr, W_T, A, dual, record)
    _list_moving(visit, record.moves)
