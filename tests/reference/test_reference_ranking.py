"""The reference of the ranking machines: values by hand, weak duality, and a certified optimum."""

import numpy as np
import pytest

from reference.ranking import Ranking, features_of

pytestmark = pytest.mark.small
ONE = np.array([[1.0]])
TWO_AND_ZERO = np.array([[2.0], [0.0], [1.0]])


def machine(power=2, theta=1.0, positives=ONE, counted=TWO_AND_ZERO, C=1.0, **threshold):
    return Ranking(positives, counted, C, power, theta, **threshold)


def test_the_threshold_is_the_mean_of_the_largest():
    scores = np.array([3.0, -1.0, 5.0, 4.0])
    assert [machine(K=K).threshold(scores) for K in (1, 2, 4)] == [5.0, 4.5, 2.75]


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("theta2", [0.5, 2.0])
@pytest.mark.parametrize("budget", [0.3, 1.0, 2.9])
def test_the_quantile_solves_its_equation(power, theta2, budget):
    problem, scores = machine(power, budget=budget, theta2=theta2), np.array([3.0, -1.0, 2.5])
    t = problem.threshold(scores)
    assert (np.maximum(0, 1 + theta2 * (scores - t)) ** power).sum() == pytest.approx(budget)


def test_the_primal_by_hand():
    # w = 1/2: scores 1/2 of the positive, (1, 0, 1/2) of the negatives
    w = np.array([0.5])
    assert machine(K=1).primal(w) == pytest.approx(1 / 8 + 1.5**2)
    assert machine(power=1, theta=2.0, K=2, C=3.0).primal(w) == pytest.approx(1 / 8 + 3 * 1.5)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("threshold", [{"K": 2}, {"budget": 1.2, "theta2": 0.5}], ids=["K", "tau"])
@pytest.mark.parametrize("seed", range(10))
def test_every_feasible_lagrangian_is_below_every_primal(power, threshold, seed):
    rng = np.random.default_rng(seed)
    positives, counted = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    problem = machine(power, 1.5, positives, counted, 2.0, **threshold)
    alpha, beta, delta = problem.feasible(rng.normal(size=3), rng.normal(size=4), 0.1)
    assert alpha.sum() == pytest.approx(beta.sum()) and min(alpha.min(), beta.min()) >= 0
    if "K" in threshold:
        assert beta.max() <= alpha.sum() / 2 * (1 + 1e-12)
    elif power == 1:
        assert beta.max() <= delta * 0.5 * (1 + 1e-12)
    lower = problem.lagrangian(alpha, beta, delta)
    for _ in range(20):
        assert lower <= problem.primal(3 * rng.normal(size=2)) + 1e-12


def test_the_optimum_of_one_positive_and_one_negative():
    # least of a^2 |x - z|^2 / 2 + C (1 - a |x - z|^2)^2 with x - z = 2
    problem = machine(positives=3 * ONE, counted=ONE, C=3.0, K=1)
    a = 2 * 3.0 / (1 + 2 * 3.0 * 4)
    found, value = problem.optimum(), 2 * a**2 + 3 * (1 - 4 * a) ** 2
    assert found.contains(value, 1e-9) and found.value_upper - found.value_lower < 1e-6


def test_features_give_the_kernel_matrix_back():
    L = np.random.default_rng(0).normal(size=(6, 3))
    F = features_of(L @ L.T)
    assert F.shape == (6, 3) and pytest.approx(L @ L.T) == F @ F.T
