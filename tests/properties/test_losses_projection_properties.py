"""Projections onto the negated domains and Moreau envelopes, for 2 to 400 classes.

u is the projection of c exactly if <u - c, u - v> <= 0 for every v of the domain: the loss's own
linear minimisation oracle, which other tests check, certifies it without a quadratic program.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loss_table import (
    LARGE_ENTRIES,
    Case,
    batch,
    cases,
    domain_points,
    entry_id,
    score_rows,
    seeds,
)
from numpy.testing import assert_allclose

import fwlab

pytestmark = pytest.mark.small
scales = st.sampled_from([1e-3, 0.05, 0.3, 1.0, 5.0, 1e6])
smoothings = st.sampled_from([1e-3, 0.1, 1.0, 7.0, 1e3])
EPS = np.finfo(np.float64).eps


def products(a, b):
    return (a * b).sum(axis=1)


def excess(case, c, u):
    """Return max over v of <u - c, u - v>, (n,): at least |u - projection|^2."""
    return products(u - c, u - case.loss.lmo(u - c, case.y))


def slack(case, *arrays):
    """Return the rounding of an inner product with a point of the domain."""
    largest = max(abs(a).max(initial=0.0) for a in arrays) + case.entry.size
    return 8 * EPS * case.m * case.entry.size * largest


# ---------------------------------------------------------------- projection


def assert_projection(case, c):
    u = case.loss.project(c, case.y)
    assert case.loss.in_domain(-u, case.y, tol=case.m * 1e-15).all()
    assert (excess(case, c, u) <= slack(case, c)).all()


@given(cases(), scales)
def test_the_lmo_certifies_the_projection(case, scale):
    assert_projection(case, scale * case.scores)


@pytest.mark.parametrize("factor", [1.0, 2.0**-60, 2.0**-400])
def test_an_entry_that_is_zero_moves_with_a_tiny_point(factor):
    u = fwlab.MaxHinge().project(factor * np.array([[2.0**-14, 0.0]]), [0])
    np.testing.assert_array_equal(u / factor, [[2.0**-15, -(2.0**-15)]])


@pytest.mark.parametrize(
    ("k", "c", "nearest"),
    [
        # c - u = (2, 0, 1) has the product 3/2 with the vertex u, 1 and 1/2 with the others
        (2, [3.0, -1 / 2, 1 / 2], [1.0, -1 / 2, -1 / 2]),
        # the domain is a segment that ends at 0 and at (2, -1, -1) / 3
        (3, [0.0, 1 / 2, -2.0], [1 / 2, -1 / 4, -1 / 4]),
    ],
)
def test_an_entry_far_below_the_largest_counts_by_hand(k, c, nearest):
    """Class 2 in the first row and class 1 in the second lose against the other wrong class."""
    u = fwlab.TopK(k).project(np.array([c]), [0])
    assert_allclose(u, [nearest], rtol=0, atol=8 * EPS)


@pytest.mark.turns
@pytest.mark.long
@pytest.mark.parametrize(("m", "entry"), LARGE_ENTRIES, ids=entry_id)
def test_the_lmo_certifies_the_projection_among_many_classes(m, entry):
    c, y = batch(m, entry)
    for scale in (1 / m, 0.05, 1.0, 10.0):
        assert_projection(Case(entry, c, y), scale * c)


@given(cases(), st.sampled_from([2.0**-10, 2.0**-60, 2.0**-400]))
def test_near_the_origin_the_domain_is_a_cone(case, factor):
    """Every digit scales with a tiny point: only the cone at the origin counts there."""
    tiny = 2.0**-12 / case.m * np.round(4 * case.scores) / 4
    u, smaller = case.loss.project(tiny, case.y), case.loss.project(factor * tiny, case.y)
    in_cone = case.loss.in_domain(-2 * u, case.y)  # the bounds that do not scale are far
    assert_allclose(
        smaller[in_cone] / factor, u[in_cone], rtol=0, atol=8 * EPS * case.m**1.5 * abs(tiny).max()
    )


@given(cases(), scales)
def test_projecting_twice_is_projecting_once(case, scale):
    u = case.loss.project(scale * case.scores, case.y)
    again = case.loss.project(u, case.y)
    assert_allclose(again, u, rtol=0, atol=8 * EPS * case.m**1.5 * case.entry.size)


@given(cases(), seeds)
def test_a_point_of_the_domain_stays(case, seed):
    v = domain_points(case.loss, case.m, case.y, seed)
    vertex = case.loss.lmo(case.scores, case.y)
    for u in (-v, vertex, 0.5 * (vertex - v)):
        projected = case.loss.project(u, case.y)
        assert_allclose(projected, u, rtol=0, atol=8 * EPS * case.m**1.5 * case.entry.size)


@given(cases(), seeds, scales)
def test_a_normal_vector_is_projected_away(case, seed, scale):
    """u + g projects to u if u maximises <g, .>; u is in the middle of the maximisers found."""
    g = np.round(2 * case.scores) / 2
    nudges = 1e-3 * np.random.default_rng(seed).standard_normal((4, *g.shape))
    vertices = np.array([case.loss.lmo(-g - nudge, case.y) for nudge in nudges])
    attained = np.einsum("vnm,nm->vn", vertices, g)
    best = attained >= attained.max(axis=0) - 1e-9
    u = (best[:, :, None] * vertices).sum(axis=0) / best.sum(axis=0)[:, None]
    least = products(-g, case.loss.lmo(-g, case.y))
    sure = abs(attained.max(axis=0) - least) <= 1e-9  # the nudge did not leave the face
    projected = case.loss.project(u + scale * g, case.y)
    bound = 16 * EPS * case.m**1.5 * (case.entry.size + scale * abs(g).max())
    assert_allclose(projected[sure], u[sure], rtol=0, atol=bound)


@given(cases(), st.data(), scales)
def test_a_projection_does_not_expand(case, data, scale):
    a, b = scale * case.scores, scale * data.draw(score_rows(*case.scores.shape))
    apart = case.loss.project(a, case.y) - case.loss.project(b, case.y)
    # firmly: |Pa - Pb|^2 <= <Pa - Pb, a - b>
    assert (products(apart, apart) <= products(apart, a - b) + slack(case, a, b)).all()


@given(cases(), st.sampled_from([-100.0, 0.375, 8.0]))
def test_adding_a_constant_moves_nothing(case, constant):
    u = case.loss.project(case.scores, case.y)
    moved = case.loss.project(case.scores + constant, case.y)
    assert_allclose(moved, u, rtol=0, atol=8 * EPS * case.m**1.5 * (case.entry.size + 100))


# ---------------------------------------------------------------- Moreau envelope


@given(cases(), smoothings)
def test_the_envelope_is_attained_at_its_minimiser(case, smoothing):
    value, z = case.loss.moreau(case.scores, case.y, smoothing)
    distance = products(case.scores - z, case.scores - z)
    attained = case.loss.value(z, case.y) + distance / (2 * smoothing)
    assert_allclose(attained, value, rtol=0, atol=slack(case, case.scores, z))


@given(cases(), smoothings)
def test_its_gradient_is_a_subgradient_at_the_minimiser(case, smoothing):
    _, z = case.loss.moreau(case.scores, case.y, smoothing)
    g = (case.scores - z) / smoothing
    bound = slack(case, case.scores, z) * (1 + 1 / smoothing)
    assert case.loss.in_domain(g, case.y, tol=1e-12 * (1 + 1 / smoothing)).all()
    rounded = case.loss.project(-g, case.y)
    both = case.loss.value(z, case.y) + case.loss.conjugate(-rounded, case.y)
    assert_allclose(both, products(g, z), rtol=0, atol=bound)


@given(cases(), smoothings, seeds, st.sampled_from([1.0, 1e-2, 1e-4]))
def test_its_gradient_agrees_with_finite_differences(case, smoothing, seed, step):
    """A step t changes the envelope by <g, t> and at most |t|^2/(2 smoothing) more."""
    t = step * np.random.default_rng(seed).standard_normal(case.scores.shape)
    value, z = case.loss.moreau(case.scores, case.y, smoothing)
    moved, _ = case.loss.moreau(case.scores + t, case.y, smoothing)
    bend = moved - value - products((case.scores - z) / smoothing, t)
    allowed = slack(case, case.scores, t) * (1 + step / smoothing)
    assert (bend >= -allowed).all()
    assert (bend <= products(t, t) / (2 * smoothing) + allowed).all()


@given(cases(), smoothings, smoothings)
def test_the_envelope_is_below_the_loss_and_falls_with_smoothing(case, first, second):
    less, more = sorted((first, second))
    value = case.loss.value(case.scores, case.y)
    upper, z = case.loss.moreau(case.scores, case.y, less)
    lower, _ = case.loss.moreau(case.scores, case.y, more)
    allowed = slack(case, case.scores, z)
    assert (upper <= value + allowed).all() and (lower <= upper + allowed).all()
    assert (lower >= -allowed).all()
    # and not by more than smoothing/2 times the largest |g|^2: g has norm <= 2 sum of the weights
    assert (value - upper <= less / 2 * (2 * case.entry.weight_sum) ** 2 + allowed).all()
