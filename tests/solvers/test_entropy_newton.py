"""Newton's method on the cross-entropy: its Hessian, its steps, its runs, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from solvers.entropy_problems import LOSS, at, data, made

import fwlab
from fwlab.solvers import entropy_newton as module
from fwlab.solvers.entropy_newton import EntropyNewton, Hessian, solution
from fwlab.solvers.lbfgs import SmoothPoint, primal_at_zero
from fwlab.solvers.method import State

FORMS = {"dense": np.asarray, "sparse": scipy.sparse.csr_matrix}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("omega", [np.ones(60), np.arange(60) % 3 / 2], ids=["ones", "weights"])
def test_products_are_those_of_the_hessian(form, omega):
    problem, rng = made(form=form, sample_weight=omega), np.random.default_rng(0)
    W, Z = rng.normal(size=(2, 4, 6)) / 4
    X, H = data()[0], problem.lam * np.eye(24)
    scores = X @ W.T
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    for x, row, weight in zip(X, p, omega, strict=True):
        H += weight / 60 * np.kron(np.diag(row) - np.outer(row, row), np.outer(x, x))
    found = Hessian(problem, at(problem, W)[0]).product(Z)
    assert found.ravel() == pytest.approx(H @ Z.ravel(), rel=1e-10)


def test_conjugate_gradients_end_at_the_residual():
    rng = np.random.default_rng(0)
    root, g = rng.normal(size=(12, 12)), rng.normal(size=(3, 4))
    H = root @ root.T + np.eye(12)

    def product(Z):
        return (H @ Z.ravel()).reshape(3, 4)

    counts = []
    for residual in (1.0, 1e-3, 1e-9):
        Z, count = solution(product, lambda G: 0.5 * G, g, residual)
        assert np.linalg.norm(product(Z) - g) <= residual
        counts.append(count)
    # at most as many as unknowns, up to rounding
    assert counts == sorted(counts) and counts[0] < counts[2] <= 14
    exact = np.linalg.inv(H)
    Z, count = solution(product, lambda G: (exact @ G.ravel()).reshape(3, 4), g, 1e-9)
    assert count == 1 and Z.ravel() == pytest.approx(exact @ g.ravel(), rel=1e-9)


def test_a_direction_without_curvature_ends_conjugate_gradients():
    g = np.array([[3.0, 4.0]])
    Z, count = solution(lambda Z: 0.0 * Z, lambda G: 2.0 * G, g, 1e-9)
    assert count == 1 and np.array_equal(Z, 2.0 * g)
    first = solution(lambda Z: np.array([[1.0, 0.0]]) * Z, lambda G: 1.0 * G, g, 1e-9)[0]
    assert np.isfinite(first).all() and np.vdot(first, g) > 0


def test_conjugate_gradients_end_where_rounding_is_all_that_is_left():
    g = np.array([[3.0, 4.0]])
    for image in ([[-4.0, 3.0]], [[-3.0, -4.0]]):
        Z, count = solution(lambda Z: 1.0 * Z, lambda _, image=image: np.array(image), g, 1e-9)
        assert count == 1 and np.array_equal(Z, image)


def test_rounding_of_the_mean_takes_no_products(monkeypatch):
    """The preconditioner by class takes off the mean, which no product with H could then lower."""
    problem, method, asked = made(100.0), EntropyNewton(), []
    monkeypatch.setattr(module, "solution", lambda *of: asked.append(of[2]) or (1.0 * of[2], 1))
    state = State(problem, np.zeros((60, 4)), np.random.default_rng(0), method.needs(problem))
    workspace = method.start(state)
    link = workspace.point.link + np.arange(6.0)
    workspace.point = replace(workspace.point, link=link)
    method.iterate(state, workspace)
    assert np.abs(asked[0].sum(axis=0)).max() <= 1e-14 * np.abs(link).max()


def test_a_step_solves_to_the_forcing_term(monkeypatch):
    problem, asked, plain = made(100.0), [], solution
    fwlab.solve(problem, "newton", max_iter=1)  # the warm-up makes steps, too

    def seen(product, precondition, gradient, residual):
        asked.append((np.linalg.norm(gradient), residual))
        return plain(product, precondition, gradient, residual)

    monkeypatch.setattr(module, "solution", seen)
    fwlab.solve(problem, "newton", tol=1e-9)
    norms, residuals = np.array(asked).T
    expected = np.minimum(0.5, np.sqrt(norms / norms[0]))
    assert residuals == pytest.approx(expected * norms, rel=1e-12)
    assert norms[-1] < 0.05 * norms[0]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("C", [1e-3, 10.0, 1e4])
def test_runs_reach_the_optimum_in_few_steps(C, form):
    problem, seen = made(C, form), []
    result = fwlab.solve(
        problem,
        "newton",
        tol=1e-11,
        relative=True,
        check_every=1,
        callback=lambda progress: seen.append((progress.primal, progress.dual)),
    )
    other = fwlab.solve(problem, "lbfgs", tol=1e-9, relative=True, max_iter=3000)
    assert result.success and other.success and result.nit < min(40, other.nit)
    apart = np.linalg.norm(result.W - other.W)
    assert apart <= result.distance + other.distance
    primal, dual = np.array(seen).T
    assert (np.diff(primal) <= 1e-15 * primal[:-1]).all()
    assert (np.diff(dual) >= -1e-13 * primal[:-1]).all()
    low, high = fwlab.verify(problem, result).gap
    assert low <= high <= result.gap + result.gap_error


def test_products_and_trials_are_rows(monkeypatch):
    counts, at_point, product = [0], SmoothPoint.at, Hessian.product

    def counted(function):
        def call(*given):
            counts[0] += 1
            return function(*given)

        return call

    problem, method = made(100.0), EntropyNewton()
    monkeypatch.setattr(SmoothPoint, "at", counted(at_point))
    monkeypatch.setattr(Hessian, "product", counted(product))
    state = State(problem, np.zeros((60, 4)), np.random.default_rng(0), method.needs(problem))
    workspace = method.start(state)
    for _ in range(4):
        method.iterate(state, workspace)
    assert state.n_rows == 60 * counts[0] and state.n_steps == 4
    assert state.n_rows > state.n_projections >= 5 * 60


def test_few_features_renew_the_preconditioner_before_each_step(monkeypatch):
    taken, plain = [], module.inverse_by_class
    monkeypatch.setattr("fwlab.solvers.solve.warm_up", lambda *_: None)
    monkeypatch.setattr(module, "inverse_by_class", lambda *of: taken.append(1) or plain(*of))
    result = fwlab.solve(made(), "newton", tol=1e-6)
    assert len(taken) == result.nit - 1
    monkeypatch.setattr("fwlab.solvers.lbfgs.MOST_COST", -1.0)
    again = fwlab.solve(made(), "newton", tol=1e-6)
    assert again.success and len(taken) == result.nit - 1


def test_the_optimum_is_that_of_newton_cholesky():
    sklearn = pytest.importorskip("sklearn.linear_model")
    X, y = data()
    peer = sklearn.LogisticRegression(
        solver="newton-cholesky", C=10.0, fit_intercept=False, tol=1e-10
    )
    result = fwlab.solve(made(), "newton", tol=1e-12)
    W = peer.fit(X, y).coef_
    assert made().primal(W) <= result.primal + 1e-9
    assert np.abs(W - W.mean(axis=0) - result.W).max() <= 1e-3


def test_what_it_does_not_take_is_refused():
    X, y = data()
    with pytest.raises(ValueError, match=r"its kernel must be None, .* got 'linear'"):
        fwlab.solve(fwlab.Problem(X, y, LOSS, C=1.0, kernel="linear"), "newton")
    capped = fwlab.Problem(X, y, fwlab.TopKEntropy(2), C=1.0)
    with pytest.raises(ValueError, match=r"not take TopKEntropy\(k=2\), because its Hessian"):
        fwlab.solve(capped, "newton")
    with pytest.raises(ValueError, match=r"passes must be None with CrossEntropy\(\); got 3\."):
        fwlab.solve(made(), "newton", passes=3)


@pytest.mark.parametrize("seed", range(6))
def test_products_keep_their_digits_where_labels_are_nearly_certain(seed):
    """The label's probability is 1 to rounding, and its scores are far larger than the product."""
    X = 1e4 * np.random.default_rng(seed).normal(size=(2, 30))
    problem = fwlab.Problem(X, [0, 1], fwlab.CrossEntropy(), C=1e4, n_classes=3)
    result = fwlab.solve(problem, "newton", tol=1e-6, relative=True, max_iter=100)
    assert result.status is fwlab.Status.CONVERGED


