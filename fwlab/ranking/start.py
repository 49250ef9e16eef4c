"""Find a feasible start that is strictly inside all bounds of the dual."""

import numpy as np

from fwlab.ranking.problem import Point, Problem

LEAST_SLOPE = 1e-6  # of the terms of the slope of the dual on the ray


def inner_point(problem: Problem) -> Point:
    """Return equal alpha and equal beta, at the scale where the dual is largest on their ray.

    delta is the best one for beta with the quadratic Pat&Mat (M20 (32)), and twice the least
    feasible one with the hinge.
    """
    p, q, rule = problem.n_positive, problem.n_negative, problem.threshold
    alpha, beta = np.ones(p), np.full(q, p / q)
    delta = None
    if rule.free and rule.cap < np.inf:
        delta = 2 * p / q / rule.cap
    elif rule.free:
        delta = float(np.sqrt(rule.curvature * (beta @ beta) / (2 * rule.price)))
    point = Point(alpha, beta, delta)
    gain, cost = p / problem.loss.theta + rule.slope * p, rule.price * point.r
    if rule.curvature:
        cost += rule.curvature / 2 * float(beta @ beta) / point.r
    # a start far nearer to 0 than each of the two would be on the boundary to rounding
    linear = max(abs(gain - cost), LEAST_SLOPE * (gain + cost))
    norm = float(problem.coefficients(point) @ problem.scores(point))
    quadratic = norm + problem.loss.curvature / problem.C * p
    scale = most = problem.C * problem.loss.theta / 2
    if quadratic > 0:
        scale = min(most, linear / quadratic)
    return Point(scale * alpha, scale * beta, None if delta is None else scale * delta)
