"""L-BFGS on the cross-entropy: its directions, its dual point and its runs."""

import numpy as np
import pytest
import scipy.sparse
from solvers.entropy_problems import LOSS, at, data, made, separable

import fwlab
import fwlab.solvers.lbfgs as module
from fwlab.experiments import compare
from fwlab.solvers.entropy_newton import EntropyNewton
from fwlab.solvers.lbfgs import Lbfgs, SmoothPoint
from fwlab.solvers.lbfgs_history import LENGTH, History
from fwlab.solvers.method import State

TAKERS = {"ascent", "newton", "lbfgs", "auto", "subgradient"}


def updated(H, s, y):
    """Return the BFGS update of an inverse Hessian (Nocedal and Wright 2006, (6.17))."""
    rho = 1 / (s @ y)
    V = np.eye(len(s)) - rho * np.outer(y, s)
    return V.T @ H @ V + rho * np.outer(s, s)


@pytest.mark.parametrize("pairs", [0, 1, 2, 5, LENGTH, LENGTH + 1, 3 * LENGTH + 2])
def test_directions_are_those_of_the_bfgs_matrices(pairs):
    rng, d = np.random.default_rng(pairs), 15
    root, H = rng.normal(size=(2, d, d))
    B, hessian = root @ root.T + np.eye(d), H @ H.T + 0.1 * np.eye(d)
    x = rng.normal(size=d)
    history, kept = History(hessian @ x, B @ hessian @ x), []
    for _ in range(pairs):
        s = rng.normal(size=d)
        x, y = x + s, hessian @ s
        history.add(s, hessian @ x, B @ hessian @ x)
        kept.append((s, y))
    matrix = B
    if kept:
        s, y = kept[-1]
        matrix = (s @ y) / (y @ B @ y) * B
        for s, y in kept[-LENGTH:]:
            matrix = updated(matrix, s, y)
    expected = matrix @ hessian @ x
    assert history.direction() == pytest.approx(expected, rel=1e-7, abs=1e-7 * abs(expected).max())


def test_a_pair_without_curvature_is_left_out():
    rng = np.random.default_rng(0)
    g, s = rng.normal(size=(2, 5))
    history = History(g, 2 * g)
    history.add(s, g + s, 2 * (g + s))
    moved = g + s - 3 * s
    history.add(s, moved, 2 * moved)
    other = History(g, 2 * g)
    other.add(s, g + s, 2 * (g + s))
    other.gradient, other.image = moved, 2 * moved
    other.by_changes, other.by_images = other.changes @ moved, other.images @ moved
    assert history.order == [0] and history.direction() == pytest.approx(other.direction())


