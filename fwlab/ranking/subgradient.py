"""Descend on P along subgradients, the primal baseline, with steps from the certificate.

At w the machine u = w - g of a subgradient g of P is w(alpha, beta) for

    alpha_i = C l'(t - s_i),   (beta, delta) = sum(alpha) times what attains the threshold t,

a feasible dual point that maximises the dual with its quadratic form linearised at w. A step
gamma <= 1 from w to u is the same step from the dual point of w to the dual point of u, which
therefore stays feasible and keeps w as its machine. It raises D by at least
gamma gap - gamma^2/2 |u - w|^2, so that

    gamma = min(1, gap / |u - w|^2)

never lowers D. The level sets of D are bounded and so is |u - w| on them, hence the gap tends to 0,
like 1/t. A step 1/t would need bounded subgradients, which the quadratic surrogate does not have.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.ranking.problem import Point, Problem
from fwlab.ranking.state import State
from fwlab.solvers.method import Method

# a limit of a squared length: if rounding leaves a kernel matrix indefinite, steps can grow without
# end
LARGE = 1e100
# of a primal: its certificate, at a point that is repaired, must still be a float
LARGEST_PRIMAL = 1e300


@dataclass(frozen=True)
class Subgradient(Method):
    """One iteration is one step, a few products with the kernel matrix."""

    sentence = "Subgradient descent on the primal, for comparison."

    def iterate(self, state: State, workspace: None) -> None:
        problem, point = state.problem, state.point
        target = subgradient_point(problem, point)
        move = problem.coefficients(target) - problem.coefficients(point)
        with np.errstate(over="ignore", invalid="ignore"):
            square = float(move @ problem.gram.product(move))
        gap = max(0.0, problem.estimate(point).gap)
        step = gap / square if gap < square else 1.0
        delta = None
        if point.delta is not None and target.delta is not None:
            delta = point.delta + step * (target.delta - point.delta)
        alpha = point.alpha + step * (target.alpha - point.alpha)
        moved = Point(alpha, point.beta + step * (target.beta - point.beta), delta)
        if not abs(square) <= LARGE and not is_within_floats(problem, moved):
            state.step = 0.0
            return
        state.point = moved
        state.step, state.n_steps = step, state.n_steps + 1


def is_within_floats(problem: Problem, point: Point) -> bool:
    """Return whether floats hold the primal of a point and its certificate."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(problem.estimate(point).primal <= LARGEST_PRIMAL)


def subgradient_point(problem: Problem, point: Point) -> Point:
    """Return the dual point of a subgradient of P at the machine of `point`."""
    positives, counted = np.split(problem.scores(point), [problem.n_positive])
    rule = problem.threshold
    t = rule.value(counted)
    alpha = problem.C * problem.loss.slope(t - positives)
    q, r = rule.attained(counted, t)
    total = float(alpha.sum())
    return Point(alpha, total * q, total * r if rule.free else None)
