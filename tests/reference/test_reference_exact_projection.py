"""The exact projections against certified QPs over the same sets, and by hand."""

from fractions import Fraction

import numpy as np
import pytest

from reference import derived_polytopes, exact_projection, qp
from reference.exact_projection import project

SETS = {
    "simplex": lambda d, k, r: (
        exact_projection.topk_simplex(k, r),
        derived_polytopes.topk_simplex(d, k, r),
    ),
    "knapsack": lambda d, k, r: (
        exact_projection.knapsack(r / k, r),
        derived_polytopes.knapsack(d, r, r / k),
    ),
    "knapsack, filled": lambda d, k, r: (
        exact_projection.knapsack_filled(r / k, r),
        derived_polytopes.knapsack(d, r, r / k, equality=True),
    ),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("seed", range(8))
def test_the_value_lies_in_the_certified_interval(name, seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    k, r = int(rng.integers(1, d + 1)), Fraction(int(rng.integers(1, 9)), 4)
    rho = Fraction(int(rng.integers(0, 3)), 2)
    a = tuple(Fraction(int(x), 2) for x in rng.integers(-4, 7, d))
    region, polytope = SETS[name](d, k, r)
    x = project(a, region, rho)
    assert region.contains(x)
    interval = qp.nearest_point(polytope, [float(entry) for entry in a], bias=float(rho))
    assert interval.contains(exact_projection.objective(a, x, rho))


def test_cone_by_hand():
    half = Fraction(1, 2)
    cone = exact_projection.topk_cone(2)
    assert project((half, half, Fraction(-1)), cone) == (half, half, 0)
    assert project((Fraction(-1), half), cone) == (0, 0)
    assert project((Fraction(3), Fraction(1)), cone, Fraction(1)) == (Fraction(2, 3),) * 2


def test_lower_bound_by_hand():
    region = exact_projection.knapsack(Fraction(2), Fraction(1), lower=Fraction(-1))
    assert project((Fraction(3), Fraction(-5)), region) == (2, -1)


def test_an_empty_region_is_refused():
    region = exact_projection.knapsack_filled(Fraction(1, 3), Fraction(1))
    with pytest.raises(ValueError, match="no point"):
        project((Fraction(1), Fraction(1)), region)
