"""bcfw with step="adaptive": each block keeps the promise of its curvature estimate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from solvers.active_set_table import each_case, gradient
from solvers.solver_table import FORMS, Case, M

import fwlab
from fwlab.kernels.steps.adaptive_step import adaptive_step
from fwlab.solvers.blocks import ORDERS
from fwlab.solvers.method import State
from fwlab.solvers.registry import build

pytestmark = pytest.mark.small


@pytest.mark.turns
@each_case
def test_steps_and_estimates_of_a_pass(case):
    """With orthogonal samples each row sees the gradient at the start of the pass."""
    problem = case.orthogonal()
    curvature = problem.curvatures + problem.ridge()[:, 0]
    solver = build("bcfw", {"step": "adaptive"})
    state = State(problem, np.zeros((case.n, M)), np.random.default_rng(0), solver.needs(problem))
    workspace, moved = solver.start(state), 0
    for _ in range(8):
        A, g, before = state.A.copy(), gradient(problem, state.A), workspace.estimates.copy()
        solver.iterate(state, workspace)
        after = workspace.estimates
        change, vertices = state.A - A, problem.lowest(g - delta(case))[0].atom()
        D = np.zeros_like(A)
        vertices.add_to(D, 1.0)
        D -= A
        slopes, squares = -(g * D).sum(axis=1), (D * D).sum(axis=1)
        moving = slopes > 1e-9
        assert_array_equal(after[moving & (before == 0)], curvature[moving & (before == 0)])
        assert (after[moving] >= curvature[moving] * (1 - 1e-12)).all()
        assert (after[moving] < 2 * curvature[moving]).all()
        steps = np.minimum(1.0, slopes[moving] / (after * squares)[moving])
        assert_allclose(change[moving], steps[:, None] * D[moving], atol=1e-12)
        moved += moving.sum()
    assert moved >= case.n - 1


def delta(case):
    """Return the costs, (n, m), 0 at the true class."""
    zeros = np.zeros((case.n, M))
    return case.entry.loss.polytopes(case.y, M).add_costs(zeros)


def test_backtracking_by_hand():
    """Curvature 8 against an estimate of 1: 0.9, 1.8, 3.6, 7.2, 14.4 keeps the promise."""
    step, estimate = adaptive_step(2.0, 8.0, 0.5, 1.0)
    assert estimate == pytest.approx(0.9 * 16)
    assert step == pytest.approx(2.0 / (0.5 * estimate))
    assert adaptive_step(2.0, 8.0, 0.5, 0.0) == (0.5, 8.0)
    assert adaptive_step(20.0, 8.0, 0.5, 0.0) == (1.0, 8.0)
    assert adaptive_step(2.0, 0.0, 0.5, 0.0) == (1.0, 0.0)
    assert adaptive_step(-1e-20, 8.0, 0.5, 3.0) == (0.0, 3.0)


@pytest.mark.turns
@pytest.mark.parametrize("order", ORDERS)
def test_the_dual_rises_in_every_order_and_form(order):
    for form in FORMS:
        problem = Case(form=form, smoothing=0.1, weighted=True).problem()
        result = fwlab.solve(problem, "bcfw", step="adaptive", order=order, tol=1e-2, check_every=1)
        assert result.success
        assert np.diff(result.trace.dual).min() >= -1e-14
        assert result.trace.n_lmo[-1] >= result.trace.n_steps[-1]


def test_exact_is_the_default():
    runs = [fwlab.solve(Case().problem(), "bcfw", max_iter=5, **o) for o in ({}, {"step": "exact"})]
    assert_array_equal(runs[0].A, runs[1].A)
    other = fwlab.solve(Case().problem(), "bcfw", max_iter=5, step="adaptive")
    assert np.abs(other.A - runs[0].A).max() > 1e-3
    with pytest.raises(ValueError, match=r"one of exact, .* got 'long'"):
        fwlab.solve(Case().problem(), "bcfw", step="long")
    with pytest.raises(TypeError, match=r"dicg.*got 'step'"):
        fwlab.solve(Case().problem(), "dicg", step="adaptive")
