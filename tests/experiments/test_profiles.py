"""Performance profiles: costs read from traces, ratios, profiles, scores and the worst problem."""

import numpy as np
import pytest
from tiny_suite import made_up_run

from fwlab.experiments.engine import Failure
from fwlab.experiments.profiles import (
    GAPS,
    LARGEST_RATIO,
    Profiles,
    cost_to,
    counts_no_calls,
    relative_gaps,
    smallest_gap,
)
from fwlab.result import Status


def costs(by_gap, gaps=None):
    """Return the profiles of costs {gap: (problems, methods)}, the same by calls and CPU seconds.

    Gaps that are not given were not reached.
    """
    shape = np.shape(next(iter(by_gap.values())))
    arrays = {
        (kind, gap): np.array(by_gap.get(gap, np.full(shape, np.inf)), dtype=float)
        for kind in ("calls", "cpu")
        for gap in GAPS
    }
    gaps = np.ones(shape) if gaps is None else np.array(gaps)
    names = [f"p{i}" for i in range(shape[0])], "abc"[: shape[1]]
    return Profiles(tuple(names[0]), tuple(names[1]), arrays, gaps)


def test_the_relative_gap_is_over_the_larger_value():
    result = made_up_run([4.0, 1.0, 0.0], [2.0, -2.0, 0.0], [0, 1, 2], [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(relative_gaps(result), [0.5, 1.5, np.inf])
    assert smallest_gap(result) == 0.5
    assert smallest_gap(Failure("failed", "")) == np.inf


def test_the_cost_is_that_of_the_first_checkpoint_below_the_gap():
    result = made_up_run(
        [2.0, 1.0, 1.0, 1.0], [0.0, 0.99, 0.5, 0.999], [0, 5, 7, 9], [0.0, 0.1, 0.2, 0.3]
    )
    # LMOs and twice as many projections
    assert cost_to(result, "calls", 1.1e-2) == 15 and cost_to(result, "cpu", 1.1e-2) == 0.1
    assert cost_to(result, "calls", 1.1e-3) == 27 and cost_to(result, "cpu", 1.1e-3) == 0.3
    assert cost_to(result, "calls", 1e-4) == np.inf
    assert cost_to(Failure("failed", ""), "cpu", 1.0) == np.inf


def test_a_run_that_contradicts_itself_solves_nothing():
    result = made_up_run([2.0, 1.0], [0.0, 1.0], [0, 5], [0.0, 0.1], Status.INCONSISTENT)
    assert cost_to(result, "calls", 1e-2) == np.inf and smallest_gap(result) == np.inf


def test_steps_without_calls_have_no_number_of_calls():
    result = made_up_run([2.0, 1.0], [0.0, 1.0], [0, 0], [0.0, 0.1])
    assert cost_to(result, "calls", 1e-2) == np.inf and cost_to(result, "cpu", 1e-2) == 0.1
    assert counts_no_calls([result])
    assert not counts_no_calls([made_up_run([2.0, 1.0], [0.0, 1.0], [0, 3], [0.0, 0.1])])
    assert not counts_no_calls([Failure("refused", "")])
    # a start that is good enough needs no call
    assert cost_to(made_up_run([1.0], [1.0], [0], [0.0]), "calls", 1e-2) == 0.0


def test_ratios_and_profiles():
    found = costs({1e-2: [[2, 1], [3, 6], [np.inf, 5], [np.inf, np.inf]]})
    np.testing.assert_array_equal(
        found.ratios("calls", 1e-2), [[2, 1], [1, 2], [np.inf, 1], [np.inf, np.inf]]
    )
    tau, rho = found.profile("calls", 1e-2, "a")
    np.testing.assert_array_equal(tau, [1, 1, 2, LARGEST_RATIO])
    np.testing.assert_array_equal(rho, [0, 0.25, 0.5, 0.5])
    np.testing.assert_array_equal(found.solved(1e-2), [0.5, 0.75])
    np.testing.assert_array_equal(found.within("cpu", 1e-2, 1.0), [0.25, 0.5])
    np.testing.assert_array_equal(found.within("cpu", 1e-2, 2.0), [0.5, 0.75])


def test_no_calls_at_all_are_as_good_as_each_other():
    np.testing.assert_array_equal(costs({1e-2: [[0, 0]]}).ratios("calls", 1e-2), [[1, 1]])


def test_the_score_is_the_area_under_the_profile():
    by_gap = {1e-2: [[1, 10], [1, 1000]], 1e-3: [[1, 1], [np.inf, 1]]}
    # the areas of b are (1/2 + 0)/2, (1 + 1)/2 and 0
    found = costs(by_gap)
    np.testing.assert_allclose(found.score("calls"), [(1 + 0.5) / 3, (0.25 + 1) / 3])
    # the area itself, from the corners of the profile
    tau, rho = found.profile("calls", 1e-2, "b")
    area = np.sum(np.diff(np.log(tau)) * rho[:-1]) / np.log(LARGEST_RATIO)
    assert area == pytest.approx(0.25)


def test_methods_are_ranked_by_calls_and_then_by_gaps():
    found = costs({1e-2: [[2, 1, np.inf]]})
    assert found.ranking() == ["b", "a", "c"]
    found.costs["cpu", 1e-2][:] = [[1, 2, np.inf]]
    assert found.ranking() == ["b", "a", "c"]
    nothing = costs({1e-2: np.full((3, 3), np.inf)}, [[0.9, 1, 0.5], [0.9, 0.1, 0.5], [0.9, 1, 2]])
    assert nothing.ranking() == ["c", "a", "b"]


def test_factors_say_who_is_ahead():
    found = costs({1e-2: [[2, 4, 6], [np.inf, 1, 2], [1, np.inf, np.inf], [np.inf] * 3]})
    np.testing.assert_array_equal(found.factors("calls", 1e-2, "a"), [2, 0, np.inf, np.nan])
    np.testing.assert_array_equal(found.factors("calls", 1e-2, "b"), [0.5, 2, 0, np.nan])
    np.testing.assert_array_equal(found.between("cpu", 1e-2, "a", "c"), [3, 0, np.inf, np.nan])


def test_the_worst_problem():
    missed = {1e-2: [[1, 2], [np.inf, 1], [np.inf, 1], [np.inf, np.inf]]}
    found = costs(missed, [[0.1, 0], [0.5, 0], [0.7, 0], [0.9, 0.9]])
    # of those that another method solved, the one with the largest gap
    assert found.worst("a") == 2
    # b solves all that a does: the largest ratio of calls at the smallest gap
    solved = {gap: [[1, 3], [2, 2], [1, 2]] for gap in GAPS}
    assert costs(solved).worst("b") == 0
    # a larger gap that is missed counts more than a smaller one
    both = {1e-2: [[1, 1], [np.inf, 1]], 1e-3: [[np.inf, 1], [np.inf, np.inf]]}
    assert costs(both, [[0.9, 0], [0.5, 0]]).worst("a") == 1
