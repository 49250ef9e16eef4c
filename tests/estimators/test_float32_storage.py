"""Estimators that hold X in float32: what is certified, what predictions read, what is refused."""

import re

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

import fwlab
from fwlab import TopKSVC, TopKSVCCV
from fwlab.estimators import kernels, machine

N, D, M = 90, 140, 4
OTHER_KERNELS = ["rbf", "precomputed", lambda X, Z: np.asarray(X @ Z.T)]


def samples():
    rng = np.random.default_rng(0)
    y = np.arange(N) % M
    X = rng.normal(size=(M, D))[y] / 4 + rng.normal(size=(N, D))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


@pytest.fixture
def problems(monkeypatch):
    """Record the problems that estimators train on."""
    made = []

    def recorded(*arguments, **options):
        made.append(fwlab.Problem(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(machine, "Problem", recorded)
    return made


@pytest.mark.parametrize(
    ("given", "storage", "held"),
    [
        (np.float32, None, np.float32),
        (np.float64, None, np.float64),
        (np.float32, "float64", np.float64),
        (np.float32, "float32", np.float32),
        (np.float64, "float32", np.float32),
        (np.float16, None, np.float64),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.coo_array])
def test_x_is_held_in_its_storage(given, storage, held, form, problems) -> None:
    X, y = samples()
    X = X.astype(given)
    if given == np.float16 and form is not np.asarray:
        pytest.skip("scipy has no sparse float16")
    TopKSVC(storage=storage).fit(form(X), y)
    assert problems[0].X.dtype == held
    whole = problems[0].X.toarray() if scipy.sparse.issparse(problems[0].X) else problems[0].X
    assert_array_equal(whole, X.astype(held))


def test_an_array_of_float32_is_not_copied(problems) -> None:
    X, y = samples()
    X = X.astype(np.float32)
    TopKSVC().fit(X, y)
    assert np.shares_memory(problems[0].X, X)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])
def test_the_certificate_is_about_the_samples_that_are_held(fit_intercept, form) -> None:
    """A tenth is no number of float32: the constant feature is rounded, and so is its weight."""
    X, y = samples()
    X = X.astype(np.float32)
    fitted = TopKSVC(k=2, fit_intercept=fit_intercept, intercept_scaling=0.1, tol=1e-9)
    fitted.fit(form(X), y)
    rows, W, constant = X.astype(float), fitted.coef_, float(np.float32(0.1))
    if fit_intercept:
        rows = np.column_stack([rows, np.full(N, constant)])
        W = np.column_stack([W, fitted.intercept_ / constant])
    problem = fwlab.Problem(rows, y, fwlab.TopK(2), C=1.0)
    best = fwlab.solve(problem, "ascent", tol=1e-11).dual
    assert best - 1e-12 <= problem.primal(W) <= best + fitted.duality_gap_ + 2e-12


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])
def test_the_constant_feature_keeps_samples_in_float32(form) -> None:
    X = form(samples()[0].astype(np.float32))
    assert kernels.with_constant(X, 2.0).dtype == np.float32


def test_predictions_read_float32_as_it_is() -> None:
    """Many rows are converted in parts."""
    X, y = samples()
    X = X.astype(np.float32)
    fitted = TopKSVC(fit_intercept=True).fit(X, y)
    many = np.tile(X, (30, 1))
    scores = fitted.decision_function(many)
    expected = many.astype(float) @ fitted.coef_.T + fitted.intercept_
    assert_allclose(scores, expected, rtol=0, atol=1e-13)
    sparse = scipy.sparse.csr_matrix(X)
    assert_allclose(fitted.decision_function(sparse), expected[:N], rtol=0, atol=1e-13)
    assert fitted.proved(X).dtype == bool
    assert fitted.to_model().W.dtype == np.float64


def test_float32_and_float64_end_at_the_same_machine() -> None:
    X, y = samples()
    X = X.astype(np.float32)
    single = TopKSVC(tol=1e-10, storage="float32").fit(X, y)
    double = TopKSVC(tol=1e-10, storage="float64").fit(X, y)
    assert_allclose(single.coef_, double.coef_, rtol=0, atol=1e-4)


def test_paths_and_folds_hold_float32(problems) -> None:
    X, y = samples()
    TopKSVC().path(X.astype(np.float32), y, [0.1, 1.0])
    TopKSVCCV(Cs=[0.1, 1.0], cv=2).fit(X.astype(np.float32), y)
    TopKSVCCV(Cs=[0.1, 1.0], cv=2, storage="float32").fit(X, y)
    assert {problem.X.dtype for problem in problems} == {np.dtype(np.float32)}


@pytest.mark.parametrize("storage", ["single", np.float32, 32])
def test_a_storage_that_is_none_is_refused(storage) -> None:
    X, y = samples()
    with pytest.raises(ValueError, match=r"storage must be None or one of .*; got "):
        TopKSVC(storage=storage).fit(X, y)


@pytest.mark.parametrize("kernel", OTHER_KERNELS)
def test_gram_matrices_are_held_in_float64(kernel, problems) -> None:
    X, y = samples()
    X = X.astype(np.float32)
    given = (X @ X.T if kernel == "precomputed" else X), y
    TopKSVC(kernel=kernel).fit(*given)
    assert problems[0].X.dtype == np.float64
    if kernel == "rbf":
        expected = rbf_kernel(X.astype(float), gamma=1 / (D * X.astype(float).var()))
        assert_allclose(problems[0].X, expected, rtol=0, atol=1e-14)
    with pytest.raises(ValueError, match=r'storage must be None or "float64" with kernel='):
        TopKSVC(kernel=kernel, storage="float32").fit(*given)


@pytest.mark.parametrize("scaling", [1e60, 1e-50])
def test_an_intercept_scaling_beyond_float32_is_refused(scaling: float) -> None:
    X, y = samples()
    sentence = (
        rf"intercept_scaling must be from .* held in float32; got {re.escape(repr(scaling))}\."
    )
    with pytest.raises(ValueError, match=sentence):
        TopKSVC(fit_intercept=True, intercept_scaling=scaling).fit(X.astype(np.float32), y)
    TopKSVC(fit_intercept=True, intercept_scaling=1e-50).fit(X, y)
