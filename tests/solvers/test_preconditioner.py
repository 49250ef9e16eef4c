"""The preconditioner of L-BFGS: the Hessian at W = 0, or blocks of it at another point."""

import numpy as np
import pytest
import scipy.sparse
from solvers.entropy_problems import LOSS, at, data, made

import fwlab
from fwlab.solvers.preconditioner import cost_by_class, inverse_at_zero, inverse_by_class


def hessian_at_zero(problem):
    m, X = problem.n_classes, problem.X
    w = (1 - 1 / m) / m
    squares = (X * problem.sample_weight[:, None]).T @ X / problem.n_samples
    return problem.lam * np.eye(X.shape[1]) + w * squares


@pytest.mark.parametrize("storage", ["float64", "float32"])
def test_the_preconditioner_is_the_hessian_at_zero(storage):
    problem = made(sample_weight=np.linspace(0, 2, 60), storage=storage)
    problem.X = problem.X.astype(np.float64) if storage == "float64" else problem.X
    G = np.random.default_rng(0).normal(size=(4, 6))
    expected = G @ np.linalg.inv(hessian_at_zero(problem))
    assert inverse_at_zero(problem)(G) == pytest.approx(expected, rel=1e-6)


def test_for_many_samples_the_preconditioner_is_summed_in_parts():
    X, y = data(n=2500)
    problem = fwlab.Problem(X, y, LOSS, C=1.0)
    G = np.random.default_rng(0).normal(size=(4, 6))
    expected = G @ np.linalg.inv(hessian_at_zero(problem))
    assert inverse_at_zero(problem)(G) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])
def test_the_preconditioner_of_wide_and_of_sparse_samples_is_the_diagonal(form):
    X, y = data(n=8, d=9)
    problem = fwlab.Problem(form(X), y, LOSS, C=1.0, sample_weight=np.linspace(0, 2, 8))
    G = np.random.default_rng(0).normal(size=(4, 9))
    dense = fwlab.Problem(X, y, LOSS, C=1.0, sample_weight=np.linspace(0, 2, 8))
    expected = G / hessian_at_zero(dense).diagonal()
    image = inverse_at_zero(problem)(G.T if form is not np.asarray else G)
    assert (image.T if form is not np.asarray else image) == pytest.approx(expected, rel=1e-13)


def test_columns_of_zeros_have_a_preconditioner():
    X, y = data()
    X[:, 2] = 0.0
    result = fwlab.solve(fwlab.Problem(X, y, LOSS, C=1e6), "lbfgs", tol=1e-4)
    assert result.success and not result.W[:, 2].any()


def test_features_that_repeat_have_a_preconditioner():
    X, y = data()
    result = fwlab.solve(fwlab.Problem(np.hstack([X, X]), y, LOSS, C=1e30), "lbfgs", max_iter=20)
    assert np.isfinite(result.primal) and result.primal < np.log(4)


def class_hessian(problem, W, j):
    """Return the block of class j of the Hessian of P, from its definition."""
    scores = problem.X @ W.T
    p = np.exp(scores[:, j]) / np.exp(scores).sum(axis=1)
    weights = (problem.sample_weight * p * (1 - p))[:, None]
    d = problem.n_features
    return problem.lam * np.eye(d) + (problem.X * weights).T @ problem.X / problem.n_samples


@pytest.mark.parametrize("weighted", [False, True])
def test_the_preconditioner_by_class_is_the_blocks_of_the_hessian(weighted, monkeypatch):
    monkeypatch.setattr("fwlab.solvers.preconditioner.CHUNK", 7)
    monkeypatch.setattr("fwlab.solvers.preconditioner.ENTRIES", 60)
    problem = made(sample_weight=np.linspace(0, 2, 60) if weighted else None)
    W, G = np.random.default_rng(3).normal(size=(2, 4, 6)) / 3
    inverse = inverse_by_class(problem, at(problem, W)[1])
    H = [class_hessian(problem, W, j) for j in range(4)]
    expected = np.array([np.linalg.solve(H[j], G[j] - G.mean(axis=0)) for j in range(4)])
    assert inverse(G) == pytest.approx(expected - expected.mean(axis=0), rel=1e-7, abs=1e-9)


def test_the_cost_of_a_renewal_is_counted_in_evaluations():
    """Of 4 n d m + 60 n m operations; the matrices of m classes take n d (d + 2) m + 3/2 d^3 m."""
    assert cost_by_class(made()) == pytest.approx((60 * 6 * 8 + 1.5 * 216) / (60 * 84))
    assert cost_by_class(made(form=scipy.sparse.csr_matrix)) == np.inf
    X, y = data(n=8, d=9)
    assert cost_by_class(fwlab.Problem(X, y, LOSS, C=1.0)) == np.inf
