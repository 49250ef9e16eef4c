"""The start of M20's program leaves a gap, which vanishes once delta is set again."""

import numpy as np
import pytest

from figures.macha2020.program import (
    after_loops,
    first_point,
    gaps,
    offset_of,
    relative_gap,
    with_equal_sums,
)
from fwlab import datasets
from fwlab.ranking import PatMat, Problem, TopPush
from fwlab.ranking.problem import Point

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 3)), np.arange(30) % 3 == 0


def test_sums_are_made_equal_by_hand():
    """3 - 3/4 and 1 - 3/4 have the sum of 1 + 3/4 and 0 + 3/4; below 0 nothing moves."""
    alpha, beta = with_equal_sums(np.array([3.0, 1.0]), np.array([1.0, 0.0]))
    assert alpha.tolist() == pytest.approx([2.25, 0.25], rel=1e-12)
    assert beta.tolist() == pytest.approx([1.75, 0.75], rel=1e-12)
    alpha, beta = with_equal_sums(np.array([4.0, 0.1]), np.array([0.0, 0.0]))
    assert alpha.tolist() == pytest.approx([8 / 3, 0.0]) and beta.tolist() == pytest.approx(
        [4 / 3] * 2
    )


@pytest.mark.parametrize("over", ["all", "negatives"])
def test_delta_of_the_start_belongs_to_the_drawn_beta(over):
    problem = Problem(X, Y, PatMat(0.1, theta2=0.5, over=over), 1.0)
    point = first_point(problem, np.random.default_rng(7))
    again = np.random.default_rng(7)
    again.random(10)
    drawn = again.random(problem.n_counted)
    assert problem.is_feasible(point)
    assert point.delta == pytest.approx(np.sqrt(drawn @ drawn / (4 * 0.5**2 * 3)))
    assert offset_of(problem, point) == pytest.approx(
        point.delta**2 - point.beta @ point.beta / (4 * 0.5**2 * 3)
    )


def test_the_offset_stays():
    problem = Problem(X @ X.T, Y, PatMat(0.1, over="all"), 0.1, "precomputed")
    rng = np.random.default_rng(1)
    start = first_point(problem, rng)
    first = offset_of(problem, start)
    end = after_loops(problem, start, 500, rng, first)
    assert abs(first) > 0.01 and offset_of(problem, end) == pytest.approx(first, rel=1e-10)
    assert not np.array_equal(end.beta, start.beta)


def test_more_loops_do_not_close_the_gap():
    problem = Problem(X @ X.T, Y, PatMat(0.1, over="all"), 0.1, "precomputed")
    rng = np.random.default_rng(1)
    point = first_point(problem, rng)
    offset, found = offset_of(problem, point), []
    for _ in range(3):
        point = after_loops(problem, point, 2000, rng, offset)
        found.append(relative_gap(problem, point))
    assert min(found) > 1e-3 and found[2] == pytest.approx(found[1], rel=1e-6)
    mended = after_loops(problem, point, 4000, rng, 0.0)
    assert relative_gap(problem, mended) < 1e-12


@pytest.mark.parametrize("objective", [TopPush(), PatMat(0.1, "hinge")])
def test_another_objective_is_refused(objective):
    with pytest.raises(TypeError, match="objective must be PatMat, quadratic; got"):
        first_point(Problem(X, Y, objective, 1.0), np.random.default_rng(0))


def test_a_delta_of_0_has_an_infinite_gap():
    problem = Problem(X, Y, PatMat(0.1), 1.0)
    assert relative_gap(problem, Point(np.full(10, 0.2), np.full(20, 0.1), 0.0)) == np.inf


@pytest.mark.usefixtures("data_folder")
def test_the_gap_of_figure_3_on_ionosphere():
    """C = 0.1 and tau = 0.05: it is visible in the figure, whatever the start."""
    data = datasets.load("ionosphere", rng=0)
    K = data.X_train @ data.X_train.T
    problem = Problem(K, data.y_train, PatMat(0.05, over="all"), 0.1, "precomputed")
    for seed in range(2):
        found = gaps(problem, 5000, np.random.default_rng(seed))
        assert found["as the program"] > 1e-2 and found["delta set again"] < 1e-12
