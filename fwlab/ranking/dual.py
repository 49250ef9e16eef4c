"""Hold the ranking dual in one array of variables, with its slacks, gradient and Hessian.

    minimise  -D(z, r),  z = (alpha, beta)
    slacks    alpha_i,  C largest - alpha_i,  beta_j,  cap r - beta_j,  r (where it divides)

subject to the equalities A z + b r = 0.

With K = n_counted the bound beta_j <= sum(beta)/K allows only one beta, sum(alpha)/K in every
entry. The counted rows are then replaced by their mean: the same problem with K = 1.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats
from fwlab.ranking.newton_systems import NewtonSystem, newton_system
from fwlab.ranking.problem import Point, Problem


@dataclass(eq=False)
class Dual:
    """The dual in the p + q variables z = (alpha, beta), and r, with A z + b r = 0."""

    p: int
    q: int
    slope: Floats
    alpha_curvature: float
    curvature: float
    price: float
    most: float
    cap: float
    free: bool
    A: Floats
    b: Floats
    system: NewtonSystem

    @property
    def has_r(self) -> bool:
        """Whether r is a variable: delta, or the sum of beta if it bounds every beta."""
        return self.free or self.cap < np.inf

    @property
    def r_has_slack(self) -> bool:
        """Whether r > 0 is a constraint of its own.

        It follows from beta <= cap r, and from beta > 0 if r is the sum of beta.
        """
        return self.free and self.cap == np.inf

    @property
    def n_slacks(self) -> int:
        """The number of slacks."""
        count = self.p + self.q + (self.p if self.most < np.inf else 0)
        return count + (self.q if self.cap < np.inf else 0) + self.r_has_slack


def dual_of(problem: Problem) -> Dual:
    """Return the dual of a problem.

    The dual has one variable for all counted rows if the bound allows only equal beta.
    """
    rule, loss, p = problem.threshold, problem.loss, problem.n_positive
    merged = not rule.free and rule.cap * problem.n_counted <= 1
    q = 1 if merged else problem.n_counted
    cap = np.inf if merged else rule.cap
    A, b = equalities(p, q, r_is_sum=not rule.free and cap < np.inf)
    return Dual(
        p,
        q,
        np.repeat([1 / loss.theta, rule.slope], [p, q]),
        loss.curvature / problem.C,
        rule.curvature,
        rule.price,
        problem.C * loss.largest,
        cap,
        rule.free,
        A,
        b,
        newton_system(problem, A, merged),
    )


def equalities(p: int, q: int, r_is_sum: bool) -> tuple[Floats, Floats]:
    """Return A (rows, p + q) and b (rows,) of the equalities.

    They state sum(alpha) = sum(beta), and with r_is_sum also sum(alpha) = r.
    """
    positive, negative = np.repeat([1.0, 0.0], [p, q]), np.repeat([0.0, 1.0], [p, q])
    if r_is_sum:
        return np.stack([positive, negative]), np.array([-1.0, -1.0])
    return (positive - negative)[None], np.zeros(1)


def numbers_of(point: Point, dual: Dual) -> tuple[Floats, float]:
    """Return z and r of a point; rows that share a variable enter by the sum of their beta."""
    beta = point.beta if dual.q == len(point.beta) else point.beta.sum(keepdims=True)
    return np.concatenate([point.alpha, beta]), point.r


def point_of(problem: Problem, dual: Dual, z: Floats, r: float) -> Point:
    """Return the point of z and r, with sum(beta) = sum(alpha) to the last digit."""
    alpha, beta = z[: dual.p].copy(), z[dual.p :]
    count = problem.n_counted
    if len(beta) < count:
        beta = np.full(count, beta[0] / count)
    beta = beta * (alpha.sum() / beta.sum())
    return Point(alpha, beta, r if dual.free else None)


def slacks(d: Dual, z: Floats, r: float) -> Floats:
    """Return all slacks in one array: a linear map of (z, r) plus a constant."""
    return _slacks(d, z, r, d.most)


def positive_slacks(d: Dual, z: Floats, r: float) -> Floats:
    """Return the slacks; a slack that rounding has cancelled is set below all others."""
    found = slacks(d, z, r)
    if found.min() > 0:
        return found
    positive = found > 0
    return np.where(positive, found, np.finfo(float).eps * found[positive].min())


def slack_moves(d: Dual, dz: Floats, dr: float) -> Floats:
    """Return the change of `slacks` if (z, r) change by (dz, dr)."""
    return _slacks(d, dz, dr, 0.0)


def _slacks(d: Dual, z: Floats, r: float, most: float) -> Floats:
    out = np.empty(d.n_slacks)
    end = d.p + d.q
    out[:end] = z
    if d.most < np.inf:
        np.subtract(most, z[: d.p], out=out[end : end + d.p])
        end += d.p
    if d.cap < np.inf:
        np.subtract(d.cap * r, z[d.p :], out=out[end : end + d.q])
        end += d.q
    out[end:] = r
    return out


def pulled_back(d: Dual, v: Floats) -> tuple[Floats, float]:
    """Apply the transpose of `slack_moves` to v (slacks,); return the parts of z and of r."""
    z, rest, r = v[: d.p + d.q].copy(), v[d.p + d.q :], 0.0
    if d.most < np.inf:
        z[: d.p] -= rest[: d.p]
        rest = rest[d.p :]
    if d.cap < np.inf:
        z[d.p :] -= rest[: d.q]
        r += d.cap * float(rest[: d.q].sum())
        rest = rest[d.q :]
    return z, r + float(rest.sum())


def smooth_gradient(d: Dual, z: Floats, r: float) -> tuple[Floats, float]:
    """Return the gradient of -D at (z, r) in z and in r, without the quadratic form of Q."""
    gz = -d.slope
    gz[: d.p] += d.alpha_curvature * z[: d.p]
    if d.curvature == 0:
        return gz, d.price
    share = z[d.p :] / r
    gz[d.p :] += d.curvature * share
    return gz, d.price - d.curvature / 2 * float(share @ share)


def smooth_hessian(d: Dual, z: Floats, r: float, barrier: Floats) -> tuple[Floats, Floats, float]:
    """Return the Hessian of -D without Q, plus the slacks' weights `barrier` (slacks,).

    Its parts are the diagonal in z, the column of z and r, and the entry of r.
    """
    diagonal, cross = barrier[: d.p + d.q].copy(), np.zeros(d.p + d.q)
    rest, corner = barrier[d.p + d.q :], 0.0
    diagonal[: d.p] += d.alpha_curvature
    if d.curvature > 0:
        share = z[d.p :] / r
        diagonal[d.p :] += d.curvature / r
        cross[d.p :] = -d.curvature * share / r
        corner = d.curvature * float(share @ share) / r
    if d.most < np.inf:
        diagonal[: d.p] += rest[: d.p]
        rest = rest[d.p :]
    if d.cap < np.inf:
        diagonal[d.p :] += rest[: d.q]
        cross[d.p :] -= d.cap * rest[: d.q]
        corner += d.cap**2 * float(rest[: d.q].sum())
        rest = rest[d.q :]
    return diagonal, cross, corner + float(rest.sum())
