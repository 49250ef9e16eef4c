"""Compute the projection onto the negated domain and the Moreau envelope by certified QPs.

    projection     minimise |u - c|^2 over u in -dom Phi*(.; y)
    nearest_point  minimise |u - c|^2 + bias <1, u>^2 over a polytope       (L15 section 4)
    moreau         minimise Phi(z; y) + |scores - z|^2 / (2 smoothing) over z          (K19 (25))

The QPs run over the epigraph of the loss (reference.epigraph) or over its domain. Their solutions
need not be trusted: the intervals are computed from them in fractions (reference.rational), and
hold without any tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike

from reference import rational
from reference.arithmetic import fractions, inner
from reference.certificate import SOLVERS, Certified, by_all_solvers, found, proved, run
from reference.epigraph import epigraph
from reference.losses import Loss
from reference.lp import conjugate_bound, nearest_in_domain
from reference.polytope import Polytope

INSIDE = 1e-9  # a candidate farther than this from the domain is refused


def projection(
    loss: Loss, c: ArrayLike, y: int, solvers: Sequence[str] = tuple(SOLVERS)
) -> Certified:
    """Return the least |u - c|^2 over the negated domain, and a point u (m,) that attains it."""
    c = np.asarray(c, dtype=float)
    domain = epigraph(loss, len(c), y).negated_domain

    def least(gradient: np.ndarray) -> Fraction:
        return -Fraction(loss.recession(gradient, y))

    return nearest_point(domain, c, least_linear=least, solvers=solvers)


def projection_gap(loss: Loss, c: ArrayLike, y: int, candidate: ArrayLike) -> float:
    """Bound |candidate - c|^2 - min |u - c|^2 from above by the Frank-Wolfe gap, without a QP.

    The candidate may come from anywhere; it is refused unless an LP finds it in the negated
    domain. The squared distance from the candidate to the true projection is at most the bound,
    too.
    """
    c, candidate = np.asarray(c, dtype=float), np.asarray(candidate, dtype=float)
    distance = nearest_in_domain(loss, -candidate, y)[1]
    if distance > INSIDE * (1.0 + np.max(np.abs(candidate))):
        raise ValueError(f"candidate lies outside the negated domain, by {distance}")
    point = fractions(candidate)
    gradient = 2 * (point - fractions(c))
    return float(inner(gradient, point) + loss.recession(gradient, y))


def nearest_point(
    polytope: Polytope,
    c: ArrayLike,
    bias: float = 0.0,
    least_linear: Callable[[np.ndarray], Fraction] | None = None,
    solvers: Sequence[str] = tuple(SOLVERS),
) -> Certified:
    """Return the least |u - c|^2 + bias <1, u>^2 over a polytope, and a point attaining it.

    least_linear(g) is a lower bound of <g, u> over the polytope, in Fractions; by default it
    follows from weak duality of an LP.
    """
    c = np.asarray(c, dtype=float)

    def least_by_lp(gradient: np.ndarray) -> Fraction:
        return rational.least(polytope, gradient)

    least = least_linear or least_by_lp

    def attempt(solver: str) -> Certified:
        x, u = cp.Variable(polytope.M.shape[1], nonneg=True), cp.Variable(len(c))
        objective = cp.sum_squares(u - c) + bias * cp.square(cp.sum(u))
        constraints = [u == polytope.M @ x, polytope.A @ x == polytope.b]
        status = run(cp.Problem(cp.Minimize(objective), constraints), solver)
        weights = rational.feasible(polytope, polytope.nearest_x(found(u)))
        point = np.array([inner(row, weights) for row in fractions(polytope.M)])
        return frank_wolfe_interval(fractions(c), Fraction(bias), point, least, status)

    return by_all_solvers(attempt, solvers)


def frank_wolfe_interval(
    c: np.ndarray,
    bias: Fraction,
    point: np.ndarray,
    least_linear: Callable[[np.ndarray], Fraction],
    solver: str,
) -> Certified:
    """Return the interval that a feasible point u proves, in Fractions.

    With f(u) = |u - c|^2 + bias <1, u>^2 and any feasible U,
    f(U) >= f(u) + <grad f(u), U - u>, whose least value over U is a linear minimisation. Also
    f >= 0.
    """
    step, total = point - c, sum(point, Fraction())
    value = inner(step, step) + bias * total**2
    gradient = 2 * step + 2 * bias * total
    lower = value - inner(gradient, point) + least_linear(gradient)
    return proved(max(lower, Fraction()), value, point, solver)


def moreau(
    loss: Loss,
    scores: ArrayLike,
    y: int,
    smoothing: float,
    solvers: Sequence[str] = tuple(SOLVERS),
) -> Certified:
    """Return the Moreau envelope's value, and a z (m,) that attains it."""
    s = np.asarray(scores, dtype=float)
    form = epigraph(loss, len(s), y)

    def attempt(solver: str) -> Certified:
        z, t, w = cp.Variable(len(s)), cp.Variable(), cp.Variable(form.R.shape[1])
        above: Any = form.S @ z + form.T * t + form.R @ w <= form.q
        problem = cp.Problem(cp.Minimize(t + cp.sum_squares(z - s) / (2 * smoothing)), [above])
        status = run(problem, solver)
        v = form.S.T @ above.dual_value
        return moreau_interval(loss, s, y, smoothing, v, found(z), status)

    return by_all_solvers(attempt, solvers)


def moreau_interval(
    loss: Loss, s: np.ndarray, y: int, smoothing: float, v: np.ndarray, z: np.ndarray, solver: str
) -> Certified:
    """Return the interval proved by any approximate dual and primal solutions v and z.

    The envelope is at most Phi(x) + |s - x|^2 / (2 smoothing) for x = z and for s - smoothing v,
    and at least <s, v> - Phi*(v) - smoothing/2 |v|^2 for v in the effective domain. All numbers are
    Fractions.
    """
    near, conjugate = conjugate_bound(loss, v, y)
    scores, width = fractions(s), Fraction(smoothing)
    lower = inner(scores, near) - conjugate - width / 2 * inner(near, near)
    ends = []
    for x in (fractions(z), scores - width * near):
        distance = inner(scores - x, scores - x)
        ends.append((exact_value(loss, x, y) + distance / (2 * width), x))
    upper, best = min(ends, key=lambda end: end[0])
    return proved(lower, upper, best, solver)


def exact_value(loss: Loss, scores: np.ndarray, y: int) -> Fraction:
    """Return Phi(scores; y) for Fractions; the required margins may be floats."""
    delta = fractions(loss.delta(len(scores), y))
    return Fraction(loss.of_margins(list(delta + scores - scores[y]), y))
