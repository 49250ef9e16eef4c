"""The block-norm regulariser against its definition, and the arguments it refuses."""

import numpy as np
import pytest

import fwlab

pytestmark = pytest.mark.small

P_ABOVE_ONE = (1.05, 1.5, 2.0, 3.0, 6.0)
each_p = pytest.mark.parametrize("p", P_ABOVE_ONE)


def rows(seed=0, zero=False):
    V = np.random.default_rng(seed).standard_normal((4, 3))
    if zero:
        V[1] = 0
    return V


def norm(W, p):
    return np.linalg.norm(np.linalg.norm(W, axis=1), p)


@pytest.mark.parametrize("p", (1.0, *P_ABOVE_ONE))
@pytest.mark.parametrize("zero", [False, True])
def test_value_and_conjugate_are_half_squared_norms(p, zero):
    W, regularizer = rows(zero=zero), fwlab.LpNorm(p)
    q = np.inf if p == 1 else p / (p - 1)
    assert regularizer.value(W) == pytest.approx(norm(W, p) ** 2 / 2, rel=1e-14)
    assert regularizer.conjugate(W) == pytest.approx(norm(W, q) ** 2 / 2, rel=1e-14)
    assert regularizer.value(0 * W) == regularizer.conjugate(0 * W) == 0


@each_p
@pytest.mark.parametrize("zero", [False, True])
def test_the_representer_attains_the_conjugate(p, zero):
    """R(W) + R*(V) = <W, V> at W alone, and nothing exceeds it."""
    V, regularizer = rows(zero=zero), fwlab.LpNorm(p)
    W = regularizer.representer(V)
    assert np.vdot(W, V) == pytest.approx(regularizer.value(W) + regularizer.conjugate(V))
    assert norm(W, p) == pytest.approx(norm(V, regularizer.q), rel=1e-13)
    for seed in range(20):
        other = W + 0.3 * rows(seed + 1)
        assert np.vdot(other, V) - regularizer.value(other) < regularizer.conjugate(V)
    np.testing.assert_array_equal(regularizer.representer(0 * V), 0 * V)


def test_two_is_the_plain_norm():
    V, regularizer = rows(zero=True), fwlab.LpNorm(2)
    np.testing.assert_array_equal(regularizer.representer(V), V)
    assert regularizer.value(V) == pytest.approx(np.vdot(V, V) / 2, rel=1e-15)
    assert regularizer.plain and not fwlab.LpNorm(2.0000001).plain


def test_towards_one_the_largest_rows_remain():
    V = np.array([[3.0, 4.0], [0.0, 4.999], [5.0, 0.0]])
    W = fwlab.LpNorm(1 + 1e-6).representer(V)
    np.testing.assert_allclose(W, [[1.5, 2.0], [0, 0], [2.5, 0.0]], atol=1e-4)


def test_exponents_far_out_do_not_overflow():
    V = rows() * 1e100
    for p in (1 + 1e-9, 1.001, 1e6):
        regularizer = fwlab.LpNorm(p)
        assert np.isfinite(regularizer.representer(V)).all()
        assert np.isfinite([regularizer.value(V), regularizer.conjugate(V)]).all()


@pytest.mark.parametrize("p", [1.0, 1.05, 1.5, 1.9])
def test_the_weights_of_a_machine_minimise_the_quadratic_form(p):
    """LP15 (14): among |beta|_{p/(2-p)} <= 1, and the minimum is R(W)."""
    regularizer, exponent = fwlab.LpNorm(p), p / (2 - p)
    squares = (rows() ** 2).sum(axis=1)
    beta = regularizer.optimal_class_weights(squares, 0.0)
    assert np.linalg.norm(beta, exponent) == pytest.approx(1)
    least = (squares / beta).sum() / 2
    assert least == pytest.approx(regularizer.value(rows()), rel=1e-13)
    for seed in range(20):
        other = beta * np.exp(0.2 * np.random.default_rng(seed).standard_normal(4))
        assert (squares / other).sum() / 2 * np.linalg.norm(other, exponent) > least


def test_the_floor_of_the_weights():
    squares = np.array([4.0, 0.0, 1.0])
    beta = fwlab.LpNorm(1.5).optimal_class_weights(squares, 0.01)
    assert beta[1] / beta[0] == pytest.approx(0.01**0.5)
    np.testing.assert_allclose(fwlab.LpNorm(1).optimal_class_weights(0 * squares, 0.01), 1 / 3)


@pytest.mark.parametrize("p", [0.999, 0, -1, np.inf, -np.inf, np.nan, 1e200])
def test_p_out_of_range(p):
    with pytest.raises(ValueError, match=r"^p must be .*; got .*\.$") as caught:
        fwlab.LpNorm(p)
    assert str(p) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("p", ["2", None, 1j, True, [2]])
def test_p_of_another_kind(p):
    with pytest.raises(TypeError, match=r"^p must be a real number; got .*\.$"):
        fwlab.LpNorm(p)


def test_no_representer_at_one():
    with pytest.raises(ValueError, match=r"representer needs one W\(A\)"):
        fwlab.LpNorm(1).representer(rows())


@pytest.mark.parametrize("regularizer", [2.0, fwlab.LpNorm, "l2"])
def test_the_problem_wants_an_lp_norm(regularizer):
    with pytest.raises(TypeError, match=r"regularizer must be None or a fwlab.LpNorm; got"):
        fwlab.Problem(np.eye(2), [0, 1], fwlab.MaxHinge(), 1.0, regularizer=regularizer)
