"""Make Newton steps with a line search for the ranking dual with a barrier, which cannot stall.

For a barrier weight mu the dual is maximised with mu log(slack) added for every inequality:

    minimise  F(z, r) = -D(z, r) - mu sum log(slacks)

subject to the equalities. Each iteration is one Newton step for F with a line search, where every
slack has its own multiplier that follows mu/slack: multiplier/slack stands for mu/slack^2 in the
Hessian. mu falls by a constant factor when the minimum is near, or earlier, when the certified gap
is already down to what mu allows.

F is smooth and strictly convex where the slacks are positive: every variable is a slack, except r,
which is a slack itself or forms one with beta_j. The level sets of F are compact: alpha is held by
its bound or by the square in l*, beta by the sum of alpha, delta by its price, and the logarithms
by the boundary. The multipliers are kept within a constant factor of mu/slack, so that on a level
set the matrices of the steps are bounded and bounded away from singular matrices. A line search to
a tenth of the first slope then leads to the minimum of F for every mu; the steps shrink, the
multipliers tend to mu/slack, and the minimum counts as near. So mu falls below any number, though
in floating point not below the rounding errors of the dual, where the steps would be noise. If mu
fell because of the gap, the gap falls with it. If mu fell near a minimum, the stationarity
conditions of the dual hold there with multipliers mu/slack, D is within mu times the number of
slacks of its maximum up to a factor near 1, and D is strongly concave in w. Hence w tends to the
optimal w, the thresholds are continuous in the scores, and the certified gap of
(alpha, beta, delta) tends to 0. The method cannot rest along a coordinate: all variables move at
once, also along the ray of (beta, delta).
"""

import numpy as np

from fwlab.ranking.dual import positive_slacks, pulled_back, slack_moves, slacks, smooth_gradient
from fwlab.ranking.newton_step import Iterate, Move, NewtonMatrix
from fwlab.ranking.predictor_corrector import LONGEST, kept_near, longest_step

NEAR = 0.1  # squared Newton decrement, in units of mu, at which mu falls
FLAT = 0.1  # of the first slope, where the line search ends
SEARCH_STEPS = 60
REFINEMENTS = 2


def barrier_step(x: Iterate, mu: float) -> tuple[float, bool]:
    """Make a step for F; return its length, 0 without a step, and whether the minimum was near.

    The Newton decrement is the norm of the step in the Hessian. Near the minimum the right sides
    are small, thanks to the multipliers of the equalities.
    """
    s = positive_slacks(x.dual, x.z, x.r)
    matrix = NewtonMatrix(x.dual, x.z, x.r, x.slack_multipliers / s)
    (gz, gr), (bz, br) = x.gradient(), pulled_back(x.dual, mu / s)
    move = matrix.solve(bz - gz, br - gr, -x.miss(), REFINEMENTS)
    if not move.is_finite:
        return 0.0, False
    x.multipliers = x.multipliers + move.multipliers
    near = matrix.square(move) <= NEAR * mu and is_centred(x, mu)
    step = line_search(x, move, mu)
    advance(x, move, step, mu)
    return step, near


def line_search(x: Iterate, move: Move, mu: float) -> float:
    """Return the step along the move at which F has nearly stopped falling, by bisection.

    The multipliers change no slope, because the move keeps the equalities, but they make the terms
    of the slope small where F is nearly flat.
    """
    d, Q = x.dual, x.dual.system
    linear = (Q.product(x.z) + x.multipliers @ d.A) @ move.z + d.b @ x.multipliers * move.r
    quadratic = move.z @ Q.product(move.z)
    start, moves = slacks(d, x.z, x.r), slack_moves(d, move.z, move.r)

    def slope(step: float) -> float:
        z, r = x.z + step * move.z, x.r + step * move.r
        s = slacks(d, z, r)
        if s.min() <= 0:  # by rounding
            return np.inf
        gz, gr = smooth_gradient(d, z, r)
        bz, br = pulled_back(d, mu / s)
        return float(linear + step * quadratic + (gz - bz) @ move.z + (gr - br) * move.r)

    low, high = 0.0, LONGEST * longest_step(start, moves)
    enough = FLAT * abs(slope(0.0))
    step = min(1.0, high)
    for _ in range(SEARCH_STEPS):
        value = slope(step)
        if abs(value) <= enough or (value < 0 and step == high):
            break
        low, high = (step, high) if value < 0 else (low, step)
        step = (low + high) / 2
    else:
        step = low
    return step


def is_centred(x: Iterate, mu: float) -> bool:
    """Return whether all multipliers are mu/slack up to a factor of two."""
    ratios = x.slack_multipliers * slacks(x.dual, x.z, x.r) / mu
    return bool(ratios.min() >= 0.5 and ratios.max() <= 2.0)


def advance(x: Iterate, move: Move, step: float, mu: float) -> None:
    """Make the step, and move the slacks' multipliers towards mu/slack."""
    d, multipliers = x.dual, x.slack_multipliers
    before, moves = positive_slacks(d, x.z, x.r), slack_moves(d, move.z, move.r)
    change = (mu - multipliers * moves) / before - multipliers
    share = min(1.0, LONGEST * longest_step(multipliers, change))
    x.z, x.r = x.z + step * move.z, x.r + step * move.r
    centre = mu / positive_slacks(d, x.z, x.r)
    x.slack_multipliers = kept_near(multipliers + share * change, centre)
