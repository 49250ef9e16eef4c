"""Block methods, one compiled call a pass: for each row in the given order, improve its block.

The link W = A^T X / (lam n) follows every change. `bounds` are RowPolytopes.bounds;
`rows` are (y, costs, cost_rows, weights, curvatures, gaps, moves), one entry a sample: the
curvature is |x|^2/(lam n), gaps receives the gap of a block before its step, or is empty if nobody
asks, and moves the sum of the changes of its entries.
`sets` are those of kernels.row_active_sets; the rules without active sets take them empty.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels._prefetch import prefetch
from fwlab.kernels.domains.projection import make_projection_scratch
from fwlab.kernels.products.blocks import (
    add_block,
    add_multiple,
    block_scores,
    bring_near,
    nonzero,
)
from fwlab.kernels.products.dense import copy_in_lines
from fwlab.kernels.steps.active_sets import active_set_block
from fwlab.kernels.steps.block import block_gap, exact_block, frank_wolfe_block
from fwlab.kernels.steps.pseudo import pseudo_block

# rules; kernels.pseudo_steps has those from 4 on
EXACT, FRANK_WOLFE, AWAY, PAIRWISE = 0, 1, 2, 3


@compiled(allocates=True)
def make_scratch(m, support):
    """Scratch arrays of a block step, see kernels.block_steps."""
    return (
        np.empty(support, dtype=np.int64),
        np.empty(support),
        np.empty(m - 1),
        np.empty(m),
        make_projection_scratch(m),
    )


@compiled(fastmath=True, inline=True)
def _replace_row(old, scale, change):
    """`change`, the new row, becomes `scale` times the difference and `old` the new row; returns
    the sum of the differences' sizes."""
    moved = 0.0
    for j in range(len(old)):
        new = change[j]
        difference = new - old[j]
        moved += abs(difference)
        change[j] = difference * scale
        old[j] = new
    return moved


@compiled(inline=True)
def step_block(rule, i, scores, rows, smoothing, bounds, scratch, lam_n, sets, A, change):
    """Move block i of A by the rule; `change` becomes the difference over lam n."""
    y, costs, cost_rows, weights, curvatures, gaps, moves = rows
    moves[i] = 0.0
    if weights[i] == 0.0:
        change[:] = 0.0
        return
    old, cost, ridge = A[i], costs[cost_rows[i]], smoothing / weights[i]
    if len(gaps) > 0:
        gaps[i] = block_gap(scores, cost, y[i], weights[i], ridge, bounds, scratch, old)
    if rule == EXACT:
        exact_block(
            scores, cost, y[i], weights[i], curvatures[i], ridge, bounds, scratch, old, change
        )
    elif rule == FRANK_WOLFE:
        frank_wolfe_block(
            scores, cost, y[i], weights[i], curvatures[i], ridge, bounds, scratch, old, change
        )
    elif rule <= PAIRWISE:
        row = i, y[i], weights[i], curvatures[i], ridge
        active_set_block(rule == PAIRWISE, row, scores, cost, bounds, scratch, sets, old, change)
    else:
        pseudo_block(
            rule, scores, cost, y[i], weights[i], curvatures[i], bounds, scratch, old, change
        )
    moves[i] = _replace_row(old, 1.0 / lam_n, change)


@compiled(inline=True)
def _prefetch_block(start, stop, grams, A, rows):
    """Ask for what the steps of a block read beside its scores."""
    y, _, cost_rows, weights, curvatures, _, moves = rows
    prefetch(grams[start:stop])
    prefetch(A[start:stop])
    prefetch(y[start:stop])
    prefetch(cost_rows[start:stop])
    prefetch(weights[start:stop])
    prefetch(curvatures[start:stop])
    prefetch(moves[start:stop])


@compiled(allocates=True)
def dense_pass(rule, order, X, grams, is_gram, W, A, rows, smoothing, bounds, lam_n, sets):
    """One pass over dense X (n, d) with W (m, d), in blocks of b = grams.shape[1] rows.

    `order` visits the rows of a block one after the other. The scores of a block are computed at
    once; each change is carried to the rows still to come through grams[i, r], the product of row
    i with row r of its block; W changes at the end of the block. In exact arithmetic this is the
    row-by-row method in the same order. With is_gram X is the Gram matrix K, (n, n), and
    W = A^T K / (lam n) holds the scores.
    """
    m, block_size = A.shape[1], grams.shape[1]
    scratch = make_scratch(m, bounds[2])
    scores, changes = np.empty((block_size, m)), np.empty((block_size, m))
    sums = np.empty(block_size)
    touched, classes = np.empty(block_size, dtype=np.int64), np.empty(m, dtype=np.int64)
    padded = copy_in_lines(W)
    place = 0
    while place < len(order):
        base = order[place] // block_size * block_size
        count = min(block_size, X.shape[0] - base)
        block = X[base : base + count]
        _prefetch_block(base, base + count, grams, A, rows)
        if is_gram:
            scores[:count] = padded[:, base : base + count].T
        else:
            bring_near(block, sums)
            block_scores(block, padded, scores)
        after = place + count
        following = X.shape[0]
        if after < len(order):
            following = order[after] // block_size * block_size
        for step in range(place, after):
            if following < X.shape[0]:
                prefetch(X[following])
                following += 1
            i = order[step]
            change = changes[i - base]
            step_block(
                rule, i, scores[i - base], rows, smoothing, bounds, scratch, lam_n, sets, A, change
            )
            moved = nonzero(change, classes)
            for later in range(step + 1, after):
                r = order[later] - base
                for j in classes[:moved]:
                    scores[r, j] += grams[i, r] * change[j]
        add_block(changes, block, padded, classes, touched)
        place = after
    W[:] = padded[:, : X.shape[1]]


@compiled(allocates=True)
def sparse_pass(rule, order, data, indices, indptr, W_T, A, rows, smoothing, bounds, lam_n, sets):
    """One pass over the rows of a CSR matrix, with the transpose of W, (d, m)."""
    m = A.shape[1]
    scratch = make_scratch(m, bounds[2])
    scores, change = np.empty(m), np.empty(m)
    for i in order:
        scores[:] = 0.0
        for place in range(indptr[i], indptr[i + 1]):
            add_multiple(scores, data[place], W_T[indices[place]])
        step_block(rule, i, scores, rows, smoothing, bounds, scratch, lam_n, sets, A, change)
        for place in range(indptr[i], indptr[i + 1]):
            add_multiple(W_T[indices[place]], data[place], change)
