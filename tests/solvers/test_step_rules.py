"""Step rules by hand, and the smoothness of the dual that the short step uses."""

from types import SimpleNamespace

import numpy as np
import pytest
from solvers.solver_table import FORMS, Case

import fwlab
from fwlab.solvers.smoothness import smoothness
from fwlab.solvers.step_rules import Adaptive, Direction, Estimate, Exact, OpenLoop, Short

pytestmark = pytest.mark.small


def direction(slope=1.0, curvature=4.0, square=2.0, limit=1.0, iteration=0, smoothness=5.0):
    """Return a direction whose numbers are given; the state has no more than its smoothness."""
    state = SimpleNamespace(smoothness=smoothness)
    return Direction(iteration, slope, limit, state, lambda: curvature, lambda: square)


@pytest.mark.parametrize(
    ("t", "limit", "two", "log"),
    [
        (0, 1.0, 1.0, 1.0),
        (1, 1.0, 2 / 3, (2 + np.log(2)) / (3 + np.log(2))),
        (6, 1.0, 1 / 4, (2 + np.log(7)) / (8 + np.log(7))),
        (6, 0.125, 0.125, 0.125),
    ],
)
def test_open_loop_steps(t, limit, two, log):
    given = direction(iteration=t, limit=limit)
    assert OpenLoop()(given, None) == pytest.approx(two, rel=1e-15)
    assert OpenLoop("log")(given, None) == pytest.approx(log, rel=1e-15)


@pytest.mark.parametrize(
    ("slope", "limit", "exact", "short"), [(1.0, 1.0, 1 / 4, 1 / 10), (8.0, 0.5, 0.5, 0.5)]
)
def test_exact_and_short_steps(slope, limit, exact, short):
    """slope / curvature, and slope / (smoothness |direction|^2), cut at the limit."""
    assert Exact()(direction(slope, limit=limit), None) == exact
    assert Short()(direction(slope, limit=limit), None) == short
    assert Exact()(direction(-slope), None) == Short()(direction(-slope), None) == 0.0


def test_the_rise_is_that_of_a_parabola():
    assert direction().rise(0.5) == 0.5 * 1.0 - 0.5**2 * 4.0 / 2
    assert direction().rise(0.25) == max(direction().rise(t) for t in np.linspace(0, 1, 41))


def test_adaptive_steps():
    """A first estimate is exact, 4/2. It shrinks to 1.8, promises too much, and doubles."""
    memory, rule = Estimate(), Adaptive(shrink=0.9, grow=2.0)
    assert rule(direction(), memory) == 1 / 4 and memory.smoothness == 2.0
    assert rule(direction(), memory) == pytest.approx(1 / 7.2) and memory.smoothness == 3.6
    assert rule(direction(), memory) == pytest.approx(1 / 6.48)
    assert memory.smoothness == pytest.approx(3.24)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 20.0])
def test_the_smoothness_is_the_largest_curvature(form, smoothing):
    """The bound is met where one row has both the least weight and all of X."""
    case = Case("TopK-1", form=form, smoothing=smoothing, weighted=True)
    problem, omega = case.problem(), case.omega
    largest = np.linalg.norm(case.X, 2) ** 2 / (case.lam * case.n**2)
    expected = largest + smoothing / omega[omega > 0].min() / case.n
    assert expected <= smoothness(problem) <= 1.011 * expected
    for seed in range(5):
        D = np.random.default_rng(seed).normal(size=(case.n, problem.n_classes))
        D[omega == 0] = 0.0
        assert problem.curvature(D, problem.link(D)) <= expected * np.vdot(D, D)


def test_one_sample_and_no_features():
    for X, largest in (([[3.0, 4.0]], 25.0), (np.zeros((2, 3)), 0.0)):
        n = len(X)
        problem = fwlab.Problem(X, np.arange(n), fwlab.TopK(1), 0.5, n_classes=2)
        assert smoothness(problem) == pytest.approx(largest / (0.5 * n**2))
