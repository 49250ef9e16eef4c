"""Exact points and bounds of polytopes, from floats that are good, bad or absurd."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_cases import float_cases, losses

from reference.derived_polytopes import derived_domain, knapsack, topk_simplex
from reference.epigraph import epigraph
from reference.polytope import Polytope
from reference.rational import feasible, fractions, inner, largest_sum, least


def is_feasible(polytope, x):
    A, b = polytope.equations
    return min(x) >= 0 and all(inner(row, x) == right for row, right in zip(A, b, strict=True))


@given(float_cases())
def test_points_near_those_of_the_solver_are_feasible_to_the_last_digit(case):
    loss, c, y = case
    for polytope in (epigraph(loss, len(c), y).domain, derived_domain(loss, len(c), y)):
        x = polytope.nearest_x(c)
        exact = feasible(polytope, x)
        assert is_feasible(polytope, exact)
        assert exact.astype(float) == pytest.approx(x, abs=1e-9)


@given(float_cases())
def test_the_bound_is_that_of_the_definition(case):
    """Below the least value, which is minus the recession function, and near it."""
    loss, c, y = case
    gradient = fractions(c)
    wanted = -Fraction(loss.recession(list(gradient), y))
    bound = least(epigraph(loss, len(c), y).negated_domain, gradient)
    assert wanted - Fraction(1e-8) * (1 + max(abs(gradient))) <= bound <= wanted


@given(st.data())
def test_any_multipliers_give_a_bound(data):
    """Even absurd ones of the solver, as long as they are numbers."""
    m = data.draw(st.integers(2, 4))
    loss, y = data.draw(losses(m)), data.draw(st.integers(0, m - 1))
    gradient = fractions(data.draw(st.lists(st.integers(-3, 3), min_size=m, max_size=m)))
    polytope = epigraph(loss, m, y).negated_domain
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    trusted, absurd = polytope.multipliers, rng.normal(size=len(polytope.b))
    object.__setattr__(
        polytope, "multipliers", lambda cost: trusted(cost) if (cost == -1).all() else absurd
    )
    assert least(polytope, gradient) <= -loss.recession(list(gradient), y)


def test_entries_that_are_zero_grow_where_they_must():
    """3 entries at most 2/3, rounded down, with a sum that is at most 2: the slack cannot be 0."""
    polytope = knapsack(3, 2.0, 2 / 3)
    x = np.array([2 / 3] * 3 + [0.0] * 4)
    exact = feasible(polytope, x)
    assert is_feasible(polytope, exact)
    assert sum(exact[3:]) == 2 - 3 * Fraction(2 / 3) > 0


def test_noise_does_not_count_as_room():
    """Entries of 5e-17 and 6e-16 in slacks whose sum is 0 on the face x_1 = x_2 = x_3."""
    polytope = topk_simplex(3, 3, 1.5)
    x = np.array([0.4999999930943918, 0.4999999930943915, 0.4999999930943914, 2.0716825e-8])
    exact = feasible(polytope, np.concatenate([x, [0.0, 5.4e-17, 5.6e-16]]))
    assert is_feasible(polytope, exact)
    assert list(exact[:3]) == [exact[0]] * 3


def test_what_cannot_be_repaired_is_an_error():
    nowhere = knapsack(3, 2.0, 2 / 3, equality=True)  # the largest sum is just below 2
    with pytest.raises(ArithmeticError, match="made exact"):
        feasible(nowhere, np.array([2 / 3] * 3 + [0.0] * 3))
    somewhere = knapsack(3, 2, Fraction(2, 3), equality=True)
    assert is_feasible(somewhere, feasible(somewhere, np.array([2 / 3] * 3 + [0.0] * 3)))
    segment = Polytope(np.eye(2), np.array([[1.0, -1.0]]), np.array([1.0]))
    with pytest.raises(ArithmeticError, match="made exact"):
        feasible(segment, np.array([0.0, 0.5]))
    with pytest.raises(ArithmeticError, match="has a solution"):
        largest_sum(segment)
    object.__setattr__(segment, "multipliers", lambda cost: np.array([1.0]))
    with pytest.raises(ArithmeticError, match="no multipliers prove"):
        largest_sum(segment)


def test_largest_sum_by_hand():
    """Multipliers that are too small by a factor prove the same."""
    polytope = knapsack(2, 1.0, 1.0)
    assert largest_sum(polytope) == pytest.approx(3)  # all three slacks, at x = 0
    solved = polytope.multipliers
    object.__setattr__(polytope, "multipliers", lambda cost: solved(cost) / 2)
    assert largest_sum(polytope) == pytest.approx(3)
