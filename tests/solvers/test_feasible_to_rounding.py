"""Rows that miss the domain by rounding errors are put back into it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import fwlab
from fwlab.rounding import distances
from fwlab.solvers.method import State

pytestmark = pytest.mark.small


def problem(k, n=20, m=26):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, 3)), np.arange(n) % m
    return fwlab.Problem(X, y, fwlab.TopK(k), 0.1, n_classes=m)


@pytest.mark.parametrize("k", [1, 3, 25])
def test_a_run_ends_inside_the_domain(k):
    given, rng = problem(k), np.random.default_rng(1)
    inside = given.nearest_feasible(rng.standard_normal((20, 26)), slice(None))
    state = State(given, inside + 1e-12 * rng.standard_normal(inside.shape), rng)
    assert given.infeasibility(state.A) > 1e-13
    rho = state.round_to_domain()
    assert_array_equal(rho, distances(given, state.A))
    assert state.infeasibility <= 2e-14
    assert given.infeasibility(state.A) <= 1e-14


def test_a_row_is_not_moved_away_from_its_domain(monkeypatch):
    """A projection of many classes may itself miss the domain by rounding."""
    given, rng = problem(3), np.random.default_rng(1)
    noise = rng.standard_normal((20, 26))
    A = given.nearest_feasible(noise, slice(None)) + 1e-12 * noise
    state = State(given, A.copy(), rng)
    before = distances(given, A)
    monkeypatch.setattr(given, "nearest_feasible", lambda A, rows: A[rows] + 1e-11 * noise[rows])
    assert (before > 1e-13).all() and (distances(given, A + 1e-11 * noise) > before).all()
    assert_array_equal(state.round_to_domain(), before)
    assert_array_equal(state.A, A)


def test_the_certificate_is_of_a_point_inside_the_domain():
    given, rng = problem(3), np.random.default_rng(1)
    inside = given.nearest_feasible(rng.standard_normal((20, 26)), slice(None))
    state = State(given, inside + 1e-12 * rng.standard_normal(inside.shape), rng)
    certificate = state.certify()
    assert given.infeasibility(state.A) <= 1e-14
    assert certificate.dual == given.dual(state.A)


def test_a_row_without_weight_must_be_zero():
    given = fwlab.Problem(
        np.eye(3), [0, 1, 0], fwlab.MaxHinge(), 0.1, sample_weight=[1.0, 0.0, 1.0]
    )
    A = np.zeros((3, 2))
    assert given.is_feasible(A)
    A[1] = (-1e-3, 1e-3)
    assert not given.is_feasible(A) and given.dual(A) == -np.inf


@pytest.mark.turns
def test_a_feasible_row_with_many_classes_keeps_its_zeros():
    """The rounded threshold of a projection lifted all of them, in about one row of fifty."""
    given, rng = problem(5, n=500, m=1000), np.random.default_rng(1)
    A = given.nearest_feasible(rng.standard_normal((500, 1000)), slice(None))
    assert 0 < np.count_nonzero(A) < 0.05 * A.size
    again = given.nearest_feasible(A, slice(None))
    assert not again[A == 0].any()
    assert np.abs(again - A).max() <= 1e-14
