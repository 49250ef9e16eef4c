"""The ball of a machine and a dual point: by hand, with large units of rounding, and around W*."""

import numpy as np
import pytest

import fwlab
import fwlab.enclosing_ball as module
from fwlab.certificate import certificate_of
from fwlab.enclosing_ball import Ball, ball_of_pair, norm_above, norm_below, smallest

W = np.array([[3.0, 1.0], [0.0, -2.0]])
V = np.array([[1.0, 1.0], [2.0, 0.0]])
APART = np.sqrt(12.0)  # |W - V|


@pytest.fixture
def large(monkeypatch):
    """Make a unit of rounding 1/1000, of c operations c / 100, a margin 1.5; 1/50 vanishes."""
    monkeypatch.setattr(module, "UNIT", 1e-3)
    monkeypatch.setattr(module, "gamma_in_parts", lambda count: count / 100)
    monkeypatch.setattr(module, "MARGIN", 1.5)
    monkeypatch.setattr(module, "VANISHED", 0.02)


def test_norms_by_hand(large):
    assert norm_above(W - V) == pytest.approx(1.5 * APART + 4 * 0.02, rel=1e-12)
    assert norm_below(W - V) == pytest.approx((1 - 6 / 100) * APART - 4 * 0.02, rel=1e-12)


def test_the_terms_of_a_ball_by_hand(large):
    gap, lam, link_error = 7.0, 0.5, 0.25
    ball = ball_of_pair(W, V, gap, lam, link_error)
    s = 1.008 * np.sqrt(gap / lam)
    h = (norm_below(W - V) - 1.5 * link_error) / 2
    moved = link_error / 2 + 2e-3 * norm_above((W + V) / 2)
    assert ball.centre.tolist() == [[2.0, 1.0], [1.0, -1.0]]
    assert ball.radius == pytest.approx(1.5 * (np.sqrt(s**2 - h**2) + moved), rel=1e-12)


def test_points_that_are_not_apart_leave_the_larger_ball(large):
    """The error of the link hides what lies between them."""
    ball = ball_of_pair(W, V, 8.0, 0.5, 10.0)
    moved = 5.0 + 2e-3 * norm_above((W + V) / 2)
    assert ball.radius == pytest.approx(1.5 * (1.008 * 4 + moved), rel=1e-12)


def test_a_ball_of_one_point_has_no_negative_radius():
    """The gap of W and A(W) of a smooth loss can be lam/2 |W - V|^2 alone."""
    assert ball_of_pair(W, V, 0.0, 0.5, 0.0).radius <= 1e-15


def test_the_distance_by_hand(large):
    ball = Ball(V, 2.0)
    assert ball.distance(W) == pytest.approx(norm_above(W - V) + 2.0, rel=1e-12)


def test_the_smallest_ball_is_the_first_one():
    first, second = Ball(W, 1.0), Ball(V, 1.0)
    assert smallest([Ball(W, 2.0), first, second]) is first


@pytest.mark.parametrize("loss", [fwlab.CrossEntropy(), fwlab.TopK(2)], ids=str)
def test_the_optimum_lies_in_the_ball_of_any_pair(loss):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), rng.integers(0, 3, 30)
    problem = fwlab.Problem(X, y, loss, 0.05)
    best = fwlab.solve(problem, "auto", tol=1e-14, max_iter=2000)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        W = best.W + 10.0 ** rng.uniform(-6, 1) * rng.normal(size=best.W.shape)
        A = fwlab.solve(problem, "auto", max_iter=int(rng.integers(0, 5))).A
        found = certificate_of(problem, A, W)
        V = problem.weights(A)
        ball = ball_of_pair(W, V, found.proved_gap, problem.lam, found.link_error)
        away = np.linalg.norm(ball.centre - best.W)
        assert away <= ball.radius + best.distance
        # of half the squared radius of the first ball at most
        assert ball.radius <= 1.011 * found.distance / np.sqrt(2) + 1e-12


def test_the_error_of_the_link_is_in_the_certificate():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 4)), rng.integers(0, 3, 30)
    problem = fwlab.Problem(X, y, fwlab.TopK(2), 0.05)
    A = fwlab.solve(problem, tol=1e-3).A
    size = np.linalg.norm(problem.weights(A))
    assert 1e-16 * size < certificate_of(problem, A).link_error < 1e-12 * size
    moved = A.copy()
    moved[:, 0] += 1e-11
    assert certificate_of(problem, moved).link_error > 1e-11
