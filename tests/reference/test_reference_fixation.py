"""The other dual (K19 (32)) and its restriction (K19 Proposition 7)."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import MaxHinge, OtherDual, PseudoTopK, TopK, Usunier, linear_training


@st.composite
def data(draw):
    m, n, d = draw(st.integers(3, 5)), draw(st.integers(1, 5)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d)) if draw(st.booleans()) else rng.integers(-1, 2, (n, d))
    return X, rng.integers(m, size=n), m, draw(st.sampled_from([0.05, 0.3]))


@pytest.mark.turns
@settings(max_examples=15)
@given(data(), st.integers(2, 4))
def test_fixing_the_true_class_trains_the_pseudo_loss(case, k):
    X, y, m, lam = case
    k = min(k, m - 1)
    fixed = OtherDual(X, y, TopK(k), lam, m).fixed_optimum()
    pseudo = linear_training(X, y, PseudoTopK(k), lam, n_classes=m).optimum()
    true = linear_training(X, y, TopK(k), lam, n_classes=m).optimum()
    assert fixed.value_lower <= pseudo.value_upper
    assert pseudo.value_lower <= fixed.value_upper
    assert fixed.value_lower <= true.value_upper


def test_the_fixed_optimum_can_be_strictly_smaller():
    X, y = np.random.default_rng(0).normal(size=(5, 2)), np.array([0, 1, 2, 1, 0])
    fixed = OtherDual(X, y, TopK(2), 0.1, 3).fixed_optimum()
    true = linear_training(X, y, TopK(2), 0.1).optimum()
    assert fixed.value_upper < true.value_lower - 1e-3


@pytest.mark.parametrize("loss", [MaxHinge(), TopK(1), Usunier(2)], ids=str)
def test_without_harm_where_the_loss_is_compatible(loss):
    """Max hinge and Usunier lose nothing by the fixation."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(4, 2)), rng.integers(4, size=4)
    fixed = OtherDual(X, y, loss, 0.2, 4).fixed_optimum()
    true = linear_training(X, y, loss, 0.2, n_classes=4).optimum()
    assert fixed.value_lower <= true.value_upper
    assert true.value_lower <= fixed.value_upper


def test_the_other_dual_is_a_dual_of_the_same_problem():
    """Never above the primal optimum, and equal to the first dual at corresponding points."""
    rng = np.random.default_rng(4)
    X, y, loss = rng.normal(size=(3, 2)), np.array([0, 2, 1]), TopK(2)
    other = OtherDual(X, y, loss, 0.1, 3)
    problem = linear_training(X, y, loss, 0.1)
    A = -rng.permuted(np.tile([0.5, 0.5, 0.0], (3, 1)), axis=1)
    assert other.value(A) <= problem.optimum().value_upper
    moved = A.copy()
    moved[range(3), y] -= A.sum(axis=1)  # H_y' a
    assert problem.dual(moved) == pytest.approx(other.value(A), abs=1e-9)
    assert other.value(-A) == -math.inf


def test_duals_of_true_and_pseudo_loss_agree_without_the_true_class():
    """K19 (78): d_ptk(A) = d_utk(A with its true-class entries removed)."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(3, 2)), np.array([0, 3, 1])
    true, pseudo = OtherDual(X, y, TopK(2), 0.1, 4), OtherDual(X, y, PseudoTopK(2), 0.1, 4)
    A = np.array([[0, -0.5, -0.5, 0], [-0.3, -0.2, -0.1, 0], [0, 0, -0.25, -0.25]])
    assert pseudo.value(A) == pytest.approx(true.value(A), abs=1e-9)
    assert pseudo.value(A) > -math.inf
    A[0, 0] = -0.1  # the first equality of (78) needs A's own true-class entries to be 0
    assert pseudo.value(A) == -math.inf
