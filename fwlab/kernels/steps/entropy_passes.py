"""Passes of exact block steps on the dual of the cross-entropy, row by row; W follows each change.

They read data as kernels.steps.passes does, and step as kernels.steps.entropy_row.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels._prefetch import prefetch
from fwlab.kernels.layouts import EntropyScratch
from fwlab.kernels.products.blocks import (
    add_block,
    add_multiple,
    block_scores,
    bring_near,
    copy_entries,
    nonzero,
)
from fwlab.kernels.products.dense import copy_in_lines
from fwlab.kernels.products.sparse import add_row, request_rows, row_scores
from fwlab.kernels.steps.entropy_row import maximise_row


@compiled(allocates=True)
def make_entropy_scratch(m):
    """Return the scratch of a step."""
    shares, old, lifts = np.empty(m), np.empty(m), np.empty(m)
    return EntropyScratch(shares, old, lifts, np.empty(m), np.empty(m), np.empty(m))


@compiled
def step_entropy(i, scores, dual, scratch, A, change):
    """Move row i of A to the maximiser; `change` becomes the difference over lam n.

    Return |change|_1 times lam n.
    """
    y, omega, row, shares, moved = dual.y[i], dual.omega[i], A[i], scratch.shares, 0.0
    change[:] = 0.0
    if omega == 0.0:
        return moved
    for j in range(len(row)):
        shares[j] = max(0.0, row[j] / omega if j == y else -row[j] / omega)
    if not maximise_row(scores, y, omega * dual.curvatures[i], shares, scratch):
        return moved
    for j in range(len(row)):
        new = omega * scratch.new[j] if j == y else -omega * scratch.new[j]
        moved += abs(new - row[j])
        change[j] = (new - row[j]) / dual.lam_n
        row[j] = new
    return moved


@compiled(allocates=True)
def dense_entropy_pass(order, data, W, A, dual, moves):
    """Make one pass over dense X (n, d) with W (m, d), in blocks of b = grams.shape[1] rows.

    `order` visits the rows of a block one after the other (kernels.steps.passes.dense_pass).
    """
    X, grams, is_gram, _ = data
    m, block_size = A.shape[1], grams.shape[1]
    scratch = make_entropy_scratch(m)
    scores, changes = np.empty((block_size, m)), np.empty((block_size, m))
    sums = np.empty(block_size)
    touched, numbers = np.empty(block_size, dtype=np.int64), np.empty(m, dtype=np.int64)
    padded, rounded = copy_in_lines(W, W.dtype), np.empty((0, 0), X.dtype)
    place = 0
    while place < len(order):
        base = order[place] // block_size * block_size
        count = min(block_size, X.shape[0] - base)
        block = X[base : base + count]
        if is_gram:
            copy_entries(padded[:, base : base + count].T, scores)
        else:
            bring_near(block, sums)
            block_scores(block, padded, scores)
        after = place + count
        following = order[after] // block_size * block_size if after < len(order) else X.shape[0]
        for step in range(place, after):
            if following < X.shape[0]:
                prefetch(X[following])
                following += 1
            i = order[step]
            change = changes[i - base]
            moves[i] = step_entropy(i, scores[i - base], dual, scratch, A, change)
            for later in range(step + 1, after):
                r = order[later] - base
                add_multiple(scores[r], grams[i, r], change)
        add_block(changes, block, padded, rounded, numbers, touched)
        place = after
    copy_entries(padded[:, : X.shape[1]], W)


@compiled(allocates=True)
def sparse_entropy_pass(order, csr, W_T, A, dual, moves):
    """Make one pass over the rows of a CSR matrix, with the transpose of W, (d, m)."""
    values, indices, indptr = csr
    m = A.shape[1]
    scratch = make_entropy_scratch(m)
    scores, change, classes = np.empty(m), np.empty(m), np.empty(m, dtype=np.int64)
    for place in range(len(order)):
        i = order[place]
        row = slice(indptr[i], indptr[i + 1])
        if place + 1 < len(order):
            following = order[place + 1]
            request_rows(indices[indptr[following] : indptr[following + 1]], W_T)
        row_scores(values[row], indices[row], W_T, scores)
        moves[i] = step_entropy(i, scores, dual, scratch, A, change)
        add_row(values[row], indices[row], change, classes[: nonzero(change, classes)], W_T)
