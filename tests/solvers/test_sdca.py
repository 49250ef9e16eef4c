"""The published SDCA methods: one block minimiser found in three ways, and whose gap it closes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from solvers.solver_table import FORMS, Case, M, random_feasible

import fwlab
import reference
from fwlab import Status
from fwlab.kernels.simplices.topk_newton import thresholds_by_fixing, thresholds_by_newton
from fwlab.kernels.steps.pseudo import (
    BIASED_PROJECTION,
    SEMISMOOTH_NEWTON,
    VARIABLE_FIXING,
    thresholds,
)
from fwlab.result import Certificate
from fwlab.solvers.blocks import ORDERS
from fwlab.solvers.stopping import Limits

pytestmark = pytest.mark.small

SDCA = ("sdca-lapin", "sdca-chu-newton", "sdca-chu-fixing")
RULES = (BIASED_PROJECTION, SEMISMOOTH_NEWTON, VARIABLE_FIXING)
each_sdca = pytest.mark.parametrize("method", SDCA)
LOSSES = ("TopK-0", "TopK-1", "PseudoTopK-0", "PseudoTopK-1")
each_case = pytest.mark.parametrize(
    "case", [Case(loss, weighted=weighted) for loss in LOSSES for weighted in (0, 1)], ids=str
)


def pseudo(case):
    """Return this problem with the loss whose dual SDCA maximises."""
    return case.problem().with_loss(fwlab.PseudoTopK(case.entry.loss.k))


# ---------------------------------------------------------------- the projection


@st.composite
def vectors(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d = draw(st.integers(1, 70))
    scale, shift = draw(st.sampled_from([(1, 0), (0.1, 0.2), (30, -40), (1e4, 0), (1e-3, 5)]))
    a = rng.integers(-3, 4, d) / 2 if draw(st.booleans()) else rng.normal(size=d)
    return scale * a + shift, int(rng.integers(1, d + 1))


@given(vectors())
def test_three_ways_to_one_projection(vector):
    a, k = vector
    expected = fwlab.project_topk_simplex(a, k, r=1.0, bias=1.0)
    for rule in RULES:
        t, u, pivot = thresholds(rule, a.copy(), np.empty(k))
        assert_allclose(np.minimum(np.maximum(a - pivot - t, 0), u), expected, atol=1e-13)


@given(vectors(), st.sampled_from([0.3, 1.0, 20.0]), st.sampled_from([0.0, 2.0]))
def test_newton_and_fixing_for_any_radius_and_bias(vector, r, bias):
    a, k = vector
    expected = fwlab.project_topk_simplex(a, k, r, bias)
    for find in (thresholds_by_newton, thresholds_by_fixing):
        t, u, pivot = find(a.copy(), np.empty(k), r, bias)
        found = np.minimum(np.maximum(a - pivot - t, 0), u)
        assert_allclose(found, expected, atol=1e-13 * max(1, r))


# ---------------------------------------------------------------- the block step


@each_sdca
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_the_last_block_of_a_pass_is_optimal(method, k, seed):
    """Against the projection onto the domain of the loss as the reference defines it."""
    rng = np.random.default_rng(seed)
    n, lam, omega = 4, 0.3, rng.uniform(0.5, 2.0, 4)
    X, y = rng.normal(size=(n, 3)), rng.integers(0, M, n)
    problem = fwlab.Problem(X, y, fwlab.TopK(k), lam, n_classes=M, sample_weight=omega)
    A0 = omega[:, None] * fwlab.PseudoTopK(k).lmo(rng.normal(size=(n, M)), y)
    A = fwlab.solve(problem, method, A0=A0, tol=0.0, max_iter=1, order="cyclic").A

    others = (X[-1] @ X[:-1].T) @ A[:-1] / (lam * n)
    curvature = X[-1] @ X[-1] / (lam * n)
    target = -(others + 1.0 - np.eye(M)[y[-1]]) / (curvature * omega[-1])
    loss, block = reference.PseudoTopK(k), A[-1] / omega[-1]
    assert reference.qp.projection_gap(loss, target, y[-1], block) <= 1e-12
    answer = reference.qp.projection(loss, target, y[-1])
    assert_allclose(block, answer.point, atol=1e-4)


@each_case
@pytest.mark.parametrize("order", ORDERS)
def test_all_three_take_the_same_steps(case, order):
    options = {"tol": 0.0, "max_iter": 4, "order": order, "rng": 5}
    first, *others = (fwlab.solve(case.problem(), method, **options) for method in SDCA)
    for other in others:
        assert_allclose(other.A, first.A, atol=1e-12)


@pytest.mark.grid
@each_sdca
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("form", FORMS)
def test_ascent_on_the_pseudo_loss_takes_the_same_steps(method, order, form):
    case = Case("PseudoTopK-1", form=form, weighted=True)
    options = {"tol": 0.0, "max_iter": 4, "order": order, "rng": 5}
    ours = fwlab.solve(case.problem(), "ascent", **options)
    theirs = fwlab.solve(case.problem(), method, **options)
    assert_allclose(theirs.A, ours.A, atol=1e-12)
    on_top_k = fwlab.solve(replace(case, loss="TopK-1").problem(), method, **options)
    assert_array_equal(on_top_k.A, theirs.A)


@each_sdca
def test_k_1_is_the_max_hinge(method):
    case = Case("TopK-0")
    options = {"tol": 1e-3, "max_iter": 500}
    result = fwlab.solve(case.problem(), method, **options, check_every=1)
    maxhinge = replace(case, loss="MaxHinge-0").problem()
    hinge = fwlab.solve(maxhinge, "ascent", shrink=False, **options, check_every=1)
    assert result.status is Status.CONVERGED
    assert_allclose(result.A, hinge.A, atol=1e-12)
    assert result.gap == pytest.approx(hinge.gap, abs=1e-13)
    assert_allclose(result.trace.own_gap, result.trace.gap, atol=1e-13)


@each_sdca
def test_a_row_of_zeros_goes_to_the_vertex(method):
    X, y = np.zeros((3, 2)), np.array([0, 1, 2])
    problem = fwlab.Problem(X, y, fwlab.TopK(2), 1.0, sample_weight=[0.0, 1.0, 2.0])
    A = fwlab.solve(problem, method, tol=0.0, max_iter=1).A
    assert_array_equal(A, [[0, 0, 0], [-0.5, 1, -0.5], [-1, -1, 2]])


@each_sdca
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("seed", range(4))
def test_weights_of_all_sizes_give_feasible_rows(method, k, seed):
    """A small weight makes the block's entries large: rounding loses a sum of 1 between them."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 4)), rng.integers(0, 5, 12)
    weight = 10.0 ** rng.uniform(-130, 70, 12)
    weight[:2] = 1.0, 0.0
    problem = fwlab.Problem(X, y, fwlab.TopK(k), 1.0, sample_weight=weight, n_classes=5)
    result = fwlab.solve(problem, method, tol=1e-9, max_iter=4)
    assert np.isfinite([result.dual, result.primal]).all()


