"""Solve the ranking dual by a primal-dual interior-point method, the default method.

For a barrier weight mu the dual is maximised with mu log(slack) added for every inequality:

    minimise  F(alpha, beta, r) = -D(alpha, beta, r) - mu sum log(slacks)
    slacks    alpha_i,  C largest - alpha_i,  beta_j,  cap r - beta_j,  r (where it divides)

subject to the equalities. Each iteration is one Newton step for F with a line search, where every
slack has its own multiplier that follows mu/slack: multiplier/slack stands for mu/slack^2 in the
Hessian. mu falls by a constant factor when the minimum is near, or earlier, when the certified gap
is already down to what mu allows.

The method cannot stall. F is smooth and strictly convex where the slacks are positive: every
variable is a slack, except r, which is a slack itself or forms one with beta_j. The level sets of F
are compact: alpha is held by its bound or by the square in l*, beta by the sum of alpha, delta by
its price, and the logarithms by the boundary. The multipliers are kept within a constant factor of
mu/slack, so that on a level set the matrices of the steps are bounded and bounded away from
singular matrices. A line search to a tenth of the first slope then leads to the minimum of F for
every mu; the steps shrink, the multipliers tend to mu/slack, and the minimum counts as near. So mu
falls below any number, though in floating point not below the rounding errors of the dual, where
the steps would be noise. If mu fell because of the gap, the gap falls with it. If mu fell near a
minimum, the stationarity conditions of the dual hold there with multipliers mu/slack, D is within
mu times the number of slacks of its maximum up to a factor near 1, and D is strongly concave in w.
Hence w tends to the optimal w, the thresholds are continuous in the scores, and the certified gap
of (alpha, beta, delta) tends to 0. The method cannot rest along a coordinate: all variables move at
once, also along the ray of (beta, delta).

With K = n_negative the bound beta_j <= sum(beta)/K allows only one beta, sum(alpha)/K in every
entry. The negatives are then replaced by their mean, which is the same problem with K = 1.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats
from fwlab.ranking.newton_systems import NewtonSystem, bytes_needed, newton_system
from fwlab.ranking.problem import Point, Problem
from fwlab.ranking.start import inner_point
from fwlab.ranking.state import State
from fwlab.solvers.method import Method

NEAR = 0.1  # squared Newton decrement, in units of mu, at which mu falls
WIDE = 2.0  # the certified gap, in units of mu times the number of slacks, at which mu falls
APART = 1e10  # largest factor between a slack's multiplier and mu/slack
FALL = 0.1  # mu falls by this factor
INWARD = 0.1  # how far a start moves from the boundary
LEAST_GAP = 1e-12  # relative, for the first mu of an optimal start
# in units of the dual of the inner point, for the first mu: a primal far beyond would only drive
# the dual variables away from their scale
MOST_GAP = 1e12
LONGEST = 0.99  # of the way to the boundary
FLAT = 0.1  # of the first slope, where the line search ends
SEARCH_STEPS = 60
REFINEMENTS = 2


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


@dataclass(eq=False)
class Workspace:
    """The iterate z = (alpha, beta), r, mu, and the multipliers of equalities and slacks."""

    dual: Dual
    z: Floats
    r: float
    mu: float
    multipliers: Floats
    slack_multipliers: Floats


@dataclass(frozen=True, eq=False)
class Move:
    """A change of z, r and the multipliers of the equalities."""

    z: Floats
    r: float
    multipliers: Floats

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite."""
        return bool(np.isfinite(self.z.sum() + self.r + self.multipliers.sum()))


