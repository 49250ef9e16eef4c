"""Training problems: closed forms, duality, weights, smoothing and joint features."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_cases import grid_losses, losses

from reference import (
    MaxHinge,
    StructuredHinge,
    TopK,
    Training,
    WeightedUsunier,
    joint_features,
    linear_training,
    lp,
)


@st.composite
def problems(draw):
    """Draw small linear problems; zero sample weights and repeated samples occur."""
    m, n, d = draw(st.integers(2, 4)), draw(st.integers(1, 5)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d)) if draw(st.booleans()) else rng.integers(-1, 2, (n, d))
    weights = draw(st.sampled_from([None, rng.integers(0, 3, n)]))
    return linear_training(
        X,
        rng.integers(m, size=n),
        draw(losses(m)),
        draw(st.sampled_from([0.05, 0.3, 1.0])),
        smoothing=draw(st.sampled_from([0.0, 0.01, 0.5])),
        sample_weight=weights,
        n_classes=m,
    )


def feasible_dual_points(problem, seed):
    rng = np.random.default_rng(seed)
    for scale in (0.0, 0.1, 10.0):
        yield problem.feasible(scale * rng.normal(size=problem.features.shape[:2]))


@pytest.mark.turns
@settings(max_examples=15)
@given(problems(), st.integers(0, 2**32 - 1))
def test_the_optimum_lies_between_every_dual_and_every_primal(problem, seed):
    optimum = problem.optimum()
    assert optimum.width <= 1e-6 * (1 + optimum.value_upper)
    slack = 1e-9 * (1 + optimum.value_upper)
    for A in feasible_dual_points(problem, seed):
        assert problem.dual(A) <= optimum.value_upper + slack
        assert problem.primal(problem.weights(A)) >= optimum.value_lower - slack
    assert optimum.contains(problem.primal(optimum.point), slack=slack)
    moved = optimum.point + np.random.default_rng(seed).normal(size=optimum.point.shape)
    # strong convexity
    distance = problem.lam / 2 * float(np.sum((moved - optimum.point) ** 2))
    root = math.sqrt(2 * distance * (optimum.width + slack)) * 2
    assert problem.primal(moved) - optimum.value_lower >= distance - root - slack


@pytest.mark.turns
@settings(max_examples=15)
@given(problems(), st.integers(0, 2**32 - 1))
def test_primal_bound_is_above_the_primal(problem, seed):
    for A in feasible_dual_points(problem, seed):
        w = problem.weights(A)
        assert problem.primal_bound(w, A) >= problem.primal(w) - 1e-6 * (1 + problem.primal(w))


def test_one_sample_by_hand():
    """n = 1, m = 2, x = 1: margins 1 - 2 b at W = (b, -b), P = lam b^2 + max(0, 1 - 2b)."""
    for loss in (MaxHinge(), TopK(1), WeightedUsunier((1,))):
        tight = linear_training([[1.0]], [0], loss, lam=1.0, n_classes=2).optimum()
        assert tight.contains(0.25)  # b = 1/2
        assert tight.point == pytest.approx([0.5, -0.5], abs=1e-6)
        loose = linear_training([[1.0]], [0], loss, lam=4.0, n_classes=2).optimum()
        assert loose.contains(1 - 1 / 4)  # b = 1/4: 4/16 + 1 - 1/2
    # top-2 of two classes: half the margin, P = lam b^2 + max(0, 1/2 - b)
    assert linear_training([[1.0]], [0], TopK(2), 1.0, n_classes=2).optimum().contains(0.25)


def test_one_smoothed_sample_by_hand():
    """Two classes, x = 0: the score stays 0, and the envelope of max(0, 1 + z_1 - z_0) at 0 is
    1 - smoothing while the minimiser z = smoothing (1, -1) has a positive margin."""
    problem = linear_training([[0.0]], [0], MaxHinge(), lam=1.0, smoothing=0.25, n_classes=2)
    assert problem.optimum().contains(0.75)
    assert problem.primal(np.zeros((2, 1))) == pytest.approx(0.75)
    assert problem.dual([[1.0, -1.0]]) == pytest.approx(0.75)
    assert problem.dual([[0.5, -0.5]]) == pytest.approx(0.5 - 0.0625)


@pytest.mark.parametrize("loss", grid_losses(3), ids=str)
def test_weak_duality_is_the_definition_of_the_gap(loss):
    """P(w(A)) - D(A) is a mean of Fenchel-Young terms, each from the LP conjugate."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(4, 2)), rng.integers(3, size=4)
    problem = linear_training(X, y, loss, lam=0.2, n_classes=3)
    A = problem.feasible(rng.normal(size=(4, 3)))
    W = problem.weights(A).reshape(3, 2)
    assert W == pytest.approx(A.T @ X / (0.2 * 4))
    scores = X @ W.T
    terms = [
        float(loss.value(s, label)) + lp.conjugate(loss, -a, label) + float(s @ a)
        for s, a, label in zip(scores, A, y, strict=True)
    ]
    assert problem.primal(W) - problem.dual(A) == pytest.approx(np.mean(terms), abs=1e-9)
    assert min(terms) >= -1e-9


