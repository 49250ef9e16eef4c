"""The projection of a row in a diagonal metric: the optimality conditions by the LMO."""

import numpy as np
import pytest

import fwlab
from fwlab.kernels.domains.metric_projection import (
    EUCLIDEAN_STEPS,
    make_metric_scratch,
    project_in_metric,
)

pytestmark = pytest.mark.small


def case(loss, m, seed, spread):
    rng = np.random.default_rng(seed)
    y = int(rng.integers(m))
    weight = rng.uniform(0.2, 2.0)
    old = weight * loss.lmo(rng.standard_normal(m), y) * rng.random()
    return rng.standard_normal(m), np.exp(spread * rng.standard_normal(m)), old, y, weight


def solved(loss, linear, metric, old, y, weight, repeats=1):
    m = len(linear)
    polytope, scratch = loss.polytopes(np.array([y]), m).weights, make_metric_scratch(m)
    new, start = np.empty(m), old
    for _ in range(repeats):
        shifted = linear + metric * (start - old)
        project_in_metric(shifted, metric, start, y, weight, polytope, scratch, new)
        start = new.copy()
    return new


def excess(loss, linear, metric, old, y, weight, new):
    """Return <gradient, new - best vertex>, an upper bound of the objective less its minimum."""
    gradient = linear + metric * (new - old)
    return gradient @ (new - weight * loss.lmo(gradient, y))


def objective(linear, metric, old, new):
    return linear @ (new - old) + metric @ (new - old) ** 2 / 2


@pytest.mark.parametrize("loss", [fwlab.MaxHinge(), fwlab.TopK(1), fwlab.WeightedTopK([0.3])])
@pytest.mark.parametrize("m", [2, 3, 20])
@pytest.mark.parametrize("spread", [0.0, 1.0, 6.0])
def test_exact_on_a_simplex(loss, m, spread):
    for seed in range(20):
        given = case(loss, m, seed, spread)
        new = solved(loss, *given)
        assert loss.in_domain(-new / given[4], given[3])
        scale = 1 + np.abs(given[0]).max() + (given[1] * np.abs(new - given[2])).max()
        assert abs(excess(loss, *given, new)) <= 1e-9 * scale


@pytest.mark.turns
@pytest.mark.parametrize(
    "loss", [fwlab.TopK(2), fwlab.Usunier(2), fwlab.PseudoTopK(2), fwlab.WeightedTopK([0.5, 0.25])]
)
def test_elsewhere_it_falls_and_approaches(loss):
    for seed in range(10):
        given = case(loss, 5, seed, 1.0)
        linear, metric, old, y, weight = given
        first = solved(loss, *given)
        last = solved(loss, *given, repeats=300)
        assert loss.in_domain(-first / weight, y)
        assert objective(linear, metric, old, first) <= 1e-12
        assert objective(linear, metric, old, last) <= objective(linear, metric, old, first) + 1e-12
        assert excess(loss, *given, last) <= 1e-6
    assert EUCLIDEAN_STEPS > 1
