"""The proximal Newton method: its equations by differences, and what a run must keep."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from solvers.solver_table import GRID, Case, random_feasible

import fwlab
from fwlab.solvers import proximal_hessian
from fwlab.solvers.method import SHOWS, State
from fwlab.solvers.newton import Proximal, _accept, has_stalled
from fwlab.solvers.registry import build

pytestmark = pytest.mark.small
each_case = pytest.mark.parametrize("case", GRID, ids=str)
each_form = pytest.mark.parametrize("form", ["dense", "sparse"])
CORNERS = [Case("TopK-1"), Case("Usunier-1"), Case("MaxHinge-0", smoothing=0.1, weighted=True)]


def solved(case, form="dense", **options):
    problem = replace(case, form=form).problem()
    options = {"passes": 2, "tol": 1e-11, "max_iter": 300, **options}
    return problem, fwlab.solve(problem, "newton", **options, check_every=1)


def inner(case, form="dense"):
    """Return an inner problem and a point of it."""
    problem, rng = replace(case, form=form).problem(), np.random.default_rng(4)
    proximal = Proximal(problem, random_feasible(case, rng), 3.0)
    W = rng.normal(size=(problem.n_classes, problem.n_features))
    return proximal, proximal.at(W, problem.features.scores(W))


# ---------------------------------------------------------------- the equations


@each_case
def test_the_gradient_is_that_of_psi(case):
    proximal, point = inner(case)
    gradient, step = proximal.gradient(point), 1e-6
    for entry in np.ndindex(*point.W.shape):
        values = []
        for sign in (1, -1):
            W = point.W.copy()
            W[entry] += sign * step
            values.append(proximal.at(W, proximal.problem.features.scores(W)).value)
        assert_allclose((values[0] - values[1]) / (2 * step), gradient[entry], atol=1e-6)


@each_case
def test_the_hessian_is_the_one_of_psi(case):
    proximal, point = inner(case)
    direction, step = np.random.default_rng(5).normal(size=point.W.shape), 1e-7
    features = proximal.problem.features
    gradients = []
    for sign in (1, -1):
        W = point.W + sign * step * direction
        gradients.append(proximal.gradient(proximal.at(W, features.scores(W))))
    difference = (gradients[0] - gradients[1]) / (2 * step)
    assert_allclose(proximal.hessian(point).product(direction), difference, atol=1e-6)


@each_form
@pytest.mark.parametrize("case", CORNERS, ids=str)
def test_both_ways_to_solve_agree_with_the_product(case, form, monkeypatch):
    proximal, point = inner(case, form)
    hessian, target = proximal.hessian(point), proximal.gradient(point)
    assert_allclose(hessian.product(hessian.solve(target)), target, atol=1e-10)
    unit = np.zeros_like(target)
    unit[1, 2] = 1.0
    assert_allclose(hessian.diagonal()[1, 2], hessian.product(unit)[1, 2])
    monkeypatch.setattr(proximal_hessian, "MOST_UNKNOWNS", 0)
    error = np.linalg.norm(hessian.product(hessian.solve(target)) - target)
    assert 0 < error <= 0.1 * np.linalg.norm(target)


# ---------------------------------------------------------------- a run


@pytest.mark.turns
@pytest.mark.long
@each_form
@each_case
def test_it_ends_at_the_optimum(case, form):
    problem, result = solved(case, form)
    assert result.success, result.message
    other = fwlab.solve(problem, "ascent", tol=1e-8, max_iter=5000)
    assert abs(result.dual - other.dual) <= 2e-8


@pytest.mark.grid
@each_form
@each_case
def test_the_dual_never_falls_and_the_primal_never_rises(case, form):
    problem, result = solved(case, form, tol=0.0, max_iter=40)
    assert np.diff(result.trace.dual).min() >= -1e-15
    assert np.diff(result.trace.primal).max() <= 1e-15
    largest = problem.polytopes.scale * problem.sample_weight.max()
    assert result.infeasibility <= SHOWS * max(1.0, largest)
    assert not result.A[case.omega == 0].any()


@each_form
def test_the_certificate_is_that_of_its_own_W(form):
    problem, result = solved(Case("Usunier-1"), form, max_iter=4, tol=0.0)
    assert_allclose(result.primal, problem.primal(result.W), rtol=1e-14)
    assert_allclose(result.dual, problem.dual(result.A), rtol=1e-14)
    assert result.gap == result.primal - result.dual
    assert result.gap < problem.gap(result.A)
    assert np.abs(result.W - problem.weights(result.A)).max() > 0


def test_conjugate_gradients_lead_to_the_same_optimum(monkeypatch):
    direct = solved(Case())[1]
    monkeypatch.setattr(proximal_hessian, "MOST_UNKNOWNS", 0)
    iterative = solved(Case())[1]
    assert iterative.success
    assert_allclose(iterative.dual, direct.dual, atol=1e-10)


@pytest.mark.parametrize(("X", "y"), [([-116.0, 400.0, 140.0], [0, 0, 2]), ([-1.0, 5.0], [0, 0])])
def test_a_direction_that_changes_no_score_is_no_obstacle(X, y):
    """Nearly all of the dual is gained along directions that one feature does not see."""
    X, smoothing = np.array(X)[:, None], 8e-6
    problem = fwlab.Problem(X, y, fwlab.TopK(2), lam=2e-8, smoothing=smoothing, n_classes=5)
    result = fwlab.solve(problem, "newton", tol=1e-9, relative=True, max_iter=400)
    assert result.status is fwlab.Status.CONVERGED


def test_a_point_with_a_lower_dual_is_refused():
    case = Case()
    problem = case.problem()
    best = fwlab.solve(problem, tol=1e-9, max_iter=2000).A
    state = State(problem, best.copy(), np.random.default_rng(0))
    assert not _accept(state, random_feasible(case, np.random.default_rng(0)))
    assert_array_equal(state.A, best)
    worse = State(problem, np.zeros_like(best), np.random.default_rng(0))
    assert _accept(worse, best)
    assert_allclose(worse.link, problem.link(worse.A))


# ---------------------------------------------------------------- the switch


@pytest.mark.parametrize(
    ("last", "gap", "passes", "direct", "stalled"),
    [
        (np.inf, 1e-3, 16, True, False),  # nothing to compare with yet
        (1e-3, 0.0, 16, True, False),
        (0.0, 1e-16, 16, True, False),
        (-1e-16, 1e-16, 16, True, False),
        (1e-3, 1e-4, 16, True, False),  # six steps, each worth eight passes, have the same gain
        (1e-3, 1e-4, 49, True, True),
        (1e-3, 0.9e-3, 16, True, True),
        (1e-3, 1.1e-3, 16, True, True),
        (1e-3, 1e-4, 49, False, False),  # an iterative step is worth twelve
        (1e-3, 1e-4, 73, False, True),
    ],
)
def test_a_decay_slower_than_that_of_newton_steps_has_stalled(last, gap, passes, direct, stalled):
    assert has_stalled(last, gap, passes, direct) is stalled


@pytest.mark.parametrize(
    ("decay", "newton_passes", "given_up"),
    [(1.0, 16.0, True), (0.0, 16.0, False), (1.0, 15.0, False)],
)
def test_iterative_steps_that_gain_less_than_passes_did_are_given_up(
    decay, newton_passes, given_up
):
    problem = Case().problem()
    method, A = build("newton", {}), np.zeros((problem.n_samples, problem.n_classes))
    state = State(problem, A, np.random.default_rng(0), method.needs(problem))
    workspace = method.start(state)
    certificate = problem.certificate(state.A, state.link)
    state.offer(state.link, certificate.primal)
    inner = object()
    workspace.inner, workspace.newton_passes, workspace.decay = inner, newton_passes, decay
    workspace.last_gap = certificate.gap
    method.give_up_if_slower(40.0, state, workspace)
    assert workspace.inner is (None if given_up else inner)
    assert workspace.patience == (64 if given_up else 16)
    assert not given_up or workspace.checked == 40.0
    assert workspace.newton_passes == (15.0 if newton_passes == 15.0 else 0.0)


def test_steps_of_conjugate_gradients_are_counted_in_passes(monkeypatch):
    proximal, point = inner(Case())
    hessian = proximal.hessian(point)
    n = proximal.problem.n_samples
    hessian.product(point.W)
    assert hessian.passes == pytest.approx(len(hessian.index) / n + 10 / n)
    monkeypatch.setattr(proximal_hessian, "MOST_UNKNOWNS", 0)
    monkeypatch.setattr(proximal_hessian, "MOST_PASSES", 0)
    assert not hessian.solve(point.W).any()


def test_the_first_phase_stays_while_it_gains():
    data = fwlab.datasets.synthetic(200, 30, 4, 0.1, rng=0, normalize="unit")
    fast = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(2), 1.0)
    results = [fwlab.solve(fast, m, tol=1e-9, max_iter=500) for m in ("newton", "ascent")]
    assert_array_equal(results[0].A, results[1].A)


@pytest.mark.long
def test_it_leaves_the_first_phase_where_that_stands_still():
    problem = Case(n=60, d=3, lam=1e-5).problem()
    newton = fwlab.solve(problem, "newton", tol=1e-8, max_iter=400, check_every=1)
    assert newton.success
    assert not fwlab.solve(problem, "ascent", tol=1e-8, max_iter=400, check_every=1).success
    steps = np.diff(newton.trace.n_steps)
    assert steps[0] > 0 and steps[-1] == 0


@pytest.mark.parametrize("case", [Case(), Case(form="precomputed")], ids=str)
def test_auto_takes_newton_where_there_is_a_w(case):
    problem = case.problem()
    picked = "newton" if case.form == "dense" else "ascent"
    results = [fwlab.solve(problem, m, tol=1e-8, max_iter=500) for m in ("auto", picked)]
    assert_array_equal(results[0].A, results[1].A)
    assert results[0].gap == results[1].gap


def test_where_rounding_makes_the_hessian_singular_a_step_has_least_squares():
    problem = fwlab.Problem(np.ones((2, 2)), [0, 1], fwlab.TopK(1), lam=1e-100)
    proximal = Proximal(problem, np.zeros((2, 2)), 0.1)
    hessian = proximal.hessian(proximal.at(np.zeros((2, 2)), np.zeros((2, 2))))
    target = hessian.product(np.arange(4.0).reshape(2, 2))
    assert_allclose(hessian.product(hessian.solve(target)), target, atol=1e-14)
