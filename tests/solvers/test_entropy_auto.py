"""auto on entropies: which method it takes, and when it changes; the start of ascent."""

import numpy as np
import pytest
import scipy.sparse
from solvers.entropy_problems import LOSS, data, made

import fwlab
import fwlab.solvers.entropy_auto as module
from fwlab.kernels.steps.rules import EXACT
from fwlab.solvers.ascent import Ascent
from fwlab.solvers.entropy_start import start_between
from fwlab.solvers.method import State


def wide(C, form=np.asarray, length=None, **options):
    """Return a problem with more features than samples, for which lbfgs factorises nothing."""
    X, y = data(n=30, d=40)
    X /= np.linalg.norm(X, axis=1, keepdims=True) if length is None else 1.0 / length
    return fwlab.Problem(form(X), y, LOSS, C=C, **options)


def same(first, second):
    assert np.array_equal(first.W, second.W) and np.array_equal(first.A, second.A)
    assert np.array_equal(first.trace.gap, second.trace.gap)


def run(problem, method, **options):
    return fwlab.solve(problem, method, tol=1e-7, max_iter=3000, **options)


def test_with_few_features_it_is_lbfgs():
    same(run(made(), "auto"), run(made(), "lbfgs"))


def test_where_passes_converge_fast_it_is_ascent():
    for form in (np.asarray, scipy.sparse.csr_matrix):
        problem = wide(0.3, form)
        same(run(problem, "auto"), run(problem, "ascent", max_gram_memory=0))


def test_other_entropies_and_kernels_have_one_method():
    X, y = data()
    topk = fwlab.Problem(X, y, fwlab.TopKEntropy(2), C=1.0)
    same(run(topk, "auto"), run(topk, "lbfgs"))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    gram = fwlab.Problem(X @ X.T, y, LOSS, C=1.0, kernel="precomputed")
    first, second = run(gram, "auto"), run(gram, "ascent")
    assert np.array_equal(first.A, second.A) and first.success


def test_a_classifier_with_a_kernel_has_probabilities():
    X, y = data()
    machine = fwlab.TopKClassifier(C=10.0, kernel="rbf", tol=1e-6).fit(X, y)
    assert machine.duality_gap_ <= 1e-6
    np.testing.assert_allclose(machine.predict_proba(X[:5]).sum(axis=1), 1.0, rtol=1e-12)
    primal = fwlab.TopKClassifier(C=0.01, tol=1e-9).fit(X, y)
    dual = fwlab.TopKClassifier(C=0.01, method="ascent", tol=1e-9).fit(X, y)
    probabilities = [each.predict_log_proba(X) for each in (primal, dual)]
    np.testing.assert_allclose(*probabilities, atol=1e-2)


def test_where_passes_converge_slowly_it_goes_on_with_lbfgs():
    problem, seen = wide(100.0, length=3.0), []

    def watch(progress):
        state = progress.state
        assert problem.dual(state.A) == pytest.approx(progress.dual, rel=1e-9, abs=1e-12)
        assert problem.primal(progress.W) == pytest.approx(progress.primal, rel=1e-9)
        seen.append((state.needs.own_values, progress.dual))

    result = run(problem, "auto", check_every=1, callback=watch)
    own, dual = zip(*seen, strict=True)
    assert result.success and not own[1] and own[-1]
    assert list(own) == sorted(own)
    assert (np.diff(dual) >= -1e-12).all()


@pytest.mark.parametrize(("ratio", "changes"), [(0.69, False), (0.71, True)])
def test_the_part_of_the_gap_that_a_pass_leaves_decides(ratio, changes, monkeypatch):
    values = iter(1e-3 * ratio ** np.arange(9))
    monkeypatch.setattr(Ascent, "progress", lambda *_: next(values))
    problem = wide(0.3)
    method = module.EntropyAuto()
    A, rng = np.zeros((30, 4)), np.random.default_rng(0)
    state = State(problem, A, rng, method.needs(problem))
    workspace, phases = method.start(state), []
    for _ in range(3):
        method.iterate(state, workspace)
        phases.append(type(workspace.method).__name__)
    assert phases == (["Ascent", "Lbfgs", "Lbfgs"] if changes else ["Ascent"] * 3)


@pytest.mark.small
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix, "linear"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_ascent_starts_from_the_best_point_of_a_segment(C, form):
    X, y = data(n=12)
    omega = np.linspace(0, 2, 12)
    kernel = form if form == "linear" else None
    problem = fwlab.Problem(
        X if kernel else form(X), y, LOSS, C=C, kernel=kernel, sample_weight=omega
    )
    ends = omega[:, None] * (np.eye(4)[y] - 0.25)
    needs = Ascent(EXACT).needs(problem)
    state = State(problem, np.zeros((12, 4)), np.random.default_rng(0), needs)
    start_between(state)
    np.testing.assert_allclose(state.link, problem.link(state.A), rtol=1e-9, atol=1e-12)
    theta = state.A[-1, y[-1]] / ends[-1, y[-1]]
    np.testing.assert_allclose(state.A, theta * ends, atol=1e-15)
    found = problem.dual(state.A)
    near = [problem.dual(share * theta * ends) for share in (0.0, 0.5, 0.99, 1.01)]
    assert found > 0.0 and all(value <= found + 1e-15 for value in near if value > -np.inf)
    assert near[2] > near[1]


def test_a_start_of_ones_own_is_kept(monkeypatch):
    problem = wide(1.0)
    A0 = run(problem, "ascent").A
    monkeypatch.setattr("fwlab.solvers.ascent.start_between", None)
    assert run(problem, "ascent", A0=A0).success
