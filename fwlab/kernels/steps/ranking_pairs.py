"""The best partner of one coordinate in pairwise ascent on a ranking dual (M20 Algorithm 3.1).

Variables are (alpha, beta), p positives first; s are the signed scores Q (alpha; beta). A pair of
one kind moves by (+step, -step), an alpha with a beta by (+step, +step), M20 (17). Along a pair the
dual gains

    step rise - step^2/2 curve - price (r after - r before),   low <= step <= high,

where the last term is there only for the hinge Pat&Mat, whose delta is max(beta)/theta2. It is
piecewise linear in the step with kinks where a moved beta meets the largest other one, so that the
gain is greatest at the vertex of one of its pieces, clipped to the piece (M20 Theorem D.2 leaves
the kinks out). Elsewhere the quadratic has one piece (Theorems 3.1, C.1 and D.1; in the bounds of
D.1 the minima and maxima stand the wrong way round).
"""

import numpy as np

from fwlab.kernels._jit import compiled

# numbers of a dual in the array `dual`, see ranking.pairwise
ALPHA_SLOPE, BETA_SLOPE, ALPHA_CURVATURE, BETA_CURVATURE, MOST, SHARE, FOLLOW = range(7)


@compiled
def largest_entries(beta):
    """Positions of the three largest entries, -1 where there are fewer."""
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
    """Largest entry but for the positions i and j, 0 if there is none."""
    for place in largest:
        if place >= 0 and place != i and place != j:
            return beta[place]
    return 0.0


@compiled
def bounds(k, j, z, p, dual, total, other):
    """Steps at which the constraints hold; SHARE = 1/K of beta_j <= sum(alpha)/K, 0 for none."""
    most, share = dual[MOST], dual[SHARE]
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
def best_step(rise, curve, low, high):
    """The best step of a concave quadratic between bounds; 0 where there is no room."""
    if high <= low:
        return 0.0
    if curve > 0.0:
        return min(max(rise / curve, low), high)
    if rise == 0.0:
        return 0.0
    return high if rise > 0.0 else low


@compiled
def best_bent_step(rise, curve, low, high, grow, shrink, other, follow):
    """The same with the term -follow max(other, grow + step, shrink - step); shrink = -inf where
    one beta moves. Returns the step and its gain."""
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
        vertex = (rise + tilt) / curve if curve > 0.0 else np.sign(rise + tilt) * np.inf
        step = min(max(vertex, left), right)
        after = max(other, grow + step, shrink - step)
        value = step * rise - step * step * curve / 2 - follow * (after - before)
        if value > gain:
            best, gain = step, value
    return best, gain


@compiled
def best_pair(k, column, diagonal, s, z, p, dual, total):
    """The partner of coordinate k, its step and gain: (-1, 0, 0) where no pair gains.

    `column` is that of k in the signed kernel matrix, `total` is sum(alpha).
    """
    beta = z[p:]
    largest = largest_entries(beta)
    partner, step, gain = -1, 0.0, 0.0
    for mate in range(len(z)):
        if mate == k:
            continue
        i, j = min(k, mate), max(k, mate)
        sign = 1.0 if i < p <= j else -1.0
        curve = max(diagonal[i] + diagonal[j] + 2.0 * sign * column[mate], 0.0)
        rise = slope_at(i, s, z, p, dual) + sign * slope_at(j, s, z, p, dual)
        curve += curvature_at(i, p, dual) + curvature_at(j, p, dual)
        other = largest_other(beta, largest, i - p, j - p)
        low, high = bounds(i, j, z, p, dual, total, other)
        if dual[FOLLOW] > 0.0 and j >= p:
            if i < p:
                found = best_bent_step(rise, curve, low, high, z[j], -np.inf, other, dual[FOLLOW])
            else:
                found = best_bent_step(rise, curve, low, high, z[i], z[j], other, dual[FOLLOW])
        else:
            found_step = best_step(rise, curve, low, high)
            found = (found_step, found_step * rise - found_step * found_step * curve / 2)
        if found[1] > gain:
            partner, step, gain = mate, found[0], found[1]
    return partner, step, gain


@compiled
def slope_at(i, s, z, p, dual):
    """Derivative of the dual in coordinate i, at fixed delta."""
    if i < p:
        return dual[ALPHA_SLOPE] - s[i] - dual[ALPHA_CURVATURE] * z[i]
    return dual[BETA_SLOPE] - s[i] - dual[BETA_CURVATURE] * z[i]


@compiled
def curvature_at(i, p, dual):
    """The part of minus the second derivative that is not the kernel's."""
    return dual[ALPHA_CURVATURE] if i < p else dual[BETA_CURVATURE]
