"""Runs along C start at the last W of an entropy, and at the last A of a hinge."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fwlab
from fwlab.estimators import machine as machines
from fwlab.solvers.along_C import start_after

pytestmark = pytest.mark.small
X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.arange(12) % 3


def problem(loss, C):
    return fwlab.Problem(X, Y, loss, C=C)


@pytest.mark.parametrize("growth", [0.5, 1.0, 8.0])
@pytest.mark.parametrize("loss", [fwlab.CrossEntropy(), fwlab.TopK(2)])
def test_W_of_an_entropy_stays_where_C_grows(loss, growth):
    first, second = problem(loss, 1.0), problem(loss, growth)
    A = fwlab.solve(first, "auto", tol=1e-3).A
    start = start_after(second, A, growth)
    assert second.dual(start) > -np.inf
    if growth > 1 and first.has_entropy:
        assert_allclose(second.weights(start), first.weights(A), rtol=1e-12)
    else:
        assert_array_equal(start, A)


def test_a_path_starts_at_the_last_W():
    loss = fwlab.CrossEntropy()
    start = fwlab.solve(problem(loss, 0.2), "lbfgs", max_iter=1).A
    first, second = fwlab.path(problem(loss, 1.0), (0.5, 4.0), A0=start, method="lbfgs", tol=1e-3)
    other = problem(loss, 0.5)
    assert_allclose(first.trace.primal[0], other.primal(other.weights(start)), rtol=1e-12)
    W = other.weights(first.A)
    assert_allclose(second.trace.primal[0], problem(loss, 4.0).primal(W), rtol=1e-12)


@pytest.fixture
def starts(monkeypatch):
    """The weights at the start of each run of an estimator, None for a run from 0."""
    found = []

    def spied(problem, *arguments, A0, **options):
        found.append(None if A0 is None else problem.weights(A0))
        return fwlab.solve(problem, *arguments, A0=A0, **options)

    monkeypatch.setattr(machines, "solve", spied)
    return found


def test_a_path_of_machines_starts_at_the_last_W(starts):
    first, _ = fwlab.TopKClassifier.path(X, Y, [0.5, 4.0], tol=1e-9)
    assert starts[0] is None
    assert_allclose(starts[1], first.coef_, atol=1e-4)


def test_a_warm_start_begins_at_the_last_W(starts):
    machine = fwlab.TopKClassifier(C=0.5, tol=1e-9, warm_start=True).fit(X, Y)
    last = machine.coef_.copy()
    machine.set_params(C=4.0).fit(X, Y)
    assert starts[0] is None
    assert_allclose(starts[1], last, atol=1e-4)
