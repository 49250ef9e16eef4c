"""Training problems against the reference: cvxpy solutions of the full primal, and its own primal
and dual, for all losses, with and without smoothing and sample weights."""

from dataclasses import replace

import numpy as np
import pytest
from rounding import value_rounding
from solvers.solver_table import GRID, Case, M, random_feasible

import fwlab
import reference

each_case = pytest.mark.parametrize("case", GRID, ids=str)


def training(case: Case) -> reference.Training:
    return reference.linear_training(
        case.X, case.y, case.entry.reference, case.lam, case.smoothing, case.sample_weight, M
    )


@pytest.mark.turns
@each_case
def test_ascent_agrees_with_the_solution_of_the_full_primal(case):
    """Two intervals that hold the optimal value meet, and strong convexity bounds |W - W*|."""
    case = replace(case, n=8)
    result = fwlab.solve(case.problem(), "ascent", tol=1e-9, max_iter=20_000)
    truth = training(case)
    optimum, rounding = truth.optimum(), value_rounding(truth)
    assert result.success
    assert result.gap <= 1e-9
    assert optimum.width <= 1e-6
    assert result.primal >= optimum.value_lower - rounding
    assert result.dual <= optimum.value_upper + rounding
    distance = np.linalg.norm(result.W.ravel() - optimum.point)
    allowed = [np.sqrt(2 * (g + rounding) / case.lam) for g in (result.gap, optimum.width)]
    assert distance <= sum(allowed)


@pytest.mark.turns
@each_case
def test_primal_and_dual_are_those_of_the_reference(case):
    case = replace(case, n=5)
    problem, truth, rng = case.problem(), training(case), np.random.default_rng(8)
    W = rng.normal(size=(M, case.d))
    # the reference's envelope is certified to about 1e-11 only
    assert problem.primal(W) == pytest.approx(truth.primal(W), rel=1e-9, abs=1e-11)
    A = random_feasible(case, rng)
    assert problem.dual(A) == pytest.approx(truth.dual(A), rel=1e-11, abs=1e-12)
    np.testing.assert_allclose(problem.weights(A).ravel(), truth.weights(A), atol=1e-12)


@pytest.mark.turns
@pytest.mark.parametrize("form", ["sparse", "linear", "precomputed"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_other_forms_of_the_data_reach_the_same_optimum(form, smoothing):
    case = Case("WeightedTopK-7", form, smoothing=smoothing, weighted=True)
    result = fwlab.solve(case.problem(), "ascent", tol=1e-9, max_iter=20_000)
    truth = training(case)
    optimum, rounding = truth.optimum(), value_rounding(truth)
    assert result.success
    assert result.primal >= optimum.value_lower - rounding
    assert result.dual <= optimum.value_upper + rounding
