"""The cross-entropy and its training problems against the reference, which computes in decimals."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

import fwlab
from reference import LogisticRegression
from reference.arithmetic import fractions
from reference.cross_entropy import conjugate, softmax, value

LOSS = fwlab.CrossEntropy()
# of a loss: 8 ulp each for exp and log and the sum of m terms; of its margins 4 units
UNIT = 2.0**-53


def rows(m, seed):
    """Return scores of all sizes from 1e-300 to 1e300, near and far from certainty, with ties."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** np.concatenate([rng.uniform(-300, 300, 20), rng.uniform(-3, 3, 40)])
    scores = sizes[:, None] * rng.normal(size=(60, m))
    scores[::7] = np.round(scores[::7])
    scores[::11, 0] = scores[::11, 1]
    return np.clip(scores, -1e300, 1e300), rng.integers(0, m, 60)


def allowed(scores, y, exact):
    """Return the error of a computed loss: units times the terms that stand in its formula."""
    margin = float(np.abs(scores - scores[y]).max())
    share = min(1.0, 2 * exact)
    return UNIT * ((len(scores) + 18) * share + 17 * exact + 4 * margin * share) + 2.0**-1018


@pytest.mark.parametrize("m", [2, 3, 17])
def test_values_from_1e_minus_300_to_1e300(m):
    scores, y = rows(m, m)
    values = LOSS.value(scores, y)
    for s, label, computed in zip(scores, y, values, strict=True):
        exact = float(value(s, label))
        assert abs(computed - exact) <= allowed(s, label, exact)


def test_a_row_does_not_depend_on_its_neighbours():
    """A margin above 500 shifts the margins of its own row alone."""
    scores = np.random.default_rng(0).normal(size=(50, 3))
    scores[7, 1] = 600.0
    for function in (LOSS.value, LOSS.gradient):
        together, y = function(scores, np.zeros(50, dtype=int)), 0
        # the sum of two terms has one rounding, in any order
        assert np.array_equal(together, [function(row, y) for row in scores])


@pytest.mark.parametrize("m", [2, 3, 17])
def test_gradients_keep_the_digits_of_every_entry(m):
    scores, y = rows(m, m)
    gradients = LOSS.gradient(scores, y)
    for s, label, computed in zip(scores, y, gradients, strict=True):
        p = softmax(s)
        exact = [float(share) for share in p]
        exact[label] = float(p[label] - 1)
        # an error d of a margin is one of d times the share; margins beyond 745 leave 0
        margins = np.minimum(np.abs(s - s[label]).max() + np.abs(s - s.max()), 1500.0)
        slack = UNIT * (len(s) + 36 + 8 * margins + 8 * margins.max()) * np.abs(exact) + 2.0**-1018
        assert (np.abs(computed - exact) <= slack).all()


def domain_points(m, seed):
    """Return v = p - e_y, in floats, for p from the middle of the simplex to its vertices."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, m, 60)
    return LOSS.gradient(10.0 ** rng.uniform(-2, 2.5, (60, 1)) * rng.normal(size=(60, m)), y), y


@pytest.mark.parametrize("m", [2, 3, 17])
def test_conjugates(m):
    v, y = domain_points(m, m)
    computed = LOSS.conjugate(v, y)
    for row, label, found in zip(v, y, computed, strict=True):
        exact = fractions(row)
        exact[label] = 0
        exact[label] = -min(Fraction(1), exact.sum())
        exact /= max(Fraction(1), exact.sum() - exact[label])
        truth = float(conjugate(exact, label))
        # the entropy of the label has an infinite slope at 0
        assert abs(found - truth) <= (m + 20) * UNIT * (abs(truth) + 40 * abs(row[label])) + 1e-300


def test_the_conjugate_is_infinite_outside():
    v = [[-0.5, 0.5 + 1e-6], [0.1, -0.1], [-1.1, 1.1]]
    assert (LOSS.conjugate(v, [0, 0, 0]) == np.inf).all()


def drawn(seed, n=9, d=3, m=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 1)
    omega = rng.uniform(0.25, 2, n)
    omega[1] = 0.0
    return X, np.arange(n) % m, omega, float(10.0 ** rng.uniform(-3, 0))


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("seed", range(3))
def test_primal_and_dual_are_those_of_the_reference(seed, form):
    X, y, omega, lam = drawn(seed)
    problem = fwlab.Problem(form(X), y, LOSS, lam, sample_weight=omega)
    truth = LogisticRegression(X, y, 3, lam, omega)
    W = np.random.default_rng(seed).normal(size=(3, 3))
    assert problem.primal(W) == pytest.approx(float(truth.primal(W)), rel=1e-13)
    A = omega[:, None] * -LOSS.gradient(X @ W.T, y)
    exact = fractions(A)
    exact[np.arange(9), y] = 0
    exact[np.arange(9), y] = -exact.sum(axis=1)
    assert problem.dual(A) == pytest.approx(float(truth.dual(exact)), rel=1e-12, abs=1e-13)
    far = A.copy()
    far[0] *= 1e6
    assert problem.dual(far) == -np.inf and truth.dual(exact * 10**6) == -np.inf
    np.testing.assert_allclose(problem.weights(A), truth.link(exact).astype(float), atol=1e-13)


@pytest.mark.turns
@pytest.mark.parametrize("method", ["ascent", "lbfgs", "auto"])
@pytest.mark.parametrize("seed", range(4))
def test_optima_lie_in_both_intervals(seed, method):
    X, y, omega, lam = drawn(10 + seed)
    if method == "ascent":
        # passes converge slowly where rows are much longer than this
        lam = max(lam, (X * X).sum(axis=1).max() / len(y))
    result = fwlab.solve(fwlab.Problem(X, y, LOSS, lam, sample_weight=omega), method, tol=1e-9)
    optimum = LogisticRegression(X, y, 3, lam, omega).optimum()
    assert result.success and optimum.width <= 1e-6
    assert result.primal + result.gap_error >= optimum.value_lower
    assert result.dual - result.gap_error <= optimum.value_upper
    distance = np.linalg.norm(result.W - optimum.point)
    assert distance <= result.distance + np.sqrt(2 * optimum.width / lam)