def test_another_gradient_at_the_present_point():
    rng, curvatures = np.random.default_rng(0), np.arange(1.0, 6.0)
    g, s, t, other = rng.normal(size=(4, 5))
    moved = [g, g + curvatures * s, g + curvatures * (s + t)]
    found = History(g, 2 * g)
    for step, gradient in ((s, moved[1]), (t, moved[2])):
        found.add(step, gradient, 2 * gradient)
    found.correct(other, 2 * other)
    # the same pairs, met from another gradient
    first, second, third = (gradient + other - moved[2] for gradient in moved)
    expected = History(first, 2 * first)
    for step, gradient in ((s, second), (t, third)):
        expected.add(step, gradient, 2 * gradient)
    assert found.direction() == pytest.approx(expected.direction(), rel=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_point_has_the_objective_the_gradient_and_the_gap(weighted):
    omega = np.linspace(0, 2, 60) if weighted else np.ones(60)
    problem, rng = made(sample_weight=omega), np.random.default_rng(1)
    W, direction = rng.normal(size=(2, 4, 6))
    point, A = at(problem, W)
    assert point.primal == pytest.approx(problem.primal(W), rel=1e-14)
    assert point.link == pytest.approx(problem.weights(A), rel=1e-12)
    ahead, behind = (problem.primal(W + h * direction) for h in (1e-5, -1e-5))
    slope = np.vdot(point.gradient(problem.lam), direction)
    assert slope == pytest.approx((ahead - behind) / 2e-5, rel=1e-7)
    gap = problem.lam / 2 * np.sum((W - point.link) ** 2)
    assert point.primal - problem.dual(A) == pytest.approx(gap, rel=1e-10)


def started(problem):
    state = State(problem, np.zeros((60, 4)), np.random.default_rng(0), Lbfgs().needs(problem))
    return state, Lbfgs().start(state)


@pytest.mark.parametrize("method", [Lbfgs(), EntropyNewton()])
def test_a_step_takes_off_what_all_classes_share(method):
    problem, W = made(), np.tile(0.01 * np.arange(1, 7), (4, 1))
    state, _ = started(problem)
    workspace = method.start(state)
    workspace.point = at(problem, W)[0]
    method.iterate(state, workspace)
    found = workspace.point.W
    assert found.any() and np.abs(found.mean(axis=0)).max() <= 4 * 4 * 2.0**-53 * W.max()


def test_the_dual_point_is_the_better_one():
    """D is 0 at A = 0, above it at A(0) with a strong regulariser alone, and at a scale of A(0)."""
    for C, is_better in ((0.01, False), (1e-4, True)):
        problem = made(C)
        state, workspace = started(problem)
        first, A = at(problem, np.zeros((4, 6)))
        assert first.dual(problem.lam) == pytest.approx(problem.dual(A), rel=1e-10)
        assert (problem.dual(A) > 0) == is_better
        theta = first.scale_and_dual(problem)[0]
        assert (theta == 1.0) == is_better and np.array_equal(state.A, theta * A)
        assert problem.dual(state.A) > 0
        assert state.values == (first.primal, workspace.dual, first.primal)
        assert workspace.dual == pytest.approx(problem.dual(state.A), rel=1e-10)


def test_a_start_keeps_its_dual_value():
    problem = made(1.0)
    A0 = fwlab.solve(problem, "lbfgs", tol=1e-6).A
    result = fwlab.solve(problem, "lbfgs", A0=A0, tol=0.0, max_iter=0)
    assert result.dual >= problem.dual(A0)


def test_halved_steps_enter_the_history_halved(monkeypatch):
    problem = made(100.0)
    state, workspace = started(problem)
    before, g = workspace.point.W, workspace.history.gradient
    plain = workspace.history.direction
    monkeypatch.setattr(workspace.history, "direction", lambda: 20.0 * plain())
    Lbfgs().iterate(state, workspace)
    assert state.step < 1.0 and workspace.history.order == [0]
    change = np.reshape(workspace.point.W - before, -1)
    assert workspace.history.changes[0] == pytest.approx(change, rel=1e-12)
    product = change @ (workspace.history.gradient - g)
    assert workspace.history.products[0, 0] == pytest.approx(product, rel=1e-12)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_the_primal_never_rises_and_the_dual_never_falls(C, form):
    problem, seen = made(C, form), []

    def watch(progress):
        state = progress.state
        assert problem.dual(state.A) >= progress.dual - 1e-13 * abs(progress.primal)
        assert problem.primal(progress.W) == pytest.approx(progress.primal, rel=1e-12)
        link = problem.link(state.A)
        assert state.link == pytest.approx(link, rel=0, abs=1e-11 * np.abs(link).max(initial=1.0))
        seen.append((progress.primal, progress.dual))

    result = fwlab.solve(problem, "lbfgs", tol=1e-7, check_every=1, callback=watch, max_iter=2000)
    primal, dual = np.array(seen[:-1]).T if len(seen) > 1 else np.array(seen).T
    assert result.success
    assert (np.diff(primal) <= 1e-15 * primal[:-1]).all()
    assert (np.diff(dual) >= -1e-13 * primal[:-1]).all()


def test_all_forms_of_the_data_have_one_optimum():
    X, y = data()
    X = np.where(np.random.default_rng(2).random(X.shape) < 0.4, 0.0, X).astype(np.float32)
    problems = [
        fwlab.Problem(X.astype(np.float64), y, LOSS, C=10.0),
        fwlab.Problem(scipy.sparse.csr_matrix(X.astype(np.float64)), y, LOSS, C=10.0),
        fwlab.Problem(X, y, LOSS, C=10.0, storage="float32"),
        fwlab.Problem(scipy.sparse.csr_matrix(X), y, LOSS, C=10.0, storage="float32"),
    ]
    results = [fwlab.solve(problem, "lbfgs", tol=1e-9, max_iter=3000) for problem in problems]
    for result in results:
        assert result.success and result.status is fwlab.Status.CONVERGED
        apart = np.linalg.norm(result.W - results[0].W)
        assert apart <= result.distance + results[0].distance


def test_a_weight_counts_like_a_sample_twice():
    X, y = data()
    twice = np.repeat(np.arange(60), 1 + np.arange(60) % 2)
    weighted = fwlab.Problem(X, y, LOSS, lam=0.01, sample_weight=1.0 + np.arange(60) % 2)
    doubled = fwlab.Problem(X[twice], y[twice], LOSS, lam=0.01 * 60 / len(twice))
    results = [fwlab.solve(problem, "lbfgs", tol=1e-10) for problem in (weighted, doubled)]
    apart = np.linalg.norm(results[0].W - results[1].W)
    assert apart <= sum(result.distance for result in results) <= 0.01


def test_the_preconditioner_saves_most_iterations(monkeypatch):
    monkeypatch.setattr(module, "MOST_COST", -1.0)
    with_it = fwlab.solve(made(), "lbfgs", tol=1e-4)
    monkeypatch.setattr(module, "inverse_at_zero", lambda problem: lambda G: 1.0 * G)
    without = fwlab.solve(made(), "lbfgs", tol=1e-4, max_iter=5000)
    assert with_it.success and without.success
    assert 2 * with_it.nit < without.nit


def test_renewals_save_most_iterations_where_labels_become_sure(monkeypatch):
    digits = fwlab.datasets.load("digits")
    problem = fwlab.Problem(digits.X_train, digits.y_train, LOSS, C=100.0)
    renewed = fwlab.solve(problem, "lbfgs", tol=1e-4)
    monkeypatch.setattr(module, "MOST_COST", -1.0)
    fixed = fwlab.solve(problem, "lbfgs", tol=1e-4)
    assert renewed.success and fixed.success
    assert 8 * renewed.nit < fixed.nit


@pytest.mark.parametrize("pairs", [1, 4, LENGTH + 3])
def test_a_renewed_history_is_that_of_the_new_matrix(pairs):
    rng, d = np.random.default_rng(pairs), 15
    first, second = (root @ root.T + np.eye(d) for root in rng.normal(size=(2, d, d)))
    points = np.cumsum(rng.normal(size=(pairs + 2, d)), axis=0)
    renewed = History(points[0], first @ points[0], renewable=True)
    other = History(points[0], second @ points[0])
    for k in range(1, pairs + 1):
        renewed.add(points[k] - points[k - 1], points[k], first @ points[k])
        other.add(points[k] - points[k - 1], points[k], second @ points[k])
    renewed.renew(lambda g: second @ g)
    assert renewed.direction() == pytest.approx(other.direction(), rel=1e-9)
    for history in (renewed, other):
        history.add(points[-1] - points[-2], points[-1], second @ points[-1])
    assert renewed.direction() == pytest.approx(other.direction(), rel=1e-9)


def test_pairs_that_underflow_in_a_renewal_are_forgotten():
    points = 1e-100 * np.eye(3)
    history = History(points[0], points[0], renewable=True)
    history.add(points[1] - points[0], points[1], points[1])
    history.renew(lambda g: 1e-200 * g)
    assert history.direction() == pytest.approx(1e-200 * points[1], abs=0.0)


def test_columns_of_the_machine_sum_to_zero():
    result = fwlab.solve(made(1e4), "lbfgs", tol=1e-9)
    assert result.success
    assert np.abs(result.W.sum(axis=0)).max() <= 1e-12 * np.abs(result.W).max()


def test_renewals_come_after_ever_more_steps(monkeypatch):
    problem = fwlab.Problem(*separable(), LOSS, C=1e6)
    steps, plain = [], module._renew
    monkeypatch.setattr(module, "_renew", lambda *of: steps.append(of[-1]) or plain(*of))
    fwlab.solve(problem, "lbfgs", tol=0.0, max_iter=60)
    assert steps == [6, 15, 29, 50]
    monkeypatch.setattr(module, "MOST_COST", 0.0)
    fwlab.solve(problem, "lbfgs", tol=0.0, max_iter=60)
    assert steps == [6, 15, 29, 50]


def test_a_warm_start_begins_with_the_blocks_of_its_point(monkeypatch):
    problem, taken, plain = made(), [], module.inverse_by_class
    first = fwlab.solve(problem, "lbfgs", tol=1e-5)
    monkeypatch.setattr(module, "inverse_by_class", lambda *of: taken.append(1) or plain(*of))
    fwlab.solve(problem, "lbfgs", tol=1e-5, max_iter=1)
    assert not taken
    fwlab.solve(problem, "lbfgs", tol=1e-5, A0=first.A, max_iter=1)
    assert taken == [1]


def test_judging_makes_no_products(monkeypatch):
    """A run evaluates once at the start and once a step that is not halved."""
    points, plain = [], SmoothPoint.at
    monkeypatch.setattr(SmoothPoint, "at", lambda *given: points.append(1) or plain(*given))
    monkeypatch.setattr("fwlab.solvers.solve.warm_up", lambda *_: None)
    monkeypatch.setattr("fwlab.solvers.method.State.certify", never)
    monkeypatch.setattr("fwlab.primal_dual.PrimalDual.certificate", never)
    halvings = []

    def watch(progress):
        halvings.append(-np.log2(progress.state.step) if progress.iteration else 0)
        if progress.iteration == 12:
            raise KeyboardInterrupt

    with pytest.raises(AssertionError, match="certified"):
        fwlab.solve(made(), "lbfgs", tol=1e-9, callback=watch)
    assert len(halvings) == 13 and len(points) == 13 + sum(halvings)


def never(*_):
    raise AssertionError("certified")


def test_a_warm_start_saves_iterations():
    problem = made()
    first = fwlab.solve(problem, "lbfgs", tol=1e-5)
    again = fwlab.solve(problem, "lbfgs", tol=1e-5, A0=first.A)
    assert again.success and 2 * again.nit < first.nit


def test_runs_that_end_early_have_valid_certificates():
    problem = made(1e4)
    optimum = fwlab.solve(problem, "lbfgs", tol=1e-8, max_iter=3000)
    assert optimum.success

    def stop(progress):
        if progress.iteration == 3:
            raise StopIteration

    runs = [
        fwlab.solve(problem, "lbfgs", tol=1e-8, max_iter=0),
        fwlab.solve(problem, "lbfgs", tol=1e-8, max_iter=5),
        fwlab.solve(problem, "lbfgs", tol=1e-8, callback=stop),
        fwlab.solve(problem, "lbfgs", tol=1e-8, time_limit=0.0),
        fwlab.solve(problem, "lbfgs", tol=0.0, max_iter=8),
    ]
    expected = ["MAX_ITER", "MAX_ITER", "STOPPED_BY_CALLBACK", "TIME_LIMIT", "MAX_ITER"]
    assert [run.status.name for run in runs] == expected
    for run in runs:
        assert run.dual <= optimum.primal + run.gap_error
        assert run.primal >= optimum.dual - run.gap_error
        assert run.gap <= np.log(4) + run.gap_error
        assert len(run.trace.gap) and np.isfinite(run.distance)


def test_an_unreachable_tol_is_the_rounding_floor():
    result = fwlab.solve(made(0.01), "lbfgs", tol=1e-18)
    assert result.status is fwlab.Status.ROUNDING_FLOOR


def test_threads_change_rounding_alone():
    X, y = data(n=3000)
    problem = fwlab.Problem(X, y, LOSS, C=1.0)
    results = [fwlab.solve(problem, "lbfgs", tol=1e-9, n_threads=n) for n in (1, 2, 2)]
    assert np.array_equal(results[1].W, results[2].W)
    apart = np.linalg.norm(results[0].W - results[1].W)
    assert apart <= results[0].distance + results[1].distance


def test_two_classes_are_logistic_regression():
    """At m = 2, W = (-w, w) / 2 for the w of logistic regression, whose penalty is halved."""
    sklearn = pytest.importorskip("sklearn.linear_model")
    X, y = data(m=2)
    problem = fwlab.Problem(X, y, LOSS, C=1.0)
    result = fwlab.solve(problem, "lbfgs", tol=1e-11)
    other = sklearn.LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=10_000)
    w = other.fit(X, y).coef_[0]
    assert result.success and result.W[0] == pytest.approx(-result.W[1], abs=1e-12)
    assert problem.primal(np.array([-w, w]) / 2) <= result.dual + 1e-9


