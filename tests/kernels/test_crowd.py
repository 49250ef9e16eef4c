"""Long rows: the projection with a crowd against the one that sorts all candidates."""

import os

import numpy as np
import pytest

import fwlab
from fwlab import weights
from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.crowd import crowd_from, take_head
from fwlab.kernels.domains.projection import (
    _project_crowd,
    _zero_below,
    make_projection_scratch,
    project_row,
    project_rows,
    subtract_from_true,
)
from fwlab.kernels.layouts import LongPolytopeWeights, PolytopeWeights

pytestmark = pytest.mark.small
DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
ROWS, SEEDS = (40, 20) if DEEP else (4, 2)
EPS = np.finfo(float).eps
LOSSES = [
    fwlab.MaxHinge(),
    fwlab.TopK(1),
    fwlab.TopK(2),
    fwlab.TopK(3),
    fwlab.TopK(5),
    fwlab.TopK(32),
    fwlab.TopK(40),
    fwlab.PseudoTopK(1),
    fwlab.PseudoTopK(2),
    fwlab.PseudoTopK(5),
    fwlab.Usunier(5),
    fwlab.WeightedTopK(weights.exponential(10)),
    fwlab.WeightedTopK(weights.exponential(32)),
    fwlab.WeightedTopK([2.0, 0.5]),
    fwlab.WeightedTopK([0.5] * 60),
    fwlab.WeightedUsunier([1.0, 1.0, 0.5, 0.25]),
]


def project_by_sorting(points, y, polytope, out):
    """Write the projection of every row; all entries that can differ from 0 are sorted."""
    project_rows(points, y, PolytopeWeights(*polytope), out)


def long_weights(loss, y, m):
    """Return the weights of a loss for the code of long rows, equal or not."""
    return LongPolytopeWeights(*loss.polytopes(y, m).weights)


def projected(loss, c, y):
    """Return the projection of every row by this code."""
    out = np.empty_like(c)
    project_rows(c, y, long_weights(loss, y, c.shape[1]), out)
    return out


def normal(rng, m):
    return rng.normal(size=(ROWS, m))


def near_each_other(rng, m):
    return rng.choice([1e-6, 0.02, 0.3]) * rng.random((ROWS, m))


def near_each_other_but_the_true_class(rng, m):
    return -rng.choice([0.01, 0.25, 1.0, 30.0]) - near_each_other(rng, m)


def ties(rng, m):
    return rng.choice([0.01, 1.0]) * np.round(2 * normal(rng, m)) / 2


def equal(rng, m):
    return np.full((ROWS, m), rng.choice([0.0, -0.25, -1.0, 3.0]))


def spikes_and_tied_tail(rng, m):
    c = equal(rng, m)
    c[:, :6] = -np.round(8 * rng.random((ROWS, 6))) / 4
    return c


def spikes_and_near_ties(rng, m):
    return spikes_and_tied_tail(rng, m) * (1.0 + 2 * EPS * rng.integers(-2, 3, (ROWS, m)))


def spikes_and_near_tail(rng, m):
    return spikes_and_tied_tail(rng, m) - near_each_other(rng, m)


def two_levels(rng, m):
    return np.where(rng.random((ROWS, m)) < rng.random(), -1.0, -1.0 - rng.choice([1e-3, 0.02]))


def all_scales(rng, m):
    return -(10.0 ** rng.uniform(-8, rng.choice([0, 8]), (ROWS, m)))


KINDS = [
    normal,
    near_each_other,
    near_each_other_but_the_true_class,
    ties,
    equal,
    spikes_and_tied_tail,
    spikes_and_near_ties,
    spikes_and_near_tail,
    two_levels,
    all_scales,
]


def rows_of(kind, rng, m):
    c, y = kind(rng, m), rng.integers(0, m, ROWS)
    if kind not in (normal, near_each_other, ties):
        c[np.arange(ROWS), y] = 0.0
    return rng.permuted(c, axis=1) if kind is normal else c, y


def nearly_active(u, c, y):
    """Return how many classes of each row are active, or would be in a row some ulp away."""
    i = np.arange(len(c))
    b = c[i, y][:, None] - c
    beta = np.maximum(-u, 0.0)
    lowest = np.where(beta > 0, b, np.inf).argmin(axis=1)
    level = b[i, lowest] - beta[i, lowest]
    return (b >= (level - 8 * EPS * abs(c).max(axis=1))[:, None]).sum(axis=1)