# ---------------------------------------------------------------- what is certified


@each_case
@each_sdca
def test_own_gap_is_that_of_the_pseudo_loss(method, case):
    seen = []
    result = fwlab.solve(
        case.problem(),
        method,
        tol=0.0,
        max_iter=5,
        callback=lambda p: seen.append(p.A.copy()),
        check_every=1,
    )
    assert_allclose(result.trace.own_gap, [pseudo(case).gap(A) for A in seen], atol=1e-13)
    assert_allclose(result.trace.gap, [case.problem().gap(A) for A in seen], atol=1e-13)
    assert pseudo(case).dual(result.A) == pytest.approx(result.dual, abs=1e-15)


@pytest.fixture(scope="module")
def digits():
    data = fwlab.datasets.load("digits", normalize="unit")
    X, y = data.X_train[:150], data.y_train[:150]
    return fwlab.Problem(X, y, fwlab.TopK(3), 1 / len(y), n_classes=10)


@pytest.mark.long
@each_sdca
def test_a_top_k_problem_stays_unsolved(method, digits):
    result = fwlab.solve(digits, method, tol=1e-4, max_iter=2000, check_every=1)
    assert (result.status, result.success) == (Status.SOLVED_OTHER_PROBLEM, False)
    assert result.trace.own_gap[-1] <= 1e-4 < result.trace.own_gap[-2]
    assert result.gap == pytest.approx(digits.gap(result.A), abs=1e-13)
    assert result.gap > 1e-2
    optimum = fwlab.solve(digits, "ascent", tol=1e-4, max_iter=2000, check_every=1)
    assert optimum.success
    assert optimum.dual > result.dual + 1e-3
    assert optimum.primal < result.primal - 1e-3
    assert "PseudoTopK(k=3)" in result.message
    assert result.message.startswith(Status.SOLVED_OTHER_PROBLEM.value)


