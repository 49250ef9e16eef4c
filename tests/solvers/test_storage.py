"""Test X kept as float32: the problem has the rounded X, solved and certified in float64."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from solvers.solver_table import METHODS, Case, in_form

import fwlab

pytestmark = pytest.mark.small
ROUNDED = Case().X.astype(np.float32).astype(np.float64)


def pair(form, **options):
    """Return the problem that stores float32, and the float64 one of the rounded X."""
    return tuple(
        fwlab.Problem(
            in_form(X, form)[0], Case().y, fwlab.TopK(2), 0.05, storage=storage, **options
        )
        for X, storage in ((Case().X, "float32"), (ROUNDED, "float64"))
    )


@pytest.mark.grid
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("method", METHODS)
def test_runs_are_those_of_the_rounded_data(method, form, smoothing):
    runs = [
        fwlab.solve(p, method, tol=0, max_iter=5, check_every=1)
        for p in pair(form, smoothing=smoothing)
    ]
    single, double = runs
    assert_allclose(single.A, double.A, rtol=0, atol=1e-11)
    assert_allclose(single.W, double.W, rtol=0, atol=1e-11)
    assert_allclose(single.trace.gap, double.trace.gap, rtol=0, atol=1e-12)
    assert single.W.dtype == single.A.dtype == np.float64


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_x_is_stored_once_and_the_message_says_so(form):
    single, double = pair(form)
    assert single.X.dtype == np.float32
    assert "stored as float32" in fwlab.solve(single, max_iter=1).message
    assert "float32" not in fwlab.solve(double, max_iter=1).message


def test_float32_data_is_not_copied():
    X = np.ascontiguousarray(Case().X, dtype=np.float32)
    problem = fwlab.Problem(X, Case().y, fwlab.TopK(2), 0.05, storage="float32")
    assert np.shares_memory(problem.X, X)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_products_are_float64(form):
    """A sum in float32 would lose the small terms."""
    n, d = 2000, 3
    X = np.full((n, d), 1 / 3, np.float32)
    X[0] = 3e4
    data = scipy.sparse.csr_matrix(X) if form == "sparse" else X
    problem = fwlab.Problem(data, np.arange(n) % 2, fwlab.TopK(1), 1.0, storage="float32")
    exact, A = X.astype(np.float64), np.tile([1.0, -1.0], (n, 1))
    assert_allclose(problem.curvatures * n, (exact**2).sum(axis=1), rtol=1e-15)
    assert_allclose(problem.weights(A) * n, A.T @ exact, rtol=1e-13)
    W = np.array([[1.0, 2.0, 3.0], [0.1, 0.2, 0.3]])
    assert_allclose(problem.features.scores(W), exact @ W.T, rtol=1e-15)
    assert_allclose(problem.scores(A, exact), exact @ problem.weights(A).T, rtol=1e-15)


@pytest.mark.parametrize("d", [4, 300])
def test_short_and_long_rows_have_the_certificates_of_float64(d):
    X = np.random.default_rng(0).normal(size=(250, d)).astype(np.float32)
    y = np.arange(250) % 3
    single = fwlab.Problem(X, y, fwlab.TopK(2), 0.01, storage="float32")
    double = fwlab.Problem(X.astype(np.float64), y, fwlab.TopK(2), 0.01)
    A = fwlab.solve(double, max_iter=2).A
    W = double.weights(A)
    assert_allclose(single.features.scores(W), double.features.scores(W), rtol=0, atol=1e-13)
    assert_allclose(single.gap(A), double.gap(A), rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"storage": "float16"}, "storage must be one of .* got 'float16'"),
        ({"storage": 32}, "storage must be one of .* got 32"),
        ({"storage": "float32", "kernel": "linear"}, 'storage must be "float64" with kernel'),
        ({"storage": "float32", "X": 1e39 * np.eye(2)}, "X must be .* at most 3.403e.38.* got 1e"),
        ({"storage": "float32", "X": np.full((2, 2), np.nan)}, "X must be finite"),
    ],
)
def test_bad_storage_is_refused(change, said):
    arguments = {"X": np.eye(2), "y": [0, 1], "loss": fwlab.TopK(1), "lam": 1.0}
    with pytest.raises(ValueError, match=said):
        fwlab.Problem(**{**arguments, **change})