def assert_near(found, expected, c, y):
    """Assert that both agree to 8 ulp of the row's largest entry, plus a part per active class.

    beta_y sums up the rounding errors of all active classes, and zeta, which bounds the largest
    ones, follows it: with 1000 active classes each of the two is up to 100 ulp from a projection in
    extended precision.
    """
    i, active = np.arange(len(c)), nearly_active(expected, c, y)
    ulps = abs(found - expected) / (EPS * abs(c).max(axis=1, keepdims=True) + 1e-300)
    assert (ulps[i, y] <= 8 + active).all(), (ulps[i, y] - active).max()
    ulps[i, y] = 0.0
    assert (ulps.max(axis=1) <= 8 + active / 4).all(), (ulps.max(axis=1) - active / 4).max()


@pytest.mark.grid
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_crowd_gives_the_projection_of_the_sorted_row(loss, kind):
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        m = int(rng.choice([66, 70, 100, 300, 520, 1000]))
        c, y = rows_of(kind, rng, m)
        polytope = long_weights(loss, y, m)
        found, expected = projected(loss, c, y), np.empty_like(c)
        project_by_sorting(c, y, polytope, expected)
        assert_near(found, expected, c, y)


@pytest.mark.turns
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_lmo_certifies_a_crowd(loss, kind):
    """u is the projection if no v of the domain has <u - c, u - v> > 0."""
    rng = np.random.default_rng(1)
    c, y = rows_of(kind, rng, 600)
    u = projected(loss, c, y)
    assert loss.in_domain(-u, y, tol=600e-15).all()
    excess = ((u - c) * (u - loss.lmo(u - c, y))).sum(axis=1)
    # the weights of a loss sum to at most 30
    assert (excess <= 8 * EPS * 600 * (abs(c).max(axis=1) + 30)).all()


def test_the_largest_entry_left_out_may_exceed_v_y():
    """With TopK(3), the 98 equal classes take part, although v_y is larger than their entries."""
    c = np.full((1, 100), -0.25)
    c[0, :2] = 0.0, -2.0
    u = projected(fwlab.TopK(3), c, np.array([0]))
    assert (u[0, 1:] < 0).all()
    assert ((u - c) ** 2).sum() < 9.1818


@compiled
def a_crowd_settles(point, polytope, scratch, out):
    """Return whether a crowd gives the projection of a row of class 0; else all of it is sorted."""
    b, n_upper = scratch.beta, polytope.n_upper
    subtract_from_true(point, 0, b)
    take_head(b, n_upper, scratch)
    last = scratch.candidates[n_upper - 1]
    bound = _zero_below(last, scratch.candidates[max(0, polytope.n_lower - 1)], polytope)
    row = crowd_from(b, bound, n_upper, last)
    return _project_crowd(row, bound, 0, polytope, scratch, out)


@pytest.mark.grid
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_ties_with_the_level_do_not_keep_a_crowd_from_settling(loss):
    """They come and go with the rounding errors of the level."""
    m = 600
    rng, y, out = np.random.default_rng(0), np.array([0]), np.zeros(m)
    polytope = long_weights(loss, y, m)
    tail = slice(polytope.n_upper + 1, m)
    for _ in range(100):
        c = np.zeros(m)
        c[1 : tail.start] = -1.0 - rng.integers(0, 9, polytope.n_upper) / 8
        level = (loss.project(c, y[0]) - c)[1 : tail.start].min()
        c[tail] = -level * (1.0 + EPS * rng.integers(-1, 3, m - tail.start))
        assert a_crowd_settles(c, polytope, make_projection_scratch(m), out), c


def test_a_row_far_below_the_true_class_is_not_sorted():
    c, out = 1e5 + np.arange(600.0) / 600, np.ones(600)
    c[0] = 0.0
    polytope = long_weights(fwlab.TopK(5), np.array([0]), 600)
    scratch = make_projection_scratch(600)
    scratch.order[:] = -1
    project_row(c, 0, polytope, scratch, out)
    assert (out == 0.0).all()
    assert (scratch.order[5:] == -1).all()
