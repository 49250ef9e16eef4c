"""Passes of block steps with a block norm, row by row; V = A^T X / (lam n) follows every change.

`norm` is a layouts.BlockNorm: fixed class weights for the steps of Algorithm 1 (LP15), or the
squares |v_j|^2 for steps on the full dual.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.vertices import margins_without
from fwlab.kernels.layouts import Block
from fwlab.kernels.products.blocks import add_multiple, dot, nonzero
from fwlab.kernels.products.sparse import add_row, row_scores
from fwlab.kernels.steps.block import write_vertex
from fwlab.kernels.steps.norm_block import full_block, make_norm_scratch, weighted_block


@compiled
def _step(i, scores, dual, norm, scratch, A, change):
    """Move row i of A; `change` becomes the difference over lam n.

    Without curvature and ridge the dual is linear in the block, and its maximiser the LMO's vertex.
    """
    y, costs, cost_rows, _, _ = dual.polytopes
    old, omega, curvature = A[i], dual.omega[i], dual.curvatures[i]
    block = Block(i, y[i], costs[cost_rows[i]], omega, curvature, dual.smoothing / omega)
    if curvature + block.ridge == 0.0:
        margins_without(scores, block.costs, block.y, scratch.vertex.margins)
        write_vertex(block, dual.weights, scratch.vertex, change)
    elif len(norm.squares) == 0:
        weighted_block(scores, block, dual.weights, norm.class_weights, scratch, old, change)
    else:
        full_block(scores, block, dual, norm, scratch, old, change)
    for j in range(len(old)):
        new = change[j]
        change[j] = (new - old[j]) / dual.lam_n
        old[j] = new


@compiled(allocates=True)
def dense_norm_pass(order, X, is_gram, V, A, dual, norm):
    """Make one pass over dense X (n, d) with V (m, d).

    With is_gram X is the Gram matrix K, (n, n), and V = A^T K / (lam n) holds the scores.
    """
    m = A.shape[1]
    scratch = make_norm_scratch(m, dual.weights.n_upper)
    scores, change = np.empty(m), np.empty(m)
    for i in order:
        if dual.omega[i] == 0.0:
            continue
        for j in range(m):
            scores[j] = V[j, i] if is_gram else dot(X[i], V[j])
        _step(i, scores, dual, norm, scratch, A, change)
        for j in range(m):
            if change[j] != 0.0:
                add_multiple(V[j], change[j], X[i])


@compiled(allocates=True)
def sparse_norm_pass(order, csr, V_T, A, dual, norm):
    """Make one pass over the rows of a CSR matrix, with the transpose of V, (d, m)."""
    values, indices, indptr = csr
    m = A.shape[1]
    scratch = make_norm_scratch(m, dual.weights.n_upper)
    scores, change, classes = np.empty(m), np.empty(m), np.empty(m, dtype=np.int64)
    for i in order:
        if dual.omega[i] == 0.0:
            continue
        row = slice(indptr[i], indptr[i + 1])
        row_scores(values[row], indices[row], V_T, scores)
        _step(i, scores, dual, norm, scratch, A, change)
        changed = nonzero(change, classes)
        add_row(values[row], indices[row], change, classes[:changed], V_T)
