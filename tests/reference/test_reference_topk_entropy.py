"""The reference's top-k entropy loss: values by hand, by brute force and by cvxpy, and optima."""

import math
from fractions import Fraction
from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize

from reference import TopKLogistic
from reference.cross_entropy import value as cross_entropy
from reference.topk_entropy import bound, conjugate, gradient, shares, value


def test_values_by_hand():
    # two of two: z = (1/2, 1/2), B is the mean of the margins and log 2
    assert float(value([1.0, 2.0, 3.0], 0, 2)) == pytest.approx(math.log(1 + 2 * math.exp(1.5)))
    assert float(value([0.0, 0.0, 0.0], 1, 2)) == pytest.approx(math.log(3))
    # the first entry is at the bound, the others share 1/2 in the ratio of their exponentials
    B = 5 + math.log(2) / 2 + math.log(2 * (1 + math.e**-1)) / 2
    assert float(value([0.0, 10.0, 0.0, -1.0], 0, 2)) == pytest.approx(math.log(1 + math.exp(B)))
    z, _ = shares([Fraction(10), Fraction(0), Fraction(-1)], 2)
    assert z[0] == Fraction(1, 2) and sum(z) == 1
    assert float(z[1] / z[2]) == pytest.approx(math.e)


def by_cap_sets(h, k):
    """Return the largest objective of all z that have a set of entries at 1/k and the rest free."""
    best = -math.inf
    for count in range(k):
        for chosen in combinations(range(len(h)), count):
            rest = [j for j in range(len(h)) if j not in chosen]
            z = np.full(len(h), 1 / k)
            z[rest] = (1 - count / k) * np.exp(h[rest]) / np.exp(h[rest]).sum()
            if z.max() <= 1 / k + 1e-15:
                best = max(best, z @ h - z @ np.log(z))
    return best


def test_the_bound_is_the_best_of_all_sets_of_entries_at_the_cap():
    rng = np.random.default_rng(0)
    for _ in range(150):
        h = 3 * rng.normal(size=int(rng.integers(2, 7)))
        h = np.round(h) if rng.random() < 0.3 else h
        k = int(rng.integers(1, len(h) + 1))
        exact = float(bound([Fraction(v) for v in h], k))
        assert exact == pytest.approx(by_cap_sets(h, k), rel=1e-12, abs=1e-12)


def test_values_and_maximisers_by_cvxpy():
    """The definition as an exponential-cone programme, which knows nothing of the closed form."""
    rng, compared = np.random.default_rng(1), 0
    for _ in range(25):
        m = int(rng.integers(3, 7))
        s, y, k = 2 * rng.normal(size=m), int(rng.integers(m)), int(rng.integers(2, m))
        b = cp.Variable(m - 1)
        entropies = cp.sum(cp.entr(b)) + cp.entr(1 - cp.sum(b))
        h = np.delete(s - s[y], y)
        problem = cp.Problem(cp.Maximize(h @ b + entropies), [b >= 0, b <= cp.sum(b) / k])
        problem.solve(solver="CLARABEL")
        if problem.status == "optimal":
            compared += 1
            assert float(value(s, y, k)) == pytest.approx(problem.value, abs=2e-7)
            found = [float(v) for v in gradient(s, y, k)]
            assert np.delete(found, y) == pytest.approx(b.value, abs=2e-4)
    assert compared > 15


def test_the_form_with_multipliers_is_the_loss():
    rng = np.random.default_rng(2)
    problem = TopKLogistic(np.eye(5), np.arange(5), 5, 1.0, None, 3)
    for _ in range(5):
        s, y = 2 * rng.normal(size=5), int(rng.integers(5))
        scores = cp.Variable(5)
        model = cp.Problem(cp.Minimize(problem.modelled(scores, y)), [scores == s])
        model.solve(solver="CLARABEL")
        assert float(problem.loss(s, y)) == pytest.approx(model.value, abs=1e-6)


def test_one_guess_is_the_cross_entropy():
    rng = np.random.default_rng(3)
    for _ in range(20):
        s = 10.0 ** rng.uniform(-3, 3) * rng.normal(size=4)
        difference = value(s, 2, 1) - cross_entropy(s, 2)
        assert abs(difference) <= Fraction(1, 10**38) * Fraction(1 + np.abs(s).max())


def test_scores_without_bounds():
    assert float(value([0.0, 1e300, 1e300], 0, 2)) == 1e300
    # the mean of a huge and of a hugely negative margin
    assert float(value([0.0, 4e5, -4e5, -5e5], 0, 2)) == pytest.approx(math.log(3), rel=1e-12)
    assert value([0.0, -1e300, -1e300], 0, 2) < Fraction(1, 10**1000)


def test_conjugates_by_hand():
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    assert conjugate([0, 0, 0], 1, 2) == 0
    found = conjugate([-half, quarter, quarter, 0], 0, 2)
    assert float(found) == pytest.approx(-half * math.log(4) - half * math.log(2))
    tiny = Fraction(1, 10**30)
    outside = ([-half, quarter + tiny, quarter - tiny, 0], [-1 - tiny, half, half, tiny])
    for v in (*outside, [tiny, 0, -tiny, 0], [-half, quarter, quarter, tiny]):
        assert conjugate(v, 0, 2) == math.inf


def test_fenchels_inequality_is_tight_at_the_gradient_alone():
    rng = np.random.default_rng(4)
    for _ in range(50):
        m = int(rng.integers(3, 6))
        s, y, k = 4 * rng.normal(size=m), int(rng.integers(m)), int(rng.integers(2, m))
        for other, is_gradient in ((s, True), (s + rng.normal(size=m), False)):
            v = gradient(other, y, k)
            product = sum((p * Fraction(x) for p, x in zip(v, s.tolist(), strict=True)), Fraction())
            slack = value(s, y, k) + conjugate(v, y, k) - product
            # two points with the same entries at the bound may have one gradient
            assert abs(slack) < 1e-38 if is_gradient else slack > -1e-38


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_optimum_is_that_of_a_general_minimiser(k):
    rng = np.random.default_rng(k)
    X, y, omega = rng.normal(size=(8, 2)), np.arange(8) % 4, rng.random(8)
    problem = TopKLogistic(X, y, 4, 0.2, omega, k)
    optimum = problem.optimum()
    assert 0 <= optimum.width <= 1e-7

    def plain(w):
        scores = X @ w.reshape(4, 2).T
        bounds = [by_cap_sets(np.delete(s - s[c], c), k) for s, c in zip(scores, y, strict=True)]
        return 0.1 * w @ w + np.mean(omega * np.log1p(np.exp(bounds)))

    found = minimize(plain, np.zeros(8), tol=1e-10)
    assert optimum.value_lower <= found.fun + 1e-14
    assert found.fun == pytest.approx(optimum.value_upper, abs=1e-8)
