"""Runs on the primal of an entropy end where rounding hides all further progress."""

from dataclasses import replace

import numpy as np
import pytest
from solvers.entropy_problems import LOSS, data, made
from solvers.tensor_libraries import LIBRARIES, both
from solvers.tensor_libraries import data as tensor_data

import fwlab
from fwlab.operators.precision import DOUBLE, SINGLE
from fwlab.result import Certificate, Status
from fwlab.solvers import entropy_newton, lbfgs, tensor_lbfgs
from fwlab.solvers.entropy_newton import EntropyNewton
from fwlab.solvers.lbfgs import Lbfgs
from fwlab.solvers.stopping import checked_limits
from fwlab.solvers.tensor_lbfgs import TensorLbfgs, TensorState

METHODS = {"lbfgs": Lbfgs, "newton": EntropyNewton}
each_method = pytest.mark.parametrize("method", METHODS)


def endless(method):
    """Return the method that goes on where rounding hides all progress."""

    class Endless(METHODS[method]):
        def start(self, state):
            workspace = super().start(state)
            state.is_stuck = False
            return workspace

        def iterate(self, state, workspace):
            super().iterate(state, workspace)
            state.is_stuck = False

    return Endless()


@each_method
@pytest.mark.parametrize("check_every", [1, 100, "auto"])
def test_a_run_with_tol_0_ends_before_its_last_iteration(method, check_every):
    result = fwlab.solve(made(0.01), method, tol=0.0, max_iter=200, check_every=check_every)
    assert result.status is Status.ROUNDING_FLOOR and not result.success
    assert "can be reached" in result.message
    assert result.nit < 100 and result.gap <= result.gap_error
    # the last step alone was hidden
    before = fwlab.solve(made(0.01), method, tol=0.0, max_iter=result.nit - 1)
    assert before.status is Status.MAX_ITER


PROBLEMS = {
    "weak": lambda: made(1e-3),
    "strong": lambda: made(1e5),
    "weights": lambda: made(10.0, sample_weight=np.arange(60) % 3 / 2),
    "few rows": lambda: fwlab.Problem(data()[0][:2], [0, 1], LOSS, C=1e3, n_classes=4),
    "long rows": lambda: fwlab.Problem(1e4 * data()[0], data()[1], LOSS, C=1e-3),
    "short rows": lambda: fwlab.Problem(1e-6 * data()[0], data()[1], LOSS, C=1.0),
}


@each_method
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_more_iterations_prove_no_smaller_gap(method, problem):
    ended = fwlab.solve(problem(), method, tol=0.0, max_iter=1000)
    longer = fwlab.solve(problem(), endless(method), tol=0.0, max_iter=ended.nit + 30)
    assert ended.status is Status.ROUNDING_FLOOR and longer.nit == ended.nit + 30
    assert ended.gap <= longer.gap + longer.gap_error
    assert ended.primal <= longer.primal + longer.gap_error


@each_method
def test_a_run_ends_where_no_step_lowers_the_primal(method, monkeypatch):
    for module in (lbfgs, entropy_newton):
        monkeypatch.setattr(module, "line_search", lambda *_: None)
    result = fwlab.solve(made(), method, tol=0.0, max_iter=50)
    assert result.status is Status.ROUNDING_FLOOR and result.nit == 1
    assert result.gap > result.gap_error


def test_a_run_without_a_gradient_ends():
    """Two equal rows of different classes: W = 0 is the optimum."""
    problem = fwlab.Problem(np.ones((2, 1)), [0, 1], LOSS, C=1.0)
    for method in METHODS:
        result = fwlab.solve(problem, method, tol=0.0, max_iter=50)
        assert result.nit <= 1 and not result.W.any()


def test_a_stuck_run_is_judged_by_its_gap():
    limits = checked_limits(1.0, False, 10, None, 1)
    far, near = (Certificate(gap, 0.0, gap, gap, from_scratch=True) for gap in (2.0, 0.5))
    assert limits.status(far, 3, False, is_stuck=True) is Status.ROUNDING_FLOOR
    assert limits.status(far, 10, True, is_stuck=True) is Status.ROUNDING_FLOOR
    assert limits.status(far, 3, False) is None
    assert limits.status(near, 3, False, is_stuck=True) is Status.CONVERGED
    wrong = far.contradicted("it is wrong.")
    assert limits.status(wrong, 3, False, is_stuck=True) is Status.INCONSISTENT


# ------------------------------------------------------------------ tensors


@pytest.fixture(params=LIBRARIES)
def library(request):
    return request.param()


def test_a_run_on_tensors_ends(library):
    result = fwlab.solve(both(library, *tensor_data(), C=1.0)[0], "lbfgs", tol=0.0, max_iter=300)
    assert result.status is Status.ROUNDING_FLOOR and result.nit < 150
    assert result.gap <= result.gap_error


def test_a_run_on_tensors_takes_more_exact_products_before_it_ends(library, monkeypatch):
    problem = both(library, *tensor_data(), C=1.0)[0]
    state = TensorState(problem=problem, W=library.tensor(np.zeros((4, 6))))
    workspace = TensorLbfgs().start(state)
    assert state.precisions == (SINGLE, DOUBLE)
    monkeypatch.setattr(tensor_lbfgs, "MOST_HALVINGS", 0)
    for precisions, is_stuck in (((DOUBLE,), False), ((DOUBLE,), True)):
        TensorLbfgs().iterate(state, workspace)
        assert (state.precisions, state.is_stuck) == (precisions, is_stuck)


def test_a_gap_that_float32_hides_ends_no_run(library, monkeypatch):
    plain = TensorState.at
    monkeypatch.setattr(TensorState, "at", lambda *of: replace(plain(*of), gap=0.0))
    state = TensorState(
        problem=both(library, *tensor_data(), C=1.0)[0], W=library.tensor(np.zeros((4, 6)))
    )
    workspace = TensorLbfgs().start(state)
    for precisions, is_stuck in ((state.precisions, False), (state.precisions[1:], True)):
        state.precisions = precisions
        TensorLbfgs().iterate(state, workspace)
        assert state.is_stuck == is_stuck
