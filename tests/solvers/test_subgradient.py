"""The projected subgradient method: T20's PG written out in plain numpy beside it, its certificate,
and its machine where there is no W."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from solvers.solver_table import FORMS, GRID, Case, M, each_form, random_feasible

import fwlab

pytestmark = pytest.mark.small
each_case = pytest.mark.parametrize("case", GRID, ids=str)
each_smoothing = pytest.mark.parametrize("smoothing", [0.0, 0.1])


def gradients(case, W):
    """Return omega_i times a subgradient of the loss, or the gradient of its envelope, (n, m)."""
    loss, scores = case.entry.loss, case.X @ W.T
    if case.smoothing:
        _, nearest = loss.moreau(scores, case.y, case.smoothing)
        return case.omega[:, None] * (scores - nearest) / case.smoothing
    return case.omega[:, None] * loss.subgradient(scores, case.y)


def projected_subgradient(case, steps):
    """Return (W, average of minus the subgradients) after `steps` full steps from W = 0."""
    W, total = np.zeros((M, case.d)), np.zeros((case.n, M))
    radius = np.sqrt(case.problem().primal(W) / case.lam)
    projected = 0
    for t in range(1, steps + 1):
        G = gradients(case, W)
        W = W - (case.lam * W + G.T @ case.X / case.n) / (case.lam * t)
        if np.linalg.norm(W) > radius:
            W *= radius / np.linalg.norm(W)
            projected += 1
        total -= G
    return W, total / steps, projected


@each_case
def test_iterates_are_those_written_out(case):
    for steps in (1, 2, 7):
        W, A, _ = projected_subgradient(case, steps)
        result = fwlab.solve(case.problem(), "subgradient", tol=0.0, max_iter=steps, check_every=1)
        assert_allclose(result.W, W, atol=1e-10)
        assert_allclose(result.A, A, atol=1e-12)
        assert result.trace.step[-1] == pytest.approx(1 / (case.lam * steps))


@each_smoothing
def test_the_ball_is_met(smoothing):
    """With a small lam a step leaves the ball, and W comes back to its surface."""
    case = Case(lam=1e-3, smoothing=smoothing, weighted=True)
    W, _, projected = projected_subgradient(case, 5)
    assert projected >= 2
    result = fwlab.solve(case.problem(), "subgradient", tol=0.0, max_iter=5)
    assert_allclose(result.W, W, rtol=1e-10, atol=1e-10)
    radius = np.sqrt(case.problem().primal(np.zeros((M, case.d))) / case.lam)
    first = fwlab.solve(case.problem(), "subgradient", tol=0.0, max_iter=1).W
    assert np.linalg.norm(first) == pytest.approx(radius)
    assert abs(first - first.mean()).max() > 0


@pytest.mark.turns
@pytest.mark.long
@each_case
def test_the_ball_contains_the_solution(case):
    for lam in (1e-3, 0.05, 2.0):
        problem = replace(case, lam=lam).problem()
        result = fwlab.solve(problem, "ascent", tol=1e-8, max_iter=2000)
        slack = np.sqrt(2 * max(result.gap, 0.0) / lam)
        radius = np.sqrt(problem.primal(np.zeros((M, case.d))) / lam)
        assert np.linalg.norm(result.W) <= radius + slack


@pytest.mark.turns
@each_case
def test_the_gap_goes_to_zero(case):
    result = fwlab.solve(case.problem(), "subgradient", tol=0.05, max_iter=2000, check_every=20)
    optimum = fwlab.solve(case.problem(), "ascent", tol=1e-6, max_iter=5000)
    assert result.success
    assert result.gap == result.primal - result.dual
    assert result.primal >= optimum.dual - 1e-12
    assert result.dual <= optimum.primal + 1e-12


def test_the_primal_is_that_of_its_own_w():
    case = Case(lam=1e-3)
    problem = case.problem()
    result = fwlab.solve(problem, "subgradient", tol=0.0, max_iter=3)
    assert result.primal == pytest.approx(problem.primal(result.W), abs=1e-12)
    assert result.dual == pytest.approx(problem.dual(result.A), abs=1e-12)
    assert abs(result.W - problem.weights(result.A)).max() > 1e-3
    assert result.gap != pytest.approx(problem.gap(result.A), rel=1e-3)


# ---------------------------------------------------------------- forms of the data


@each_form
@each_smoothing
@pytest.mark.parametrize("batch", [None, 5])
def test_forms_give_the_same_machine(form, smoothing, batch, tmp_path):
    options = {"tol": 0.0, "max_iter": 6, "batch": batch, "rng": 2}
    dense = fwlab.solve(
        Case(smoothing=smoothing, lam=1e-3).problem(), "subgradient", **options, check_every=1
    )
    case = Case(form=form, smoothing=smoothing, lam=1e-3)
    result = fwlab.solve(case.problem(), "subgradient", **options, check_every=1)
    assert_allclose(result.A, dense.A, atol=1e-10)
    assert_allclose(result.trace.primal, dense.trace.primal, rtol=1e-9)
    assert_allclose(result.trace.dual, dense.trace.dual, rtol=1e-9)
    new = np.random.default_rng(9).normal(size=(8, case.d))
    rows = new @ case.X.T if form == "precomputed" else new
    assert_array_equal(result.predict(rows), (new @ dense.W.T).argmax(axis=1))
    if form == "precomputed":
        W = result.coefficients.T @ case.X / (case.lam * case.n)
        assert result.W is None
        assert_allclose(W, dense.W, atol=1e-9)
        assert abs(result.coefficients - result.A).max() > 0.01
    else:
        assert result.coefficients is None
        assert_allclose(result.W, dense.W, atol=1e-9)
    result.save(tmp_path / "run")
    loaded = fwlab.Result.load(tmp_path / "run")
    assert_array_equal(loaded.predict(rows), result.predict(rows))
    assert_array_equal(loaded.to_optimize_result().x, result.to_optimize_result().x)


@pytest.mark.parametrize("form", ["linear", "precomputed"])
def test_callbacks_see_the_machine(form):
    case, seen = Case(form=form, lam=1e-3), []
    fwlab.solve(
        case.problem(),
        "subgradient",
        tol=0.0,
        max_iter=3,
        callback=lambda p: seen.append(p.W),
        check_every=1,
    )
    dense = fwlab.solve(replace(case, form="dense").problem(), "subgradient", tol=0.0, max_iter=3)
    if form == "precomputed":
        assert seen == [None] * 4
    else:
        assert_allclose(seen[-1], dense.W, atol=1e-10)


# ---------------------------------------------------------------- batches


@pytest.mark.parametrize("batch, steps", [(1, 12), (5, 3), (6, 2), (11, 2), (12, 1), (50, 1)])
def test_an_iteration_is_a_pass_in_batches(batch, steps):
    trace = fwlab.solve(
        Case().problem(), "subgradient", tol=0.0, max_iter=4, batch=batch, check_every=1
    ).trace
    assert_array_equal(trace.n_steps, steps * np.arange(5))
    assert_array_equal(trace.n_lmo, 12 * np.arange(5))


@each_smoothing
def test_batches_written_out(smoothing):
    case = Case(smoothing=smoothing, weighted=True, lam=0.01)
    W, A, t = np.zeros((M, case.d)), np.zeros((case.n, M)), 0
    radius = np.sqrt(case.problem().primal(W) / case.lam)
    rng = np.random.default_rng(8)
    for iteration in range(1, 4):
        order = rng.permutation(case.n)
        for rows in (order[:5], order[5:10], order[10:]):
            t += 1
            G = gradients(case, W)[rows]
            W = W - (case.lam * W + G.T @ case.X[rows] / len(rows)) / (case.lam * t)
            W *= min(1.0, radius / np.linalg.norm(W))
            A[rows] += (-G - A[rows]) / iteration
    result = fwlab.solve(case.problem(), "subgradient", tol=0.0, max_iter=3, batch=5, rng=8)
    assert_allclose(result.W, W, atol=1e-10)
    assert_allclose(result.A, A, atol=1e-12)


def test_batches_are_drawn_from_rng():
    problem, options = Case().problem(), {"tol": 0.0, "max_iter": 3}
    one, two, other = (
        fwlab.solve(problem, "subgradient", batch=4, rng=seed, **options) for seed in (1, 1, 2)
    )
    assert_array_equal(one.W, two.W)
    assert not np.array_equal(one.W, other.W)
    full = fwlab.solve(problem, "subgradient", **options)
    for batch in (12, 100):
        whole = fwlab.solve(problem, "subgradient", batch=batch, **options)
        assert_array_equal(whole.W, full.W)


@pytest.mark.parametrize("form", FORMS)
def test_single_rows_reach_the_optimum(form):
    problem = Case(form=form, n=40).problem()
    result = fwlab.solve(problem, "subgradient", batch=1, tol=0.02, max_iter=500)
    assert result.success


@pytest.mark.parametrize(
    "batch, error", [(0, ValueError), (-3, ValueError), (2.0, TypeError), ("all", TypeError)]
)
def test_bad_batches(batch, error):
    with pytest.raises(error, match="batch"):
        fwlab.solve(Case().problem(), "subgradient", batch=batch)


@each_form
def test_a_start_gives_the_first_machine(form):
    case = Case(form=form, weighted=True)
    problem = case.problem()
    A0 = random_feasible(case, np.random.default_rng(1))
    result = fwlab.solve(problem, "subgradient", A0=A0, max_iter=0)
    assert result.gap == pytest.approx(problem.gap(A0), abs=1e-13)
    after = fwlab.solve(problem, "subgradient", A0=A0, tol=0.0, max_iter=1)
    assert after.infeasibility <= 1e-13
