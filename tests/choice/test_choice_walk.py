"""Knots, their interpolation, the clock and the lengths of stretches."""

from itertools import pairwise

import numpy as np
import pytest

import fwlab
import fwlab.choice.knots as knots_module
import fwlab.choice.walk as walk_module
from fwlab.choice.clock import Clock
from fwlab.choice.knots import Knots
from fwlab.choice.point import TrainingSamples
from fwlab.choice.validation import Leads, Validation
from fwlab.choice.walk import SAFE, Walk
from fwlab.result import Status
from fwlab.solvers.interrupt import Interrupt

M, D = 3, 2
RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(30, D)), RNG.integers(0, M, 30)
X_NEW, Y_NEW = RNG.normal(size=(20, D)), RNG.integers(0, M, 20)


def knots():
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=1.0)
    return Knots(problem, X_NEW, Y_NEW, Clock(None, Interrupt()))


def walk(found=None, allowed=1):
    found = found or knots()
    return Walk(TrainingSamples.of(found.problem), Validation.of(X_NEW, Y_NEW), found, allowed)


def residual(found, C):
    return walk(found).training.point(C, found.machine(C)).residual


def test_knots_give_polynomials_in_log_C():
    found, parts = knots(), RNG.normal(size=(6, M, D))

    def machine(C):
        return sum(part * np.log(C) ** power for power, part in enumerate(parts))

    for C in (0.5, 1.0, 2.0, 3.0, 4.0, 6.0):
        found.machines[C] = machine(C)
    for C in (0.6, 1.0, 2.5, 5.5):
        assert found.machine(C) == pytest.approx(machine(C), rel=1e-10)


def test_the_nearest_knots_count():
    found = knots()
    for place in range(12):
        found.machines[float(2**place)] = np.full((M, D), float(place >= 9))
    # the knots 2 to 64 and 1 to 32, and for 300 some that are not 0
    assert found.machine(12.0) == pytest.approx(0.0, abs=1e-15)
    assert found.machine(1.5) == pytest.approx(0.0, abs=1e-15)
    assert abs(found.machine(300.0)[0, 0]) > 0.1


def test_two_knots_give_a_line():
    found = knots()
    found.machines = {1.0: np.zeros((M, D)), 4.0: np.ones((M, D))}
    assert found.machine(2.0) == pytest.approx(0.5)
    assert found.around(2.0) == (1.0, 4.0)


def test_a_knot_is_solved_to_its_residual():
    found = knots()
    found.add(2.0, None, 1e-3)
    first = residual(found, 2.0)
    assert 1e-9 < first <= 1e-3
    found.refine(2.0, 1e-9)
    assert residual(found, 2.0) <= 2e-9
    assert found.n_right[2.0] == int((found.best.predict(X_NEW) == Y_NEW).sum())


def test_a_run_starts_near_the_machine_of_a_smaller_C():
    found = knots()
    found.add(1.0, None, 1e-9)
    W = found.machines[1.0]
    for C in (1.0, 3.0):
        problem = found.problem.with_lam(1 / (C * 30))
        A = knots_module._start_near(problem, W)
        assert problem.is_feasible(A)
        assert problem.link(A) == pytest.approx(W, rel=1e-4)


def test_the_start_of_a_run_counts_the_weights():
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=1.0, sample_weight=np.arange(1.0, 31))
    found = Knots(problem, X_NEW, Y_NEW, Clock(None, Interrupt()))
    found.add(1.0, None, 1e-9)
    A = knots_module._start_near(problem, found.machines[1.0])
    assert problem.link(A) == pytest.approx(found.machines[1.0], rel=1e-4)


def test_a_run_for_a_smaller_C_starts_at_a_feasible_point():
    found = knots()
    found.add(3.0, None, 1e-6)
    problem = found.problem.with_lam(1 / 30)
    A = knots_module._start_near(problem, found.machines[3.0])
    assert problem.is_feasible(A)
    zero = knots_module._start_near(problem, np.zeros((M, D)))
    assert not zero.any()


def test_a_refined_knot_is_not_evaluated():
    found = knots()
    found.add_grid(np.array([1.0, 2.0, 4.0]), 1e-4)
    found.refine(3.0, 1e-8)
    assert residual(found, 3.0) <= 2e-8
    assert sorted(found.machines) == [1.0, 2.0, 3.0, 4.0]
    assert sorted(found.n_right) == [1.0, 2.0, 4.0]


def test_the_best_knot_is_the_smallest_one_of_several():
    found = knots()
    found.n_right = {4.0: 5, 1.0: 7, 2.0: 7}
    assert found.best_C == 1.0


@pytest.mark.parametrize("best", [1e-3, 0.1, 10.0])
def test_the_best_result_belongs_to_the_best_C(best):
    """All predictions of one of the machines are made correct."""
    found, grid = knots(), np.geomspace(1e-3, 10.0, 5)
    found.add_grid(grid, 1e-4)
    codes = (X_NEW @ found.machines[best].T).argmax(axis=1)
    found = Knots(found.problem, X_NEW, codes, Clock(None, Interrupt()))
    found.add_grid(grid, 1e-4)
    assert found.n_right[best] == len(X_NEW) and found.best_C <= best
    assert found.best.lam_n == pytest.approx(1 / found.best_C, rel=1e-12)
    assert found.n_right[found.best_C] == max(found.n_right.values())