@dataclass(frozen=True)
class InteriorPoint(Method):
    """Newton steps with multipliers of the slacks; one iteration is one step."""

    sentence = "Primal-dual Newton steps for the dual with a barrier."

    def refuses(self, problem: Problem) -> str | None:
        needed, allowed = bytes_needed(problem), problem.max_gram_memory
        if needed <= allowed:
            return None
        return (
            f"max_gram_memory must be at least {needed} bytes for the kernel matrix and its factor "
            f"with this method; got {allowed}."
        )

    def start(self, state: State) -> Workspace:
        dual = dual_of(state.problem)
        inner, r = numbers_of(inner_point(state.problem), dual)
        given, given_r = numbers_of(state.point, dual)
        z = given + INWARD * (inner - given)
        r = given_r + INWARD * (r - given_r)
        workspace = Workspace(dual, z, r, 1.0, np.zeros(len(dual.b)), np.ones(0))
        publish(state, workspace)
        certificate = state.problem.estimate(state.point)
        gap = max(certificate.gap, LEAST_GAP * abs(certificate.primal))
        lowest = state.problem.estimate(inner_point(state.problem)).dual
        if lowest > 0:
            gap = min(gap, MOST_GAP * lowest)
        workspace.mu = gap / (2 * len(z))
        workspace.slack_multipliers = workspace.mu / positive_slacks(dual, z, r)
        return workspace

    def iterate(self, state: State, workspace: Workspace) -> None:
        w, state.step = workspace, 0.0
        gz, gr = smooth_gradient(w, w.z, w.r)
        gz += w.dual.system.product(w.z)
        try:
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                move, decrement = newton_step(w, gz, gr)
        except np.linalg.LinAlgError:
            return  # singular to rounding: no step can be told from noise
        if not move.is_finite:
            return
        w.multipliers = w.multipliers + move.multipliers
        near = decrement <= NEAR * w.mu and is_centred(w)
        state.step = line_search(w, move)
        advance(w, move, state.step)
        state.n_steps += 1
        publish(state, w)
        certificate, count = state.problem.estimate(state.point), len(w.slack_multipliers)
        if near or certificate.gap <= WIDE * w.mu * count:
            rounding = np.finfo(float).eps * abs(certificate.dual) / count
            w.mu = min(w.mu, max(FALL * w.mu, rounding))


def dual_of(problem: Problem) -> Dual:
    """Return the dual of a problem.

    The dual has one variable for all negatives if the bound allows only equal beta.
    """
    rule, loss, p = problem.threshold, problem.loss, problem.n_positive
    merged = not rule.free and rule.cap * problem.n_negative <= 1
    q = 1 if merged else problem.n_negative
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
    """Return z and r of a point; negatives that share a variable enter by the sum of their beta."""
    beta = point.beta if dual.q == len(point.beta) else point.beta.sum(keepdims=True)
    return np.concatenate([point.alpha, beta]), point.r


def slacks(d: Dual, z: Floats, r: float) -> Floats:
    """Return all slacks in one array: a linear map of (z, r) plus a constant."""
    most = [d.most - z[: d.p]] if d.most < np.inf else []
    return np.concatenate([z, *most, *_slacks_with_r(d, z, r)])


def positive_slacks(d: Dual, z: Floats, r: float) -> Floats:
    """Return the slacks; a slack that rounding has cancelled is set below all others."""
    found = slacks(d, z, r)
    positive = found > 0
    if positive.all():
        return found
    return np.where(positive, found, np.finfo(float).eps * found[positive].min())


def slack_moves(d: Dual, dz: Floats, dr: float) -> Floats:
    """Return the change of `slacks` if (z, r) change by (dz, dr)."""
    most = [-dz[: d.p]] if d.most < np.inf else []
    return np.concatenate([dz, *most, *_slacks_with_r(d, dz, dr)])


def _slacks_with_r(d: Dual, z: Floats, r: float) -> list[Floats]:
    cap = [d.cap * r - z[d.p :]] if d.cap < np.inf else []
    return [*cap, np.array([r])] if d.r_has_slack else cap


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


def smooth_gradient(w: Workspace, z: Floats, r: float) -> tuple[Floats, float]:
    """Return the gradient of F at (z, r) in z and in r, without the quadratic form of Q."""
    d, alpha, share = w.dual, z[: w.dual.p], z[w.dual.p :] / r
    bz, br = pulled_back(d, w.mu / positive_slacks(d, z, r))
    gz = -d.slope - bz
    gz[: d.p] += d.alpha_curvature * alpha
    gz[d.p :] += d.curvature * share
    return gz, d.price - d.curvature / 2 * float(share @ share) - br


def smooth_hessian(w: Workspace) -> tuple[Floats, Floats, float]:
    """Return the Hessian of F without Q, with multiplier/slack in place of mu/slack^2.

    Its parts are the diagonal in z, the column of z and r, and the entry of r.
    """
    d, r, share = w.dual, w.r, w.z[w.dual.p :] / w.r
    barrier = w.slack_multipliers / slacks(d, w.z, r)
    diagonal, cross = barrier[: d.p + d.q].copy(), np.zeros_like(w.z)
    rest = barrier[d.p + d.q :]
    diagonal[: d.p] += d.alpha_curvature
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


