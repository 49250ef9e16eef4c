"""Block steps with a block norm: one row a_i of A, given its scores <v_j, x_i>.

Along a_i = old + d, and with s_j = |v_j|^2, kappa = |x_i|^2 / (lam n) and L = lam n, n times minus
the dual is, up to a constant,

    L/2 |s(d)|_{q/2} + <delta, d> + ridge/2 |old + d|^2,
    s_j(d) = s_j + (2 d_j <v_j, x_i> + d_j^2 kappa) / L,      derivative beta_j(s) <v_j, x_i> + ..

with beta, the class weights, as in fwlab.lp_norm. At fixed class weights it is quadratic and
separable, h_j = beta_j kappa + ridge. `full_block` takes h_j from the second derivatives at the
row's s, without the mixed ones, and finds the length of its step by line search, so that the dual
cannot fall.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.metric_projection import make_metric_scratch, project_in_metric
from fwlab.kernels.domains.vertices import make_vertex_scratch
from fwlab.kernels.layouts import NormScratch

# the metric adds to |v_j|^2 the effect of a change of a_ij by this part of its range
REACH = 0.3
LEAST_METRIC = 1e-12
# over the range of a_i a metric this small changes the linear term less than its rounding does
LINEAR_PART = 1e-17
# below it 1/h overflows
SMALLEST_METRIC = 1e-300
SEARCH_STEPS = 60
# fractions of the slope at the start: below FLAT the search ends, below LEVEL a slope is 0
FLAT = 0.05
LEVEL = 1e-12


@compiled(allocates=True)
def make_norm_scratch(m, support):
    """Return the scratch of a block-norm step."""
    return NormScratch(
        np.empty(m),
        np.empty(m),
        np.empty(m),
        np.empty(m),
        np.empty(m),
        make_vertex_scratch(m, support),
        make_metric_scratch(m),
    )


@compiled
def power_weights(squares, q, out):
    """Set out = beta, 0 where v_j = 0.

    This is LpNorm.class_weights for compiled code, which needs it several times per row: for ten
    classes it takes 0.2 us here, and some 20 us in numpy.
    """
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
def _write_linear(scores, beta, block, old, linear):
    """Set `linear` to the derivative at `old` for the class weights beta."""
    for j in range(len(old)):
        cost = block.costs[j] if j != block.y else 0.0
        linear[j] = beta[j] * scores[j] + block.ridge * old[j] + cost


@compiled
def _lift(metric, linear, reach):
    """Raise every entry to a small part of the largest, and to what the linear term can notice.

    reach is the largest size of an entry of a_i.
    """
    largest, slope = 0.0, 0.0
    for j in range(len(metric)):
        largest = max(largest, metric[j])
        slope = max(slope, abs(linear[j]))
    least = max(LEAST_METRIC * largest, LINEAR_PART * slope / reach, SMALLEST_METRIC)
    for j in range(len(metric)):
        metric[j] = max(metric[j], least)


@compiled
def weighted_block(scores, block, polytope, beta, scratch, old, new):
    """Set new = the maximiser at fixed class weights beta, as exact as project_in_metric is."""
    linear, metric = scratch.linear, scratch.metric
    _write_linear(scores, beta, block, old, linear)
    for j in range(len(old)):
        metric[j] = beta[j] * block.curvature + block.ridge
    _lift(metric, linear, block.omega * polytope.sum_upper)
    project_in_metric(linear, metric, old, block.y, block.omega, polytope, scratch.projection, new)


@compiled
def full_block(scores, block, dual, norm, scratch, old, new):
    """Set new = the row after its step on the full dual; norm.squares follow."""
    linear, metric, direction, beta, moved, _, projection = scratch
    polytope, lam_n, squares, q = dual.weights, dual.lam_n, norm.squares, norm.q
    size = block.omega * polytope.sum_upper
    reach = (REACH * size) ** 2 * block.curvature / lam_n
    for j in range(len(old)):
        moved[j] = squares[j] + reach
    power_weights(moved, q, metric)
    for j in range(len(old)):
        curvature = block.curvature
        if q > 2.0 and moved[j] * lam_n > 0.0:
            curvature += (q - 2.0) * scores[j] ** 2 / (moved[j] * lam_n)
        metric[j] = metric[j] * curvature + block.ridge
    power_weights(squares, q, beta)
    _write_linear(scores, beta, block, old, linear)
    _lift(metric, linear, size)
    project_in_metric(linear, metric, old, block.y, block.omega, polytope, projection, new)
    slope, longest = 0.0, 0.0
    for j in range(len(old)):
        direction[j] = new[j] - old[j]
        slope += linear[j] * direction[j]
        longest = max(longest, abs(direction[j]))
    step = 0.0
    if longest > 0.0 and slope < 0.0:
        step = _search(scores, block, lam_n, norm, scratch, slope)
    for j in range(len(old)):
        change = step * direction[j]
        new[j] = old[j] + change if step < 1.0 else new[j]
        squares[j] = _moved_square(squares[j], change, scores[j], block, lam_n)


@compiled(inline=True)
def _moved_square(square, change, score, block, lam_n):
    """Return s_j after a change of a_ij."""
    grown = (2.0 * change * score + change**2 * block.curvature) / lam_n
    return max(0.0, square + grown)


@compiled
def _search(scores, block, lam_n, norm, scratch, start):
    """Return the step in [0, 1] along the direction, never beyond the minimum.

    The search ends at a slope of FLAT times `start`, the slope at 0, or less.
    """
    _, _, direction, beta, moved, _, _ = scratch
    squares = norm.squares
    # without the class weights' part, which moves with the step
    fixed = start
    for j in range(len(squares)):
        fixed -= beta[j] * scores[j] * direction[j]
    low, high, slope_low, slope_high = 0.0, 1.0, start, 0.0
    step = 1.0
    for _ in range(SEARCH_STEPS):
        for j in range(len(squares)):
            moved[j] = _moved_square(squares[j], step * direction[j], scores[j], block, lam_n)
        power_weights(moved, norm.q, beta)
        slope = fixed
        for j in range(len(squares)):
            metric = beta[j] * block.curvature + block.ridge
            slope += direction[j] * (beta[j] * scores[j] + step * direction[j] * metric)
        if slope <= -LEVEL * start:
            low, slope_low = step, slope
            if step == 1.0 or slope >= FLAT * start:
                break
        else:
            high, slope_high = step, slope
        share = -slope_low / (slope_high - slope_low)
        step = low + (high - low) * min(0.9, max(0.1, 0.98 * share))
    return low
