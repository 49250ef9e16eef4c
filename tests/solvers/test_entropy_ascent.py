"""Block ascent on the dual of the cross-entropy: its passes, its runs, and what it refuses."""

import numpy as np
import pytest
import scipy.sparse
from solvers.entropy_problems import LOSS, data, made

import fwlab
from fwlab.experiments import compare
from fwlab.kernels.steps.entropy_passes import make_entropy_scratch
from fwlab.kernels.steps.entropy_row import maximise_row
from fwlab.kernels.steps.rules import EXACT
from fwlab.solvers.ascent import Ascent
from fwlab.solvers.method import State

FORMS = {"dense": np.asarray, "sparse": scipy.sparse.csr_matrix}
EPS = 2.0**-52


def unit(C=3.0, form=np.asarray, kernel=None, **options):
    """Return a problem whose rows have length 1, on which ascent converges fast."""
    X, y = data()
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    given = X @ X.T if kernel == "precomputed" else form(X)
    return fwlab.Problem(given, y, LOSS, C=C, kernel=kernel, **options)


def by_hand(problem, A, order):
    """Return A after a pass in plain numpy, one row after the other."""
    m = problem.n_classes
    A, X, scratch = A.copy(), np.asarray(problem.X), make_entropy_scratch(m)
    for i in order:
        omega, y = problem.sample_weight[i], problem.y[i]
        if omega == 0:
            continue
        scores = X[i] @ (A.T @ X / problem.lam_n).T
        kappa = omega * X[i] @ X[i] / problem.lam_n
        shares = np.abs(A[i]) / omega
        assert maximise_row(scores, y, kappa, shares, scratch)
        A[i] = -omega * scratch.new
        A[i, y] *= -1.0
    return A


@pytest.mark.small
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("block_size", [1, 3, 8])
def test_a_pass_visits_one_row_after_the_other(form, block_size):
    X, y = data(n=11)
    omega = np.linspace(0, 2, 11)
    problem = fwlab.Problem(form(X), y, LOSS, lam=0.5, sample_weight=omega)
    plain = fwlab.Problem(X, y, LOSS, lam=0.5, sample_weight=omega)
    method = Ascent(EXACT, order="cyclic", block_size=block_size)
    A0 = fwlab.solve(problem, method, tol=0.0, max_iter=0).A
    result = fwlab.solve(problem, method, tol=0.0, max_iter=1)
    np.testing.assert_allclose(result.A, by_hand(plain, A0, range(11)), atol=1e-12)
    np.testing.assert_allclose(result.W, problem.weights(result.A), atol=1e-11)


@pytest.mark.small
def test_the_moves_are_the_changes_of_the_rows():
    problem = unit(sample_weight=np.linspace(0, 2, 60))
    method = Ascent(EXACT)
    state = State(problem, np.zeros((60, 4)), np.random.default_rng(0), method.needs(problem))
    workspace = method.start(state)
    for _ in range(2):
        before = state.A.copy()
        method.iterate(state, workspace)
        assert workspace.moves == pytest.approx(np.abs(state.A - before).sum(axis=1), rel=1e-12)
        np.testing.assert_allclose(state.link, problem.link(state.A), atol=1e-12)
    omega, curvature = problem.sample_weight[1:], problem.curvatures[1:]
    expected = (workspace.moves[1:] ** 2 * (1 / omega + curvature)).sum()
    assert method.progress(state, workspace) == pytest.approx(expected, rel=1e-12)
    assert state.n_steps == 120 and workspace.work == 2.0


@pytest.mark.parametrize("x_power", [-70, -5, 0, 5, 70])
@pytest.mark.parametrize("lam_power", [-9, -3, 0, 3])
def test_the_dual_never_falls_and_rows_are_feasible(x_power, lam_power):
    X, y = data(n=20)
    lam = 10.0 ** (lam_power + 2 * x_power)
    omega = np.linspace(0, 1, 20) ** 12 * 3.0
    problem = fwlab.Problem(10.0**x_power * X, y, LOSS, lam=lam, sample_weight=omega)
    seen = []

    def watch(progress):
        A = progress.A
        others = np.where(np.arange(4) == y[:, None], 0.0, A)
        assert (others <= 0).all() and problem.is_feasible(A)
        t = -others.sum(axis=1)
        assert (t <= omega * (1 + 8 * EPS)).all()
        assert np.abs(A[np.arange(20), y] - t).max() <= 8 * EPS * omega.max()
        square = problem.lam / 2 * np.sum(problem.weights(A) ** 2)
        # the terms of D, of which each is rounded
        seen.append((problem.dual(A), square + np.log(4) * omega.mean()))

    fwlab.solve(problem, "ascent", tol=0.0, max_iter=8, check_every=1, callback=watch)
    dual, sizes = np.array(seen).T
    assert (np.diff(dual) >= -1e-13 * np.maximum(sizes[1:], sizes[:-1])).all()
    assert dual[-1] > dual[0]


