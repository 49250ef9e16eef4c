"""The bent path of one step for all blocks, and the first maximum of the dual along it.

With step eta block i stands at a_i + min(eta, b_i) d_i, b_i its largest feasible step. Let P be the
blocks with b_i > eta, l_i = d_i x_i^T / (lam n) the link of block i's direction, M the sum of l_i
over P and R the sum of b_i l_i over the others. Between two bounds the dual is a parabola,

    slope(eta) = (1/n) sum_P (g_i - eta r_i |d_i|^2) - lam <R + eta M, M>,

g_i the slope of block i at eta = 0, r_i its ridge. When block i reaches its bound, M loses l_i and
R gains b_i l_i: a change of rank one in the classes that d_i touches. M and R are kept as links
are, transposed for CSR rows, times K for a Gram matrix.
"""

from fwlab.kernels._jit import compiled
from fwlab.kernels.products.blocks import add_multiple, dot
from fwlab.kernels.steps.row_active_sets import TIES, choose_direction, move_row

DENSE, SPARSE, GRAM = 0, 1, 2


@compiled
def write_free_slots(columns, entries, omega, sets):
    """Put omega_i times the compact vertex of row i (RowPolytopes) into the free slot of row i."""
    counts = sets[3]
    for i in range(len(counts)):
        for place in range(columns.shape[1] - 1):
            sets[0][i, counts[i], place] = columns[i, place]
            sets[1][i, counts[i], place] = omega[i] * entries[i, place]


@compiled
def choose_directions(pairwise, gradient, y, reaches, sets, A, directions, slots, slopes, limits):
    """choose_direction for every row; slots (n, 2) are those towards and away."""
    for i in range(len(y)):
        slots[i, 0], slots[i, 1], slopes[i], limits[i] = choose_direction(
            pairwise, gradient[i], y[i], reaches[i], sets, i, A[i], directions[i]
        )


@compiled
def move_rows(sets, slots, steps, limits, y, A):
    """move_row for every row."""
    for i in range(len(y)):
        move_row(sets, i, slots[i, 0], slots[i, 1], steps[i], limits[i], y[i], A[i])


@compiled
def leave_dense(x, direction, bound, lam_n, moving, rested):
    """Take block i from M to R; return <M, l_i> and <R, l_i> before."""
    with_moving, with_rested = 0.0, 0.0
    for j in range(len(direction)):
        if direction[j] != 0.0:
            factor = direction[j] / lam_n
            with_moving += factor * dot(moving[j], x)
            with_rested += factor * dot(rested[j], x)
            add_multiple(moving[j], -factor, x)
            add_multiple(rested[j], bound * factor, x)
    return with_moving, with_rested


@compiled
def leave_sparse(values, indices, direction, bound, lam_n, moving_T, rested_T):
    """leave_dense for a row with few non-zeros, and M, R transposed."""
    with_moving, with_rested = 0.0, 0.0
    for place in range(len(values)):
        factor = float(values[place]) / lam_n
        moving, rested = moving_T[indices[place]], rested_T[indices[place]]
        with_moving += factor * dot(moving, direction)
        with_rested += factor * dot(rested, direction)
        add_multiple(moving, -factor, direction)
        add_multiple(rested, bound * factor, direction)
    return with_moving, with_rested


@compiled
def leave_gram(K, i, direction, bound, lam_n, moving, rested):
    """leave_dense where column i of M K and R K holds the products with x_i."""
    with_moving, with_rested = 0.0, 0.0
    for j in range(len(direction)):
        if direction[j] != 0.0:
            factor = direction[j] / lam_n
            with_moving += factor * moving[j, i]
            with_rested += factor * rested[j, i]
            add_multiple(moving[j], -factor, K[i])
            add_multiple(rested[j], bound * factor, K[i])
    return with_moving, with_rested


@compiled
def leave(kind, X, csr, i, direction, bound, lam_n, moving, rested):
    """The one of the three above that fits X."""
    values, indices, indptr = csr
    if kind == SPARSE:
        row = slice(indptr[i], indptr[i + 1])
        return leave_sparse(values[row], indices[row], direction, bound, lam_n, moving, rested)
    if kind == GRAM:
        return leave_gram(X, i, direction, bound, lam_n, moving, rested)
    return leave_dense(X[i], direction, bound, lam_n, moving, rested)


@compiled
def first_maximum(kind, X, csr, order, directions, moving, rested, blocks, square, lam, lam_n):
    """eta at the first maximum of the dual along the bent path.

    order: the blocks with a positive slope, by limit; limits that are equal to rounding leave M
    together. blocks: (slopes, limits, norms |l_i|^2, ridge terms r_i |d_i|^2), one entry a sample.
    square is |M|^2. On return M and R are those at eta.
    """
    slopes, limits, norms, ridges = blocks
    slope, ridge, cross = 0.0, 0.0, 0.0
    for i in order:
        slope += slopes[i]
        ridge += ridges[i]
    n, place, eta = len(slopes), 0, 0.0
    while place < len(order):
        rise, bend = slope / n - lam * cross, lam * square + ridge / n
        if rise <= eta * bend:
            return eta
        limit = limits[order[place]]
        if rise <= limit * bend:
            return rise / bend
        while place < len(order) and limits[order[place]] <= limit * (1.0 + TIES):
            i = order[place]
            eta = limits[i]
            with_moving, with_rested = leave(
                kind, X, csr, i, directions[i], eta, lam_n, moving, rested
            )
            cross += eta * (with_moving - norms[i]) - with_rested
            square += norms[i] - 2.0 * with_moving
            slope -= slopes[i]
            ridge -= ridges[i]
            place += 1
    return eta
