"""Find feasible starts that are strictly inside all bounds of the dual."""

import numpy as np

from fwlab.ranking.problem import Point, Problem

SHARE = 0.5  # of C theta, the bound of alpha with the hinge
SMALL_GAP = 1e-2  # relative, of an inner point that is a good start
LARGEST = 1e8  # factor between the central and the inner point
LEAST_SLOPE = 1e-6  # of the terms of the slope of the dual on the ray


def inner_point(problem: Problem) -> Point:
    """Return equal alpha and equal beta, at the scale where the dual is largest on their ray.

    delta is the best one for beta with the quadratic Pat&Mat (M20 (32)), and twice the least
    feasible one with the hinge.
    """
    p, q, rule = problem.n_positive, problem.n_counted, problem.threshold
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
    scale = most = SHARE * problem.C * problem.loss.theta
    if quadratic > 0:
        scale = min(most, linear / quadratic)
    return Point(scale * alpha, scale * beta, None if delta is None else scale * delta)


def central_point(problem: Problem) -> Point:
    """Return the inner point, scaled to the middle of the hinge's bounds for alpha.

    The inner point is often nearly 0 in units of the solution: the dual on its ray is governed by
    the few rows with the largest scores. Interior-point steps shrink variables faster than they
    let them grow. An inner point with a small gap is returned as it is.
    """
    point = inner_point(problem)
    certificate = problem.estimate(point)
    if certificate.gap <= SMALL_GAP * certificate.primal:
        return point
    ratio = min(LARGEST, SHARE * problem.C * problem.loss.theta / float(point.alpha[0]))
    delta = None if point.delta is None else ratio * point.delta
    return Point(ratio * point.alpha, ratio * point.beta, delta)