def test_auto_is_lbfgs():
    results = [fwlab.solve(made(), method, tol=1e-6) for method in ("lbfgs", "auto")]
    assert np.array_equal(results[0].W, results[1].W)
    assert np.array_equal(results[0].trace.gap, results[1].trace.gap)


@pytest.mark.parametrize("method", sorted(set(fwlab.methods()) - TAKERS))
def test_the_other_methods_say_what_to_use(method):
    takers = r"ascent, newton, lbfgs, auto and subgradient do\."
    sentence = rf"it does not take CrossEntropy\(\), because .*; {takers}"
    with pytest.raises(ValueError, match=sentence) as caught:
        fwlab.solve(made(), method)
    assert method in str(caught.value) and str(caught.value).endswith(".")


@pytest.mark.parametrize("method", ["lbfgs", "auto"])
def test_what_lbfgs_does_not_take_is_refused(method):
    X, y = data()
    for kernel in ("linear", "precomputed"):
        given, loss = X if kernel == "linear" else X @ X.T, fwlab.TopKEntropy(2)
        with pytest.raises(ValueError, match=f"kernel must be None, .* got '{kernel}'"):
            fwlab.solve(fwlab.Problem(given, y, loss, C=1.0, kernel=kernel), method)
    with pytest.raises(ValueError, match=r"regularizer must be LpNorm\(2\); got LpNorm"):
        fwlab.solve(fwlab.Problem(X, y, LOSS, C=1.0, regularizer=fwlab.LpNorm(1.5)), method)


