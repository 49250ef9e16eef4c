"""Exact block steps on faces: a pass over some rows with only the classes that their blocks hold.

The face of a row is given by classes: its true class y first, then s others, among them all with
a_ij != 0. With the other wrong classes fixed at 0 the block ranges over a polytope of the same
family (kernels.domains.vertices): the one of the first s of upper and of lower, if s >= n_lower.
Sums of more than s of the largest entries add zeros, and upper >= 0. Sums of the smallest entries
begin with these zeros, which meet zeros of lower. An exact step on the face needs the scores of its
classes alone, and W changes in no others.
"""

import numpy as np

from fwlab.kernels._jit import chosen_by_type, compiled, in_python
from fwlab.kernels._prefetch import prefetch
from fwlab.kernels.domains.projection import make_projection_scratch, project_row
from fwlab.kernels.layouts import (
    Csr,
    EqualWeights,
    FaceScratch,
    PolytopeWeights,
    ProjectionScratch,
)
from fwlab.kernels.products.blocks import add_multiple, dot
from fwlab.kernels.products.sparse import request_rows, row_scores
from fwlab.kernels.steps.block import LEAST_WEIGHT
from fwlab.kernels.steps.orders import shuffle


@compiled
def keep_held(A, index, y, fewest, rows, starts):
    """Keep the rows whose blocks hold at least `fewest` classes but y; return their number.

    rows[r] is the r-th of them; its classes, y first, begin at starts[r] in the list of all.
    """
    kept, place = 0, 0
    for i in index:
        block, count = A[i], 0
        for j in range(len(block)):
            count += block[j] != 0.0
        count -= block[y[i]] != 0.0
        if count >= fewest:
            rows[kept], starts[kept] = i, place
            kept, place = kept + 1, place + count + 1
    starts[kept] = place
    return kept


@compiled
def list_held(A, rows, y, classes):
    """List y and then the other classes that each of these rows holds, one row after the other."""
    place = 0
    for i in rows:
        classes[place] = y[i]
        place += 1
        for j in range(A.shape[1]):
            if A[i, j] != 0.0 and j != y[i]:
                classes[place] = j
                place += 1


def make_face_scratch(m: int) -> FaceScratch:
    """Return the scratch of a pass over faces, for m classes."""
    projection = in_python(make_projection_scratch)(m)
    return FaceScratch(np.empty(m), np.empty(m), np.empty(m), np.empty(m), projection)


@compiled(inline=True)
def _sum_of_first(count, polytope):
    """Return the number of the first `count` upper weights that are not 0, and their sum."""
    if count >= polytope.n_upper:
        return polytope.n_upper, polytope.sum_upper
    total = 0.0
    for j in range(count):
        total += polytope.upper[j]
    return count, total


def first_weights(count, polytope):
    """Return the polytope of the first `count` weights, at least n_lower of them."""
    equal = isinstance(polytope, EqualWeights)
    return (_first_equal if equal else _first_unequal)(count, polytope)


def _first_equal(count, polytope):
    upper, lower, _, n_lower, _, sum_lower = polytope
    n_upper, sum_upper = _sum_of_first(count, polytope)
    return EqualWeights(upper[:count], lower[:count], n_upper, n_lower, sum_upper, sum_lower)


def _first_unequal(count, polytope):
    upper, lower, _, n_lower, _, sum_lower = polytope
    n_upper, sum_upper = _sum_of_first(count, polytope)
    return PolytopeWeights(upper[:count], lower[:count], n_upper, n_lower, sum_upper, sum_lower)


@chosen_by_type(first_weights)
def _first_of_type(count, polytope):
    return _first_equal if polytope.instance_class is EqualWeights else _first_unequal


@compiled(inline=True)
def _project_on_face(point, polytope, scratch, out):
    """Project a row on the part of the negated domain where all but these classes hold 0.

    The true class comes first in `point`.
    """
    count = len(point) - 1
    weights = first_weights(count, polytope)
    fits = scratch.fit_upper, scratch.fit_lower
    sums = scratch.sums_upper, scratch.sums_lower
    sizes = scratch.sizes_upper, scratch.sizes_lower
    beta = scratch.beta[:count]
    projection = ProjectionScratch(*fits, *sums, *sizes, beta, scratch.candidates, scratch.order)
    project_row(point, 0, weights, projection, out)


