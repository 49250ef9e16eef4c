"""The top-k entropy loss's domain, vertices, projection and arguments, and its case k = 1."""

import numpy as np
import pytest

import fwlab
from fwlab.operators.capped_softmax import cap_level, largest_entries, topk_entropies

M = 5
Y = np.array([0, 3, 1, 4])
RNG = np.random.default_rng(0)
SCORES = 3 * RNG.normal(size=(4, M))


def test_one_guess_is_the_cross_entropy_bit_for_bit():
    one, plain = fwlab.TopKEntropy(1), fwlab.CrossEntropy()
    scores = 10.0 ** RNG.uniform(-300, 300, (40, 1)) * RNG.normal(size=(40, M))
    y = RNG.integers(0, M, 40)
    for name in ("value", "gradient", "subgradient", "lmo", "project"):
        assert np.array_equal(getattr(one, name)(scores, y), getattr(plain, name)(scores, y))
    v = plain.gradient(scores, y)
    assert np.array_equal(one.conjugate(v, y), plain.conjugate(v, y))
    assert np.array_equal(one.in_domain(2 * v, y), plain.in_domain(2 * v, y))
    assert np.array_equal(one.vertices(M, 2), plain.vertices(M, 2))


def test_one_guess_runs_like_the_cross_entropy_bit_for_bit():
    X, y = RNG.normal(size=(30, 3)), np.arange(30) % 4
    results = [
        fwlab.solve(fwlab.Problem(X, y, loss, C=10.0), "lbfgs", tol=1e-8)
        for loss in (fwlab.TopKEntropy(1), fwlab.CrossEntropy())
    ]
    for name in ("W", "A", "primal", "dual", "gap", "gap_error", "nit"):
        assert np.array_equal(*(getattr(result, name) for result in results))


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_general_form_is_the_cross_entropy_up_to_rounding_for_one_guess(k):
    """With k = 1 no bound is active; with more the loss can only be smaller."""
    losses, duals = topk_entropies(SCORES, Y, k)
    plain = fwlab.CrossEntropy()
    if k == 1:
        assert losses == pytest.approx(plain.value(SCORES, Y), rel=1e-14)
        assert duals == pytest.approx(-plain.gradient(SCORES, Y), rel=1e-13, abs=1e-15)
    assert (losses <= plain.value(SCORES, Y) * (1 + 1e-14)).all()


@pytest.mark.parametrize("k", [2, 3, 4])
def test_losses_fall_with_k_and_stay_above_the_mean_of_k_margins(k):
    """B lies between the mean of the k largest margins plus log k and that plus log(m / k)."""
    margins = np.sort(SCORES - SCORES[np.arange(4), Y][:, None], axis=1)
    values = fwlab.TopKEntropy(k).value(SCORES, Y)
    assert (values <= fwlab.TopKEntropy(k - 1).value(SCORES, Y) * (1 + 1e-14)).all()
    margins = np.array([np.delete(row, np.flatnonzero(row == 0)[0]) for row in margins])
    mean = margins[:, -k:].mean(axis=1) + np.log(k)
    bound = np.log(np.expm1(values))
    assert (mean <= bound + 1e-12).all() and (bound <= mean + np.log(M / k)).all()


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_gradient_is_that_of_the_value(k):
    loss, h = fwlab.TopKEntropy(k), 1e-5
    scores = np.concatenate([SCORES, np.round(SCORES)])
    y = np.tile(Y, 2)
    for j in range(M):
        ahead, behind = (loss.value(scores + sign * h * np.eye(M)[j], y) for sign in (1, -1))
        slopes = loss.gradient(scores, y)[:, j]
        assert slopes == pytest.approx((ahead - behind) / (2 * h), abs=1e-5)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_gradient_has_the_lipschitz_constant_one(k):
    loss, rng = fwlab.TopKEntropy(k), np.random.default_rng(k)
    for size in (1e-6, 1e-2, 1.0, 10.0):
        moves = size * rng.uniform(-1, 1, (200, M))
        scores, y = 2 * rng.normal(size=(200, M)), rng.integers(0, M, 200)
        change = loss.gradient(scores + moves, y) - loss.gradient(scores, y)
        assert (np.abs(change).sum(axis=1) <= np.abs(moves).max(axis=1) + 1e-13).all()


def test_the_level_of_the_bound_by_hand():
    """K = 3 of (10, 2, 1) at k = 2: 6 = 3 + 2 + 1; without an entry at the bound the mean."""
    assert cap_level(np.array([1.0]), np.array([[2.0, 10.0]])) == [3.0]
    assert cap_level(np.array([1.0]), np.array([[2.0, 2.0]])) == [2.5]
    assert cap_level(np.array([0.0]), np.array([[0.0, 2.0]])) == [0.0]
    rows = np.array([[1.0, 5.0, 3.0, 4.0]])
    assert largest_entries(rows, 3).tolist() == [[3.0, 4.0, 5.0]] and rows[0, 0] == 1.0


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_level_is_the_largest_that_the_entries_reach(k):
    rng = np.random.default_rng(k)
    entries = np.exp(4 * rng.normal(size=(100, M)))
    top = largest_entries(entries, k)
    level = cap_level(np.sort(entries, axis=1)[:, : M - k].sum(axis=1), top)
    assert np.minimum(entries, level[:, None]).sum(axis=1) == pytest.approx(k * level, rel=1e-13)
    larger = 1.001 * level
    assert (np.minimum(entries, larger[:, None]).sum(axis=1) < k * larger).all()


