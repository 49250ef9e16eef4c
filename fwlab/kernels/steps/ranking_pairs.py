"""The best partner of one coordinate in pairwise ascent on a ranking dual (M20 Algorithm 3.1).

Variables are (alpha, beta), p positives first; s are the signed scores Q (alpha; beta). A pair of
one kind moves by (+step, -step), an alpha with a beta by (+step, +step), M20 (17). Along a pair the
dual gains

    step slope - step^2/2 curvature - follow (r after - r before),   low <= step <= high,

where r is max(beta), and the last term exists only for the hinge Pat&Mat, whose delta is
max(beta)/theta2. That term is piecewise linear in the step, with kinks where a moved beta meets the
largest other one. The gain is therefore greatest at the vertex of one of the pieces, clipped to the
piece (M20 Theorem D.2 omits the kinks). For all other objectives the quadratic has one piece
(Theorems 3.1, C.1 and D.1; in the bounds of D.1 minima and maxima are interchanged).
"""

import numpy as np

from fwlab.kernels._jit import compiled


@compiled
def largest_entries(beta):
    """Return the positions of the three largest entries, -1 where there are fewer."""
    first, second, third = -1, -1, -1
    for j in range(len(beta)):
        if first < 0 or beta[j] > beta[first]:
            first, second, third = j, first, second
        elif second < 0 or beta[j] > beta[second]:
            second, third = j, second
        elif third < 0 or beta[j] > beta[third]:
            third = j
    return first, second, third


@compiled
def largest_other(beta, largest, i, j):
    """Return the largest entry outside the positions i and j, 0 if there is none."""
    for place in largest:
        if place >= 0 and place != i and place != j:
            return beta[place]
    return 0.0


@compiled
def step_bounds(k, j, z, p, dual, total, other):
    """Return the least and the largest step at which the constraints hold."""
    most, share = dual.most, dual.share
    if j < p:
        return max(-z[k], z[j] - most), min(most - z[k], z[j])
    if k >= p:
        low, high = -z[k], z[j]
        if share > 0.0:
            low, high = max(low, z[j] - share * total), min(high, share * total - z[k])
        return low, high
    low, high = max(-z[k], -z[j]), most - z[k]
    if share > 0.0:
        low = max(low, other / share - total)
        high = min(high, (share * total - z[j]) / (1.0 - share))
    return low, high


@compiled
def best_step(slope, curvature, low, high):
    """Return the best step of a concave quadratic between bounds; 0 where there is no room.

    A pair moves both ways, hence two bounds; kernels.steps.exact_step starts at 0.
    """
    if high <= low:
        return 0.0
    if curvature > 0.0:
        return min(max(slope / curvature, low), high)
    if slope == 0.0:
        return 0.0
    return high if slope > 0.0 else low


@compiled
def best_bent_step(slope, curvature, low, high, grow, shrink, other, follow):
    """Return the best step and its gain with -follow max(other, grow + step, shrink - step) added.

    shrink is -inf where one beta moves.
    """
    best, gain = 0.0, 0.0
    before = max(other, grow, shrink)
    up, down = max(other - grow, (shrink - grow) / 2), min(shrink - other, (shrink - grow) / 2)
    for piece in range(3):
        left, right, tilt = low, high, 0.0
        if piece == 0:
            left, right = max(low, shrink - other), min(high, other - grow)
        elif piece == 1:
            left, tilt = max(low, up), -follow
        else:
            right, tilt = min(high, down), follow
        if left > right:
            continue
        vertex = (
            (slope + tilt) / curvature if curvature > 0.0 else np.copysign(np.inf, slope + tilt)
        )
        step = min(max(vertex, left), right)
        after = max(other, grow + step, shrink - step)
        value = step * slope - step * step * curvature / 2 - follow * (after - before)
        if value > gain:
            best, gain = step, value
    return best, gain


@compiled
def best_pair(k, column, diagonal, s, z, p, dual, total):
    """Return the partner of coordinate k, its step and gain: (-1, 0, 0) where no pair gains.

    `column` is column k of the signed kernel matrix and `diagonal` its diagonal; `dual` is a
    layouts.RankingDual and `total` sum(alpha).
    """
    beta = z[p:]
    needs_other = dual.share > 0.0 or dual.follow > 0.0
    largest = largest_entries(beta) if needs_other else (-1, -1, -1)
    own_slope, own_curvature = slope_at(k, s, z, p, dual), curvature_at(k, p, dual)
    partner, step, gain = -1, 0.0, 0.0
    for mate in range(len(z)):
        if mate == k:
            continue
        i, j = min(k, mate), max(k, mate)
        sign = 1.0 if i < p <= j else -1.0
        curvature = max(diagonal[k] + diagonal[mate] + 2.0 * sign * column[mate], 0.0)
        curvature += own_curvature + curvature_at(mate, p, dual)
        slope = slope_at(mate, s, z, p, dual)
        slope = own_slope + sign * slope if k < mate else slope + sign * own_slope
        other = 0.0
        if needs_other and j >= p:
            other = largest_other(beta, largest, i - p, j - p)
        low, high = step_bounds(i, j, z, p, dual, total, other)
        if dual.follow > 0.0 and j >= p:
            if i < p:
                found = best_bent_step(
                    slope, curvature, low, high, z[j], -np.inf, other, dual.follow
                )
            else:
                found = best_bent_step(slope, curvature, low, high, z[i], z[j], other, dual.follow)
        else:
            found_step = best_step(slope, curvature, low, high)
            found = (found_step, found_step * slope - found_step * found_step * curvature / 2)
        if found[1] > gain:
            partner, step, gain = mate, found[0], found[1]
    return partner, step, gain


@compiled
def slope_at(i, s, z, p, dual):
    """Return the derivative of the dual in coordinate i, at fixed delta."""
    if i < p:
        return dual.alpha_slope - s[i] - dual.alpha_curvature * z[i]
    return dual.beta_slope - s[i] - dual.beta_curvature * z[i]


@compiled
def curvature_at(i, p, dual):
    """Return minus the second derivative in coordinate i, without the Mercer kernel's part."""
    return dual.alpha_curvature if i < p else dual.beta_curvature
