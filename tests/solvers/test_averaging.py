"""bcfw with averaging=True: the weighted average of all its points, and its certificate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from solvers.active_set_table import start_point
from solvers.solver_table import FORMS, Case

import fwlab
from fwlab.solvers.averaging import parts_without_repeats
from fwlab.solvers.blocks import ORDERS

pytestmark = pytest.mark.small


class Keeping(fwlab.StepRule):
    """The exact step; keeps the point before every step."""

    def __init__(self):
        self.points = []

    def __call__(self, direction, memory):
        self.points.append(direction.state.A.copy())
        if direction.slope <= 0.0:
            return 0.0
        if direction.slope >= direction.curvature:
            return 1.0
        return direction.slope / direction.curvature


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("inside", [False, True])
def test_the_average_is_that_of_all_points(order, inside):
    """The start has no weight, and the point after step k has the weight k."""
    case, rule = Case(), Keeping()
    A0 = start_point(case, "inside" if inside else "zero")
    # rounding errors of gaps change what is drawn by them
    options = {"order": order, "tol": 0, "max_iter": 1 if order == "gap" else 5, "A0": A0}
    last = fwlab.solve(case.problem(), "bcfw", step=rule, **options)
    points = [*rule.points[1:], last.A]
    assert len(points) == last.nit * case.n
    weights = np.arange(1, len(points) + 1)
    expected = np.tensordot(weights, points, axes=1) / weights.sum()
    for step in ("exact", Keeping()):
        result = fwlab.solve(case.problem(), "bcfw", averaging=True, step=step, **options)
        assert_allclose(result.A, expected, rtol=0, atol=1e-13)
    assert np.abs(last.A - expected).max() > 1e-2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", ORDERS)
def test_the_certificate_is_that_of_the_average(form, order):
    problem = Case(form=form, smoothing=0.1, weighted=True).problem()
    result = fwlab.solve(problem, "bcfw", averaging=True, order=order, tol=2e-2, max_iter=3000)
    assert result.success and result.gap + result.gap_error <= 2e-2
    assert result.gap == pytest.approx(problem.gap(result.A), abs=1e-13)
    assert result.dual == pytest.approx(problem.dual(result.A), abs=1e-13)
    if form != "precomputed":
        assert_allclose(result.W, problem.weights(result.A), rtol=0, atol=1e-13)


def test_the_trace_shows_the_average():
    problem, seen = Case().problem(), []
    result = fwlab.solve(
        problem,
        "bcfw",
        averaging=True,
        tol=0,
        max_iter=5,
        check_every=1,
        callback=lambda progress: seen.append(problem.dual(progress.A)),
    )
    assert_allclose(result.trace.dual, seen, rtol=0, atol=1e-14)


def test_a_part_lists_no_row_twice():
    order = np.array([2, 0, 1, 0, 0, 2, 1, 1])
    parts = [part.tolist() for part in parts_without_repeats(order)]
    assert parts == [[2, 0, 1], [0], [0, 2, 1], [1]]


def test_arguments():
    method = fwlab.BlockFrankWolfe(averaging=True)
    assert not method.monotone and method.sentence.endswith("line search, averaged over its steps.")
    fwlab.testing.check_method(method)
    with pytest.raises(TypeError, match=r"averaging must be True or False; got 1\."):
        fwlab.BlockFrankWolfe(averaging=1)
    with pytest.raises(TypeError, match=r"method 'bcpfw' takes .* got 'averaging'"):
        fwlab.solve(Case().problem(), "bcpfw", averaging=True)
