"""Generalised Jacobian of the projection onto the negated domain, row by row.

Near a point c that is no kink, kernels.domains.projection ends with zeta at the same end of [0, 1]
or inside it, and with the same pools: the pools of the fit at `upper` for a prefix of the sorted
entries, the pools of the fit at `lower` for a suffix, and one pool of y with all entries between
them. The residual v = u - c is constant on each pool; w is the rate at which it falls with zeta:

    v = -Pi c - zeta w,    w = the mean of upper, or of lower, over each pool, and sum(w) = 0,

Pi the mean over each pool. If the distance is stationary in zeta, <w, v> = 0, so
zeta = -<w, c> / |w|^2. If it would still fall beyond zeta = 1, the last term is absent:

    u = J c + constant,    J = I - Pi + w w^T / |w|^2.

J is 0 where u = 0. It is an orthogonal projection of rank at most m - 1. Entrywise losses have
lower = 0 and end at zeta = 1: J = I - Pi, the suffix consists of entries of their own, at 0. At a
kink J belongs to one of the pieces that meet there, an element of Clarke's generalised Jacobian.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.large_entries import shorten_gaps
from fwlab.kernels.domains.nearest_beta import best_zeta
from fwlab.kernels.domains.projection import make_projection_scratch, sorted_candidates
from fwlab.kernels.layouts import Candidates
from fwlab.kernels.products.blocks import dot

# the fractional parts of the multiples of this number are evenly spread
GOLDEN = 0.6180339887498949


@compiled
def _label_pools(y, order, sizes, pool_weights, start, stop, pools, rate):
    """Write the pools of sorted entries [start, stop) by class; return the sum of their weights."""
    end, pool, total = 0, 0, 0.0
    while end < stop:
        left, end = max(end, start), end + sizes[pool]
        mean = pool_weights[pool] / sizes[pool]
        pool += 1
        first = order[left] if left < end else 0
        for j in range(left, min(end, stop)):
            column = order[j] + (order[j] >= y)
            pools[column] = first + (first >= y)
            rate[column] = mean
            total += mean
    return total


@compiled(inline=True)
def _leave_kinks(count, size, b):
    """Move the sorted candidates by some 1e-10 of their size, all differently, in the same order.

    The next point is then no kink. A candidate that is left out moves down further than all others.
    """
    unit = 1e-10 * (abs(b[0]) + abs(b[count - 1]) + size)
    for place in range(count):
        b[place] -= unit * (place + (place * GOLDEN) % 1.0)


@compiled
def jacobian_row(point, y, polytope, scratch, pools, normal):
    """Write J next to `point` as pools (m) and normal (m); return whether it is not 0.

    pools[j] names the pool of class j by one of its classes; normal is w / |w|, or 0 where zeta is
    fixed.
    """
    for j in range(len(point)):
        pools[j] = j
    normal[:] = 0.0
    fit_upper, fit_lower, sums_upper, sums_lower, sizes_upper, sizes_lower, _, b, order = scratch
    _, _, _, n_lower, sum_upper, _ = polytope
    count = sorted_candidates(point, y, polytope, len(point), scratch)
    if count == 0:
        return False
    row = Candidates(count, count, 0.0)
    slope = shorten_gaps(count, polytope, b)
    _leave_kinks(count, sum_upper, b)
    zeta, residual, prefix, suffix = best_zeta(row, 1.0, slope, polytope, scratch)
    if zeta == 0.0:
        return False
    rounding = 1e-14 * (abs(b[0]) + abs(b[count - 1]) + sum_upper)
    total = _label_pools(y, order, sizes_upper, sums_upper, 0, prefix, pools, normal)
    total += _label_pools(y, order, sizes_lower, sums_lower, suffix, count, pools, normal)
    for j in range(prefix, suffix):
        pools[order[j] + (order[j] >= y)] = y
    free = False
    for j in range(len(point)):
        free = free or pools[j] != j
        if pools[j] == y:
            normal[j] = -total / (1 + suffix - prefix)
    for j in range(count):
        if j < prefix or j >= suffix:
            fit = fit_upper[j] if j < prefix else fit_lower[j]
            slope += normal[order[j] + (order[j] >= y)] * (fit - residual)
    norm = np.sqrt(dot(normal, normal))
    entrywise = n_lower == 0 and zeta == 1.0
    if norm == 0.0 or entrywise or (zeta == 1.0 and slope > rounding * sum_upper):
        normal[:] = 0.0
        return free
    for j in range(len(normal)):
        normal[j] /= norm
    return True


@compiled(allocates=True)
def jacobian_rows(points, y, polytope, pools, normals, free):
    """Write J next to each row of `points` (n, m), and whether it is not 0."""
    scratch = make_projection_scratch(points.shape[1])
    for i in range(points.shape[0]):
        free[i] = jacobian_row(points[i], y[i], polytope, scratch, pools[i], normals[i])


@compiled
def pool_sizes(pools, sizes):
    """Set sizes[p] to the number of classes in pool p."""
    sizes[:] = 0
    for j in range(len(pools)):
        sizes[pools[j]] += 1


@compiled
def apply_jacobian(pools, normal, sizes, touched, v, sums, out):
    """Set out = J v on the classes `touched`, outside of which J is 0. sums (m) is scratch."""
    slope = 0.0
    for j in touched:
        sums[pools[j]] = 0.0
    for j in touched:
        sums[pools[j]] += v[j]
        slope += normal[j] * v[j]
    for j in touched:
        pool = pools[j]
        out[j] = slope * normal[j]
        if sizes[pool] > 1:
            out[j] += v[j] - sums[pool] / sizes[pool]


@compiled(allocates=True)
def apply_jacobians(pools, normals, V, out):
    """Set out[i] = J_i V[i]."""
    m = V.shape[1]
    sums, sizes, classes = np.empty(m), np.empty(m, dtype=np.int64), np.arange(m)
    for i in range(V.shape[0]):
        pool_sizes(pools[i], sizes)
        apply_jacobian(pools[i], normals[i], sizes, classes, V[i], sums, out[i])


@compiled(allocates=True)
def jacobian_diagonals(pools, normals, out):
    """Set out[i] to the diagonal of J_i."""
    sizes = np.empty(pools.shape[1], dtype=np.int64)
    for i in range(pools.shape[0]):
        pool_sizes(pools[i], sizes)
        for j in range(pools.shape[1]):
            out[i, j] = 1.0 - 1.0 / sizes[pools[i, j]] + normals[i, j] ** 2
