"""Sampling by block gaps: the gaps, the draws, and the remedy for gaps that are out of date."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from solvers.solver_table import (
    BLOCK_METHODS,
    FORMS,
    GRID,
    Case,
    random_feasible,
)

import fwlab
from fwlab.solvers import blocks
from fwlab.solvers.gap_order import PARTS_OF_A_PASS, UNIFORM_SHARE, block_gaps, draw_by_gaps
from fwlab.solvers.method import State
from fwlab.solvers.registry import build

pytestmark = pytest.mark.small
each_block_method = pytest.mark.parametrize("method", BLOCK_METHODS)


def gaps_by_hand(case, A):
    """Return <a_i, grad_i> plus omega_i times the loss at the shifted scores, (n,)."""
    loss, omega = case.entry.loss, case.omega
    problem = case.problem()
    ridge = case.smoothing / np.where(omega > 0, omega, np.inf)
    shifted = problem.scores(A, case.X) + ridge[:, None] * A
    gradient = problem.polytopes.add_costs(shifted)
    return (gradient * A).sum(axis=1) + omega * loss.value(shifted, case.y)


@pytest.mark.parametrize("case", GRID, ids=str)
def test_block_gaps_sum_to_the_gap(case):
    problem, rng = case.problem(), np.random.default_rng(4)
    for A in (np.zeros((case.n, 4)), random_feasible(case, rng)):
        gaps = block_gaps(problem, A, problem.scores(A, case.X))
        assert_allclose(gaps, gaps_by_hand(case, A), atol=1e-13)
        assert gaps.min() >= -1e-14
        assert gaps.mean() == pytest.approx(problem.augmented_gap(A), abs=1e-13)


@pytest.mark.turns
@each_block_method
@pytest.mark.parametrize("form", FORMS)
def test_a_step_tells_the_gap_it_met(method, form, monkeypatch):
    smoothing = 0.0 if method.startswith("sdca") else 0.1
    case = Case("PseudoTopK-1", form=form, smoothing=smoothing, weighted=True)
    problem, i = case.problem(), 3
    A = random_feasible(case, np.random.default_rng(2))
    solver = build(method, {"order": "gap"})
    state = State(problem, A.copy(), np.random.default_rng(0), solver.needs(problem))
    workspace = solver.start(state)
    monkeypatch.setattr(blocks, "draw_by_gaps", lambda gaps, rng: [np.array([i])])
    solver.iterate(state, workspace)
    exact = block_gaps(problem, A, problem.features.scores(problem.link(A)))
    assert_allclose(workspace.gaps, exact, atol=1e-13)  # the gaps at the start of the pass
    workspace.gaps[:] = -7.0
    before = block_gaps(problem, state.A, problem.features.scores(problem.link(state.A)))
    solver.iterate(state, workspace)
    assert workspace.gaps[i] == pytest.approx(before[i], abs=1e-13)
    assert_array_equal(np.delete(workspace.gaps, i), -7.0)


# ---------------------------------------------------------------- draws


@pytest.mark.parametrize("n", [1, 3, 10, 57])
def test_a_pass_has_n_draws_and_no_row_twice_in_a_part(n):
    rng = np.random.default_rng(1)
    parts = list(draw_by_gaps(rng.random(n), rng))
    assert sum(len(part) for part in parts) == n
    assert len(parts) == min(n, PARTS_OF_A_PASS)
    for part in parts:
        assert len(set(part)) == len(part)
        assert set(part) <= set(range(n))


def frequencies(gaps, passes=400):
    rng = np.random.default_rng(3)
    drawn = [part for _ in range(passes) for part in draw_by_gaps(gaps, rng)]
    return np.bincount(np.concatenate(drawn), minlength=len(gaps)) / passes


def test_draws_follow_the_gaps():
    """One draw a part, so the share of a row is its probability."""
    gaps = np.array([0.0, 1.0, 2.0, 3.0, 4.0, -1e-17, 0.0, 0.0, 0.0, 0.0])
    expected = (1 - UNIFORM_SHARE) * np.maximum(gaps, 0) / 10 + UNIFORM_SHARE / 10
    assert_allclose(frequencies(gaps) / 10, expected, atol=0.03)
    assert frequencies(gaps).min() > 0


def test_equal_gaps_and_no_gaps_are_drawn_uniformly():
    for gaps in (np.zeros(30), np.full(30, 1e-300), np.full(30, -1e-20)):
        assert_allclose(frequencies(gaps), 1.0, atol=0.25)


def test_gaps_that_change_in_a_pass_are_used():
    gaps = np.zeros(50)
    gaps[0] = 1.0
    rng, hits = np.random.default_rng(0), []
    for part in draw_by_gaps(gaps, rng):
        hits.append(0 in part)
        gaps[0], gaps[1:] = 0.0, 1.0
    assert hits[0] and sum(hits) <= 3


# ---------------------------------------------------------------- runs


@pytest.mark.parametrize("method, own", [("bcfw", 1), ("ascent", 1), ("sdca-lapin", 1)])
def test_all_gaps_are_exact_every_few_passes(method, own):
    """n_lmo counts one call per step for its gap, and n for all gaps on passes 1, 6 and 11."""
    result = fwlab.solve(Case().problem(), method, tol=0.0, max_iter=12, order="gap", check_every=1)
    exact = 1 + (np.arange(1, 13) - 1) // 5
    assert_array_equal(result.trace.n_lmo[1:], 12 * (own * np.arange(1, 13) + exact))
    assert_array_equal(result.trace.n_steps[1:], 12 * np.arange(1, 13))


@pytest.mark.turns
@pytest.mark.long
@pytest.mark.parametrize("method", ["bcfw", "ascent"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_optimum_is_reached(method, form, smoothing):
    problem = Case("WeightedTopK-7", form, smoothing=smoothing, weighted=True).problem()
    tol = 1e-3 if method == "bcfw" else 1e-6
    result = fwlab.solve(problem, method, order="gap", tol=tol, max_iter=3000)
    other = fwlab.solve(problem, "ascent", tol=1e-7, max_iter=3000)
    assert result.success
    assert abs(result.dual - other.dual) <= tol


@pytest.mark.parametrize("method", ["bcfw", "ascent", "sdca-lapin"])
def test_rows_whose_known_gap_is_wrong_come_back(method):
    """Known gaps of 0 would never be drawn again without the uniform share and the exact ones."""
    problem = Case(n=40).problem()
    solver = build(method, {"order": "gap"})
    state = State(problem, np.zeros((40, 4)), np.random.default_rng(0), solver.needs(problem))
    workspace = solver.start(state)
    solver.iterate(state, workspace)
    workspace.gaps[5:] = 0.0
    for _ in range(5):
        solver.iterate(state, workspace)
    assert (workspace.gaps[5:] > 0).any()
    assert state.A[5:].any(axis=1).mean() > 0.9


@pytest.mark.long
@pytest.mark.parametrize("method", ["bcfw", "ascent"])
def test_fewer_passes_than_uniform_sampling(method):
    data = fwlab.datasets.load("digits", normalize="unit")
    X, y = data.X_train[:400], data.y_train[:400]
    problem = fwlab.Problem(X, y, fwlab.TopK(3), 1 / len(y), n_classes=10)
    gap, uniform = (
        fwlab.solve(problem, method, order=order, tol=0.0, max_iter=20, check_every=20).gap
        for order in ("gap", "uniform")
    )
    assert gap <= uniform / 2


def test_rows_are_visited_one_by_one():
    with pytest.raises(ValueError, match="block_size must be 1"):
        fwlab.solve(Case().problem(), order="gap", block_size=4)
