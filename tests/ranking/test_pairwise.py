"""Pairwise ascent: its step against a one-dimensional search, its ascent, and where it stalls."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from fwlab import ranking
from fwlab.kernels.steps.ranking_pairs import best_bent_step, best_pair
from fwlab.ranking.pairwise import Pairwise, best_delta, dual_at
from fwlab.ranking.problem import Point, Problem
from fwlab.ranking.start import inner_point
from fwlab.ranking.state import State
from fwlab.ranking.subgradient import subgradient_point
from tests.ranking.instances import OVER_ALL, random_instance


def random_point(problem: Problem, rng: np.random.Generator) -> Point:
    """Return a point between an inner point and a subgradient's point on the boundary."""
    inner = inner_point(problem)
    edge, share = subgradient_point(problem, inner), rng.choice([0.0, 0.5, 1.0])
    alpha = inner.alpha + share * (edge.alpha - inner.alpha)
    beta = inner.beta + share * (edge.beta - inner.beta)
    return Point(alpha, beta, best_delta(problem, beta))


def moved(problem: Problem, point: Point, k: int, partner: int, step: float) -> Point:
    """Move the pair (k, partner), with delta as the method takes it within a step."""
    z = np.concatenate([point.alpha, point.beta])
    p = problem.n_positive
    i, j = min(k, partner), max(k, partner)
    z[i] += step
    z[j] += step if i < p <= j else -step
    beta = z[p:]
    fixed = problem.threshold.free and problem.threshold.cap == np.inf
    return Point(z[:p], beta, point.delta if fixed else best_delta(problem, beta))


@pytest.mark.turns
@pytest.mark.parametrize("seed", [*range(60), *OVER_ALL])
def test_the_pair_step_is_the_best_of_all_pairs(seed):
    instance, rng = random_instance(seed), np.random.default_rng(seed)
    problem = Problem(**instance.arguments())
    point = random_point(problem, rng)
    p, n = problem.n_positive, len(problem.order)
    z, s = np.concatenate([point.alpha, point.beta]), problem.signs * problem.scores(point)
    before, k = problem.dual(point), int(rng.integers(n))
    column = problem.signs[k] * problem.signs * problem.gram.column(k)
    diagonal, total = problem.gram.diagonal(), float(point.alpha.sum())
    pair = best_pair(k, column, diagonal, s, z, p, dual_at(problem, point), total)
    best = 0.0
    for partner in range(n):
        if partner != k:
            best = max(best, best_gain(problem, point, k, partner, before))
    size = 1 + abs(before) + best
    assert pair[2] == pytest.approx(best, abs=1e-6 * size)
    if pair[0] >= 0:
        after = problem.dual(moved(problem, point, k, pair[0], pair[1]))
        assert after - before == pytest.approx(pair[2], abs=1e-8 * size)


@pytest.mark.parametrize("seed", range(20))
def test_the_step_along_a_bent_gain_is_the_best(seed):
    """Zero is among the steps, and the largest beta is any of the three."""
    rng = np.random.default_rng(seed)
    slope, other, follow = rng.normal(), rng.random(), rng.random()
    grow, shrink = rng.random(), rng.choice([rng.random(), -np.inf])
    curvature, low, high = rng.choice([0.0, 1.0, 4.0]), -grow, rng.random()

    def gain(step):
        largest = np.maximum(other, np.maximum(grow + step, shrink - step))
        bent = follow * (largest - max(other, grow, shrink))
        return step * slope - step**2 * curvature / 2 - bent

    step, found = best_bent_step(slope, curvature, low, high, grow, shrink, other, follow)
    assert low <= step <= high and found == pytest.approx(gain(step), abs=1e-14)
    assert found >= gain(np.linspace(low, high, 1001)).max() - 1e-14


def best_gain(problem: Problem, point: Point, k: int, partner: int, before: float) -> float:
    """Return the largest gain of the pair, by a bounded search; D is -inf where infeasible."""

    def gain(step: float) -> float:
        value = problem.dual(moved(problem, point, k, partner, step))
        return value - before if value > -np.inf else -np.inf

    low, high = (end_of(gain, sign) for sign in (-1.0, 1.0))
    if high - low < 1e-12:
        return 0.0
    options = {"xatol": 1e-12 * (high - low)}
    found = minimize_scalar(
        lambda t: -gain(t), bounds=(low, high), method="bounded", options=options
    )
    return max(0.0, -found.fun, gain(low), gain(high))


def end_of(gain, sign: float) -> float:
    """Return the furthest feasible step in one direction, up to 10^4."""
    inside, outside = 0.0, 1e4
    for _ in range(120):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if gain(sign * middle) > -np.inf else (inside, middle)
    return sign * inside


@pytest.mark.parametrize("seed", [*range(0, 60, 3), *OVER_ALL])
def test_the_dual_never_falls(seed):
    instance = random_instance(seed)
    result = ranking.solve(**instance.arguments(), method="pairwise", tol=1e-7, max_iter=40)
    scale = np.abs(result.trace.dual).max()
    assert (np.diff(result.trace.dual) >= -1e-10 * scale).all()
    assert result.gap >= -1e-9 * scale


def test_topushk_cannot_leave_zero_by_pairs():
    X, y = np.array([[1.0], [2.0], [0.0], [0.5]]), np.array([1, 1, 0, 0])
    objective, zero = ranking.TopPushK(2), (np.zeros(2), np.zeros(2), None)
    stuck = ranking.solve(X, y, objective, 1.0, method="pairwise", start=zero, max_iter=50)
    assert stuck.dual == 0 and not stuck.success
    solved = ranking.solve(X, y, objective, 1.0, start=zero)
    assert solved.success and solved.dual > 0.1


def test_pairs_rest_at_a_common_bound_away_from_zero():
    # sum(alpha)/2 bounds both beta: no pair may move, and all together gain
    X, y = np.array([[1.0], [2.0], [0.0], [0.5]]), np.array([1, 1, 0, 0])
    objective, start = ranking.TopPushK(2), (np.full(2, 0.01), np.full(2, 0.01), None)
    stuck = ranking.solve(X, y, objective, 1.0, method="pairwise", start=start, max_iter=50)
    best = ranking.solve(X, y, objective, 1.0)
    assert stuck.beta.sum() == pytest.approx(0.02)
    assert 0 < stuck.dual < 0.1 * best.dual and best.success


@pytest.mark.parametrize("seed", [*range(12), *OVER_ALL])
def test_a_step_keeps_the_scores(seed):
    instance = random_instance(seed)
    problem = Problem(**instance.arguments())
    method = Pairwise()
    state = State(problem, inner_point(problem), np.random.default_rng(0))
    workspace = method.start(state)
    method.iterate(state, workspace)
    assert workspace.s == pytest.approx(problem.signs * problem.scores(state.point), abs=1e-9)


def test_a_tie_goes_to_the_first_partner():
    """From zero, equal negatives gain the same."""
    X, y = np.array([[1.0], [-1.0], [-1.0], [-1.0]]), np.array([1, 0, 0, 0])
    problem = Problem(X, y, ranking.TopPush(), 1.0, "linear", None)
    column = problem.signs[0] * problem.signs * problem.gram.column(0)
    zeros = np.zeros(4)
    dual = dual_at(problem, Point(zeros[:1], zeros[1:], None))
    partner, _, gain = best_pair(0, column, problem.gram.diagonal(), zeros, zeros, 1, dual, 0.0)
    assert (partner, gain > 0) == (1, True)