@pytest.mark.long
@each_sdca
def test_a_pseudo_problem_is_solved(method, digits):
    problem = digits.with_loss(fwlab.PseudoTopK(3))
    result = fwlab.solve(problem, method, tol=1e-4, max_iter=2000, check_every=1)
    assert (result.status, result.success) == (Status.CONVERGED, True)
    assert_array_equal(result.trace.own_gap, result.trace.gap)
    assert "PseudoTopK(k=3)" in result.message


def test_a_small_gap_of_the_problem_comes_first():
    """At A = 0 both gaps are 1."""
    result = fwlab.solve(Case().problem(), "sdca-lapin", tol=1.5, check_every=1)
    assert (result.status, result.nit) == (Status.CONVERGED, 0)
    assert result.gap == result.trace.own_gap[0] == 1.0


@pytest.mark.turns
@each_sdca
def test_relative_tolerance_of_the_own_gap(method, digits):
    result = fwlab.solve(digits, method, tol=1e-2, relative=True, check_every=1)
    trace = result.trace
    met = trace.own_gap <= 1e-2 * np.maximum(abs(trace.dual + trace.own_gap), abs(trace.dual))
    assert result.status is Status.SOLVED_OTHER_PROBLEM
    assert_array_equal(np.flatnonzero(met), [len(met) - 1])


def test_the_own_gap_is_relative_to_its_own_primal():
    """The own primal is 1.15 and 1.11 here; the primal of the problem is 10."""
    limits = Limits(tol=0.1, relative=True, max_iter=1, time_limit=None)
    for own_gap, status in [(0.15, None), (0.11, Status.SOLVED_OTHER_PROBLEM)]:
        assert limits.met(Certificate(10.0, 1.0, 9.0, 9.0, own_gap)) is status


@each_sdca
def test_tol_zero_runs_to_max_iter(method):
    result = fwlab.solve(Case().problem(), method, tol=0.0, max_iter=7)
    assert (result.status, result.nit) == (Status.MAX_ITER, 7)


@each_sdca
def test_a_start_outside_the_pseudo_domain_has_no_own_gap(method):
    """TopK's domain is larger. At its optimum the formula of the pseudo gap is negative."""
    problem = Case("TopK-1", seed=1).problem()
    start = fwlab.solve(problem, "ascent", tol=1e-4, max_iter=2000, check_every=1).A
    own = problem.with_loss(fwlab.PseudoTopK(2))
    assert own.certificate(start).gap < -0.02
    result = fwlab.solve(problem, method, A0=start, tol=1e-5, max_iter=2000, check_every=1)
    assert result.trace.own_gap[0] == np.inf
    assert result.nit > 0
    assert result.status is Status.SOLVED_OTHER_PROBLEM
    assert 0.0 <= result.trace.own_gap[-1] <= 1e-5


def test_a_feasible_start_of_the_pseudo_domain_is_kept():
    case = Case("PseudoTopK-1", weighted=True)
    A0 = random_feasible(case, np.random.default_rng(3))
    top_k = replace(case, loss="TopK-1").problem()
    result = fwlab.solve(top_k, "sdca-lapin", A0=A0, max_iter=0, check_every=1)
    assert_array_equal(result.A, A0)
    assert result.trace.own_gap[0] == pytest.approx(case.problem().gap(A0), abs=1e-14)
