"""Products of the rows of a CSR matrix with W, whose transpose (d, m) is given.

`values` holds the non-zeros of a row, `columns` their places.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels._prefetch import prefetch
from fwlab.kernels.products.blocks import add_multiple, nonzero

# a W_T with more numbers leaves the second cache, and rows of it are worth a prefetch
CACHED = 2**17


@compiled
def request_rows(columns, W_T):
    """Prefetch the rows of W_T that a row of X with these columns reads."""
    for column in columns:
        prefetch(W_T[column])


@compiled(fastmath=True)
def _add_four(target, factors, rows, W_T):
    a, b, c, d = factors[0], factors[1], factors[2], factors[3]
    u, v, w, x = W_T[rows[0]], W_T[rows[1]], W_T[rows[2]], W_T[rows[3]]
    for j in range(len(target)):
        target[j] += (a * u[j] + b * v[j]) + (c * w[j] + d * x[j])


@compiled
def row_scores(values, columns, W_T, scores):
    """Set the scores (m,) to the product of W with the row, four non-zeros at a time."""
    scores[:] = 0.0
    place = 0
    while place + 4 <= len(values):
        _add_four(scores, values[place:], columns[place:], W_T)
        place += 4
    for rest in range(place, len(values)):
        add_multiple(scores, values[rest], W_T[columns[rest]])


@compiled
def add_row(values, columns, change, classes, W_T):
    """Add change^T times the row to W; `change` is 0 but for these classes.

    Near the optimum few classes change, or none.
    """
    if 4 * len(classes) > len(change):
        for place in range(len(values)):
            add_multiple(W_T[columns[place]], values[place], change)
        return
    for place in range(len(values)):
        row, value = W_T[columns[place]], values[place]
        for j in classes:
            row[j] += value * change[j]


@compiled
def sparse_scores(csr, W_T, out):
    """Set out (n, m) = X W^T for the rows of a CSR matrix."""
    values, indices, indptr = csr
    beyond_cache = W_T.size > CACHED
    for i in range(len(out)):
        row = slice(indptr[i], indptr[i + 1])
        if beyond_cache and i + 1 < len(out):
            request_rows(indices[indptr[i + 1] : indptr[i + 2]], W_T)
        row_scores(values[row], indices[row], W_T, out[i])


@compiled(allocates=True)
def sparse_transposed_product(csr, A, out_T):
    """Add X^T A to out_T (d, m) for a CSR matrix X; in sparse rows of A, zeros are skipped."""
    values, indices, indptr = csr
    classes = np.empty(A.shape[1], dtype=np.int64)
    beyond_cache = out_T.size > CACHED
    for i in range(len(A)):
        row = slice(indptr[i], indptr[i + 1])
        if beyond_cache and i + 1 < len(A):
            request_rows(indices[indptr[i + 1] : indptr[i + 2]], out_T)
        count = nonzero(A[i], classes)
        add_row(values[row], indices[row], A[i], classes[:count], out_T)