@pytest.mark.turns
def test_all_forms_and_orders_have_one_optimum():
    omega = np.linspace(0, 2, 60)
    best = fwlab.solve(unit(sample_weight=omega), "lbfgs", tol=1e-12, max_iter=3000)
    problems = [unit(sample_weight=omega, form=form) for form in FORMS.values()]
    problems += [unit(sample_weight=omega, kernel=kernel) for kernel in ("linear", "precomputed")]
    for problem in problems:
        for order in ("permutation", "cyclic", "uniform"):
            result = fwlab.solve(problem, "ascent", tol=1e-9, order=order)
            assert result.success and abs(result.dual - best.dual) <= 2e-9
            enclosure = fwlab.verify(problem, result)
            assert enclosure.gap[1] <= result.gap + result.gap_error
    for form in FORMS.values():
        problem = unit(sample_weight=omega, form=form, storage="float32")
        result = fwlab.solve(problem, "ascent", tol=1e-9)
        other = fwlab.solve(problem, "lbfgs", tol=1e-12, max_iter=3000)
        assert np.linalg.norm(result.W - other.W) <= result.distance + other.distance


def test_a_weight_counts_like_a_sample_twice():
    X, y = data()
    twice = np.repeat(np.arange(60), 1 + np.arange(60) % 2)
    weighted = fwlab.Problem(X, y, LOSS, lam=1.0, sample_weight=1.0 + np.arange(60) % 2)
    doubled = fwlab.Problem(X[twice], y[twice], LOSS, lam=60 / len(twice))
    results = [fwlab.solve(problem, "ascent", tol=1e-9) for problem in (weighted, doubled)]
    apart = np.linalg.norm(results[0].W - results[1].W)
    assert apart <= sum(result.distance for result in results) <= 0.01


def test_a_warm_start_saves_passes_and_keeps_its_dual_value():
    problem = unit()
    first = fwlab.solve(problem, "ascent", tol=1e-5)
    again = fwlab.solve(problem, "ascent", tol=1e-5, A0=first.A)
    near = fwlab.solve(unit(C=3.3), "ascent", tol=1e-5, A0=first.A)
    cold = fwlab.solve(unit(C=3.3), "ascent", tol=1e-5)
    assert again.nit <= 1 and again.dual >= first.dual - 1e-15
    assert near.nit < cold.nit


def test_a_path_and_a_comparison_take_it():
    results = fwlab.path(unit(), [0.1, 1.0, 10.0], method="ascent", tol=1e-5)
    assert all(result.success for result in results)
    comparison = compare({"a": unit()}, ["lbfgs", "ascent", "fw"], tol=1e-3)
    assert [row["status"] for row in comparison.rows()] == ["CONVERGED", "CONVERGED", "refused"]


def test_the_gram_matrix_takes_over_where_it_pays():
    X, y = data(n=30, d=80)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    problem = fwlab.Problem(X, y, LOSS, C=10.0)
    results = [
        fwlab.solve(problem, "ascent", tol=1e-9, max_gram_memory=room) for room in (2**20, 0)
    ]
    assert ["Gram" in result.message for result in results] == [True, False]
    assert np.abs(results[0].W - results[1].W).max() <= sum(r.distance for r in results)


def test_runs_repeat_bit_for_bit():
    results = [fwlab.solve(unit(), "ascent", tol=1e-7, rng=3) for _ in range(2)]
    assert np.array_equal(results[0].A, results[1].A)
    other = fwlab.solve(unit(), "ascent", tol=1e-7, rng=4)
    assert not np.array_equal(results[0].A, other.A)


@pytest.mark.small
def test_what_it_does_not_take_is_refused():
    X, y = data()
    problem = fwlab.Problem(X, y, fwlab.TopKEntropy(2), C=1.0)
    with pytest.raises(ValueError, match=r"not take TopKEntropy\(k=2\), because .*; use lbfgs\."):
        fwlab.solve(problem, "ascent")
    with pytest.raises(ValueError, match=r'order must not be "gap" with CrossEntropy\(\)'):
        fwlab.solve(made(), "ascent", order="gap")