@pytest.mark.parametrize("method", ["lbfgs", "newton"])
def test_a_run_that_ended_early_is_no_worse_a_start_than_0(method):
    rng, omega = np.random.default_rng(0), np.arange(300) % 3 / 2
    X, y = rng.normal(size=(300, 10)), rng.integers(0, 5, 300)
    problem = fwlab.Problem(X, y, fwlab.CrossEntropy(), C=1e3, sample_weight=omega)
    cold = fwlab.solve(problem, method, tol=1e-6)
    for ended in (1, 2):
        A0 = fwlab.solve(problem, "lbfgs", max_iter=ended, tol=1e-9).A
        warm = fwlab.solve(problem, method, tol=1e-6, A0=A0)
        assert warm.trace.primal[0] <= cold.trace.primal[0] and warm.nit <= cold.nit
    # a good start is kept
    A0 = fwlab.solve(problem, "lbfgs", tol=1e-9).A
    assert fwlab.solve(problem, method, tol=1e-6, A0=A0).trace.primal[0] < cold.primal + 1e-3


def test_a_dual_point_below_0_is_left():
    X = 100.0 * np.array([[100.0, 1.0], [-100.0, 2.0], [50.0, -70.0]])
    problem = fwlab.Problem(X, [0, 1, 1], fwlab.CrossEntropy(), C=1e4)
    A0 = np.array([[0.5, -0.5], [-0.9, 0.9], [-0.1, 0.1]])
    assert problem.dual(A0) < -50
    result = fwlab.solve(problem, "lbfgs", max_iter=0, A0=A0)
    assert result.dual >= 0 and (A0[:, 0] == [0.5, -0.9, -0.1]).all()


@pytest.mark.parametrize("loss", [fwlab.CrossEntropy(), fwlab.TopKEntropy(2)])
def test_the_primal_at_0(loss):
    X, y = data()
    omega = np.arange(len(y)) % 3 / 2
    problem = fwlab.Problem(X, y, loss, C=1.0, sample_weight=omega)
    zero = np.zeros((problem.n_classes, problem.n_features))
    assert primal_at_zero(problem) == pytest.approx(problem.primal(zero), rel=1e-12)
