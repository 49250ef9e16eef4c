"""Sizes of the rows of a matrix, which bounds of rounding errors need."""

from fwlab.kernels._jit import compiled


@compiled
def largest_rows(matrix, out):
    """Set out[i] to the largest entry of row i in size.

    Four maxima at once: each comparison waits for the one before it.
    """
    for i in range(matrix.shape[0]):
        row = matrix[i]
        count, largest, b, c, d = len(row), 0.0, 0.0, 0.0, 0.0
        for j in range(0, count - 3, 4):
            largest = max(largest, abs(row[j]))
            b = max(b, abs(row[j + 1]))
            c = max(c, abs(row[j + 2]))
            d = max(d, abs(row[j + 3]))
        for j in range(count - count % 4, count):
            largest = max(largest, abs(row[j]))
        out[i] = max(max(largest, b), max(c, d))


@compiled(fastmath=True)
def sizes_of_rows(matrix, factors, lengths, squares, products):
    """Set the sums of |row i|, of its squares, and of |row i| times the factors, (n,) each."""
    for i in range(matrix.shape[0]):
        row = matrix[i]
        length, square, product = 0.0, 0.0, 0.0
        for j in range(len(row)):
            size = abs(row[j])
            length += size
            square += size * size
            product += size * factors[j]
        lengths[i], squares[i], products[i] = length, square, product
