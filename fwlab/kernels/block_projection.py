"""Exact Euclidean projection of a row onto the negated effective domain of a loss.

With u_j = -beta_j (j != y) and u_y = sum(beta) the projection of c minimises

    sum_{j != y} (beta_j - b_j)^2 + (sum(beta) - c_y)^2,     b_j = -c_j,

over the polytope of kernels.support. Write v = u - c for the residual. For fixed zeta let A and B
be the decreasing isotonic fits of the sorted b - zeta upper and b - zeta lower. Then

    v_j = min(max(v_y, A_j), B_j),     v_y + sum_j v_j = -sum(c),

where the left side grows with v_y: a prefix of the sorted entries stays at A, a suffix at B and
the entries between them at v_y. The optimal zeta is the root in [0, 1], or the nearer end, of

    sum_{prefix} upper_j (A_j - v_y) + sum_{suffix} lower_j (B_j - v_y),

minus half the derivative of the distance: non-increasing and piecewise linear in zeta.
"""

import numpy as np

from fwlab.kernels._jit import kernel
from fwlab.kernels.isotonic import decreasing_fit, spread_pools
from fwlab.kernels.sorting import INSERTION_LENGTH, select_largest, sort_indices

NEWTON_STEPS = 100


@kernel
def _true_class_residual(total, fit_upper, fit_lower):
    """Solve v_y + sum_j min(max(v_y, A_j), B_j) = total + sum(B); return v_y, prefix, suffix start.

    v_y comes down from infinity: each B_j it passes joins the entries at v_y, and each A_j it
    passes leaves them for the prefix.
    """
    prefix, suffix, slope = 0, 0, 1
    residual = total
    count = len(fit_upper)
    while prefix < count:
        # A_j <= B_j but for rounding, so entry j joins before it leaves
        joins = suffix < count and (suffix == prefix or fit_lower[suffix] >= fit_upper[prefix])
        level = fit_lower[suffix] if joins else fit_upper[prefix]
        if residual >= level:
            break
        if joins:
            total += level
            slope += 1
            suffix += 1
        else:
            total -= level
            slope -= 1
            prefix += 1
        residual = total / slope
    return residual, prefix, suffix


@kernel
def _slope_of_pools(fit, sizes, pool_weights, start, stop, residual):
    """Over the pools that meet [start, stop): sum w (fit - v_y), sum w, and sum w^2 / size."""
    slope, weight, curvature = 0.0, 0.0, 0.0
    end, pool = 0, 0
    while end < stop:
        left, end = end, end + sizes[pool]
        w = pool_weights[pool]
        if end > start and w != 0.0:
            slope += w * (fit[left] - residual)
            weight += w
            curvature += w * w / sizes[pool]
        pool += 1
    return slope, weight, curvature


@kernel
def _slope_at_origin(b, upper, lower):
    """Minus half the derivative of the distance at zeta = 0, where A = B = b and v_y = 0."""
    slope = 0.0
    for j in range(len(b)):
        slope += b[j] * (upper[j] if b[j] > 0.0 else lower[j])
    return slope


