"""Passes of block steps with a block norm, row by row; V = A^T X / (lam n) follows every change.

`rows` are (y, costs, cost_rows, weights, curvatures), one entry a sample, as in kernels.passes.
`norm` is (class weights, squares, q): fixed class weights and empty squares for the steps of
Algorithm 1, or the squares |v_j|^2, which follow too, for steps on the full dual.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.vertices import margins_without
from fwlab.kernels.products.blocks import add_multiple, dot
from fwlab.kernels.steps.block import write_vertex
from fwlab.kernels.steps.norm_block import full_block, make_norm_scratch, weighted_block


@compiled(allocates=True)
def _make_scratch(m, support):
    """Scratch arrays of the LMO's vertex, and of kernels.norm_blocks."""
    return np.empty(support, np.int64), np.empty(support), np.empty(m - 1), make_norm_scratch(m)


@compiled
def _step(i, scores, rows, smoothing, bounds, lam_n, norm, scratch, A, change):
    """Move row i of A; `change` becomes the difference over lam n.

    Without curvature and ridge the dual is linear in the block, and its maximiser the LMO's vertex.
    """
    y, costs, cost_rows, weights, curvatures = rows
    beta, squares, q = norm
    old, cost, ridge = A[i], costs[cost_rows[i]], smoothing / weights[i]
    row = y[i], weights[i], curvatures[i], ridge
    if curvatures[i] + ridge == 0.0:
        places, entries, margins, _ = scratch
        margins_without(scores, cost, y[i], margins)
        write_vertex(margins, y[i], weights[i], bounds, places, entries, change)
    elif len(squares) == 0:
        weighted_block(scores, cost, row, bounds, beta, scratch[3], old, change)
    else:
        full_block(scores, cost, row, bounds, lam_n, q, squares, scratch[3], old, change)
    for j in range(len(old)):
        new = change[j]
        change[j] = (new - old[j]) / lam_n
        old[j] = new


@compiled(allocates=True)
def dense_norm_pass(order, X, is_gram, V, A, rows, smoothing, bounds, lam_n, norm):
    """One pass over dense X (n, d) with V (m, d). With is_gram X is the Gram matrix K, (n, n), and
    V = A^T K / (lam n) holds the scores."""
    m = A.shape[1]
    scratch = _make_scratch(m, bounds[2])
    scores, change = np.empty(m), np.empty(m)
    for i in order:
        if rows[3][i] == 0.0:
            continue
        for j in range(m):
            scores[j] = V[j, i] if is_gram else dot(X[i], V[j])
        _step(i, scores, rows, smoothing, bounds, lam_n, norm, scratch, A, change)
        for j in range(m):
            if change[j] != 0.0:
                add_multiple(V[j], change[j], X[i])


@compiled(allocates=True)
def sparse_norm_pass(order, data, indices, indptr, V_T, A, rows, smoothing, bounds, lam_n, norm):
    """One pass over the rows of a CSR matrix, with the transpose of V, (d, m)."""
    m = A.shape[1]
    scratch = _make_scratch(m, bounds[2])
    scores, change = np.empty(m), np.empty(m)
    for i in order:
        if rows[3][i] == 0.0:
            continue
        scores[:] = 0.0
        for place in range(indptr[i], indptr[i + 1]):
            add_multiple(scores, data[place], V_T[indices[place]])
        _step(i, scores, rows, smoothing, bounds, lam_n, norm, scratch, A, change)
        for place in range(indptr[i], indptr[i + 1]):
            add_multiple(V_T[indices[place]], data[place], change)
