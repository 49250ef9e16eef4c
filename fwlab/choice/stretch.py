"""Bound how far the optima for all C between two points are from the chord between their machines.

For any W and any C, the optimum W* = W*(C) satisfies W* = C U(W*), and -U is the gradient of a
convex function, so that

    <W* - C U(W), W* - W> = C <U(W*) - U(W), W* - W> <= 0:

W* lies in the ball whose diameter is the segment from W to C U(W). With the residual g = W - C U(W)

    |W* - W| <= |g|.

Let a point a and a point b > a be given, and for 0 <= t <= 1

    C = (1 - t) a + t b,    W(t) = (1 - t) W_a + t W_b,
    U(W(t)) = (1 - t) U_a + t U_b + r(t),    |r(t)| <= t (1 - t) / 2 max |d^2/dt^2 U(W(t))|.

Multiplied out, the residual of W(t) at C is

    g(t) = (1 - t) g_a + t g_b + t (1 - t) (b - a) (U_b - U_a) - C r(t),

so that for all C in [a, b]

    |W*(C) - W(t)| <= reach = max(|g_a|, |g_b|) + (b - a) |U_b - U_a| / 4 + b B / 8,

where B bounds the second derivative. The scores of sample i change linearly in t, by delta_i in
all. With the mean mu and the variance v of delta_i under p_i(t), the share of class j has the
second derivative p_j ((delta_j - mu)^2 - v). Its positive parts add up to v at most, and so do its
negative ones; hence its norm is at most sqrt(2) v. Let v_0, mu_0 belong to t = 0 and d = delta -
mu_0. The mean of exp(t d) under p(0) is at least 1, so that

    v(t) <= E_t d^2 = E_0 [exp(t d) d^2] / E_0 exp(t d) <= exp(max d) v_0,
    B = sqrt(2) sum_i omega_i |x_i| exp(max_j d_ij) v_0i.

The reach falls as the square of b - a, down to the residuals of the points.

Rounding. The entries of delta, which count from the label's, are right to eps, so that the
deviation sqrt(v_0) has no larger error, and mu_0 is right to eps + (2 rho + gamma_{m+4}) max
|delta|. Shares are right to a factor 1 + rho, which MARGIN covers, but the label's is 1 - t: with
it v_0 has another error of rho max |delta|^2. Its terms are sums of at most 3 max |delta|^2 in
size.
"""

import numpy as np

from fwlab.arrays import Floats
from fwlab.choice.point import PointAtC, TrainingSamples
from fwlab.enclosing_ball import norm_above
from fwlab.operators.scores import row_slices
from fwlab.operators.sizes import row_maxima
from fwlab.operators.sums import MARGIN, UNIT, gamma, row_products


def reach(training: TrainingSamples, a: PointAtC, b: PointAtC) -> float:
    """Return a bound of |W*(C) - W(t)| for all C from a.C to b.C; infinity if it overflows."""
    apart = norm_above(b.U - a.U) + a.U_error + b.U_error
    with np.errstate(over="ignore", invalid="ignore"):
        second = np.sqrt(2) * float(np.sum(training.weighted_norms * variances(training, a, b)))
        bent = (b.C - a.C) * apart / 4 + b.C * second / 8
        found = MARGIN * (max(a.residual, b.residual) + bent)
    return found if np.isfinite(found) else np.inf


def variances(training: TrainingSamples, a: PointAtC, b: PointAtC) -> Floats:
    """Return bounds of the variances of delta_i under p_i(t) for all t, (n,)."""
    y, out = training.problem.y, np.empty(len(a.scores))
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in row_slices(*a.scores.shape):
            out[rows] = _variances(a, b, rows, y[rows])
    unsure = np.isinf(a.share_errors) | np.isinf(b.share_errors)
    return np.where(unsure, np.inf, out)


def _variances(a: PointAtC, b: PointAtC, rows: slice, y: np.ndarray) -> Floats:
    """Return `variances` of a slice of rows; delta counts from its label's entry."""
    delta = b.scores[rows] - a.scores[rows]
    delta -= delta[np.arange(len(y)), y][:, None]
    duals, m = a.duals[rows], delta.shape[1]
    mu = -row_products(duals, delta)
    top = delta.max(axis=1) - mu
    sizes = row_maxima(delta)
    eps = 2 * (a.score_errors[rows] + b.score_errors[rows])
    eps += 8 * UNIT * (row_maxima(a.scores[rows]) + row_maxima(b.scores[rows]))
    moved = eps + (2 * a.share_errors[rows] + gamma(m + 4)) * sizes
    delta -= mu[:, None]
    # the label's share is 1 - t, and its entry of the duals t
    found = mu * mu - row_products(duals, delta * delta)
    found += (4 * gamma(m + 8) + 2 * a.share_errors[rows]) * sizes**2
    deviation = np.sqrt(np.maximum(found, 0.0)) + eps
    return np.asarray(MARGIN * deviation**2 * np.exp(top + eps + moved))
