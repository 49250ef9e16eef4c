"""Products of one row of a CSR matrix with W, whose transpose (d, m) is given.

`values` holds the non-zeros of the row, `columns` their places.
"""

from fwlab.kernels._jit import compiled
from fwlab.kernels._prefetch import prefetch
from fwlab.kernels.products.blocks import add_multiple, nonzero


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
def add_row(values, columns, change, W_T, classes):
    """Add change^T times the row to W; classes (m,) is scratch.

    Near the optimum few classes change, or none.
    """
    moved = nonzero(change, classes)
    if 4 * moved > len(change):
        for place in range(len(values)):
            add_multiple(W_T[columns[place]], values[place], change)
        return
    for place in range(len(values)):
        row, value = W_T[columns[place]], values[place]
        for j in classes[:moved]:
            row[j] += value * change[j]
