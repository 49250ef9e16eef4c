"""Block methods, one compiled call per pass: for each row in the given order, improve its block.

The link W = A^T X / (lam n) follows every change. The pass writes a layouts.StepRecord; rules
without active sets take them empty.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels._prefetch import prefetch
from fwlab.kernels.products.blocks import (
    add_block,
    block_scores,
    bring_near,
    copy_entries,
    nonzero,
)
from fwlab.kernels.products.dense import copy_in_lines
from fwlab.kernels.products.sparse import add_row, request_rows, row_scores
from fwlab.kernels.steps.block import block_of, make_block_scratch, note_gap
from fwlab.kernels.steps.rules import step_by


@compiled(fastmath=True, inline=True)
def _scaled_difference(old, new, scale, change):
    """Set `change` to scale (new - old); return the sum of the differences' sizes."""
    moved = 0.0
    for j in range(len(old)):
        difference = new[j] - old[j]
        moved += abs(difference)
        change[j] = difference * scale
    return moved


@compiled(inline=True)
def step_block(rule, i, scores, dual, scratch, record, A, change):
    """Move block i of A by the rule; `change` becomes the difference over lam n.

    Return how many entries change: their classes are the first of scratch.changed. No others are
    written, so that no more memory than theirs goes back.
    """
    record.moves[i] = 0.0
    if dual.omega[i] == 0.0:
        change[:] = 0.0
        return 0
    old, new, block = A[i], scratch.new, block_of(dual, i)
    note_gap(record, scores, block, dual.weights, scratch, old)
    step_by(rule, scores, block, dual.weights, scratch, record, old, new)
    record.moves[i] = _scaled_difference(old, new, 1.0 / dual.lam_n, change)
    count = nonzero(change, scratch.changed)
    for j in scratch.changed[:count]:
        old[j] = new[j]
    return count


@compiled(inline=True)
def _prefetch_block(start, stop, grams, A, dual, moves):
    """Prefetch what the steps of a block read beside its scores."""
    prefetch(grams[start:stop])
    prefetch(A[start:stop])
    prefetch(dual.polytopes.y[start:stop])
    prefetch(dual.polytopes.cost_rows[start:stop])
    prefetch(dual.omega[start:stop])
    prefetch(dual.curvatures[start:stop])
    prefetch(moves[start:stop])


@compiled
def _block_scores(X, W, rounded, sums, out):
    """Set out[:len(X)] = X W^T, with the rounded copy of W if there is one; sums is scratch."""
    bring_near(X, sums)
    if len(rounded) > 0:
        block_scores(X, rounded, out)
    else:
        block_scores(X, W, out)


@compiled(allocates=True)
def dense_pass(rule, order, data, W, A, dual, record):
    """Make one pass over dense X (n, d) with W (m, d), in blocks of b = grams.shape[1] rows.

    `order` visits the rows of a block one after the other. The scores of a block are computed at
    once; each change is carried to the rows still to come through grams[i, r], the product of row
    i with row r of its block; W changes at the end of the block. In exact arithmetic this is the
    row-by-row method in the same order. With is_gram X is the Gram matrix K, (n, n), and
    W = A^T K / (lam n) holds the scores. With single the scores are sums in the type of X, from a
    copy of W rounded to it.
    """
    X, grams, is_gram, single = data
    m, block_size = A.shape[1], grams.shape[1]
    scratch = make_block_scratch(m, dual.weights.n_upper)
    scores, changes = np.empty((block_size, m)), np.empty((block_size, m))
    sums = np.empty(block_size)
    touched, numbers = np.empty(block_size, dtype=np.int64), np.empty(m, dtype=np.int64)
    padded = copy_in_lines(W, W.dtype)
    rounded = copy_in_lines(W if single else W[:0], X.dtype)
    place = 0
    while place < len(order):
        base = order[place] // block_size * block_size
        count = min(block_size, X.shape[0] - base)
        block = X[base : base + count]
        _prefetch_block(base, base + count, grams, A, dual, record.moves)
        if is_gram:
            copy_entries(padded[:, base : base + count].T, scores)
        else:
            _block_scores(block, padded, rounded, sums, scores)
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
            changed = step_block(rule, i, scores[i - base], dual, scratch, record, A, change)
            for later in range(step + 1, after):
                r = order[later] - base
                for j in scratch.changed[:changed]:
                    scores[r, j] += grams[i, r] * change[j]
        add_block(changes, block, padded, rounded, numbers, touched)
        place = after
    copy_entries(padded[:, : X.shape[1]], W)


@compiled(allocates=True)
def sparse_pass(rule, order, csr, W_T, A, dual, record):
    """Make one pass over the rows of a CSR matrix, with the transpose of W, (d, m)."""
    values, indices, indptr = csr
    m = A.shape[1]
    scratch = make_block_scratch(m, dual.weights.n_upper)
    scores, change = np.empty(m), np.empty(m)
    for place in range(len(order)):
        i = order[place]
        row = slice(indptr[i], indptr[i + 1])
        if place + 1 < len(order):
            following = order[place + 1]
            request_rows(indices[indptr[following] : indptr[following + 1]], W_T)
        row_scores(values[row], indices[row], W_T, scores)
        changed = step_block(rule, i, scores, dual, scratch, record, A, change)
        add_row(values[row], indices[row], change, scratch.changed[:changed], W_T)
