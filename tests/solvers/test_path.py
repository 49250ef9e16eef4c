"""Warm starts along C: the same optima in fewer iterations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from solvers.solver_table import FORMS, Case

import fwlab

pytestmark = pytest.mark.small
CS = (0.1, 1.0, 3.0, 10.0)


@pytest.mark.turns
@pytest.mark.parametrize("form", FORMS)
def test_each_result_is_that_of_its_own_problem(form):
    case = Case(form=form, smoothing=0.1, weighted=True)
    problem = case.problem()
    results = fwlab.path(problem, CS, tol=1e-8, max_iter=5000)
    assert problem.lam == case.lam
    for C, warm in zip(CS, results, strict=True):
        alone = problem.with_lam(1 / (C * case.n))
        cold = fwlab.solve(alone, tol=1e-8, max_iter=5000)
        assert warm.success and cold.success
        assert_allclose(warm.dual, alone.dual(warm.A), atol=1e-14)
        assert_allclose(warm.dual, cold.dual, atol=2e-8)


@pytest.mark.turns
def test_runs_start_where_the_last_one_ended():
    problem = Case(n=30).problem()
    start = fwlab.solve(problem, max_iter=3, check_every=1).A
    first, second = fwlab.path(problem, (1.0, 2.0), A0=start, tol=1e-6, max_iter=5000)
    assert_allclose(first.trace.dual[0], problem.with_lam(1 / 30).dual(start))
    assert_allclose(second.trace.dual[0], problem.with_lam(1 / 60).dual(first.A))
    again = fwlab.path(problem, (1.0, 1.0), tol=1e-6, max_iter=5000)[1]
    assert again.nit == 0
    assert_array_equal(np.shape(again.A), np.shape(start))


def test_a_wrong_C_is_refused():
    with pytest.raises(ValueError, match="Cs"):
        fwlab.path(Case().problem(), (1.0, 0.0))
    with pytest.raises(TypeError, match=r"Cs must be a list of positive numbers; got 1\.0\."):
        fwlab.path(Case().problem(), 1.0)
