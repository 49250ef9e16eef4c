"""The own figures: what their cells compute, and what their titles and tables make of it."""

import numpy as np
import pytest

import fwlab
from figures.kit.study import Study
from figures.own import (
    certified_gaps,
    performance_profiles,
    proved_labels,
    pseudo_topk,
    which_method,
    worst_case,
)
from figures.own.subsets import DIGITS, random_rows
from fwlab.experiments import Cell

DATA = DIGITS["digits"]


def test_random_rows_are_the_same_each_time():
    (X, y), (again, labels) = random_rows(DATA, 30), random_rows(DATA, 30)
    assert X.shape == (30, 64) and np.array_equal(X, again) and np.array_equal(y, labels)
    assert not np.array_equal(y, DATA.load().y_train[:30])


# --- which method to choose -----------------------------------------------------------------------


def contest(condition, **milliseconds):
    runs = {method: [10 * cost, cost / 1000] for method, cost in milliseconds.items()}
    return {"condition": condition, "methods": runs}


def test_regimes_have_ranges_and_the_time_of_the_default():
    found = which_method.regimes(
        {
            "a": contest(1.0, ascent=1.0, fw=5.0),
            "b": contest(10.0, ascent=2.0, fw=5.0),
            "c": contest(1e3, ascent=9.0, newton=3.0),
            "d": contest(1e5, newton=3.0),
            "e": contest(1e6),
        }
    )
    assert found == [
        ["ascent", "2", "1 to 10", "1"],
        ["newton", "2", "1e+03 to 1e+05", "3; not in time: 1"],
        ["none", "1", "1e+06", "not in time: 1"],
    ]


def test_methods_with_smaller_gaps_come_first():
    found = certified_gaps.arrivals(
        {
            "slow": {"1e-3": [1, 9.0]},
            "fast": {"1e-3": [1, 0.5], "1e-5": [2, 0.75]},
            "never": {},
        }
    )
    assert found == [["fast", "0.5", "0.75", ""], ["slow", "9", "", ""], ["never", "", "", ""]]


# --- proved labels -------------------------------------------------------------------------------


def test_smaller_gaps_prove_more_and_the_intervals_are_nested():
    found = proved_labels.proofs_at_gaps(DATA, rows=60, smallest=5)
    assert all(gap <= 10.0 ** -(i + 1) for i, gap in enumerate(found["gap"]))
    assert found["proved"][-1] > max(0.5, found["proved"][0])
    assert found["changed"][-1] == 0.0
    low, high = found["interval"][-1]
    assert low <= found["accuracy"][-1] <= high


def test_the_title_names_the_first_gap_that_is_small_enough_for_all():
    values = {
        "a": {"proved": [0.95, 0.0, 0.95, 1.0], "changed": [0.02, 0.0, 0.0, 0.0]},
        "b": {"proved": [0.95, 0.0, 0.0, 0.9], "changed": [0.0, 0.0, 0.0, 0.0]},
    }
    title = proved_labels.title_of(values)
    assert "a gap of 1e-2, 99%" in title and title.endswith("takes 1e-4")
    values["b"]["proved"][-1] = 0.89  # 90% at 1e-1 alone does not count
    assert proved_labels.title_of(values).endswith("takes less than 1e-4")


# --- the pseudo top-k ----------------------------------------------------------------------------


def test_the_losses_are_one_at_k_1_and_apart_at_k_3():
    one, three = (pseudo_topk.primals(DATA, rows=60, C=10.0, k=k) for k in (1, 3))
    assert pseudo_topk.excess(one, "pseudo") < pseudo_topk.TOL
    assert pseudo_topk.excess(one, "Usunier") < pseudo_topk.TOL
    assert pseudo_topk.excess(three, "pseudo") > 10 * pseudo_topk.TOL
    assert three["optimum"][0] <= three["optimum"][1] <= three["pseudo"]["primal"]


def test_the_title_names_the_worst_cell():
    def value(pseudo, usunier):
        return {"optimum": [0.9, 1.0], "pseudo": {"primal": pseudo}, "Usunier": {"primal": usunier}}

    title = pseudo_topk.title_of({"a|1|2": value(1.5, 1.0), "b|10|3": value(3.0, 1.25)})
    assert "3 times the optimum of the true top-3 (b, C = 10)" in title and "1.2 times" in title


# --- the worst case ------------------------------------------------------------------------------


def test_bounds_enclose_the_worst_case():
    found = {ell: worst_case.worst_cases(ell, (1, 2, 4)) for ell in worst_case.ELLS}
    for ell, one in found.items():
        constant, shift = one["for_all"]
        assert shift == ell and constant == pytest.approx(ell**2 / (2 * (ell - 1)))
        for t, proved, reached in zip(one["t"], one["proved"], one["reached"], strict=True):
            assert 0.99 * proved < reached < proved < constant / (t + shift)
    assert found[4]["reached"][-1] > 1.1 * found[2]["reached"][-1]


@pytest.mark.parametrize("smoothing", [0.0, 0.7])
def test_the_curvature_is_the_second_derivative_between_two_feasible_points(smoothing):
    data = fwlab.datasets.synthetic(4, 3, 3, 1.0, rng=0)
    problem = fwlab.Problem(
        data.X_train, data.y_train, fwlab.TopK(2), 0.3, smoothing=smoothing, n_classes=3
    )
    found, most = worst_case.curvature_found(problem), 0.0
    rng = np.random.default_rng(1)
    for _ in range(300):
        S, A = (problem.loss.lmo(rng.normal(size=(4, 3)), problem.y) for _ in range(2))
        bend = 4 * (2 * problem.dual((S + A) / 2) - problem.dual(S) - problem.dual(A))
        most = max(most, bend)
    # no pair of vertices that was drawn bends D more, and the best comes near
    assert most <= found * (1 + 1e-9) and most > 0.7 * found


