"""Block steps with a block norm: one row a_i of A, the scores <v_j, x_i> at hand.

Along a_i = old + d, and with s_j = |v_j|^2, kappa = |x_i|^2 / (lam n) and L = lam n, n times minus
the dual is, up to a constant,

    L/2 |s(d)|_{q/2} + <delta, d> + ridge/2 |old + d|^2,
    s_j(d) = s_j + (2 d_j <v_j, x_i> + d_j^2 kappa) / L,      derivative beta_j(s) <v_j, x_i> + ..

with beta as in fwlab.lp_norm. `row` is (y, omega, kappa, ridge). At fixed class weights it is
quadratic and separable, h_j = beta_j kappa + ridge. `full_block` takes h_j from the second
derivatives at the row's s, without those between classes, and finds the length of the step that
results by line search, so that the dual cannot fall.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.metric_projection import project_in_metric
from fwlab.kernels.domains.projection import make_projection_scratch

# the metric counts v_j as at least as long as a change of a_ij by this part of its range makes it
REACH = 0.3
LEAST_METRIC = 1e-12
SEARCH_STEPS = 60
# of the slope at the start: where the search may end, and what rounding makes of a slope of 0
FLAT = 0.05
LEVEL = 1e-12


@compiled(allocates=True)
def make_norm_scratch(m):
    """Scratch of a block step: linear terms, metric, direction, class weights, changed squares, and
    those of the projection."""
    vectors = np.empty((5, m))
    return vectors, (np.empty(m), np.empty(m), np.empty(m), make_projection_scratch(m))


@compiled
def power_weights(squares, q, out):
    """out = beta, 0 where v_j = 0."""
    largest = 0.0
    for j in range(len(squares)):
        largest = max(largest, squares[j])
    out[:] = 0.0
    if largest == 0.0:
        return
    total = 0.0
    for j in range(len(squares)):
        share = squares[j] / largest
        if share > 0.0:
            out[j] = 1.0 if q == 2.0 else share ** (0.5 * q - 1.0)
            total += share * out[j]
    factor = 1.0 if q == 2.0 else total ** (2.0 / q - 1.0)
    for j in range(len(squares)):
        out[j] *= factor


@compiled
def _write_linear(scores, beta, costs, y, ridge, old, linear):
    for j in range(len(old)):
        linear[j] = beta[j] * scores[j] + ridge * old[j] + (costs[j] if j != y else 0.0)


@compiled
def _lift(metric):
    """No entry below a small part of the largest."""
    largest = 0.0
    for j in range(len(metric)):
        largest = max(largest, metric[j])
    for j in range(len(metric)):
        metric[j] = max(metric[j], LEAST_METRIC * largest)


@compiled
def weighted_block(scores, costs, row, bounds, beta, scratch, old, new):
    """new = the maximiser at fixed class weights, or an approach to it (project_in_metric)."""
    vectors, projection = scratch
    linear, metric = vectors[0], vectors[1]
    y, weight, curvature, ridge = row
    _write_linear(scores, beta, costs, y, ridge, old, linear)
    for j in range(len(old)):
        metric[j] = beta[j] * curvature + ridge
    _lift(metric)
    project_in_metric(linear, metric, old, y, weight, bounds, projection, new)


@compiled
def full_block(scores, costs, row, bounds, lam_n, q, squares, scratch, old, new):
    """new = the row after its step on the full dual; squares follow."""
    vectors, projection = scratch
    linear, metric, direction, beta, moved = vectors
    y, weight, curvature, ridge = row
    reach = (REACH * weight * bounds[4]) ** 2 * curvature / lam_n
    for j in range(len(old)):
        moved[j] = squares[j] + reach
    power_weights(moved, q, metric)
    for j in range(len(old)):
        bend = curvature
        if q > 2.0 and moved[j] > 0.0:
            bend += (q - 2.0) * scores[j] ** 2 / (moved[j] * lam_n)
        metric[j] = metric[j] * bend + ridge
    _lift(metric)
    power_weights(squares, q, beta)
    _write_linear(scores, beta, costs, y, ridge, old, linear)
    project_in_metric(linear, metric, old, y, weight, bounds, projection, new)
    slope, longest = 0.0, 0.0
    for j in range(len(old)):
        direction[j] = new[j] - old[j]
        slope += linear[j] * direction[j]
        longest = max(longest, abs(direction[j]))
    step = 0.0
    if longest > 0.0 and slope < 0.0:
        # without the class weights' part, which moves with the step
        fixed = slope
        for j in range(len(old)):
            fixed -= beta[j] * scores[j] * direction[j]
        step = _search(
            scores, direction, squares, slope, fixed, curvature, ridge, lam_n, q, moved, beta
        )
    for j in range(len(old)):
        change = step * direction[j]
        new[j] = old[j] + change if step < 1.0 else new[j]
        grown = (2.0 * change * scores[j] + change**2 * curvature) / lam_n
        squares[j] = max(0.0, squares[j] + grown)


@compiled
def _search(scores, direction, squares, start, fixed, curvature, ridge, lam_n, q, moved, beta):
    """The step in [0, 1] along the direction, up to a slope of FLAT times that at the start: never
    beyond the minimum."""
    low, high, slope_low, slope_high = 0.0, 1.0, start, 0.0
    step = 1.0
    for _ in range(SEARCH_STEPS):
        for j in range(len(squares)):
            change = step * direction[j]
            grown = (2.0 * change * scores[j] + change**2 * curvature) / lam_n
            moved[j] = max(0.0, squares[j] + grown)
        power_weights(moved, q, beta)
        slope = fixed
        for j in range(len(squares)):
            bend = beta[j] * curvature + ridge
            slope += direction[j] * (beta[j] * scores[j] + step * direction[j] * bend)
        if slope <= -LEVEL * start:
            low, slope_low = step, slope
            if step == 1.0 or slope >= FLAT * start:
                break
        else:
            high, slope_high = step, slope
        share = -slope_low / (slope_high - slope_low)
        step = low + (high - low) * min(0.9, max(0.1, 0.98 * share))
    return low
