"""X^T U for a matrix U with few non-zeros per row; each row costs only the columns it touches."""

from fwlab.kernels._jit import compiled
from fwlab.kernels.products.blocks import add_multiple


@compiled
def dense_product(X, columns, entries, out):
    """Add U^T X to out (m, d), for U[i, columns[i, l]] = entries[i, l]."""
    for i in range(X.shape[0]):
        for place in range(columns.shape[1]):
            if entries[i, place] != 0.0:
                add_multiple(out[columns[i, place]], entries[i, place], X[i])


@compiled
def sparse_product(csr, columns, entries, out_T):
    """Add X^T U to out_T (d, m), for a CSR matrix X."""
    values, indices, indptr = csr
    for i in range(len(indptr) - 1):
        for place in range(indptr[i], indptr[i + 1]):
            row = out_T[indices[place]]
            for touched in range(columns.shape[1]):
                row[columns[i, touched]] += values[place] * entries[i, touched]


@compiled
def vertices_product(gradient, y, classes, entries):
    """Return <gradient, U> for vertices U with entries at classes and minus their sum at y."""
    total = 0.0
    for i in range(len(y)):
        at_true_class = gradient[i, y[i]]
        for place in range(classes.shape[1]):
            total += entries[i, place] * (gradient[i, classes[i, place]] - at_true_class)
    return total


@compiled
def add_vertices(A, factor, y, classes, entries):
    """Add factor U to A, for vertices U with entries at classes and minus their sum at y."""
    for i in range(len(y)):
        for place in range(classes.shape[1]):
            entry = factor * entries[i, place]
            A[i, classes[i, place]] += entry
            A[i, y[i]] -= entry


@compiled
def add_entries(A, factor, columns, entries):
    """Add factor times entries[i, l] to A[i, columns[i, l]]."""
    for i in range(len(columns)):
        for place in range(columns.shape[1]):
            A[i, columns[i, place]] += factor * entries[i, place]