def test_vertices_are_those_of_the_capped_simplex():
    vertices = fwlab.TopKEntropy(2).vertices(4, 1)
    expected = [[0, 0, 0, 0], [-1, 2, -1, 0], [-1, 2, 0, -1], [0, 2, -1, -1]]
    assert sorted((2 * vertices).tolist()) == sorted(expected)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_lmo_attains_the_minimum_over_the_vertices(k):
    loss, rng = fwlab.TopKEntropy(k), np.random.default_rng(k)
    for _ in range(20):
        gradient = rng.integers(-2, 3, (4, M)).astype(float)
        minus_minima = loss.polytopes(Y, M).lowest(gradient)[1]
        for g, y, u, least in zip(gradient, Y, loss.lmo(gradient, Y), minus_minima, strict=True):
            vertices = loss.vertices(M, int(y))
            assert (vertices == u).all(axis=1).any()
            assert g @ u == pytest.approx((vertices @ g).min(), abs=1e-15)
            assert least == pytest.approx(-(g @ u), abs=1e-15)


def test_membership_is_that_of_the_capped_simplex():
    loss = fwlab.TopKEntropy(2)
    inside = [[0, 0, 0, 0], [-1, 0.5, 0.5, 0], [-0.5, 0.25, 0.2, 0.05], [-0.5, 0.25, 0.25, 5e-10]]
    outside = [
        [-1.1, 0.55, 0.55, 0],
        [0.1, -0.1, 0, 0],
        [-0.5, 0.26, 0.24, 0],
        [-0.5, 0.25, 0.2, 0],
        [-0.5, 0.2, 0.2, 0.11],
        [-0.5, 0.25, 0.25 + 1e-7, -1e-7],
        [-0.5, 0.25 + 5e-8, 0.25, -5e-8],
    ]
    assert loss.in_domain(inside, [0] * 4).all()
    assert not loss.in_domain(outside, [0] * 7).any()
    assert loss.in_domain(outside, [0] * 7, tol=0.3).all()
    for k in (2, 3, 4):
        v = RNG.normal(size=(300, M)) / 8
        v[np.arange(300), y := RNG.integers(0, M, 300)] = 0
        v[np.arange(300), y] = -v.sum(axis=1)
        v[::2] = -fwlab.PseudoTopK(k).project(-v[::2], y[::2])
        found = fwlab.TopKEntropy(k).in_domain(v, y)
        assert np.array_equal(found, fwlab.PseudoTopK(k).in_domain(v, y)) and found[::2].all()


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_projection_is_the_nearest_point(k):
    """It is the one point u with <c - u, v - u> <= 0 for all vertices v."""
    loss, rng = fwlab.TopKEntropy(k), np.random.default_rng(1)
    c, y = rng.normal(size=(50, M)), rng.integers(0, M, 50)
    points = loss.project(c, y)
    assert loss.in_domain(-points, y, tol=1e-15).all()
    for row, label, u in zip(c, y, points, strict=True):
        products = (loss.vertices(M, int(label)) - u) @ (row - u)
        assert products.max() <= 1e-14


def test_scores_far_apart_keep_their_digits():
    """One class far above the others is at the bound, and they share the rest."""
    loss = fwlab.TopKEntropy(2)
    scores = np.array([[0.0, 900.0, -800.0, -800.0], [0.0, 1e4, -2e4, -2e4 - 1]])
    # B = (h_1 + log 2) / 2 + (h_2 + log 2 + log(sum of exp) ) / 2
    B = [50 + np.log(2) + np.log(2) / 2, -5e3 + np.log(2) + np.log1p(np.exp(-1)) / 2]
    assert loss.value(scores, [0, 0]) == pytest.approx(np.log1p(np.exp(B)), rel=1e-13)
    shares = -loss.gradient(scores[:1], [0])[0]
    assert shares == pytest.approx([1, -0.5, -0.25, -0.25], rel=1e-13)
    assert loss.gradient(scores[1], 0).tolist() == [0, 0, 0, 0]


def test_single_rows_are_answered_in_kind():
    loss, scores = fwlab.TopKEntropy(2), [0.5, -1.0, 2.0, 0.0]
    for function in (loss.value, loss.gradient, loss.subgradient, loss.lmo, loss.project):
        assert np.array_equal(function(scores, 1), function([scores], [1])[0])
    v = loss.gradient(scores, 1)
    assert loss.conjugate(v, 1) == loss.conjugate([v], [1])[0]
    assert loss.in_domain(v, 1) is np.True_


def test_bad_arguments_get_one_sentence():
    for k, error, said in (
        (0, ValueError, r"k must be at least 1; got 0\."),
        (1.5, TypeError, r"k must be an integer; got 1\.5\."),
    ):
        with pytest.raises(error, match=said):
            fwlab.TopKEntropy(k)
    loss = fwlab.TopKEntropy(3)
    for call in (lambda: loss.value(np.zeros(3), 0), lambda: loss.vertices(3, 0)):
        with pytest.raises(ValueError, match=r"k must be in 1\.\.2; got 3\."):
            call()
    with pytest.raises(ValueError, match=r"smoothing must be 0 with TopKEntropy, .* got 0\.5\."):
        fwlab.Problem(np.eye(4), np.arange(4), loss, C=1.0, smoothing=0.5)
    with pytest.raises(ValueError, match=r"k must be in 1\.\.2; got 3\."):
        fwlab.Problem(np.eye(3), np.arange(3), loss, C=1.0)
    with pytest.raises(
        ValueError, match=r"TopKEntropy\(k=2\), because .*; lbfgs, auto and subgradient do\."
    ):
        fwlab.solve(fwlab.Problem(np.eye(4), np.arange(4), fwlab.TopKEntropy(2), C=1.0), "fw")


def test_equal_losses_are_equal():
    assert fwlab.TopKEntropy(2) == fwlab.TopKEntropy(np.int64(2)) != fwlab.TopKEntropy(3)
    assert repr(fwlab.TopKEntropy(2)) == "TopKEntropy(k=2)"
