"""Why runs end, and that nothing but a certified gap reads as success."""

import os
import signal
import threading
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from solvers.solver_table import (
    OWN_W,
    Case,
    M,
    each_form,
    each_method,
)

import fwlab
from fwlab import Status
from fwlab.result import Certificate
from fwlab.solvers import registry
from fwlab.solvers.interrupt import interrupted_runs_raise, sigterm_interrupts
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.stopping import Limits

pytestmark = pytest.mark.small


def stop(progress):
    raise StopIteration


def press_ctrl_c(progress):
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def use_method(monkeypatch):
    """Enter a method object in the registry as "planted" for the length of a test."""

    def enter(method):
        monkeypatch.setattr("fwlab.solvers.solve.warm_up", lambda *_: None)
        monkeypatch.setitem(registry.REGISTRY, "planted", lambda: method)

    return enter


@dataclass(frozen=True)
class Planted(Method):
    """A method with a flaw, whose iteration is a function of the state."""

    act: object

    def iterate(self, state, workspace):
        self.act(state)


# ---------------------------------------------------------------- how runs end


def run_to_rounding_floor():
    """Run problems until a gap is at the floor; rounding decides which gaps vanish outright."""
    results = [
        fwlab.solve(Case(seed=seed, smoothing=0.1).problem(), tol=1e-18, max_iter=3000)
        for seed in range(3)
    ]
    return next((r for r in results if r.status is Status.ROUNDING_FLOOR), results[0])


class Forgetful(fwlab.PolytopeLoss):
    """max_j (s_j + delta_j) - s_y, with an LMO that forgets the last class."""

    def value(self, scores, y):
        return (scores + self.costs(y, M)).max(axis=1) - scores[np.arange(len(y)), y]

    def lmo(self, gradient, y):
        best = gradient[:, :-1].argmax(axis=1)
        return np.eye(M)[y] - np.eye(M)[best]


def contradictory_problem():
    case = Case()
    return fwlab.Problem(case.X, case.y, Forgetful(), case.lam)


ENDINGS = {
    Status.CONVERGED: lambda: fwlab.solve(Case().problem(), tol=1e-3),
    Status.MAX_ITER: lambda: fwlab.solve(Case().problem(), tol=1e-9, max_iter=3),
    Status.TIME_LIMIT: lambda: fwlab.solve(Case().problem(), tol=1e-9, time_limit=0),
    Status.INTERRUPTED: lambda: fwlab.solve(Case().problem(), tol=1e-9, callback=press_ctrl_c),
    Status.STOPPED_BY_CALLBACK: lambda: fwlab.solve(Case().problem(), tol=1e-9, callback=stop),
    Status.SOLVED_OTHER_PROBLEM: lambda: fwlab.solve(Case().problem(), "sdca-lapin", tol=1e-3),
    Status.ROUNDING_FLOOR: run_to_rounding_floor,
    Status.INCONSISTENT: lambda: fwlab.solve(contradictory_problem(), "fw"),
}


def test_every_status_is_provoked():
    assert ENDINGS.keys() == set(Status)


@pytest.mark.parametrize("status", ENDINGS, ids=lambda status: status.name)
def test_statuses(status):
    result = ENDINGS[status]()
    assert result.status is status
    assert result.message.startswith(status.value)
    assert result.success == (status is Status.CONVERGED)
    assert result.gap == result.primal - result.dual
    assert result.gap >= -1e-14
    assert not result.infeasibility > 1e-13  # nan where the loss has no projection


@pytest.mark.grid
@each_method
def test_success_is_a_gap_at_most_tol(method):
    problem = Case(smoothing=0.1).problem()
    for tol in (0.5, 0.1, 0.02, 1e-9):
        result = fwlab.solve(problem, method, tol=tol, max_iter=60, check_every=1)
        assert result.success == (result.gap <= tol)
        if method not in OWN_W:
            assert result.success == (problem.gap(result.A) <= tol)
        assert (result.trace.gap[:-1] > tol).all()


@pytest.mark.grid
@each_method
@each_form
def test_an_optimal_start_converges_at_once(method, form):
    problem = Case(form=form).problem()
    optimum = fwlab.solve(problem, "ascent", tol=1e-7, max_iter=3000, check_every=1)
    assert optimum.success
    for more in ({}, {"max_iter": 0}, {"time_limit": 0}, {"callback": stop}):
        result = fwlab.solve(problem, method, A0=optimum.A, tol=1e-6, **more, check_every=1)
        assert result.status is Status.CONVERGED
        assert result.nit == 0
        assert len(result.trace.gap) == 1
        assert result.gap == pytest.approx(optimum.gap, abs=1e-14)
        assert_array_equal(result.A, optimum.A)