@kernel
def nearest_in_polytope(b, bounds, work, sizes, beta):
    """Nearest beta for sorted b and c_y = 0; returns zeta, 0 for the origin (beta is then not set).

    work (4, m - 1) and sizes (2, m - 1) are scratch. The search for zeta follows Newton's
    steps and halves the bracket where a step would leave it. It starts at 1 or, near the origin, at
    a bound of the root: sum(beta) >= zeta sum(lower), and the projection is no longer than the
    positive part of b.
    """
    count = len(b)
    upper, lower, total_upper, total_lower = (
        bounds[0][:count],
        bounds[1][:count],
        bounds[4],
        bounds[5],
    )
    if _slope_at_origin(b, upper, lower) <= 0.0:
        return 0.0
    fit_upper, fit_lower = work[0, :count], work[1, :count]
    sums_upper, sums_lower = work[2, :count], work[3, :count]
    size = abs(b[0]) + abs(b[count - 1])
    zeta = 1.0
    if total_lower > 0.0:
        zeta = min(1.0, 1.001 * np.sqrt(count) * b[0] / total_lower)
    low, high = 0.0, zeta
    prefix, suffix, residual = 0, 0, 0.0
    for _ in range(NEWTON_STEPS):
        decreasing_fit(b, upper, zeta, fit_upper, sizes[0], sums_upper)
        decreasing_fit(b, lower, zeta, fit_lower, sizes[1], sums_lower)
        residual, prefix, suffix = _true_class_residual(zeta * total_lower, fit_upper, fit_lower)
        first = _slope_of_pools(fit_upper, sizes[0], sums_upper, 0, prefix, residual)
        last = _slope_of_pools(fit_lower, sizes[1], sums_lower, suffix, count, residual)
        slope = first[0] + last[0]
        rounding = 2e-16 * total_upper * (size + zeta * total_upper)
        if abs(slope) <= rounding or (zeta == high and slope > 0.0):
            break
        if slope > 0.0:
            low = zeta
        else:
            high = zeta
        curvature = first[2] + last[2] + (first[1] + last[1]) ** 2 / (1 + suffix - prefix)
        new = zeta + slope / curvature
        if new == zeta:
            break
        zeta = new if low < new < high else 0.5 * (low + high)
    spread_pools(b, zeta, sizes[0], sums_upper, 0, prefix, beta)
    spread_pools(b, zeta, sizes[1], sums_lower, suffix, count, beta)
    for j in range(prefix, suffix):
        beta[j] = b[j] - residual
    return zeta


@kernel
def _candidates(rest, lower, n_lower, order):
    """Put the entries that can differ from 0 to the front of `order`, descending; their number.

    With c_y = 0, v_y = sum(beta) >= 0, and an entry at 0 has residual b_j <= v_y. An entry with
    b_j <= 0 is positive only in a pool of the fit of b - zeta lower that reaches into `lower`; such
    a pool's level is at least the n_lower-th largest entry minus lower_1, by the min-max formula.
    """
    bound = 0.0
    if n_lower > INSERTION_LENGTH:
        bound = -np.inf
    elif n_lower > 0:
        select_largest(rest, order[:n_lower])
        bound = min(0.0, rest[order[n_lower - 1]] - lower[0])
    count = 0
    for j in range(len(rest)):
        order[count] = j
        count += rest[j] > bound
        if count == len(rest):
            break
    sort_indices(rest, order[:count])
    return count


@kernel
def project_row(point, y, bounds, order, work, sizes, out):
    """Write the point of the negated domain nearest to `point` into `out`.

    bounds are RowPolytopes.bounds; order (m - 1), work (6, m - 1), sizes (2, m - 1) are scratch.
    Adding a constant to `point` moves nothing, because the domain's rows sum to 0: c_y is taken
    as 0.
    """
    rest = work[4]
    for j in range(len(rest)):
        rest[j] = point[y] - point[j + (j >= y)]
    out[:] = 0.0
    count = _candidates(rest, bounds[1], bounds[3], order)
    if count == 0:
        return
    b = work[5, :count]
    for j in range(count):
        b[j] = rest[order[j]]
    zeta = nearest_in_polytope(b, bounds, work, sizes, rest)
    if zeta == 0.0:
        return
    total = 0.0
    for j in range(count):
        beta = max(0.0, rest[j])
        out[order[j] + (order[j] >= y)] = -beta
        total += beta
    out[y] = total


@kernel
def project_rows(points, y, bounds, out):
    """project_row on every row of `points` (n, m)."""
    count = points.shape[1] - 1
    order, sizes = np.empty(count, dtype=np.int64), np.empty((2, count), dtype=np.int64)
    work = np.empty((6, count))
    for i in range(points.shape[0]):
        project_row(points[i], y[i], bounds, order, work, sizes, out[i])
