"""The reference with a block norm and with losses of the margin: its two sides meet."""

import numpy as np
import pytest
from scipy.optimize import minimize

import reference
from reference.lp_norm import block_norm, dual_exponent

RNG = np.random.default_rng(5)
X, Y = RNG.standard_normal((6, 3)), np.arange(6) % 3
LOSSES = (reference.SquaredHinge(), reference.Logistic())
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


@pytest.mark.parametrize("p", [1, 1.5, 3])
def test_the_interval_is_narrow_and_holds_random_points(p):
    training = reference.BlockNormTraining(X, Y, reference.TopK(2), 0.1, p, 4)
    optimum = training.optimum()
    assert optimum.width <= 1e-8
    for scale in (0.01, 0.3):
        W = optimum.point + scale * RNG.standard_normal((4, 3))
        assert training.primal(W) >= optimum.value_lower
        A = training.plain.feasible(scale * RNG.standard_normal((6, 4)))
        assert training.dual(A) <= optimum.value_upper


def test_two_is_the_plain_problem():
    training = reference.BlockNormTraining(X, Y, reference.MaxHinge(), 0.1, 2, 3)
    plain = training.plain.optimum()
    assert training.optimum().value_lower == pytest.approx(plain.value_lower, abs=1e-8)


@each_loss
def test_conjugates_by_a_search(loss):
    for s in (-0.9, -0.4, -0.1):
        found = minimize(lambda t, s=s: -(s * t[0] - loss.value(t)[0]), [0.0], tol=1e-12)
        assert loss.conjugate(np.array([s]))[0] == pytest.approx(-found.fun, abs=1e-7)
    assert loss.conjugate(np.array([0.1]))[0] == np.inf
    assert np.isfinite(loss.conjugate(np.array([-1.0, 0.0]))).all()


@each_loss
@pytest.mark.parametrize("p", [1.2, 2, 3])
def test_problems_10_and_11_meet(loss, p):
    machine = reference.MarginMachine(X, Y, 3, 0.7, loss, p)
    w, alpha = machine.best_w(), machine.best_alpha()
    assert machine.dual(alpha) == pytest.approx(machine.primal(w), rel=1e-7)
    assert machine.primal(w + 0.01) > machine.primal(w)
    # Theorem 12
    u, q = alpha.T @ X, dual_exponent(p)
    sizes = np.linalg.norm(u, axis=1, keepdims=True)
    mapped = block_norm(u, q) ** (2 - q) * sizes ** (q - 2) * u
    np.testing.assert_allclose(mapped, w, atol=1e-3)


@each_loss
def test_problem_14_is_the_dual_at_fixed_weights(loss):
    beta = np.array([0.5, 1.0, 0.2])
    machine = reference.MarginMachine(X, Y, 3, 0.7, loss, beta=beta)
    w, alpha = machine.best_w(), machine.best_alpha()
    assert machine.dual(alpha) == pytest.approx(machine.primal(w), rel=1e-7)
    np.testing.assert_allclose(beta[:, None] * (alpha.T @ X), w, atol=1e-3)
