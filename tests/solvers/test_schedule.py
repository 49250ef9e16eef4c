"""When a run is judged: fixed checkpoints, and those that progress and counted work ask for."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import fwlab
from fwlab.solvers.method import State
from fwlab.solvers.registry import build
from fwlab.solvers.schedule import TRUSTED, WORK_BETWEEN, Schedule

BLOCK_METHODS = ("ascent", "bcfw", "bcafw", "bcpfw", "dicg")


def due(schedule, progress):
    """Return the first iteration at which a checkpoint is due, with this progress per iteration."""
    after = range(schedule.iteration + 1, schedule.iteration + 1000)
    return next(i for i in after if schedule.is_due(i, progress(i)))


def noted(iteration, progress, excess, cost=1.0):
    schedule = Schedule(every=None)
    schedule.note(iteration, progress, excess, cost)
    return schedule


def test_a_number_of_iterations_is_kept():
    schedule = Schedule(every=4)
    schedule.note(8, 1.0, 2.0, 1.0)
    assert due(schedule, lambda i: 0.0) == 12


def test_the_predicted_gap_asks_for_a_checkpoint():
    """The gap misses tol by 20: it is met when the progress is below a twentieth, 2^-5."""
    assert due(noted(3, 8.0, 20.0), lambda i: 8.0 * 0.5 ** (i - 3)) == 8


def test_the_end_is_expected_where_the_predicted_gap_meets_tol():
    schedule = noted(3, 8.0, 20.0)
    assert not schedule.expects_end(0.5) and schedule.expects_end(0.25)
    schedule.note(8, 0.25, 1.5, 1.0)  # but the gap was too large
    assert not schedule.expects_end(0.1) and schedule.is_due(9, 0.1)
    schedule.note(9, 0.24, 1.4, 1.0)  # which nobody had predicted
    assert schedule.expects_end(0.1)


def test_no_end_is_expected_with_fixed_intervals():
    schedule = Schedule(every=4)
    schedule.note(8, 1.0, 2.0, 1.0)
    assert not schedule.expects_end(0.1)


def test_a_prediction_is_not_trusted_far():
    halved = noted(3, 8.0, 1e9)
    fallen = int(np.ceil(np.log2(TRUSTED)))
    assert fallen < WORK_BETWEEN and due(halved, lambda i: 8.0 * 0.5 ** (i - 3)) == 3 + fallen


@pytest.mark.parametrize("cost, iterations", [(1.0, 10), (0.25, 3), (0.01, 1)])
def test_counted_work_asks_for_a_checkpoint(cost, iterations):
    assert WORK_BETWEEN == 10
    assert due(noted(7, 1.0, np.inf, cost), lambda i: 1.0) == 7 + iterations


@pytest.mark.parametrize("iteration, after", [(0, 1), (9, 1), (35, 3), (500, 10)])
def test_without_progress_a_tenth_more_iterations(iteration, after):
    assert due(noted(iteration, None, 5.0), lambda i: None) == iteration + after


def test_no_progress_at_all_is_judged_at_once():
    assert due(noted(40, 1.0, 5.0), lambda i: 0.0) == 41


# ---------------------------------------------------------------- runs


@pytest.fixture(scope="module")
def problem():
    data = fwlab.datasets.synthetic(400, 30, 6, 0.5, rng=0, normalize="unit")
    return fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(2), 1 / 400)


@pytest.mark.parametrize("method", BLOCK_METHODS)
def test_block_methods_end_soon_after_the_gap_is_met(problem, method):
    seeds, late, needed = 5, 0, 0
    for rng in range(seeds):
        options = {"tol": 1e-3, "max_iter": 500, "rng": rng}
        each = fwlab.solve(problem, method, **options, check_every=1)
        auto = fwlab.solve(problem, method, **options)
        assert each.success and auto.success
        late, needed = late + auto.nit - each.nit, needed + each.nit
        # the first, one a tenth of the passes, and a few near the end
        assert len(auto.trace.gap) <= 8 + auto.nit // 8
    assert 0 <= late <= seeds + needed // 20


def test_a_run_repeats_whatever_the_checkpoints_are(problem):
    one, two = (fwlab.solve(problem, tol=1e-5, rng=1) for _ in range(2))
    assert_array_equal(one.trace.iteration, two.trace.iteration)
    assert_array_equal(one.A, two.A)
    each = fwlab.solve(problem, tol=0.0, rng=1, max_iter=one.nit, check_every=1)
    assert_array_equal(each.A, one.A)


def test_methods_with_scores_are_judged_each_time_where_rows_are_long(problem):
    result = fwlab.solve(problem, "fw", tol=0.0, max_iter=15)
    assert_array_equal(result.trace.iteration, np.arange(16))


@pytest.mark.parametrize("order", ["gap", "uniform"])
def test_the_orders_have_progress_of_their_own(problem, order):
    each = fwlab.solve(problem, "bcfw", order=order, tol=1e-2, check_every=1)
    auto = fwlab.solve(problem, "bcfw", order=order, tol=1e-2)
    assert auto.success and auto.nit <= 1.3 * each.nit + 2


def test_wall_seconds_hold_the_seconds(problem):
    result = fwlab.solve(problem, tol=1e-3)
    assert 0 < result.seconds <= result.wall_seconds


def test_ascent_expects_its_gap_to_be_half_as_large_after_the_first_pass():
    problem = fwlab.Problem(np.eye(4, 3) + 0.1, np.array([0, 1, 2, 0]), fwlab.TopK(2), 0.1)
    state = State(problem, np.zeros((4, 3)), np.random.default_rng(0))
    workspace = (method := build("ascent", {})).start(state)
    for factor in (2.0, 1.0, 1.0):
        method.iterate(state, workspace)
        changes = float(workspace.moves @ problem.curvatures)
        assert method.progress(state, workspace) == factor * changes > 0.0
