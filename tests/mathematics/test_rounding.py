"""Each term of the bound of rounding errors, at errors that are made large on purpose."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from given_hinge import GivenHinge
from loss_table import entries

import fwlab
from fwlab.certificate import _link_errors, _link_terms, norms_of_rows
from fwlab.operators.features import features_of
from fwlab.operators.scores import score_errors
from fwlab.operators.sizes import row_sizes
from fwlab.operators.sums import norms_above
from fwlab.rounding import distances, dual_row_error, losses_with_error

M = 4


def made(entry, rng, smoothing=0.0):
    y = rng.integers(0, M, 8)
    weights = rng.random(8)
    X = rng.normal(size=(8, 3))
    return fwlab.Problem(
        X, y, entry.loss, 0.3, smoothing=smoothing, n_classes=M, sample_weight=weights
    )


def losses():
    return [entry for entry in entries(M, []) if entry.kind != "StructuredHinge"]


def score_ratios(features, W):
    """Return the error of each score in exact numbers, over its bound, (n, m)."""
    X = features.X.toarray() if scipy.sparse.issparse(features.X) else features.X
    bounds = score_errors(features, norms_above(features.square_norms()), W)
    exact = [
        [sum(Fraction(a) * Fraction(b) for a, b in zip(x, w, strict=True)) for w in W] for x in X
    ]
    return [
        [float(abs(Fraction(s) - e) / Fraction(bound)) for s, e in zip(row, exact_row, strict=True)]
        for row, exact_row, bound in zip(features.scores(W), exact, bounds, strict=True)
    ]


@pytest.mark.parametrize(("kind", "d"), [(np.asarray, 2), (scipy.sparse.csr_array, 5)])
@pytest.mark.parametrize(("of_x", "of_w"), [(0, 0), (60, -20), (-300, -200)])
def test_errors_of_products(kind, d, of_x, of_w):
    """Scores of two products err by no more than the bound, and at times by half of it."""
    rng = np.random.default_rng(5)
    X, W = np.zeros((200, d)), np.zeros((2, d))
    X[:, :2], W[:, :2] = rng.uniform(1, 1.1, (200, 2)), rng.uniform(1, 1.1, (2, 2))
    W[1] /= 2.0**30  # a small class does not lower the bound
    features = features_of(kind(2.0**of_x * X), None)
    assert 0.5 < np.max(score_ratios(features, 2.0**of_w * W)) <= 1


@pytest.mark.parametrize("size", [2.0**-536, 2.0**-537, 2.0**-538])
def test_errors_of_products_that_vanish(size):
    rng = np.random.default_rng(6)
    X, W = size * rng.uniform(0, 2, (200, 2)), size * rng.uniform(0, 2, (2, 2))
    assert 0 < np.max(score_ratios(features_of(X, None), W)) <= 1


@pytest.mark.parametrize("smoothing", [0.0, 0.4])
def test_errors_of_the_scores(smoothing):
    """Scores that are off by up to e_i change the mean loss by no more, and at times by half."""
    rng, ratios = np.random.default_rng(0), []
    for entry in losses():
        problem = made(entry, rng, smoothing)
        scores, e = 3 * rng.normal(size=(8, M)), rng.random(8) / 10
        plain, bound = losses_with_error(problem, [(slice(None), scores)], e)
        for _ in range(20):
            moved = scores + e[:, None] * rng.choice([-1.0, 1.0], scores.shape)
            change = problem.losses([(slice(None), moved)])[0] - plain[0]
            ratios.append(abs(problem.objective(change, 0.0)) / bound)
    assert 0.5 < max(ratios) <= 1


@pytest.mark.parametrize("smoothing", [0.0, 0.4])
def test_the_error_does_not_depend_on_the_parts(smoothing):
    rng = np.random.default_rng(4)
    for entry in losses():
        problem = made(entry, rng, smoothing)
        scores, e = 3 * rng.normal(size=(8, M)), rng.random(8)
        A = rng.normal(size=(8, M))
        whole = losses_with_error(problem, [(slice(None), scores)], e, A)
        parts = [(rows, scores[rows]) for rows in (slice(0, 3), slice(3, 8))]
        found = losses_with_error(problem, parts, e, A)
        np.testing.assert_allclose(found[0], whole[0], atol=1e-14)
        assert found[1] == pytest.approx(whole[1], rel=1e-12)


@pytest.mark.parametrize("smoothing", [0.0, 4.0])
def test_moves_of_the_dual_point(smoothing):
    """Rows that move by rho_i in the 1-norm change the terms of D by no more, at times by half."""
    rng, ratios = np.random.default_rng(1), []
    for entry in losses():
        problem = made(entry, rng, smoothing)
        A = problem.sample_weight[:, None] * entry.loss.lmo(rng.normal(size=(8, M)), problem.y)
        rho = 0.1 * rng.random(8) * problem.sample_weight
        bound = dual_row_error(problem, A, row_sizes(A, np.zeros(M)), rho)
        for j in range(M):
            for sign in (-1.0, 1.0):
                moved = A.copy()
                moved[:, j] += sign * rho
                change = problem.dual_value(moved, 0.0) - problem.dual_value(A, 0.0)
                ratios.append(abs(change) / bound)
    assert 0.5 < max(ratios) <= 1


def link_errors(problem, A, V, rounded, x, rho):
    v = norms_of_rows(V)
    terms = _link_terms(row_sizes(A, v), v, rounded, x, rho)
    return _link_errors(problem, v, V.shape[1], *terms)


def test_moves_of_the_link():
    """A move of single rows, and what it does to the link: <V, E> and |E|."""
    rng, inner, total = np.random.default_rng(2), [], []
    for entry in losses():
        problem = made(entry, rng)
        A = problem.sample_weight[:, None] * entry.loss.lmo(rng.normal(size=(8, M)), problem.y)
        V, x = problem.link(A), np.sqrt(problem.features.square_norms())
        for i in range(8):
            rho = np.zeros(8)
            rho[i] = 0.1
            bounds = link_errors(problem, A, V, 1e-16 * x, x, rho)
            for j in range(M):
                moved = A.copy()
                moved[i, j] += 0.1
                E = problem.link(moved) - V
                inner.append(problem.lam * abs(np.vdot(V, E)) / bounds[0])
                total.append(np.linalg.norm(E) / bounds[1])
    assert 0.3 < max(inner) <= 1
    assert 0.9 < max(total) <= 1


def test_products_of_the_link():
    """gamma_c stands for relative errors of the products: here each is off by a tenth."""
    rng, ratios = np.random.default_rng(3), []
    for entry in losses():
        problem = made(entry, rng)
        A = problem.sample_weight[:, None] * entry.loss.lmo(rng.normal(size=(8, M)), problem.y)
        V, x = problem.link(A), np.sqrt(problem.features.square_norms())
        bounds = link_errors(problem, A, V, 0.1 * x, x, np.zeros(8))
        E = (
            sum(0.1 * np.outer(A[i], problem.X[i]) * rng.choice([-1, 1], (M, 3)) for i in range(8))
            / problem.lam_n
        )
        assert problem.lam * abs(np.vdot(V, E)) <= bounds[0]
        ratios.append(np.linalg.norm(E) / bounds[1])
    assert 0.1 < max(ratios) <= 1


def test_given_losses_are_taken_at_their_word():
    problem = fwlab.Problem(np.eye(3), np.arange(3), GivenHinge(), 0.1)
    A = problem.loss.lmo(-np.eye(3), problem.y)
    rho = distances(problem, A)
    assert (rho > 0).all()
    assert (rho < 1e-12).all()
