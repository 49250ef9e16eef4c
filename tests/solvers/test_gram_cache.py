"""Block methods change over to the Gram matrix of a dense X with n <= d, and only there."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

import fwlab
from fwlab.solvers.blocks import ORDERS, passes_until_gram

pytestmark = pytest.mark.small
N, D, M = 14, 20, 3


def problem(n=N, d=D, sparse=False, **options):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)), np.arange(n) % M
    X = scipy.sparse.csr_matrix(X) if sparse else X
    return fwlab.Problem(X, y, fwlab.TopK(2), 1 / n, **options)


def runs(method, data, max_iter=6, **options):
    """Return one run with and one without permission to use the memory."""
    return [
        fwlab.solve(data, method, tol=0, max_iter=max_iter, max_gram_memory=memory, **options)
        for memory in (8 * N * N, 8 * N * N - 1)
    ]


METHODS = ("ascent", "bcfw", "bcafw", "bcpfw", "sdca-lapin")


@pytest.mark.turns
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("method", METHODS)
def test_the_iterates_are_the_same(method, order, smoothing):
    if method == "sdca-lapin" and smoothing:
        pytest.skip("it takes no smoothing")
    cached, plain = runs(method, problem(smoothing=smoothing), order=order)
    assert_allclose(cached.A, plain.A, rtol=0, atol=1e-12)
    assert_allclose(cached.W, plain.W, rtol=0, atol=1e-12)
    assert_allclose(cached.trace.gap, plain.trace.gap, rtol=0, atol=1e-12)
    assert "Gram" in cached.message and "Gram" not in plain.message


def test_it_is_computed_once_when_the_passes_have_cost_as_much(monkeypatch):
    computed = []
    original = fwlab.Problem.with_gram
    monkeypatch.setattr(
        fwlab.Problem, "with_gram", lambda self: computed.append(1) or original(self)
    )
    data = problem()
    passes = -(-N // (4 * M))
    assert passes_until_gram(data, 8 * N * N) == passes
    fwlab.solve(data, tol=0, max_iter=passes)
    assert not computed
    fwlab.solve(data, tol=0, max_iter=passes + 9)
    assert len(computed) == 1


def test_the_certificate_is_computed_from_x(monkeypatch):
    """A Gram matrix that is wrong spoils the run, and the certificate shows it."""
    original = fwlab.Problem.with_gram

    def wrong(self):
        other = original(self)
        other.features.K[:] *= 0.5
        return other

    monkeypatch.setattr(fwlab.Problem, "with_gram", wrong)
    data = problem()
    result = fwlab.solve(data, tol=1e-9, max_iter=200)
    assert not result.success
    assert result.gap == pytest.approx(data.gap(result.A), rel=1e-9)
    assert result.gap > 1e-3


@pytest.mark.parametrize(
    "data",
    [
        problem(n=D + 1),
        problem(sparse=True),
        problem(storage="float32"),
        problem(kernel="linear"),
    ],
    ids=["more rows than columns", "sparse", "float32", "Gram matrix already"],
)
def test_where_it_does_not_pay_it_is_not_used(data):
    assert passes_until_gram(data, 2**40) == np.inf
    assert "went over" not in fwlab.solve(data, tol=0, max_iter=20).message


@pytest.mark.parametrize("memory", [-1, 1.5, True])
def test_bad_memory_is_refused(memory):
    with pytest.raises((TypeError, ValueError), match="max_gram_memory"):
        fwlab.solve(problem(), max_gram_memory=memory)


def test_the_former_name_of_the_limit_is_taken_with_a_warning():
    with pytest.warns(FutureWarning, match="max_memory is named max_gram_memory now; the old"):
        former = fwlab.solve(problem(), tol=0, max_iter=6, max_memory=0)
    new, other = (fwlab.solve(problem(), tol=0, max_iter=6, max_gram_memory=m) for m in (0, 2**30))
    assert_allclose(former.A, new.A, rtol=0, atol=0)
    assert former.message == new.message != other.message
