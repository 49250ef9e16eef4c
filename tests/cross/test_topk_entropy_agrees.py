"""The top-k entropy loss and its training problems against the reference, which has decimals."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

import fwlab
from fwlab.operators.capped_simplices import CappedSimplices
from reference import TopKLogistic
from reference.topk_entropy import conjugate, gradient, value

SIZES = [(3, 2), (5, 2), (5, 4), (17, 3), (17, 16)]
sizes = pytest.mark.parametrize(("m", "k"), SIZES)


def rows(m, seed):
    """Return scores of all sizes from 1e-300 to 1e300, near and far from certainty, with ties."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** np.concatenate([rng.uniform(-300, 300, 20), rng.uniform(-3, 3, 40)])
    scores = size[:, None] * rng.normal(size=(60, m))
    scores[::7] = np.round(scores[::7])
    scores[::11, 0] = scores[::11, 1]
    # one or two classes far above or far below all others
    scores[1::5, 0] += 10.0 ** rng.uniform(1, 4, 12)
    scores[2::5, 2] -= 10.0 ** rng.uniform(1, 4, 12)
    return np.clip(scores, -1e300, 1e300), rng.integers(0, m, 60)


@sizes
def test_values_from_1e_minus_300_to_1e300(m, k):
    scores, y = rows(m, m)
    loss = fwlab.TopKEntropy(k)
    values = loss.value(scores, y)
    bounds = CappedSimplices(y, m, k).loss_errors(scores, np.zeros(60), values)[0]
    for s, label, computed, error in zip(scores, y, values, bounds, strict=True):
        exact = value(s, label, k)
        assert abs(Fraction(computed) - exact) <= error


@sizes
def test_gradients_keep_the_digits_of_every_entry(m, k):
    scores, y = rows(m, m)
    gradients = fwlab.TopKEntropy(k).gradient(scores, y)
    for s, label, computed in zip(scores, y, gradients, strict=True):
        exact = np.array([float(share) for share in gradient(s, label, k)])
        # an error d of a margin is one of d times the share; margins beyond 1500 leave 0 or 1
        margins = np.minimum(4 * np.abs(s).max(), 3000.0)
        slack = 2.0**-53 * (4 * m + 200 + 16 * margins) * np.abs(exact) + 2.0**-1018
        assert (np.abs(computed - exact) <= slack).all()


@sizes
def test_conjugates(m, k):
    scores, y = rows(m, m)
    for s, label in zip(scores[20:], y[20:], strict=True):
        exact = gradient(s, label, k)
        truth = float(conjugate(exact, label, k))
        found = fwlab.TopKEntropy(k).conjugate([float(v) for v in exact], label)
        size = abs(truth) + 40 * abs(float(exact[label]))
        assert abs(found - truth) <= (m + 20) * 2.0**-53 * size + 1e-300


def test_the_conjugate_is_infinite_outside():
    v = [[-0.5, 0.25 + 1e-6, 0.25 - 1e-6], [0.1, -0.1, 0.0], [-1.1, 0.55, 0.55], [-0.5, 0.5, 0.0]]
    assert (fwlab.TopKEntropy(2).conjugate(v, [0, 0, 0, 0]) == np.inf).all()
    assert fwlab.TopKEntropy(1).conjugate(v[3], 0) < 0


def drawn(seed, n=9, d=3, m=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 1)
    omega = rng.uniform(0.25, 2, n)
    omega[1] = 0.0
    return X, np.arange(n) % m, omega, float(10.0 ** rng.uniform(-3, 0))


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("seed", range(3))
def test_primal_and_dual_are_those_of_the_reference(seed, form):
    X, y, omega, lam = drawn(seed)
    problem = fwlab.Problem(form(X), y, fwlab.TopKEntropy(2), lam, sample_weight=omega)
    truth = TopKLogistic(X, y, 4, lam, omega, 2)
    W = np.random.default_rng(seed).normal(size=(4, 3))
    assert problem.primal(W) == pytest.approx(float(truth.primal(W)), rel=1e-13)
    exact = truth.at_gradients(W)
    A = exact.astype(float)
    assert problem.dual(A) == pytest.approx(float(truth.dual(exact)), rel=1e-12, abs=1e-13)
    np.testing.assert_allclose(problem.weights(A), truth.link(exact).astype(float), atol=1e-13)
    A[0], exact[0] = omega[0] * np.array([1, -1, 0, 0]), [truth.omega[0], -truth.omega[0], 0, 0]
    assert problem.dual(A) == -np.inf and truth.dual(exact) == -np.inf


@pytest.mark.parametrize("method", ["lbfgs", "auto"])
@pytest.mark.parametrize(("seed", "k"), [(0, 2), (1, 2), (2, 3), (3, 3), (4, 1)])
def test_optima_lie_in_both_intervals(seed, k, method):
    X, y, omega, lam = drawn(10 + seed)
    problem = fwlab.Problem(X, y, fwlab.TopKEntropy(k), lam, sample_weight=omega)
    result = fwlab.solve(problem, method, tol=1e-9)
    optimum = TopKLogistic(X, y, 4, lam, omega, k).optimum()
    assert result.success and optimum.width <= 1e-5
    assert result.primal + result.gap_error >= optimum.value_lower
    assert result.dual - result.gap_error <= optimum.value_upper
    distance = np.linalg.norm(result.W - optimum.point)
    assert distance <= result.distance + np.sqrt(2 * optimum.width / lam)