def newton_step(w: Workspace, gz: Floats, gr: float) -> tuple[Move, float]:
    """Return the Newton step and the squared Newton decrement, its square norm in the Hessian.

    The step is (dz, dr) under the equalities, with the change dv of their multipliers v:

        M dz + c dr + A^T dv = -(gz + A^T v),   c^T dz + h dr + b^T dv = -(gr + b^T v),
        A dz + b dr = -(A z + b r)

    where M = Q + diagonal. Near the minimum the right sides are small, thanks to v. The system is
    solved again for the residuals that rounding leaves.
    """
    d, system = w.dual, w.dual.system
    diagonal, cross, corner = smooth_hessian(w)
    system.factorise(diagonal)
    z_side, r_side = -(gz + d.A.T @ w.multipliers), -(gr + d.b @ w.multipliers)
    z_border, v_border = system.solve(cross, d.b)
    pivot = corner - cross @ z_border - d.b @ v_border
    dz, dr, dv = np.zeros_like(w.z), 0.0, np.zeros_like(d.b)
    for _ in range(1 + REFINEMENTS):
        rest = z_side - system.product(dz) - diagonal * dz - cross * dr - d.A.T @ dv
        x, v = system.solve(rest, -(d.A @ (w.z + dz) + d.b * (w.r + dr)))
        if d.has_r:
            r_rest = r_side - cross @ dz - corner * dr - d.b @ dv
            change = float((r_rest - cross @ x - d.b @ v) / pivot)
            x, v, dr = x - z_border * change, v - v_border * change, dr + change
        dz, dv = dz + x, dv + v
    curved = system.product(dz) + diagonal * dz + 2 * dr * cross
    return Move(dz, dr, dv), float(dz @ curved + corner * dr**2)


def line_search(w: Workspace, move: Move) -> float:
    """Return the step along the move at which F has nearly stopped falling, by bisection.

    The multipliers change no slope, because the move keeps the equalities, but they make the terms
    of the slope small where F is nearly flat.
    """
    A, b, Q = w.dual.A, w.dual.b, w.dual.system
    linear = (Q.product(w.z) + A.T @ w.multipliers) @ move.z + b @ w.multipliers * move.r
    quadratic = move.z @ Q.product(move.z)

    def slope(step: float) -> float:
        z, r = w.z + step * move.z, w.r + step * move.r
        if slacks(w.dual, z, r).min() <= 0:  # by rounding
            return np.inf
        gz, gr = smooth_gradient(w, z, r)
        return float(linear + step * quadratic + gz @ move.z + gr * move.r)

    way = longest_step(slacks(w.dual, w.z, w.r), slack_moves(w.dual, move.z, move.r))
    low, high = 0.0, LONGEST * way
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


def is_centred(w: Workspace) -> bool:
    """Return whether all multipliers are mu/slack up to a factor of two."""
    ratios = w.slack_multipliers * slacks(w.dual, w.z, w.r) / w.mu
    return bool(ratios.min() >= 0.5 and ratios.max() <= 2.0)


def longest_step(values: Floats, moves: Floats) -> float:
    """Return the step at which the first of these positive values vanishes; at most 10^6."""
    return 1 / max(1e-6, float(np.max(-moves / values)))


def advance(w: Workspace, move: Move, step: float) -> None:
    """Make the step, and move the slacks' multipliers towards mu/slack."""
    d, multipliers = w.dual, w.slack_multipliers
    before, moves = positive_slacks(d, w.z, w.r), slack_moves(d, move.z, move.r)
    change = (w.mu - multipliers * moves) / before - multipliers
    share = min(1.0, LONGEST * longest_step(multipliers, change))
    w.z, w.r = w.z + step * move.z, w.r + step * move.r
    centre = w.mu / positive_slacks(d, w.z, w.r)
    w.slack_multipliers = np.clip(multipliers + share * change, centre / APART, centre * APART)


def publish(state: State, w: Workspace) -> None:
    """Write the point to the state, with sum(beta) = sum(alpha) to the last digit."""
    alpha, beta = w.z[: w.dual.p].copy(), w.z[w.dual.p :]
    count = state.problem.n_negative
    if len(beta) < count:
        beta = np.full(count, beta[0] / count)
    beta = beta * (alpha.sum() / beta.sum())
    state.point = Point(alpha, beta, w.r if w.dual.free else None)
