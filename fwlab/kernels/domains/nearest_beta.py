"""The nearest point of the negated domain of a loss, for the sorted entries of a row.

With u_j = -beta_j (j != y) and u_y = sum(beta) the projection of c minimises

    sum_{j != y} (beta_j - b_j)^2 + (sum(beta) - c_y)^2,     b_j = -c_j,

over the polytope of kernels.domains.vertices. Write v = u - c for the residual. For fixed zeta
let A and B be the decreasing isotonic fits of the sorted b - zeta upper and b - zeta lower. Then

    v_j = min(max(v_y, A_j), B_j),     v_y + sum_j v_j = -sum(c),

where the left side grows with v_y: a prefix of the sorted entries stays at A, a suffix at B and
the entries between them at v_y. The optimal zeta is the root in [0, 1], or the nearer end, of

    sum_{prefix} upper_j (A_j - v_y) + sum_{suffix} lower_j (B_j - v_y),

minus half the derivative of the distance: non-increasing and piecewise linear in zeta.
"""

import numpy as np

from fwlab.kernels._jit import chosen_by_type, compiled
from fwlab.kernels.domains.crowd import sum_entries
from fwlab.kernels.domains.isotonic import decreasing_fit, spread_pools
from fwlab.kernels.layouts import LongPolytopeWeights, PolytopeWeights

NEWTON_STEPS = 100


@compiled(inline=True)
def true_class_residual(row, total, fit_upper, fit_lower):
    """Solve v_y + sum_j min(max(v_y, A_j), B_j) = total + sum(B) for v_y.

    Returns v_y, the length of the prefix and the start of the suffix.

    v_y comes down from infinity. When it passes B_j, entry j joins the entries at v_y; when it
    passes A_j, entry j leaves them for the prefix. The unsorted entries of `row` move together.
    """
    count, head, _ = row
    prefix, suffix, slope = 0, 0, 1
    residual = total
    while prefix < count:
        # A_j <= B_j up to rounding, so entry j joins before it leaves
        joins = suffix < count and (suffix == prefix or fit_lower[suffix] >= fit_upper[prefix])
        level = fit_lower[suffix] if joins else fit_upper[prefix]
        if residual >= level:
            break
        if joins:
            size = 1 if suffix < head else count - head
            total += size * level
            slope += size
            suffix += size
        else:
            size = 1 if prefix < head else count - head
            total -= size * level
            slope -= size
            prefix += size
        residual = total / slope
    return residual, prefix, suffix


@compiled(inline=True)
def _slope_of_pools(fit, sizes, pool_weights, start, stop, residual):
    """Return sum w (fit - v_y), sum w and sum w^2 / size over the pools that meet [start, stop)."""
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


@compiled
def slope_at_origin(count, b, upper, lower):
    """Return minus half the derivative of the distance at zeta = 0, where A = B = b and v_y = 0."""
    slope = 0.0
    for j in range(count):
        slope += b[j] * (upper[j] if b[j] > 0.0 else lower[j])
    return slope


@compiled(inline=True)
def _search_zeta(row, start, offset, polytope, scratch):
    """Return best_zeta(..), by Newton's steps; halve the bracket where a step would leave it.

    The search starts at `start`, at most 1 or, near the origin, a bound of the root:
    sum(beta) >= zeta sum(lower), and the projection is no longer than the positive part of b.
    """
    count = row.length
    upper, lower, _, _, sum_upper, sum_lower = polytope
    fit_upper, fit_lower, sums_upper, sums_lower, sizes_upper, sizes_lower, _, b, _ = scratch
    prefix, suffix, residual = 0, 0, 0.0
    if slope_at_origin(row.head, b, upper, lower) + offset <= 0.0:
        return 0.0, residual, prefix, suffix
    size = abs(b[0]) + abs(b[count - 1] if row.head == count else row.mean)
    most = 1.0
    if sum_lower > 0.0:
        most = min(1.0, 1.001 * np.sqrt(count) * b[0] / sum_lower)
    zeta = min(start, most)
    low, high = 0.0, np.inf
    for _ in range(NEWTON_STEPS):
        decreasing_fit(row, b, upper, zeta, fit_upper, sizes_upper, sums_upper)
        decreasing_fit(row, b, lower, zeta, fit_lower, sizes_lower, sums_lower)
        residual, prefix, suffix = true_class_residual(row, zeta * sum_lower, fit_upper, fit_lower)
        first = _slope_of_pools(fit_upper, sizes_upper, sums_upper, 0, prefix, residual)
        last = _slope_of_pools(fit_lower, sizes_lower, sums_lower, suffix, count, residual)
        slope = first[0] + last[0] + offset
        weight = first[1] + last[1]
        rounding = 2e-16 * weight * (size + zeta * sum_upper)
        if abs(slope) <= rounding or (zeta == most and slope > 0.0):
            break
        if slope > 0.0:
            low = zeta
        else:
            high = zeta
        curvature = first[2] + last[2] + weight * weight / (1 + suffix - prefix)
        new = min(most, zeta + slope / curvature)
        if new == zeta:
            break
        if not low < new < high:
            new = 0.5 * (low + high)
        if new == low or new == high:
            break
        zeta = new
    return zeta, residual, prefix, suffix


@compiled
def _search_zeta_apart(row, start, offset, polytope, scratch):
    """Return _search_zeta(..); the callers in a kernel share its code."""
    return _search_zeta(row, start, offset, PolytopeWeights(*polytope), scratch)


def best_zeta(row, start, offset, polytope, scratch):
    """Return the best zeta for c_y = 0 and the candidates b, with its v_y, prefix and suffix.

    `start` is the first zeta to try, and `offset` the part that large_entries.shorten_gaps has
    taken from the slope in zeta. The fits at this zeta and their pools stay in the scratch.
    zeta = 0 stands for the origin; nothing else is then set.
    """
    search = _search_zeta_apart if isinstance(polytope, LongPolytopeWeights) else _search_zeta
    return search(row, start, offset, polytope, scratch)


@chosen_by_type(best_zeta)
def _search_of_type(row, start, offset, polytope, scratch):
    long = polytope.instance_class is LongPolytopeWeights
    return _search_zeta_apart if long else _search_zeta


@compiled(inline=True)
def write_beta(row, zeta, residual, prefix, suffix, scratch):
    """Write the beta of the zeta that best_zeta has found."""
    _, _, sums_upper, sums_lower, sizes_upper, sizes_lower, beta, b, _ = scratch
    count, head, _ = row
    spread_pools(b, zeta, sizes_upper, sums_upper, 0, prefix, beta)
    spread_pools(b, zeta, sizes_lower, sums_lower, suffix, count, beta)
    for j in range(prefix, suffix):
        beta[j] = b[j] - residual
    # the sum of the levels in v_y has lost the digits in which b is larger than beta
    total = 0.0
    for j in range(head):
        total += beta[j]
    if head < count:
        total += sum_entries(beta, head, count)
    correction = (total - residual) / (1 + suffix - prefix)
    for j in range(prefix, suffix):
        beta[j] -= correction


@compiled(inline=True)
def nearest_in_polytope(row, offset, polytope, scratch):
    """Write the nearest beta for c_y = 0 and the candidates b, unless zeta is 0; return zeta."""
    zeta, residual, prefix, suffix = best_zeta(row, 1.0, offset, polytope, scratch)
    if zeta > 0.0:
        write_beta(row, zeta, residual, prefix, suffix, scratch)
    return zeta
