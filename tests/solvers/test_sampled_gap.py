"""A gap estimated from random samples, and the checkpoint that it saves."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

import fwlab
from fwlab.solvers import sampled_gap as module
from fwlab.solvers.method import Needs, State
from fwlab.solvers.sampled_gap import DRAWN, ONE_OF, sampled_gap
from fwlab.solvers.schedule import FAR, Schedule

N = DRAWN * ONE_OF


def problem_of(n=N, loss=None, C=1.0, **options):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, n)
    X = rng.standard_normal((n, 4)) + 2.0 * np.eye(4)[y]
    return fwlab.Problem(options.pop("X", X), y, loss or fwlab.TopK(2), C, **options)


def state_of(problem, **needs):
    A = fwlab.solve(problem, "bcfw", tol=0.0, max_iter=1, check_every=1).A
    return State(problem, A, np.random.default_rng(1), Needs(**needs))


# ---------------------------------------------------------------- the estimate


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
@pytest.mark.parametrize("weights", [None, np.arange(40) % 3])
def test_all_samples_have_the_gap_itself(monkeypatch, smoothing, weights):
    monkeypatch.setattr(module, "DRAWN", 40)
    monkeypatch.setattr(module, "ONE_OF", 1)
    state = state_of(problem_of(40, smoothing=smoothing, sample_weight=weights), gram=True)
    A = state.A.copy()
    assert sampled_gap(state) == pytest.approx(state.problem.augmented_gap(A), rel=1e-10, abs=0)
    assert_array_equal(state.A, A)


def test_some_samples_have_about_the_gap():
    """Of a few terms the standard error is known: six of them are more than a draw misses."""
    state = state_of(problem_of())
    terms = module.block_gaps(state.problem, state.A, state.problem.features.scores(state.link))
    gap = state.problem.augmented_gap(state.A)
    found = sampled_gap(state)
    assert found != gap
    assert abs(found - gap) <= 6 * terms.std() / np.sqrt(DRAWN)
    assert sampled_gap(state) == found


def test_the_generator_of_the_run_is_left_alone():
    state = state_of(problem_of())
    sampled_gap(state)
    assert state.rng.random() == np.random.default_rng(1).random()


@pytest.mark.parametrize(
    "options",
    [
        {"n": N - 1},
        {"loss": fwlab.CrossEntropy()},
        {"regularizer": fwlab.LpNorm(1.5)},
    ],
)
def test_there_is_none_with_few_samples_and_other_terms(options):
    problem = problem_of(**options)
    A = np.zeros((problem.n_samples, 4))
    assert sampled_gap(State(problem, A, np.random.default_rng(0))) is None


@pytest.mark.parametrize(
    "needs",
    [
        {"scores": True},
        {"best_primal": True},
        {"own_values": True},
        {"coefficients": True},
        {"own_loss": fwlab.MaxHinge()},
    ],
)
def test_there_is_none_for_what_a_method_keeps_itself(needs):
    assert sampled_gap(state_of(problem_of(), **needs)) is None


def test_there_is_none_with_a_gram_matrix(monkeypatch):
    monkeypatch.setattr(module, "DRAWN", 5)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    for kernel, data in (("linear", X), ("precomputed", X @ X.T)):
        assert sampled_gap(state_of(problem_of(40, X=data, kernel=kernel))) is None
    assert sampled_gap(state_of(problem_of(40, X=X))) is not None
    assert sampled_gap(state_of(problem_of(40, X=scipy.sparse.csr_array(X)))) is not None


# ---------------------------------------------------------------- the schedule


def started(every=None):
    schedule = Schedule(every)
    schedule.note(0, None, 20.0, 1.0)
    return schedule


def test_only_a_run_that_cannot_predict_is_sampled():
    def sample():
        raise AssertionError

    assert not started(every=2).postpones(1, 8.0, sample)
    assert not started().postpones(1, None, sample)
    assert not started().postpones(1, 0.0, sample)
    schedule = started()
    schedule.note(1, 8.0, 20.0, 1.0)
    assert not schedule.postpones(2, 4.0, sample)


@pytest.mark.parametrize("excess", [None, 0.5, FAR, np.inf, np.nan])
def test_a_checkpoint_near_tol_stays(excess):
    schedule = started()
    assert not schedule.postpones(1, 8.0, lambda: excess)
    assert schedule.progress is None


def test_a_far_gap_takes_the_place_of_a_checkpoint():
    schedule = started()
    assert schedule.postpones(1, 8.0, lambda: 4.0)
    assert not schedule.is_due(2, 4.0) and schedule.is_due(3, 2.0) and schedule.expects_end(2.0)


# ---------------------------------------------------------------- runs


def test_a_run_far_from_tol_is_not_judged_after_its_first_iteration():
    problem = problem_of()
    each = fwlab.solve(problem, tol=1e-3, check_every=1)
    assert each.trace.gap[1] > 2 * FAR * 1e-3
    auto = fwlab.solve(problem, tol=1e-3)
    assert auto.success and 1 not in auto.trace.iteration
    again = fwlab.solve(problem, tol=0.0, max_iter=auto.nit, check_every=1)
    assert_array_equal(auto.A, again.A)


@pytest.mark.parametrize("relative", [False, True])
def test_a_run_near_tol_is_judged_after_its_first_iteration(relative):
    problem = problem_of()
    first = fwlab.solve(problem, tol=0.0, max_iter=1, check_every=1)
    scale = max(abs(first.primal), abs(first.dual)) if relative else 1.0
    near = first.gap / scale / 1.2
    auto = fwlab.solve(problem, tol=near, relative=relative)
    assert 1 in auto.trace.iteration


def test_a_run_without_a_tol_is_judged_after_its_first_iteration():
    assert 1 in fwlab.solve(problem_of(), tol=0.0, max_iter=3).trace.iteration