@each_method
@each_form
def test_no_iteration_leaves_the_start(method, form):
    problem = Case(form=form).problem()
    for limit in ({"max_iter": 0}, {"time_limit": 0}):
        result = fwlab.solve(problem, method, **limit)
        assert not result.success
        assert result.nit == 0
        assert not result.A.any()
        assert result.dual == 0.0
        assert result.gap == result.primal == 1.0


@each_method
def test_tol_zero_runs_to_max_iter(method):
    problem = fwlab.Problem(np.zeros((3, 2)), [0, 1, 2], fwlab.MaxHinge(), 1.0)
    result = fwlab.solve(problem, method, tol=0.0, max_iter=7)
    assert result.gap <= 0.0
    assert (result.status, result.nit, result.success) == (Status.MAX_ITER, 7, False)


@each_method
def test_relative_tolerance_is_a_fraction_of_the_larger_value(method):
    costs = 100.0 * (np.ones((M, M)) - np.eye(M))
    problem = fwlab.Problem(Case().X, Case().y, fwlab.StructuredHinge(costs), 0.05 / 100)
    tol = 0.25
    result = fwlab.solve(problem, method, tol=tol, relative=True, check_every=1)
    trace = result.trace
    met = trace.gap <= tol * np.maximum(abs(trace.primal), abs(trace.dual))
    assert result.success
    assert_array_equal(np.flatnonzero(met), [len(met) - 1])
    assert (
        fwlab.solve(problem, method, tol=tol, max_iter=result.nit, check_every=1).status
        is Status.MAX_ITER
    )


@each_method
def test_check_every(method):
    problem, seen = Case().problem(), []
    result = fwlab.solve(
        problem,
        method,
        tol=0.0,
        max_iter=11,
        check_every=4,
        callback=lambda progress: seen.append(progress.iteration),
    )
    assert_array_equal(result.trace.iteration, [0, 4, 8, 11])
    assert seen == [0, 4, 8, 11]
    each = fwlab.solve(problem, method, tol=0.0, max_iter=11)
    assert_array_equal(each.A, result.A)


def test_the_time_limit_ends_a_run():
    """Without it this run would not end."""
    result = fwlab.solve(Case().problem(), tol=0.0, max_iter=10**12, time_limit=0.05)
    assert result.status is Status.TIME_LIMIT
    assert result.nit > 0


# ---------------------------------------------------------------- interruption


@each_method
@each_form
def test_ctrl_c_leaves_a_valid_certificate(method, form):
    """The signal comes from another thread, at any moment of the run."""
    problem = Case(form=form).problem()
    before = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))

    def begin(progress):
        if progress.iteration == 0:
            timer.start()

    result = fwlab.solve(
        problem, method, tol=0.0, max_iter=10**12, time_limit=60, check_every=7, callback=begin
    )
    timer.join()
    assert result.status is Status.INTERRUPTED
    assert not result.success
    if method not in OWN_W:
        assert result.gap == pytest.approx(problem.gap(result.A), abs=1e-13)
    assert not result.infeasibility > 1e-13  # nan where the loss has no projection
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_ends_the_run_after_the_iteration(use_method):
    def act(state):
        state.n_steps += 1
        if state.n_steps == 1:
            signal.raise_signal(signal.SIGINT)

    use_method(Planted(act))
    result = fwlab.solve(Case().problem(), "planted", tol=0.0, check_every=1000)
    assert (result.status, result.nit) == (Status.INTERRUPTED, 1)
    assert result.trace.n_steps[-1] == 1


def test_keyboard_interrupt_in_the_callback():
    def interrupt(progress):
        if progress.iteration == 2:
            raise KeyboardInterrupt

    result = fwlab.solve(Case().problem(), tol=1e-9, callback=interrupt, check_every=1)
    assert (result.status, result.nit) == (Status.INTERRUPTED, 2)


def test_a_second_ctrl_c_ends_at_once(use_method):
    def act(state):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    use_method(Planted(act))
    with pytest.raises(KeyboardInterrupt):
        fwlab.solve(Case().problem(), "planted", tol=0.0)
    assert signal.getsignal(signal.SIGINT) is before