def test_lbfgs_is_for_the_cross_entropy_alone():
    X, y = data()
    with pytest.raises(
        ValueError, match=r'CrossEntropy\(\) or TopKEntropy\(k\); use "auto" for a TopK\.'
    ):
        fwlab.solve(fwlab.Problem(X, y, fwlab.TopK(2), C=1.0), "lbfgs")


def test_a_kernel_problem_still_has_values():
    X, y = data()
    plain, gram = made(), fwlab.Problem(X @ X.T, y, LOSS, C=10.0, kernel="precomputed")
    A = at(plain, np.ones((4, 6)) / 9)[1]
    assert gram.dual(A) == pytest.approx(plain.dual(A), rel=1e-10)
    assert gram.gap(A) == pytest.approx(plain.gap(A), rel=1e-10)


def test_smoothing_is_refused():
    X, y = data()
    with pytest.raises(ValueError, match=r"smoothing must be 0 with CrossEntropy, .* got 0\.5\."):
        fwlab.Problem(X, y, LOSS, C=1.0, smoothing=0.5)


def test_comparisons_and_paths_take_it():
    comparison = compare({"a": made()}, ["lbfgs", "bcfw"], tol=1e-3)
    assert [row["status"] for row in comparison.rows()] == ["CONVERGED", "refused"]
    results = fwlab.path(made(), [0.1, 1.0, 10.0], method="lbfgs", tol=1e-5)
    assert all(result.success for result in results)
