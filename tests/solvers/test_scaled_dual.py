"""The scale of the dual point of a machine: its value, and what it gives to runs that end early."""

from fractions import Fraction

import numpy as np
import pytest
from solvers.entropy_problems import at, data
from solvers.tensor_libraries import LIBRARIES, both

import fwlab
from fwlab.arrays import on_host
from fwlab.certificate import certificate_of
from fwlab.distributed.entropies import PassWatch, rows_as_one_part
from fwlab.operators.precision import DOUBLE
from fwlab.operators.tensor_rows import tensor_rows
from fwlab.solvers.scaled_dual import FIRST, HALVINGS, NEAR, best_scale
from fwlab.solvers.tensor_point import TensorPoint
from fwlab.tensor_certificate import dual_point, machine_terms
from reference import LogisticRegression, TopKLogistic

LOSSES = [fwlab.CrossEntropy(), fwlab.TopKEntropy(2)]
LAM, N = 2.0**-9, 10
OMEGA = np.arange(N) % 4 / 2
# the ratio of neighbouring values of theta; D is concave and D(0) = 0, so that D falls by no more
RATIO = 2.0 ** -(FIRST / 2**HALVINGS)


def small(loss):
    """Return a problem of small integers, and the same problem of the reference."""
    rng = np.random.default_rng(2)
    X, y = rng.integers(-3, 4, (N, 3)).astype(float), rng.integers(0, 4, N)
    given = X, y, 4, LAM, OMEGA
    truth = TopKLogistic(*given, 2) if loss is LOSSES[1] else LogisticRegression(*given)
    return fwlab.Problem(X, y, loss, lam=LAM, sample_weight=OMEGA, n_classes=4), truth


def scaled(problem, point):
    return best_scale(problem.lam, point.losses, problem.sample_weight, point.W, point.link)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("size", [0, 1, 8])
def test_the_value_is_exact_for_the_reference(loss, size):
    problem, truth = small(loss)
    W = size * np.random.default_rng(size).integers(-2, 3, (4, 3)) / 4.0
    theta, dual = scaled(problem, at(problem, W)[0])
    exact = truth.dual(Fraction(theta) * truth.at_gradients(W))
    # each of the terms, which are at most mean omega log 4, is rounded
    assert 0.0 < dual and abs(dual - float(exact)) <= 1e-13


@pytest.mark.parametrize("loss", [1e-9, 1e-13, 1e-18])
def test_the_value_keeps_the_digits_of_sure_labels(loss):
    """(1 - x) log(1 - x) = -x + x^2 / 2 + .., with x = theta t and t = loss up to its square."""
    zero = np.zeros((2, 3))
    theta, dual = best_scale(1.0, np.array([loss]), np.ones(1), zero, zero)
    expected = theta * loss * (1.0 - np.log(theta))
    assert dual == pytest.approx(expected, rel=4 * loss + 1e-14, abs=0.0)


@pytest.mark.parametrize("method", ["lbfgs", "newton"])
@pytest.mark.parametrize("seed", range(4))
def test_one_row_whose_label_is_sure_is_solved(method, seed):
    """An early dual value that rounding makes too large would keep all later dual points out."""
    X = 30.0 * np.random.default_rng(seed).normal(size=(1, 9))
    problem = fwlab.Problem(X, [0], fwlab.CrossEntropy(), lam=5e-12, n_classes=8)
    result = fwlab.solve(problem, method, tol=1e-8, relative=True, max_iter=300)
    assert result.status is fwlab.Status.CONVERGED


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0, 1e4])
def test_the_scale_is_about_the_best(loss, C):
    X, y = data()
    problem = fwlab.Problem(X, y, loss, C=C, sample_weight=np.linspace(0, 2, 60))
    for size in (0.0, 0.3, 3.0, 100.0):
        point, A = at(problem, size * np.random.default_rng(1).normal(size=(4, 6)))
        theta, dual = scaled(problem, point)
        assert problem.is_feasible(theta * A)
        best = max(problem.dual(RATIO**power * A) for power in range(2**HALVINGS))
        assert dual == pytest.approx(problem.dual(theta * A), abs=1e-10 * point.primal)
        assert RATIO * best - 1e-10 * point.primal <= dual


