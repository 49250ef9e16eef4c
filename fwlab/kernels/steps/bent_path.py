"""The bent path of one step for all blocks, and the first maximum of the dual along it.

With step eta block i stands at a_i + min(eta, b_i) d_i, b_i its largest feasible step. Let P be the
blocks with b_i > eta, l_i = d_i x_i^T / (lam n) the link of block i's direction, M the sum of l_i
over P and R the sum of b_i l_i over the others. Between two bounds the dual is a parabola,

    slope(eta) = (1/n) sum_P (g_i - eta r_i |d_i|^2) - lam <R + eta M, M>,

g_i the slope of block i at eta = 0, r_i its ridge. When block i reaches its bound, M loses l_i and
R gains b_i l_i: a change of rank one in the classes that d_i touches. M (`moving`) and R (`rested`)
are stored as links are, transposed for CSR rows, times K for a Gram matrix.
"""

from fwlab.kernels._jit import compiled
from fwlab.kernels.layouts import Block
from fwlab.kernels.products.blocks import add_multiple, dot
from fwlab.kernels.steps.active_sets import move_row, row_direction
from fwlab.kernels.steps.block import make_block_scratch
from fwlab.kernels.steps.pairwise_rule import TIES

DENSE, SPARSE, GRAM = 0, 1, 2


@compiled(allocates=True)
def choose_directions(pairwise, scores, dual, sets, A, directions):
    """Write the direction of every row; the LMO's vertices are left in the free slots.

    A row without sample weight has no ridge.
    """
    scratch = make_block_scratch(A.shape[1], dual.weights.n_upper)
    y, costs, cost_rows, _, _ = dual.polytopes
    D, slots, slopes, limits = directions
    for i in range(len(y)):
        omega, cost = dual.omega[i], costs[cost_rows[i]]
        ridge = dual.smoothing / omega if omega > 0.0 else 0.0
        block = Block(i, y[i], cost, omega, dual.curvatures[i], ridge)
        slots[i, 0], slots[i, 1], slopes[i], limits[i] = row_direction(
            pairwise, scores[i], block, dual.weights, scratch, sets, A[i], D[i]
        )


@compiled
def move_rows(sets, slots, steps, limits, y, A):
    """Move every row by its step."""
    for i in range(len(y)):
        move_row(sets, i, slots[i, 0], slots[i, 1], steps[i], limits[i], y[i], A[i])


@compiled
def leave_dense(x, direction, bound, lam_n, moving, rested):
    """Take a block from M to R; return <M, l_i> and <R, l_i> before."""
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
    """Do what leave_dense does for a row with few non-zeros, with M and R transposed."""
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
    """Do what leave_dense does where column i of M K and R K holds the products with x_i."""
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
def leave(data, i, direction, bound, lam_n, moving, rested):
    """Take block i from M to R, for any kind of X."""
    kind, X, csr = data
    if kind == SPARSE:
        row = slice(csr.indptr[i], csr.indptr[i + 1])
        values, indices = csr.values[row], csr.indices[row]
        return leave_sparse(values, indices, direction, bound, lam_n, moving, rested)
    if kind == GRAM:
        return leave_gram(X, i, direction, bound, lam_n, moving, rested)
    return leave_dense(X[i], direction, bound, lam_n, moving, rested)


@compiled
def first_maximum(data, order, path, moving, rested, square, lam, lam_n):
    """Return eta at the first maximum of the dual along the bent path; M and R follow to eta.

    order: the blocks with a positive slope, by limit; limits that are equal to rounding leave M
    together. square is |M|^2.
    """
    directions, link_norms, ridges = path
    slopes, limits = directions.slopes, directions.limits
    slope, ridge, cross = 0.0, 0.0, 0.0
    for i in order:
        slope += slopes[i]
        ridge += ridges[i]
    n, place, eta = len(slopes), 0, 0.0
    while place < len(order):
        rise, curvature = slope / n - lam * cross, lam * square + ridge / n
        # not exact_step: at the limit the path bends and goes on
        if rise <= eta * curvature:
            return eta
        limit = limits[order[place]]
        if rise <= limit * curvature:
            return rise / curvature
        while place < len(order) and limits[order[place]] <= limit * (1.0 + TIES):
            i = order[place]
            eta = limits[i]
            with_moving, with_rested = leave(data, i, directions.D[i], eta, lam_n, moving, rested)
            cross += eta * (with_moving - link_norms[i]) - with_rested
            square += link_norms[i] - 2.0 * with_moving
            slope -= slopes[i]
            ridge -= ridges[i]
            place += 1
    return eta
