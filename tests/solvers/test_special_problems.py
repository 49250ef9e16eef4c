"""Problems at the edge: rows of zeros, missing classes, two classes, one sample, float32."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from solvers.solver_table import (
    Case,
    M,
    each_form,
    each_method,
    each_smoothing,
    in_form,
    loss_entry,
)

import fwlab

pytestmark = pytest.mark.small


@pytest.mark.grid
@each_method
@each_form
@each_smoothing
@pytest.mark.parametrize("loss", ["TopK-1", "WeightedUsunier-7", "StructuredHinge-1"])
def test_rows_of_zeros(method, form, smoothing, loss):
    """Blocks that the features cannot move: the whole problem, and two of its rows."""
    y = np.arange(12) % M
    for empty in (slice(None), slice(2, 4)):
        X = Case().X
        X[empty] = 0.0
        data, kernel = in_form(X, form)
        problem = fwlab.Problem(
            data, y, loss_entry(loss, y).loss, 0.5, smoothing=smoothing, kernel=kernel
        )
        result = fwlab.solve(problem, method, tol=2e-2, max_iter=2000)
        assert result.success
        assert result.infeasibility <= 1e-13
    if method == "ascent" or smoothing == 0:
        X = np.zeros((12, 5))
        problem = fwlab.Problem(X, y, loss_entry(loss, y).loss, 0.5, smoothing=smoothing)
        assert fwlab.solve(problem, method, tol=0.0, max_iter=1).gap <= 1e-15


@each_method
@each_form
def test_classes_without_samples(method, form):
    case = Case(form=form)
    few = case.y % 2
    X, kernel = in_form(case.X, form)
    problem = fwlab.Problem(X, few, fwlab.TopK(3), 0.5, kernel=kernel, n_classes=6)
    result = fwlab.solve(problem, method, tol=2e-2, max_iter=3000)
    assert result.success
    assert result.A.shape == (12, 6)
    one_class = fwlab.Problem(case.X, np.zeros(12, int), fwlab.TopK(3), 0.5, n_classes=6)
    assert fwlab.solve(one_class, method, tol=2e-2, max_iter=3000).success


@pytest.mark.grid
@each_method
@each_smoothing
@pytest.mark.parametrize(
    "loss",
    [
        fwlab.MaxHinge(),
        fwlab.TopK(1),
        fwlab.TopK(2),
        fwlab.PseudoTopK(1),
        fwlab.Usunier(2),
        fwlab.WeightedTopK([2.0, 1.0]),
        fwlab.WeightedUsunier([2.0, 1.0]),
        fwlab.StructuredHinge([[0, 2], [1, 0]]),
    ],
    ids=repr,
)
def test_two_classes(method, smoothing, loss):
    problem = fwlab.Problem(Case().X, Case().y % 2, loss, 0.5, smoothing=smoothing)
    result = fwlab.solve(problem, method, tol=2e-2, max_iter=3000)
    assert result.success
    np.testing.assert_allclose(result.W.sum(axis=0), 0.0, atol=1e-12)


@each_method
def test_one_sample(method):
    problem = fwlab.Problem([[2.0, 1.0]], [1], fwlab.Usunier(2), 0.5, n_classes=3)
    assert fwlab.solve(problem, method, tol=1e-2, max_iter=3000).success


@each_form
def test_float32_is_converted_and_said_so(form):
    X = (np.round(4 * Case().X) / 4).astype(np.float32)  # products are exact
    data, kernel = in_form(X, form)
    results = []
    for features in (data, data.astype(np.float64)):
        problem = fwlab.Problem(features, Case().y, fwlab.TopK(2), 0.5, kernel=kernel)
        results.append(fwlab.solve(problem, max_iter=3))
    single, double = results
    assert "float32" in single.message
    assert single.message.startswith(single.status.value)
    assert "float32" not in double.message
    assert_array_equal(single.A, double.A)


def test_a_gram_matrix_of_float32_is_semidefinite_to_its_own_rounding():
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    gram = X @ X.T
    assert np.linalg.eigvalsh(gram.astype(np.float64))[0] < -1e-8 * gram.max()
    problem = fwlab.Problem(gram, np.arange(60) % 3, fwlab.TopK(2), 0.5, kernel="precomputed")
    assert fwlab.solve(problem, tol=1e-3).success


@pytest.mark.parametrize("method", ["ascent", "bcfw", "auto"])
def test_sample_weights_whose_products_with_the_curvature_vanish(method):
    """|x|^2 / (lam n) times omega is 0 in floats: the dual is linear in these rows."""
    omega = np.array([1.0, 1e-140, 1e30])
    problem = fwlab.Problem(
        1e-100 * np.eye(3), np.arange(3), fwlab.MaxHinge(), 1.0, sample_weight=omega
    )
    result = fwlab.solve(problem, method, tol=1e-9, relative=True, max_iter=20)
    assert result.success


def test_subgradients_of_an_envelope_that_is_the_loss():
    """Scores over a smoothing of 1e-300 overflow; the envelope is the loss to rounding."""
    X, y = 1e5 * np.random.default_rng(0).normal(size=(9, 2)), np.arange(9) % 3
    runs = [
        fwlab.solve(
            fwlab.Problem(X, y, fwlab.TopK(2), 1e-6, smoothing=smoothing),
            "subgradient",
            max_iter=30,
        )
        for smoothing in (0.0, 1e-300)
    ]
    assert runs[1].primal == pytest.approx(runs[0].primal, rel=1e-9)