def test_a_point_near_the_optimum_is_not_scaled(monkeypatch):
    X, y = data()
    problem = fwlab.Problem(X, y, LOSSES[0], C=10.0)
    optimum = fwlab.solve(problem, "lbfgs", tol=1e-9).W
    far, near = (at(problem, size * optimum)[0] for size in (0.5, 1.0))
    with monkeypatch.context() as patched:
        patched.setattr("fwlab.solvers.lbfgs.best_scale", None)
        assert near.scale_and_dual(problem) == (1.0, near.dual(problem.lam))
    assert far.dual(problem.lam) < (1 - NEAR) * far.primal
    theta, dual = far.scale_and_dual(problem)
    assert theta < 1.0 and dual > max(0.0, far.dual(problem.lam))
    # A(W) itself is better than a shorter one, though its gap is large
    strong = fwlab.Problem(X, y, LOSSES[0], C=1e-5)
    start = at(strong, 100.0 * at(strong, np.zeros((4, 6)))[0].link)[0]
    assert start.dual(strong.lam) < (1 - NEAR) * start.primal
    assert start.scale_and_dual(strong) == (1.0, start.dual(strong.lam))


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("max_iter", [0, 1, 3, 6])
def test_runs_that_end_early_have_a_proved_bound_above_zero(loss, max_iter):
    problem, truth = small(loss)
    result = fwlab.solve(problem, "lbfgs", tol=0.0, max_iter=max_iter)
    enclosure = fwlab.verify(problem, result)
    low, high = enclosure.dual
    assert 0.0 < low <= high and high - result.gap_error <= result.dual <= low + result.gap_error
    assert enclosure.gap[1] <= result.gap + result.gap_error
    assert low <= float(truth.optimum().value_upper)


@pytest.fixture(params=LIBRARIES)
def library(request):
    return request.param()


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_tensors_have_the_scale_of_numpy(library, loss):
    X, y = data(n=80)
    there, here = both(library, X, y, loss, C=10.0, sample_weight=np.linspace(0, 2, 80))
    W = np.random.default_rng(1).normal(size=(4, 6))
    expected = at(here, W)[0]
    found = TensorPoint.at(there, tensor_rows(there.features).here(W), DOUBLE)
    theta, dual = expected.scale_and_dual(here)
    assert found.scale == theta < 1.0
    assert found.gap == pytest.approx(expected.primal - dual, rel=1e-12)
    terms, A = machine_terms(there, W, theta), on_host(dual_point(there, W, theta))
    certificate = certificate_of(here, A, W)
    assert terms.is_feasible and certificate.dual > 0
    assert abs(terms.dual(here.lam) - certificate.dual) <= certificate.gap_error
    np.testing.assert_allclose(A, theta * expected.A, atol=1e-14)


def test_a_run_on_tensors_keeps_the_scale_of_its_dual_point(library):
    X, y = data(n=80)
    there, here = both(library, X, y, C=1e3)
    result = fwlab.solve(there, "lbfgs", tol=0.0, max_iter=2)
    certificate = certificate_of(here, on_host(result.A), on_host(result.W))
    assert 0.0 < result.dual
    assert abs(certificate.dual - result.dual) <= certificate.gap_error + result.gap_error
    other = fwlab.solve(here, "lbfgs", tol=0.0, max_iter=2)
    assert result.dual == pytest.approx(other.dual, rel=0.1)


def test_a_run_out_of_core_has_the_bound_of_a_run_in_memory():
    X, y = data()
    here, W = fwlab.Problem(X, y, LOSSES[0], C=1e3), np.random.default_rng(1).normal(size=(4, 6))
    problem = fwlab.distributed.OutOfCoreProblem(X, y, LOSSES[0], C=1e3, chunk_rows=13)
    point = TensorPoint.at(rows_as_one_part(problem, PassWatch()), W, DOUBLE)
    assert point.scale == at(here, W)[0].scale_and_dual(here)[0] < 1.0
    inside = fwlab.solve(here, "lbfgs", tol=0.0, max_iter=2)
    outside = fwlab.distributed.solve(problem, tol=0.0, max_iter=2)
    assert 0.0 < outside.dual == pytest.approx(inside.dual, rel=0.1)


@pytest.mark.parametrize("size", [1e2, 1e4])
def test_machines_far_away_have_a_bound_above_0(size):
    """The best scale is about (log 3) / (lam |V|^2), far below 2^-FIRST."""
    X = size * np.random.default_rng(0).normal(size=(6, 2))
    problem = fwlab.Problem(X, np.arange(6) % 3, fwlab.CrossEntropy(), C=1e4)
    result = fwlab.solve(problem, "lbfgs", max_iter=1)
    assert result.dual > 0
