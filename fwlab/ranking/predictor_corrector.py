"""Make a step of Mehrotra's predictor-corrector method for the ranking dual.

With slacks s and their multipliers m a primal-dual step aims at s m = mu in every entry. The
predictor aims at mu = 0. How far it can go decides which mu the corrector aims at, and the product
of its changes of s and m, which the linear equations leave out, is subtracted:

    m + dm = (mu - ds_p dm_p - m ds) / s

(Mehrotra 1992). Both use one factorisation. The step goes nearly to the boundary, in (z, r) and in
the multipliers by themselves. What it leaves of the stationarity conditions needs no account: the
right sides hold the gradient, and not the multipliers of the slacks.

mu falls by LEAST_FALL at most. A faster fall saves few steps. But the conditions may then still be
violated by more than mu, and a positive can end so near to the kink of its loss that the rounding
error of its score, times a large C, is all that the certificate shows.
"""

import numpy as np

from fwlab.arrays import Floats
from fwlab.ranking.dual import positive_slacks, pulled_back, slack_moves, slacks
from fwlab.ranking.newton_step import Iterate, NewtonMatrix

APART = 1e10  # largest factor between a slack's multiplier and mu/slack
LONGEST = 0.99  # of the way to the boundary
POWER = 3  # of the share of mu that the predictor leaves
LEAST_FALL = 0.1
REFINEMENTS = 1


def predictor_corrector(x: Iterate, least_mu: float) -> float:
    """Make a step towards a mu of at least least_mu; return its length, 0 if there is no step."""
    d, s, m = x.dual, positive_slacks(x.dual, x.z, x.r), x.slack_multipliers
    matrix = NewtonMatrix(d, x.z, x.r, m / s)
    (gz, gr), miss = x.gradient(), x.miss()
    move = matrix.solve(-gz, -gr, -miss, 0)
    ds = slack_moves(d, move.z, move.r)
    dm = -m - m * ds / s
    target = (max(least_mu, next_mu(s, ds, m, dm)) - ds * dm) / s
    bz, br = pulled_back(d, target)
    move = matrix.solve(bz - gz, br - gr, -miss, REFINEMENTS)
    if not move.is_finite:
        return 0.0
    ds = slack_moves(d, move.z, move.r)
    dm = target - m - m * ds / s
    step = min(1.0, LONGEST * longest_step(s, ds))
    z, r = x.z + step * move.z, x.r + step * move.r
    after = slacks(d, z, r)
    if after.min() <= 0:  # by rounding
        return 0.0
    share = min(1.0, LONGEST * longest_step(m, dm))
    x.z, x.r, x.multipliers = z, r, x.multipliers + share * move.multipliers
    x.slack_multipliers = near_centre(m + share * dm, after)
    return step


def next_mu(s: Floats, ds: Floats, m: Floats, dm: Floats) -> float:
    """Return the mu to aim at, from the changes that the predictor makes."""
    mu = float(m @ s) / len(s)
    moved_s = s + min(1.0, longest_step(s, ds)) * ds
    moved_m = m + min(1.0, longest_step(m, dm)) * dm
    left = float(moved_s @ moved_m) / len(s) / mu
    return mu * max(LEAST_FALL, min(1.0, left) ** POWER)


def near_centre(m: Floats, s: Floats) -> Floats:
    """Return the multipliers, kept near their mean product over the slack."""
    return kept_near(m, float(m @ s) / len(s) / s)


def kept_near(multipliers: Floats, centre: Floats) -> Floats:
    """Return the multipliers, kept within the factor APART of the centre."""
    return np.clip(multipliers, centre / APART, centre * APART)


def longest_step(values: Floats, moves: Floats) -> float:
    """Return the step at which the first of these positive values vanishes; at most 10^6."""
    return 1 / max(1e-6, -float((moves / values).min()))
