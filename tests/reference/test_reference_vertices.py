"""The vertices of the negated domain, exactly."""

from fractions import Fraction as F
from math import comb

import numpy as np
import pytest
from hypothesis import given
from reference_cases import exact_cases, float_cases, grid_losses

from reference import (
    MaxHinge,
    PseudoTopK,
    TopK,
    Usunier,
    WeightedTopK,
    exact,
    vertices,
)
from reference.derived_polytopes import derived_domain
from reference.vertices import is_extreme, orbit_size


@pytest.mark.parametrize("m", range(2, 7))
def test_numbers_of_vertices(m):
    y = m // 2
    assert len(vertices(MaxHinge(), m, y)) == m
    for k in range(1, m):
        others = range(1, k + 1)
        assert len(vertices(PseudoTopK(k), m, y)) == comb(m - 1, k) + 1
        assert len(vertices(Usunier(k), m, y)) == 1 + sum(comb(m - 1, r) for r in others)
        # k = 1: the true class chosen alone gives 0, which is counted already
        assert len(vertices(TopK(k), m, y)) == comb(m, k) + (k > 1)


def test_vertices_by_hand():
    half = F(1, 2)
    assert vertices(TopK(2), 3, 0) == [
        (0, 0, 0),
        (half, -half, 0),
        (half, 0, -half),
        (1, -half, -half),
    ]
    assert vertices(PseudoTopK(2), 3, 0) == [(0, 0, 0), (1, -half, -half)]
    assert vertices(WeightedTopK((2, 2, 2)), 3, 0) == [(0, 0, 0), (4, -2, -2)]


@given(exact_cases(largest=4))
def test_vertices_attain_every_linear_minimum(case):
    loss, gradient, y = case
    points = vertices(loss, len(gradient), y)
    least = min(exact.inner(gradient, u) for u in points)
    assert least == exact.lmo_value(loss, gradient, y)


@given(float_cases(largest=4))
def test_vertices_of_the_papers_polytopes_are_found(case):
    """The minimiser of a random linear function over the derived polytope is on the list."""
    loss, _, y = case
    rng = np.random.default_rng(0)
    m = len(case[1])
    listed = np.array(vertices(loss, m, y), dtype=float)
    domain = derived_domain(loss, m, y).image(-np.eye(m))
    for gradient in rng.normal(size=(5, m)):
        vertex = domain.minimum(gradient)[1]
        assert np.min(np.max(np.abs(listed - vertex), axis=1)) < 1e-8


@pytest.mark.parametrize("loss", grid_losses(4), ids=str)
def test_every_listed_point_is_a_vertex_of_the_rest(loss):
    points = set(vertices(loss, 4, 1))
    assert all(is_extreme(u, points) for u in points)
    assert all(exact.in_domain(loss, [-x for x in u], 1) for u in points)
    middle = tuple(sum(column, F(0)) / len(points) for column in zip(*points, strict=True))
    assert len(points) == 1 or not is_extreme(middle, points)


def test_orbits():
    assert orbit_size((F(0), F(0), F(1))) == 3
    assert orbit_size((F(0), F(2), F(1))) == 6
