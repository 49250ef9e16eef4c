"""The cross-entropy's domain, its vertices and projection, its arguments; test_cross_entropy_agrees
has its values."""

import numpy as np
import pytest

import fwlab
import reference

LOSS = fwlab.CrossEntropy()
M = 4
Y = np.array([0, 3, 1, 3])


def test_vertices_are_those_of_the_simplex():
    assert LOSS.vertices(3, 1).tolist() == [[-1, 1, 0], [0, 0, 0], [0, 1, -1]]
    assert not np.signbit(LOSS.vertices(3, 1)[1]).any()


def test_the_lmo_attains_the_minimum_over_the_vertices():
    rng = np.random.default_rng(0)
    for _ in range(30):
        gradient = rng.integers(-2, 3, (4, M)).astype(float)
        found = LOSS.lmo(gradient, Y)
        for g, y, u in zip(gradient, Y, found, strict=True):
            vertices = LOSS.vertices(M, int(y))
            assert (vertices == u).all(axis=1).any()
            assert g @ u == (vertices @ g).min()
            # ties go to the lowest class
            j = int(np.flatnonzero(g == g.max())[0])
            assert u.tolist() == vertices[j].tolist()


def test_the_domains_have_the_minimum_of_their_lmo():
    gradient = np.random.default_rng(0).normal(size=(4, M))
    vertices, minus_minima = LOSS.polytopes(Y, M).lowest(gradient)
    assert -minus_minima == pytest.approx(np.einsum("ij,ij->i", gradient, vertices))


def test_membership_is_that_of_the_simplex():
    inside = [[0, 0, 0], [-1, 1, 0], [-0.5, 0.25, 0.25], [-0.5, 0.25, 0.25 + 5e-10]]
    outside = [[-1.1, 1.1, 0], [0.1, -0.1, 0], [-0.5, 0.75, -0.25], [-0.5, 0.25, 0.26]]
    assert LOSS.in_domain(inside, [0] * 4).all()
    assert not LOSS.in_domain(outside, [0] * 4).any()
    assert LOSS.in_domain(outside, [0] * 4, tol=0.3).all()
    assert LOSS.in_domain([-1.0, 1.0], 0) and not LOSS.in_domain([-1.0, 1.0], 1)


@pytest.mark.turns
def test_the_projection_is_the_nearest_point():
    """It is the one point u with <c - u, v - u> <= 0 for all vertices v."""
    rng = np.random.default_rng(1)
    c = 3 * rng.normal(size=(50, M))
    y = rng.integers(0, M, 50)
    points = LOSS.project(c, y)
    assert LOSS.in_domain(-points, y, tol=1e-15).all()
    for row, label, u in zip(c, y, points, strict=True):
        products = (LOSS.vertices(M, int(label)) - u) @ (row - u)
        assert products.max() <= 1e-14
    assert LOSS.project(points, y) == pytest.approx(points, abs=1e-15)


def test_the_smoothed_max_is_above_the_hinge_without_its_costs():
    """log sum exp lies between the largest margin and that plus log m."""
    scores = 3 * np.random.default_rng(2).normal(size=(4, M))
    largest = (scores - scores[np.arange(4), Y][:, None]).max(axis=1)
    assert (largest <= LOSS.value(scores, Y)).all()
    assert (LOSS.value(scores, Y) <= largest + np.log(M)).all()
    assert reference.cross_entropy.value([0, 0, 0], 1) == pytest.approx(np.log(3))


def test_single_rows_are_answered_in_kind():
    scores = [0.5, -1.0, 2.0]
    for function in (LOSS.value, LOSS.gradient, LOSS.subgradient, LOSS.lmo, LOSS.project):
        assert np.array_equal(function(scores, 1), function([scores], [1])[0])
    v = LOSS.gradient(scores, 1)
    assert LOSS.conjugate(v, 1) == LOSS.conjugate([v], [1])[0]
    assert LOSS.in_domain(v, 1) is np.True_
    assert np.array_equal(LOSS.gradient(scores, 1), LOSS.subgradient(scores, 1))


def test_a_sure_label_has_no_negative_zeros():
    gradient = LOSS.gradient([[1e3, 0.0, 0.0]], [0])
    assert not gradient.any() and not np.signbit(gradient).any()


def test_bad_arguments_get_one_sentence():
    for scores, y, said in (
        ([[1.0]], [0], "scores must have at least 2 columns, one a class; got 1"),
        ([[1.0, np.nan]], [0], "scores must be finite and at most 1e\\+300 in size; got nan"),
        ([[1.0, 2e300]], [0], "scores must be finite and at most 1e\\+300 in size; got 2e\\+300"),
        ([[1.0, 2.0]], [2], r"y must be in 0\.\.1; got 2"),
        ([[1.0, 2.0]], [0, 1], "y must have one label per row of scores, 1; got 2"),
        ([1.0, 2.0], [0], "a scalar for a single row"),
    ):
        with pytest.raises(ValueError, match=said):
            LOSS.value(scores, y)
    with pytest.raises(ValueError, match="tol must be"):
        LOSS.in_domain([0.0, 0.0], 0, tol=-1.0)
    with pytest.raises(ValueError, match="m must be at least 2; got 1"):
        LOSS.vertices(1, 0)
    with pytest.raises(ValueError, match=r"y must be in 0\.\.2; got 3"):
        LOSS.vertices(3, 3)


def test_equal_losses_are_equal():
    assert fwlab.CrossEntropy() == LOSS and repr(LOSS) == "CrossEntropy()"


def test_the_hinge_s_estimator_refuses_it():
    with pytest.raises((TypeError, ValueError), match=r"loss must be .*; got CrossEntropy\(\)"):
        fwlab.TopKSVC(loss=LOSS).fit(np.eye(4), np.arange(4) % 2)
