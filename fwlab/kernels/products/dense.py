"""X W^T, A^T X and the Gram matrices of small blocks, for all rows of a dense X.

`python -m figures.benchmarks products` compares their times with BLAS, which is made for squarer
matrices: with 3 to 300 classes and 128 features or more, scores take 0.4 to 0.8 of BLAS's time with
AVX-512 and 0.7 to 1.2 with AVX2, and A^T X 0.1 to 1.3, if at most three tenths of A are not 0;
operators.features leaves a fuller A to BLAS.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.products.blocks import (
    add_multiple,
    block_scores,
    bring_near,
    copy_entries,
    dot,
)

# Rows whose length is a multiple of 512 would share the same few lines of the first cache: nine
# rows at a time (four of X, five of W) evict each other and the products take twice the time.
PADDING = 16
LINE = 16  # numbers: one line of the cache in float32, two in float64
# rows at a time: they stay in cache while the classes are walked
SCORED_ROWS = 8
# terms summed one after the other: the rounding error of a long sum grows with the length of its
# parts and with their number, not with the length of the sum
SUMMED = 1024


@compiled(allocates=True)
def copy_in_lines(W, dtype):
    """Return a copy of W, of this type, whose rows start at a line of the cache where they can.

    They can if they are a whole number of lines.
    """
    m, stride = W.shape[0], W.shape[1] + PADDING
    room = np.empty(m * stride + LINE, dtype)
    start = (-room.ctypes.data // room.itemsize) % LINE
    copy = room[start : start + m * stride].reshape(m, stride)
    copy_entries(W, copy)
    return copy


@compiled(allocates=True)
def scores_product(X, W, out):
    """Set out (n, m) = X W^T."""
    padded, sums = copy_in_lines(W, W.dtype), np.empty(SCORED_ROWS)
    for start in range(0, X.shape[0], SCORED_ROWS):
        block = X[start : start + SCORED_ROWS]
        bring_near(block, sums)
        block_scores(block, padded, out[start : start + SCORED_ROWS])


@compiled
def nonzeros_product(X, A, out):
    """Add A^T X to out (m, d), in a time that grows with the non-zeros of A (n, m)."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] != 0.0:
                add_multiple(out[j], A[i, j], X[i])


@compiled
def dot_in_parts(a, b):
    """Return <a, b> of two vectors; SUMMED terms are summed apart."""
    total = 0.0
    for start in range(0, len(a), SUMMED):
        total += dot(a[start : start + SUMMED], b[start : start + SUMMED])
    return total


@compiled
def block_grams(X, block_size, out):
    """Set out[i, r] = <x_i, x_{base + r}> with base the first row of the block of row i."""
    for base in range(0, X.shape[0], block_size):
        block = X[base : base + block_size]
        for i in range(len(block)):
            for r in range(i + 1):
                product = dot(block[i], block[r])
                out[base + i, r] = product
                out[base + r, i] = product


@compiled
def block_entries(K, block_size, out):
    """Set `out` as block_grams does, with products read from a Gram matrix."""
    n = K.shape[0]
    for i in range(n):
        base = i // block_size * block_size
        for r in range(base, min(base + block_size, n)):
            out[i, r - base] = K[i, r]