def test_knots_of_a_grid_have_small_residuals():
    found = knots()
    found.add_grid(np.geomspace(1e-2, 1e3, 7), 1e-4)
    for C, W in found.machines.items():
        assert residual(found, C) <= 1e-3 * np.linalg.norm(W)


def test_a_machine_that_is_0_needs_no_steps():
    """Equal rows of both labels: U(0) = 0."""
    problem = fwlab.Problem([[1.0], [1.0]], [0, 1], fwlab.CrossEntropy(), C=1.0)
    found = Knots(problem, np.ones((2, 1)), np.array([0, 1]), Clock(None, Interrupt()))
    found.add_grid(np.array([1.0, 2.0]), 1e-4)
    assert not found.machines[2.0].any()
    assert found.best.nit < 10


def test_the_clock():
    clock = Clock(None, Interrupt())
    assert clock.remaining is None and not clock.is_over()
    clock.note(Status.CONVERGED)
    assert not clock.is_over()
    clock.note(Status.INTERRUPTED)
    assert clock.is_over()
    late = Clock(10.0, Interrupt())
    late.began -= 6.0
    assert late.is_over(before_walk=True) and not late.is_over()
    assert 3.0 < late.remaining <= 4.0
    late.began -= 6.0
    assert late.is_over() and late.remaining == 0.0


def test_no_short_rest_is_left_before_the_end():
    found = walk()
    found.step = 1.0
    assert found._after(1.0, float(np.exp(1.1))) == float(np.exp(1.1))
    assert found._after(1.0, float(np.exp(1.2))) == pytest.approx(np.e)


def test_the_length_makes_the_reach_the_room():
    found = walk()
    found.bend = 4.0
    assert found._length(5.0, 1.0) == pytest.approx(SAFE * 1.0)
    # a residual that fills the room leaves a share of it
    assert found._length(5.0, 9.0) == pytest.approx(SAFE * np.sqrt(0.5 / 4))
    found.bend, found.step = 0.0, 0.3
    assert found._length(5.0, 1.0) == 0.3


def test_the_room_is_where_one_sample_too_many_can_be_right():
    found = walk(allowed=1)
    found.knots.n_right = {1.0: 1}
    norms = np.ones(4)
    found.validation = Validation(found.validation.features, np.zeros(4, int), norms, 0)
    leads = np.array([[-np.inf, v] for v in (3.0, -1.0, 1.0, 2.0)])
    # one is right, and one more may be: the third one, at the lead 2
    room = found._room(Leads(leads, np.zeros(4), 1))
    assert room == pytest.approx(2.0 / np.sqrt(2))
    found.allowed = 3
    assert found._room(Leads(leads, np.zeros(4), 1)) == np.inf


def test_stretches_follow_each_other_without_gaps():
    found = walk(allowed=0)
    found.knots.add_grid(np.geomspace(1e-2, 10.0, 5), 1e-4)
    found.run()
    ends = [(s.low, s.high) for s in found.stretches]
    assert ends[0][0] == 1e-2 and ends[-1][1] == pytest.approx(10.0)
    assert all(a[1] == b[0] for a, b in pairwise(ends))


def test_open_stretches_double(monkeypatch):
    monkeypatch.setattr(walk_module, "reach", lambda *_: np.inf)
    monkeypatch.setattr(walk_module, "SHORTEST", 0.01)
    found = walk()
    found.shortest = 0.01
    found.knots.add_grid(np.array([1.0, 2.0]), 1e-4)
    found.run()
    lengths = np.log([s.high / s.low for s in found.stretches])
    assert lengths[:-1] == pytest.approx(0.01 * 2.0 ** np.arange(len(lengths) - 1), rel=1e-9)
    assert found.stretches[-1].high == 2.0
    assert all(s.n_right == len(found.validation.codes) for s in found.stretches)


def test_after_a_proved_stretch_open_ones_are_short_again(monkeypatch):
    reaches = [np.inf, np.inf, 0.0, *[np.inf] * 20]
    monkeypatch.setattr(walk_module, "reach", lambda *_: reaches.pop(0) if reaches else 0.0)
    monkeypatch.setattr(walk_module, "SHORTEST", 0.01)
    found = walk(allowed=0)
    found.shortest, found.step = 0.01, 0.005
    found.knots.add_grid(np.array([1.0, 2.0]), 1e-4)
    found.run()
    lengths = np.log([s.high / s.low for s in found.stretches])
    are_open = [s.n_right == len(found.validation.codes) for s in found.stretches]
    assert are_open[:3] == [True, True, False] and lengths[1] == pytest.approx(0.02)
    assert lengths[are_open.index(True, 2)] == pytest.approx(0.01)


def test_the_steps_of_refining_end(monkeypatch):
    monkeypatch.setattr(knots_module, "MOST_STEPS", 2)
    found = knots()
    found.add_grid(np.array([1.0, 100.0]), 1e-2)
    found.refine(30.0, 1e-300)
    assert 30.0 in found.machines
