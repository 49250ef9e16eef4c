"""The bounds of LP15 by hand, their order, and the Monte-Carlo estimates against closed forms."""

import math

import numpy as np
import pytest
import scipy.sparse

from fwlab import bounds

LAST = 3 * math.sqrt(math.log(40) / 200)  # n = 100, delta = 0.05, B = 1
X = np.random.default_rng(0).standard_normal((100, 3))
TRACE = float((X**2).sum())


def test_by_hand():
    assert bounds.confidence_term(100, 0.05) == pytest.approx(LAST)
    assert bounds.theorem_5(0.1, 7.0, 100, 0.05, L=2.0) == pytest.approx(
        0.1 + 4 * math.sqrt(2 * math.pi) * 0.07 + LAST
    )
    assert bounds.theorem_7(0.1, 9.0, 0.5, 0.25, 100, 0.05) == pytest.approx(
        0.1 + 0.04 * math.sqrt(math.pi * 18) + LAST
    )
    factor = 4**1.5 * 50**0.5
    assert bounds.class_factor(50, 2) == pytest.approx(factor)
    # at p = 2 the exponents of p and of q are the same: q = 3, 2 - 1/p = 4/3
    assert bounds.class_factor(50, 1.5) == pytest.approx(6 ** (4 / 3) * 50 ** (1 / 3))
    assert bounds.corollary_8(0.1, 4.0, 2, 3.0, 50, 100, 0.05) == pytest.approx(
        0.1 + 0.06 * 2 * factor + LAST
    )
    assert bounds.earlier_rademacher_bound(0.1, 0.2, 5, 100, 0.05) == pytest.approx(4.1 + LAST)
    assert bounds.class_size_independent_bound(0.3, 2.0, 0.1, 100) == pytest.approx(0.7)


@pytest.mark.parametrize("c", [3, 20, 1000])
def test_below_the_threshold_the_factor_is_one_and_logarithmic(c):
    edge = 2 * math.log(c) / (2 * math.log(c) - 1)
    assert bounds.class_factor(c, 1) == bounds.class_factor(c, 0.999 * edge + 0.001)
    logarithm = 4 * math.log(c)
    assert bounds.class_factor(c, 1) == pytest.approx(
        math.sqrt(math.e) * logarithm ** (1 + 2 / logarithm)
    )
    assert bounds.class_factor(c, min(2, 1.001 * edge)) != bounds.class_factor(c, 1)


def test_the_supremum_of_one_sample_has_a_closed_form():
    """E |g| |x| for p = 2, n = 1: the mean length of c normal numbers."""
    c, x = 5, X[:1]
    mean, error = bounds.expected_supremum(x, c, 2, Lambda=3.0, draws=4000)
    length = math.sqrt(2) * math.gamma((c + 1) / 2) / math.gamma(c / 2)
    exact = 3 * length * float(np.linalg.norm(x))
    assert abs(mean - exact) <= 4 * error
    assert error <= 0.02 * exact


def test_the_square_norms_have_a_closed_form():
    """E |g|_2^2 = c, and E max |g_j|^2 = 1 + 2/pi for two."""
    mean, error = bounds.expected_square_norms(X, 7, 2)
    assert abs(mean - 7 * TRACE) <= 4 * error
    mean, error = bounds.expected_square_norms(X, 2, 1)
    assert abs(mean - (1 + 2 / math.pi) * TRACE) <= 4 * error


def test_the_components_of_one_sample():
    mean, error = bounds.component_complexity(X[:1], Lambda=2.0, draws=50)
    assert mean == pytest.approx(2 * np.linalg.norm(X[0]))
    assert error <= 1e-12


def test_sparse_samples_give_the_same():
    sparse = scipy.sparse.csr_matrix(X)
    for estimate in (
        lambda data: bounds.expected_supremum(data, 4, 1.5, draws=20),
        lambda data: bounds.expected_square_norms(data, 4, 1.5, draws=20),
        lambda data: bounds.component_complexity(data, draws=20),
    ):
        np.testing.assert_allclose(estimate(sparse), estimate(X), rtol=1e-12)


@pytest.mark.parametrize("p", [1.2, 1.5, 2.0])
@pytest.mark.parametrize("c", [3, 20])
def test_each_bound_is_above_the_one_it_comes_from(p, c):
    """Theorem 5 <= Theorem 7 with f of the norm <= Corollary 8, with estimated complexities."""
    supremum, _ = bounds.expected_supremum(X, c, p, draws=300)
    moment, _ = bounds.expected_square_norms(X, c, p)
    fifth = bounds.theorem_5(0, supremum, 100, 0.05)
    seventh = bounds.theorem_7(0, moment, 0.5, p - 1, 100, 0.05)
    eighth = bounds.corollary_8(0, TRACE, p, 1.0, c, 100, 0.05)
    assert fifth < seventh
    assert fifth < eighth
    assert supremum > 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bounds.confidence_term(0, 0.1), "n must be at least 1; got 0"),
        (lambda: bounds.confidence_term(5, 1.0), "delta must be below 1; got 1.0"),
        (lambda: bounds.class_factor(1, 1.5), "c must be at least 2; got 1"),
        (lambda: bounds.class_factor(3, 2.5), "p must be in 1..2"),
        (lambda: bounds.class_factor(3, 0.5), "p must be finite and at least 1; got 0.5"),
        (lambda: bounds.theorem_5(-1, 1, 5, 0.1), "mean_loss must be finite and >= 0"),
        (lambda: bounds.theorem_7(0, 1, 1, 0, 5, 0.1), "beta must be finite and > 0"),
        (lambda: bounds.expected_supremum(X, 2, 1.5, draws=1), "draws must be at least 2"),
        (lambda: bounds.component_complexity([[np.nan]]), "X must be finite"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()