def test_dual_is_minus_infinity_outside():
    problem = linear_training([[1.0], [1.0]], [0, 1], MaxHinge(), 1.0, sample_weight=[1, 0])
    assert problem.dual([[1, -1], [0, 0]]) > -math.inf
    assert problem.dual([[1.1, -1.1], [0, 0]]) == -math.inf
    assert problem.dual([[1, -1], [-0.1, 0.1]]) == -math.inf
    doubled = linear_training([[1.0], [1.0]], [0, 1], MaxHinge(), 1.0, sample_weight=[2, 0])
    assert doubled.dual([[1.1, -1.1], [0, 0]]) > -math.inf


def test_a_sample_weight_counts_copies():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3, 2)), np.array([0, 1, 2])
    copies = [0, 0, 2]
    weighted = linear_training(X, y, TopK(2), 0.1, sample_weight=[2, 0, 1], n_classes=3).optimum()
    repeated = linear_training(X[copies], y[copies], TopK(2), 0.1, n_classes=3).optimum()
    assert weighted.contains(repeated.value_lower, slack=1e-9)


def test_costs_of_each_sample_are_used():
    """Only one of the two samples counts: P = 2 b^2 + (1/2) max(0, cost - 2 b), b = 1/4."""
    costs = StructuredHinge(((0, 1), (0, 3)), per_sample=True)
    for omega, cost in (([1, 0], 1), ([0, 1], 3)):
        problem = linear_training(
            [[1.0], [1.0]], [0, 0], costs, 2.0, sample_weight=omega, n_classes=2
        )
        assert problem.optimum().contains(2 / 16 + (cost - 1 / 2) / 2)


def test_general_joint_features():
    """Features shared between classes: scores Psi_i w with random Psi."""
    rng = np.random.default_rng(1)
    Psi, y = rng.normal(size=(4, 3, 5)), np.array([0, 1, 2, 1])
    problem = Training(Psi, y, TopK(2), lam=0.3)
    optimum = problem.optimum()
    assert optimum.width < 1e-8
    w = optimum.point
    by_hand = 0.15 * w @ w + np.mean(
        [float(TopK(2).value(P @ w, label)) for P, label in zip(Psi, y, strict=True)]
    )
    assert optimum.contains(by_hand, slack=1e-12)
    X = rng.normal(size=(2, 3))
    W = rng.normal(size=(4, 3))
    assert joint_features(X, 4) @ W.ravel() == pytest.approx(X @ W.T)


def test_both_solvers_stand_alone():
    problem = linear_training(np.eye(3), [0, 1, 2], TopK(2), 0.1, smoothing=0.1)
    one, other = problem.solved_by("CLARABEL"), problem.solved_by("OSQP")
    assert one.value_lower <= other.value_upper
    assert other.value_lower <= one.value_upper
