"""The reference's cross-entropy: values by hand, Fenchel's inequality, and certified optima."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from reference.cross_entropy import LogisticRegression, conjugate, softmax, value


def test_values_by_hand():
    assert float(value([0.0, 0.0], 1)) == pytest.approx(math.log(2), rel=1e-15)
    assert float(value([1.0, 2.0, 3.0], 0)) == pytest.approx(
        math.log(1 + math.e + math.e**2), rel=1e-15
    )
    assert float(value([0.0, -700.0], 0)) == pytest.approx(math.exp(-700), rel=1e-13)
    assert float(value([0.0, 1e300], 0)) == 1e300
    assert [float(p) for p in softmax([0.0, math.log(3)])] == pytest.approx([0.25, 0.75])


def test_conjugates_by_hand():
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    assert conjugate([0, 0, 0], 1) == 0
    assert float(conjugate([-half, half], 0)) == pytest.approx(-math.log(2), rel=1e-15)
    expected = -half * math.log(2) - half * math.log(4)
    assert float(conjugate([half, quarter - 1, quarter], 1)) == pytest.approx(expected, rel=1e-15)
    tiny = Fraction(1, 10**30)
    assert float(conjugate([-tiny, tiny], 0)) == pytest.approx(-1e-30 * (1 + 30 * math.log(10)))
    for outside in ([0, Fraction(1, 10**9)], [-1 - tiny, 1 + tiny], [tiny, -tiny]):
        assert conjugate(outside, 0) == math.inf


def test_fenchels_inequality_is_tight_at_the_gradient_alone():
    rng = np.random.default_rng(0)
    for _ in range(50):
        m = int(rng.integers(2, 6))
        s, y = 4 * rng.normal(size=m), int(rng.integers(m))
        for other, is_gradient in ((s, True), (s + rng.normal(size=m), False)):
            v = [p - (j == y) for j, p in enumerate(softmax(other))]
            product = sum((p * Fraction(x) for p, x in zip(v, s.tolist(), strict=True)), Fraction())
            slack = value(s, y) + conjugate(v, y) - product
            assert (abs(slack) < 1e-38) if is_gradient else (slack > 1e-30)


@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_is_that_of_a_general_minimiser(seed):
    rng = np.random.default_rng(seed)
    X, y, omega = rng.normal(size=(7, 2)), np.arange(7) % 3, rng.random(7)
    problem = LogisticRegression(X, y, 3, 0.2, omega)
    optimum = problem.optimum()
    assert 0 <= optimum.width <= 1e-10

    def plain(w):
        s = X @ w.reshape(3, 2).T
        losses = np.log(np.exp(s).sum(axis=1)) - s[np.arange(7), y]
        return 0.1 * w @ w + np.mean(omega * losses)

    found = minimize(plain, np.zeros(6), tol=1e-12)
    assert optimum.value_lower <= found.fun + 1e-15
    assert found.fun == pytest.approx(optimum.value_upper, abs=1e-9)
    assert float(problem.primal(found.x.reshape(3, 2))) == pytest.approx(found.fun, rel=1e-13)


def test_one_sample_by_hand():
    """n = 1, m = 2, x = 1, W = (b, -b): P = lam b^2 + log(1 + exp(-2 b)), D at t = 1 - p_y."""
    problem = LogisticRegression(np.ones((1, 1)), np.array([0]), 2, 0.5)
    b, t = 0.7, Fraction(1, 5)
    expected = 0.5 * b**2 + math.log(1 + math.exp(-2 * b))
    assert float(problem.primal([[b], [-b]])) == pytest.approx(expected, rel=1e-15)
    A = np.array([[t, -t]], dtype=object)
    entropy = -0.2 * math.log(0.2) - 0.8 * math.log(0.8)
    assert float(problem.dual(A)) == pytest.approx(entropy - 0.25 * 2 * 0.4**2, rel=1e-14)
    assert problem.dual(2 * t - A * 6) == -math.inf