def planted(share):
    """Return values of two step rules and one run that reaches a share of its proof."""
    t = np.array([1, 2, 3])
    values = {}
    for ell, reached in zip(worst_case.ELLS, (0.2, 0.3), strict=True):
        theory = {"t": [1, 2], "proved": [0.5, 0.4], "reached": [0.45, reached]}
        values[f"ell = {ell}"] = {"for_all": [2.0, ell], **theory}
    run = {"t": t, "error": [0.1, 0.1, 0.1], "share": share, "errors_at_first": [0.1, 0.1, 0.1]}
    ahead = {**run, "error": [0.2, 0.05, 0.01]}
    values["digits|0"] = {"ell = 2": run, "ell = 4": ahead, "curvature": 1.0, "gap": 0.0}
    return values


def test_the_title_says_where_ell_4_is_ahead():
    values = planted(0.5)
    assert worst_case.crossings(values) == {"digits|0": 2}
    assert worst_case.shares(values) == {"digits|0|2": 0.5, "digits|0|4": 0.5}
    title = worst_case.title_of(values)
    assert (
        "1.50 times worse" in title
        and "after 2 steps or more it is ahead on 1 of 1 real duals, by up to 10" in title
    )
    values["digits|0"]["ell = 4"]["error"] = [0.05, 0.2, 0.2]
    assert worst_case.crossings(values) == {"digits|0": None}


def test_a_run_above_its_proof_is_refused(tmp_path):
    study = Study("worst_case", "quick", tmp_path)
    for share, early in ((1.01, 0.1), (0.5, 0.6)):
        values = planted(share)
        values["digits|0"]["ell = 2"]["errors_at_first"] = [early] * 3
        study.compute([Cell(name, give, {"value": value}) for name, value in values.items()])
        with pytest.raises(ValueError, match="runs are above the proved bound"):
            worst_case.plot(study)


def give(value):
    return value


# --- profiles and the phase diagram --------------------------------------------------------------


def test_a_profile_counts_all_problems(monkeypatch):
    monkeypatch.setattr(performance_profiles, "METHODS", ("a", "b"))
    values = {
        "1": {"a": {"1e-2": [5, 1.0]}, "b": {"1e-2": [1, 3.0]}},
        "2": {"a": {"1e-2": [4, 2.0]}, "b": {}},
        "3": {"a": {}, "b": {}},
        "4": {"a": {"1e-2": [2, 4.0]}, "b": {"1e-2": [2, 2.0]}},
    }
    found = performance_profiles.ratios(values, "1e-2")
    assert found["a"].tolist() == [1.0, 1.0, np.inf, 2.0]
    assert found["b"].tolist() == [3.0, np.inf, np.inf, 1.0]
    assert performance_profiles.ratios(values, "1e-2", 0)["a"].tolist() == [5.0, 1.0, np.inf, 1.0]
    tau, share = performance_profiles.profile(found["a"])
    assert tau.tolist() == [1.0, 1.0, 1.0, 2.0, performance_profiles.MOST]
    assert share.tolist() == [0.0, 0.25, 0.5, 0.75, 0.75]
    assert performance_profiles.best_within(found, 2.0) == ("a", 0.75)
    monkeypatch.setattr(performance_profiles, "DRAWN", ("b", "a"))
    title = performance_profiles.title_of({"1e-8": found}, 0.5)
    assert title == "Share of 4 problems solved to 1e-8 in 0.5 s: a 75%, b 50%"


def test_a_winner_is_the_first_of_those_near_the_least():
    passes, milliseconds = which_method.PASSES, which_method.MILLISECONDS
    value = {"methods": {"fw": [9, 0.011], "ascent": [3, 0.01], "newton": [2, 0.03]}}
    assert passes.winner(value) == ("ascent", 3)  # an iteration of newton is no pass
    assert milliseconds.winner(value) == ("fw", 11.0)
    assert milliseconds.winner({"methods": {}})[0] == ""
    same = {"methods": {"ascent": [3, 0.02], "newton": [3, 0.01]}}
    assert milliseconds.winner(same) == ("ascent", 20.0)  # not one Newton step


def test_the_title_says_where_the_second_wins():
    def value(condition, **runs):
        return {"condition": condition, "methods": runs}

    values = {
        "grid|1|0": value(1.0, bcfw=[2, 1.0], ascent=[2, 2.0]),
        "grid|10|0": value(10.0, ascent=[2, 1.0]),
        "digits|1": value(99.0, ascent=[2, 1.0]),
        "digits|10": value(999.0),
    }
    title = which_method.title_of(values)
    assert title.startswith("By passes, ascent wins 2 of 4 problems and bcfw 1, where")
    assert "at most 1; by seconds, ascent wins 2 of 4" in title


def test_the_grid_has_the_conditions_that_it_asks_for():
    found = which_method.on_grid(50.0, 0.1, rows=40, limit=5.0, methods=("ascent", "fw"))
    assert found["condition"] == pytest.approx(50.0)
    iterations, seconds = found["methods"]["ascent"]
    assert 1 <= iterations < 1000 and seconds > 0


def test_problems_are_sixty_and_grids_are_whole():
    assert len(performance_profiles.cells("standard")) == 60
    assert len(which_method.cells("standard")) == 6 * 4 + 4 * 3
