"""The LPs on the definition against the polytopes that the papers derive, and known answers."""

import math

import numpy as np
import pytest
from hypothesis import given
from reference_cases import float_cases, grid_losses

from reference import MaxHinge, PseudoTopK, StructuredHinge, TopK, WeightedTopK, lp
from reference.derived_polytopes import (
    derived,
    derived_conjugate,
    derived_domain,
    knapsack,
    permutahedron,
    topk_simplex,
)
from reference.polytope import Polytope, refined


@given(float_cases())
def test_domains_of_definition_and_papers_coincide(case):
    """Equal distances from every point and equal least linear values: the same convex set."""
    loss, point, y = case
    domain = derived_domain(loss, len(point), y)
    nearest, distance = lp.nearest_in_domain(loss, point, y)
    assert distance == pytest.approx(domain.nearest(point)[1], abs=1e-8)
    assert domain.nearest(nearest)[1] <= 1e-10
    value, vertex = lp.lmo(loss, point, y)
    assert value == pytest.approx(domain.minimum(-point)[0], abs=1e-8)
    assert domain.nearest(-vertex)[1] <= 1e-10
    assert lp.in_domain(loss, nearest, y)
    assert lp.in_domain(loss, point, y) == (distance <= 1e-9)


@pytest.mark.parametrize("loss", grid_losses(4), ids=str)
def test_every_domain_of_the_papers_is_that_of_the_definition(loss):
    rng = np.random.default_rng(0)
    for y in range(4):
        domain = derived_domain(loss, 4, y)
        for point in [np.eye(4)[0], np.eye(4)[0] + np.eye(4)[3], *rng.normal(size=(3, 4))]:
            value = lp.lmo_value(loss, point, y)
            assert value == pytest.approx(domain.minimum(-point)[0], abs=1e-8)


@given(float_cases())
def test_conjugates_of_definition_and_papers_coincide(case):
    loss, point, y = case
    vertex = -lp.lmo(loss, point, y)[1]
    for v in (vertex, vertex / 2, vertex + 0.01, 2 * vertex):
        expected = derived_conjugate(loss, v, y)
        assert lp.conjugate(loss, v, y) == pytest.approx(expected, abs=1e-8)


@given(float_cases())
def test_papers_maximum_over_the_polytope_is_the_loss(case):
    loss, scores, y = case
    margins = np.array(loss.margins(scores, y), dtype=float)
    largest = -derived(loss, len(scores), y).minimum(-margins)[0]
    assert largest == pytest.approx(float(loss.value(scores, y)), abs=1e-8)


@given(float_cases())
def test_conjugate_without_centring_is_that_of_phi(case):
    """phi*(v) = -<delta, v> on the polytope itself."""
    loss, direction, y = case
    polytope = derived(loss, len(direction), y)
    beta = polytope.minimum(-direction)[1]
    if isinstance(loss, PseudoTopK):
        assert beta[y] == 0
    expected = -float(np.array(loss.delta(len(beta), y), dtype=float) @ beta)
    assert lp.conjugate(loss, beta, y, centred=False) == pytest.approx(expected, abs=1e-8)


def test_known_answers():
    assert lp.conjugate(MaxHinge(), [0.5, 0.25, -0.75], 2) == pytest.approx(-0.75)
    assert lp.conjugate(MaxHinge(), [0.5, 0.25, -0.7], 2) == math.inf
    assert lp.lmo_value(TopK(2), [0.0, 5.0, -1.0], 0) == pytest.approx(-2.5)
    point, distance = lp.nearest_in_domain(MaxHinge(), [3.0, -3.0], 1)
    assert point == pytest.approx([1, -1])
    assert distance == pytest.approx(2)
    costs = ((0, 3, 7), (0, 1, 1))
    loss = StructuredHinge(costs, per_sample=True).for_sample(0)
    assert lp.conjugate(loss, [-1, 0.5, 0.5], 0) == pytest.approx(-5)


def test_level_weights_are_differences_not_the_weights_themselves():
    """With rho'_l = rho_{k_l}, as T20 prints below (2.15), the polytope would be too large."""
    rho = (3.0, 2.0, 1.0)
    margins = np.array([1.0, 1.0, 1.0, 0.0])
    assert -derived(WeightedTopK(rho), 4, 3).minimum(-margins)[0] == pytest.approx(6)


def test_what_highs_gets_wrong_is_an_error():
    """An empty set, and an x too far from any solution to be corrected."""
    M, A = np.eye(2), np.ones((1, 2))
    empty = Polytope(M, A, np.array([-1.0]))
    with pytest.raises(ArithmeticError, match="has a solution"):
        empty.minimum(np.ones(2))
    with pytest.raises(ArithmeticError, match="corrected"):
        refined(np.array([1.0, 0.0]), A, np.array([-1.0]))
    nearly = refined(np.array([0.5 + 3e-11, 0.5]), A, np.array([1.0]))
    assert abs(nearly.sum() - 1) < 1e-15


def test_sets_of_the_projections():
    ones = np.ones(3)
    assert topk_simplex(3, 4).minimum(-ones)[0] == pytest.approx(0)
    assert -topk_simplex(3, 2, 5.0).minimum(-np.array([1.0, 0, 0]))[0] == pytest.approx(2.5)
    assert -knapsack(3, 2.0, 0.9).minimum(-np.array([3.0, 2, 1]))[0] == pytest.approx(4.7)
    assert knapsack(3, 2.0, 0.9, equality=True).minimum(ones)[0] == pytest.approx(2)
    assert permutahedron([3, -1, 2]).minimum(np.array([1.0, 0, 2]))[0] == pytest.approx(0)
