"""The subgradient method on entropies: gradient descent, written out, and its rate."""

import numpy as np
import pytest
import scipy.sparse
from solvers.entropy_problems import data

import fwlab

pytestmark = pytest.mark.small
LOSSES = [fwlab.CrossEntropy(), fwlab.TopKEntropy(2)]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=["cross-entropy", "top-2"])


def made(loss, form=np.asarray, kernel=None, lam=0.5, **options):
    X, y = data(n=9, d=3)
    X /= 4.0
    given = X @ X.T if kernel == "precomputed" else form(X)
    omega = np.linspace(0, 2, 9)
    return fwlab.Problem(given, y, loss, lam=lam, kernel=kernel, sample_weight=omega, **options)


def lipschitz(problem):
    return problem.lam + problem.sample_weight @ np.square(problem.X).sum(axis=1) / 18


def descended(problem, steps):
    """Return W, the averages of the dual rows, and the number of steps in between, from W = 0."""
    X, y, omega, lam = problem.X, problem.y, problem.sample_weight, problem.lam
    W, A, descents = np.zeros((problem.n_classes, 3)), np.zeros((9, problem.n_classes)), 0
    radius = np.sqrt(problem.primal(W) / lam)
    for t in range(1, steps + 1):
        G = omega[:, None] * problem.loss.gradient(X @ W.T, y)
        length = max(1 / (lam * t), 1 / lipschitz(problem))
        descents += length > 1 / (lam * t)
        W = W - length * (lam * W + G.T @ X / 9)
        W *= min(1.0, radius / np.linalg.norm(W))
        A = (1 - lam * length) * A - lam * length * G
    return W, A, descents


@each_loss
def test_iterates_are_those_written_out(loss):
    problem = made(loss)
    for steps in (1, 2, 20):
        W, A, descents = descended(problem, steps)
        result = fwlab.solve(problem, "subgradient", tol=0.0, max_iter=steps, check_every=1)
        np.testing.assert_allclose(result.W, W, atol=1e-12)
        np.testing.assert_allclose(result.A, A, atol=1e-13)
    assert descents >= 10
    assert result.trace.step[-1] == pytest.approx(1 / lipschitz(problem))
    assert result.trace.n_lmo[-1] == 0


@each_loss
def test_the_rate_of_gradient_descent(loss):
    """From step L / lam on the excess falls by the factor 1 - lam / L or more."""
    problem, values = made(loss), []
    best = fwlab.solve(problem, "lbfgs", tol=1e-13, max_iter=2000)
    fwlab.solve(
        problem,
        "subgradient",
        tol=0.0,
        max_iter=60,
        check_every=1,
        callback=lambda progress: values.append(progress.primal - best.primal),
    )
    ratio = lipschitz(problem) / problem.lam
    excess = np.array(values[int(np.ceil(ratio)) :])
    assert len(excess) >= 40
    assert (excess[1:] <= (1 - 1 / ratio) * excess[:-1] + 1e-13).all()


@each_loss
def test_all_forms_and_batches_end_at_one_optimum(loss):
    best = fwlab.solve(made(loss), "lbfgs", tol=1e-12, max_iter=2000)
    for problem in (
        made(loss),
        made(loss, scipy.sparse.csr_matrix),
        made(loss, kernel="linear"),
        made(loss, kernel="precomputed"),
    ):
        result = fwlab.solve(problem, "subgradient", tol=1e-6)
        assert result.success and abs(result.dual - best.dual) <= 2e-6
    result = fwlab.solve(made(loss), "subgradient", tol=1e-2, batch=2)
    assert result.success
