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
from fwlab.kernels.isotonic import decreasing_fit, spread_pool
from fwlab.kernels.sorting import sort_descending

NEWTON_STEPS = 100


@kernel
def _fit(b, weights, zeta, scratch, fit, sizes):
    """Decreasing fit of b - zeta weights; the number of its pools."""
    for j in range(len(b)):
        scratch[j] = b[j] - zeta * weights[j]
    return decreasing_fit(scratch, fit, sizes)


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
def _slope_of_pools(fit, weights, sizes, pools, start, stop, residual):
    """On [start, stop): sum of w (fit - v_y), sum of w, and over pools of (sum of w)^2 / size."""
    slope, weight, curvature = 0.0, 0.0, 0.0
    end = 0
    for pool in range(pools):
        left, end = max(end, start), end + sizes[pool]
        right = min(end, stop)
        if left < right:
            pool_weight = weights[left:right].sum()
            slope += pool_weight * (fit[left] - residual)
            weight += pool_weight
            curvature += pool_weight * pool_weight / (right - left)
    return slope, weight, curvature


@kernel
def _spread_pools(b, weights, zeta, sizes, pools, start, stop, scratch, beta):
    """beta = b - fit on [start, stop), a pool at a time."""
    end = 0
    for pool in range(pools):
        left, end = end, end + sizes[pool]
        if left < stop and end > start:
            level = zeta * (weights[left:end].sum() / sizes[pool])
            spread_pool(b, left, end, level, scratch)
    beta[start:stop] = scratch[start:stop]


@kernel
def _slope_at_origin(b, upper, lower):
    """Minus half the derivative of the distance at zeta = 0, where A = B = b and v_y = 0."""
    slope = 0.0
    for j in range(len(b)):
        slope += b[j] * (upper[j] if b[j] > 0.0 else lower[j])
    return slope


@kernel
def nearest_in_polytope(b, upper, lower, work, sizes, beta):
    """Nearest beta for sorted b and c_y = 0; returns zeta, 0 for the origin (beta is then not set).

    work (3, m - 1) and sizes (2, m - 1) are scratch. The search for zeta starts at 1, follows
    Newton's steps and halves the bracket where a step would leave it.
    """
    count = len(b)
    if _slope_at_origin(b, upper, lower) <= 0.0:
        return 0.0
    scratch, fit_upper, fit_lower = work[0], work[1], work[2]
    total_lower, scale = lower.sum(), upper.sum()
    size = abs(b[0]) + abs(b[count - 1])
    low, high, zeta = 0.0, 1.0, 1.0
    pools_upper, pools_lower, prefix, suffix, residual = 0, 0, 0, 0, 0.0
    for _ in range(NEWTON_STEPS):
        pools_upper = _fit(b, upper, zeta, scratch, fit_upper, sizes[0])
        pools_lower = _fit(b, lower, zeta, scratch, fit_lower, sizes[1])
        residual, prefix, suffix = _true_class_residual(zeta * total_lower, fit_upper, fit_lower)
        first = _slope_of_pools(fit_upper, upper, sizes[0], pools_upper, 0, prefix, residual)
        last = _slope_of_pools(fit_lower, lower, sizes[1], pools_lower, suffix, count, residual)
        slope = first[0] + last[0]
        rounding = 2e-16 * scale * (size + zeta * scale)
        if abs(slope) <= rounding or (zeta == 1.0 and slope > 0.0):
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
    _spread_pools(b, upper, zeta, sizes[0], pools_upper, 0, prefix, scratch, beta)
    _spread_pools(b, lower, zeta, sizes[1], pools_lower, suffix, count, scratch, beta)
    for j in range(prefix, suffix):
        beta[j] = b[j] - residual
    return zeta


@kernel
def project_row(point, y, upper, lower, order, work, sizes, out):
    """Write the point of the negated domain nearest to `point` into `out`.

    order (m - 1), work (5, m - 1), sizes (2, m - 1) are scratch. Adding a constant to `point` moves
    nothing, because the domain's rows sum to 0: c_y is taken as 0.
    """
    count = len(point) - 1
    rest, b = work[3], work[4]
    for j in range(count):
        rest[j] = point[y] - point[j + (j >= y)]
    sort_descending(rest, order)
    for j in range(count):
        b[j] = rest[order[j]]
    zeta = nearest_in_polytope(b, upper, lower, work, sizes, rest)
    total = 0.0
    for j in range(count):
        beta = max(0.0, rest[j]) if zeta > 0.0 else 0.0
        out[order[j] + (order[j] >= y)] = -beta
        total += beta
    out[y] = total


@kernel
def project_rows(points, y, upper, lower, out):
    """project_row on every row of `points` (n, m)."""
    count = points.shape[1] - 1
    order, sizes = np.empty(count, dtype=np.int64), np.empty((2, count), dtype=np.int64)
    work = np.empty((5, count))
    for i in range(points.shape[0]):
        project_row(points[i], y[i], upper, lower, order, work, sizes, out[i])