def test_sigterm_interrupts_where_ctrl_c_is_ignored():
    """A shell makes its background jobs ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(KeyboardInterrupt), sigterm_interrupts():
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_ctrl_c_that_python_drops_in_a_finalizer_still_ends_the_work():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with sigterm_interrupts():
            with pytest.raises(KeyboardInterrupt), interrupted_runs_raise():
                with suppress(KeyboardInterrupt):
                    signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with sigterm_interrupts(), interrupted_runs_raise():
            pass
    finally:
        signal.signal(signal.SIGINT, before)


def test_solve_works_outside_the_main_thread():
    results = []
    thread = threading.Thread(
        target=lambda: results.append(fwlab.solve(Case().problem(), tol=1e-3))
    )
    thread.start()
    thread.join()
    assert results[0].success


# ---------------------------------------------------------------- success is certified


@pytest.mark.grid
@pytest.mark.parametrize(
    "options", [{"tol": 1e-3}, {"tol": 0.0, "max_iter": 3}, {"callback": stop}]
)
@each_method
def test_the_certificate_is_computed_from_scratch_at_the_end(method, options, monkeypatch):
    problem, certify, counted = Case().problem(), State.certify, []

    def count(state):
        certificate = certify(state)
        counted.append(certificate)
        return certificate

    monkeypatch.setattr(State, "certify", count)
    result = fwlab.solve(problem, method, **options)
    # before that only once, if the predicted gap was wrong; and the value of a best point that is
    # new is computed again from that point
    assert len(counted) <= 2
    early = counted[:-1] if options == {"tol": 1e-3} else []
    assert all(one.gap > 1e-3 or not one.from_scratch for one in early)
    assert (result.primal, result.dual) == (counted[-1].primal, counted[-1].dual)


def test_a_flattering_score_table_is_not_success(use_method):
    """A method that tracks scores at which no loss is left, at A = 0."""

    def flatter(state):
        state.scores[:] = 100.0 * np.eye(M)[state.problem.y]

    @dataclass(frozen=True)
    class Flatterer(Planted):
        def needs(self, problem):
            return Needs(scores=True)

    use_method(Flatterer(flatter))
    problem = Case().problem()
    for options in ({"max_iter": 3}, {"max_iter": 3, "tol": 0.0}, {"tol": 1e-17, "max_iter": 1}):
        result = fwlab.solve(problem, "planted", **options, check_every=1)
        assert not result.success
        assert result.status is Status.MAX_ITER
        assert result.gap == result.trace.gap[-1] == problem.gap(result.A) == 1.0


def test_a_wrong_link_is_not_success(use_method):
    """A method that tracks the best W beside A = 0, or forgets to update it."""
    problem = Case().problem()
    optimum = fwlab.solve(problem, tol=1e-6)

    def borrow(state):
        state.link[:] = optimum.W

    def forget(state):
        state.A[:] = optimum.A

    use_method(Planted(borrow))
    result = fwlab.solve(problem, "planted", tol=1e-3, max_iter=3)
    assert not result.success
    assert_array_equal(result.W, 0.0)
    assert (result.dual, result.gap) == (0.0, 1.0)
    use_method(Planted(forget))
    result = fwlab.solve(problem, "planted", tol=1e-5, max_iter=3)
    assert result.success
    assert result.gap == pytest.approx(optimum.gap, abs=1e-14)


def test_an_infeasible_point_is_not_success(use_method):
    """Outside the domain the formula of the dual exceeds every primal value."""
    y = np.arange(12) % M
    vertices = fwlab.MaxHinge().lmo(np.ones((12, M)) - np.eye(M)[y], y)

    def leave(state):
        state.A[:] = 2.0 * vertices
        state.refresh()

    use_method(Planted(leave))
    problem = fwlab.Problem(np.zeros((12, 5)), y, fwlab.MaxHinge(), 1.0)
    for tol in (0.1, 0.0):
        result = fwlab.solve(problem, "planted", tol=tol, max_iter=3)
        assert problem.gap(result.A) == np.inf
        assert result.infeasibility == 1.0
        assert not result.success


@pytest.mark.parametrize(("primal", "dual"), [(np.inf, 0.0), (1.0, -np.inf)])
def test_an_infinite_gap_is_not_success(primal, dual):
    limits = Limits(1e-6, True, 10, None)
    certificate = Certificate(primal, dual, np.inf, np.inf)
    assert limits.met(certificate) is None and not limits.at_floor(certificate)
