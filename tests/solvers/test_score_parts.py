"""Parts of the scores are the rows of X W^T, for each kind of X and any number of threads."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

import fwlab
from fwlab.certificate import certificate_of
from fwlab.operators import scores as module
from fwlab.operators.features import DenseFeatures, GramFeatures, features_of
from fwlab.operators.scores import score_parts
from fwlab.threads import run_threads

N, D, M = 300, 7, 3


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(module, "ROWS", 130)
    monkeypatch.setattr(module, "ENTRIES", 1)


def random(rng, kind):
    """Return products of one kind, a link, and its scores."""
    X, W = rng.normal(size=(N, D)), rng.normal(size=(M, D))
    X[rng.random(X.shape) < 0.5] = 0.0
    if kind == "dense":
        return DenseFeatures(X), W, X @ W.T
    if kind == "sparse":
        return features_of(scipy.sparse.csr_matrix(X), None), W, X @ W.T
    link = rng.normal(size=(M, N))
    gram, index = GramFeatures(X @ X.T), np.arange(5, 290, 2)
    if kind == "gram":
        return gram, link, link.T
    return gram.rows(index), link, link.T[index]


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("kind", ["dense", "sparse", "gram", "rows of a gram matrix"])
def test_parts_are_the_rows_of_the_product(kind, n_threads):
    features, W, expected = random(np.random.default_rng(0), kind)
    with run_threads(n_threads):
        parts = [(rows, part.copy()) for rows, part in score_parts(features, W)]
    assert len(parts) == -(-len(expected) // (130 * n_threads))
    assert_allclose(np.concatenate([part for _, part in parts]), expected, atol=1e-14)
    places = np.concatenate([np.arange(len(expected))[rows] for rows, _ in parts])
    assert_array_equal(places, np.arange(len(expected)))


@pytest.mark.usefixtures("small_parts")
def test_given_scores_are_taken():
    features, W, expected = random(np.random.default_rng(1), "dense")
    for rows, part in score_parts(features, np.full_like(W, np.nan), expected):
        assert part.base is expected
        assert_array_equal(part, expected[rows])


@pytest.mark.usefixtures("small_parts")
def test_scores_of_zero_are_zero_without_a_product():
    features = DenseFeatures(np.full((N, D), np.nan))
    parts = [part.copy() for _, part in score_parts(features, np.zeros((M, D)))]
    assert_array_equal(np.concatenate(parts), np.zeros((N, M)))


def test_a_certificate_makes_no_array_of_all_scores():
    rng = np.random.default_rng(2)
    n, m = 30_000, 60
    problem = fwlab.Problem(rng.normal(size=(n, 5)), np.arange(n) % m, fwlab.TopK(1), C=1.0)
    A = np.zeros((n, m))
    A[np.arange(n), problem.y], A[np.arange(n), (problem.y + 1) % m] = 0.1, -0.1
    problem.certificate(A)
    tracemalloc.start()
    try:
        certificate, whole = problem.certificate(A), certificate_of(problem, A)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert whole.gap == pytest.approx(certificate.gap)
    assert peak < A.nbytes / 2


def test_with_another_norm_the_scores_of_the_link_are_not_taken():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 4)), np.arange(12) % M
    problem = fwlab.Problem(X, y, fwlab.TopK(1), C=1.0, regularizer=fwlab.LpNorm(1.5))
    A = np.zeros((12, M))
    problem.lowest(rng.normal(size=(12, M)))[0].add_to(A, 1.0)
    link = problem.link(A)
    found = certificate_of(problem, A, link=link, scores=problem.features.scores(link))
    assert found == certificate_of(problem, A)