@compiled(inline=True)
def step_on_face(i, classes, dual, scratch, A):
    """Move row i of A to its best point on the face; return |change|_1.

    scratch.scores holds the scores of `classes`; scratch.change becomes the change of their entries
    over lam n. A block without weight, or without curvature that floats can hold, stays.
    """
    count = len(classes)
    omega, curvature = dual.omega[i], dual.curvatures[i]
    costs, old = dual.polytopes.costs[dual.polytopes.cost_rows[i]], A[i]
    scores, point, change = scratch.scores, scratch.point[:count], scratch.change[:count]
    weight = curvature * omega + dual.smoothing
    if omega == 0.0 or weight < LEAST_WEIGHT:
        change[:] = 0.0
        return 0.0
    scale = 1.0 / weight
    point[0] = (curvature * old[classes[0]] - scores[0]) * scale
    for place in range(1, count):
        j = classes[place]
        point[place] = (curvature * old[j] - scores[place] - costs[j]) * scale
    _project_on_face(point, dual.weights, scratch.projection, change)
    moved, to_link = 0.0, 1.0 / dual.lam_n
    for place in range(count):
        j = classes[place]
        new = omega * change[place]
        difference = new - old[j]
        moved += abs(difference)
        change[place] = difference * to_link
        old[j] = new
    return moved


@compiled
def gain_of_pass(moves, curvatures):
    """Return about what exact steps of all rows by these sizes add to the dual, up to a factor."""
    total = 0.0
    for i in range(len(moves)):
        total += curvatures[i] * (moves[i] * moves[i])
    return total


@compiled
def gain_of_moves(moves, rows, curvatures):
    """Return gain_of_pass of steps of these rows alone; there is one size for each of them."""
    total = 0.0
    for place in range(len(moves)):
        total += curvatures[rows[place]] * (moves[place] * moves[place])
    return total


@compiled
def _dense_face_pass(order, faces, X, W, A, dual, scratch, moves):
    rows, starts, all_classes = faces
    scores = scratch.scores
    for step in range(len(order)):
        place = order[step]
        if step + 1 < len(order):
            prefetch(X[rows[order[step + 1]]])
        classes = all_classes[starts[place] : starts[place + 1]]
        x = X[rows[place]]
        for c in range(len(classes)):
            scores[c] = dot(W[classes[c]], x)
        moves[place] = step_on_face(rows[place], classes, dual, scratch, A)
        if moves[place] != 0.0:
            for c in range(len(classes)):
                if scratch.change[c] != 0.0:
                    add_multiple(W[classes[c]], scratch.change[c], x)


@compiled(fastmath=True)
def _face_scores(values, columns, W_T, classes, scores):
    for c in range(len(classes)):
        j, total = classes[c], 0.0
        for place in range(len(values)):
            total += values[place] * W_T[columns[place], j]
        scores[c] = total


@compiled
def _add_to_class(values, columns, factor, j, W_T):
    for place in range(len(values)):
        W_T[columns[place], j] += factor * values[place]


@compiled
def _sparse_face_pass(order, faces, csr, W_T, A, dual, scratch, moves):
    rows, starts, all_classes = faces
    values, indices, indptr = csr
    all_scores = scratch.all_scores
    for step in range(len(order)):
        place = order[step]
        classes = all_classes[starts[place] : starts[place + 1]]
        i = rows[place]
        if step + 1 < len(order):
            following = rows[order[step + 1]]
            request_rows(indices[indptr[following] : indptr[following + 1]], W_T)
        row = values[indptr[i] : indptr[i + 1]]
        columns = indices[indptr[i] : indptr[i + 1]]
        if 3 * len(classes) > len(all_scores):
            row_scores(row, columns, W_T, all_scores)
            for c in range(len(classes)):
                scratch.scores[c] = all_scores[classes[c]]
        else:
            _face_scores(row, columns, W_T, classes, scratch.scores)
        moves[place] = step_on_face(i, classes, dual, scratch, A)
        if moves[place] != 0.0:
            for c in range(len(classes)):
                if scratch.change[c] != 0.0:
                    _add_to_class(row, columns, scratch.change[c], classes[c], W_T)


def face_pass(order, faces, X, W, A, dual, scratch, moves):
    """Make one pass over the faces (layouts.Faces) in this order.

    X is dense and W (m, d), or X is CSR and W its transpose, (d, m).
    """
    one_pass = _sparse_face_pass if isinstance(X, Csr) else _dense_face_pass
    one_pass(order, faces, X, W, A, dual, scratch, moves)


@chosen_by_type(face_pass)
def _face_pass_of_type(order, faces, X, W, A, dual, scratch, moves):
    is_csr = getattr(X, "instance_class", None) is Csr
    return _sparse_face_pass if is_csr else _dense_face_pass


@compiled
def face_passes(visits, faces, X, W, A, dual, scratch, moves):
    """Make passes (layouts.Visits) over faces; return their number.

    X and W are as for face_pass. moves[place] becomes |change|_1 of the last step on a face.
    """
    order, state, most, least = visits
    for count in range(most):
        if state[0] != 0:
            shuffle(order, state)
        face_pass(order, faces, X, W, A, dual, scratch, moves)
        if gain_of_moves(moves, faces.rows, dual.curvatures) <= least:
            return count + 1
    return most
