"""Rows about what the papers' text says of their tables, runs and densities."""

import math

import pytest

from paper_checks import stored_tables
from paper_checks.kato2019.accuracies import advantages
from paper_checks.kato2019.slowdowns import arrives, away_steps_are_late
from paper_checks.lapin2015.tables import gains_over_top_1
from paper_checks.ledger import Case
from paper_checks.run import tried

FROM_RUNS = (
    "K19-afw-thousand",
    "K19-slowdown",
    "K19-little-smoothing",
    "M20-curves-gauss",
    "M20-densities-overlap",
)


@pytest.mark.parametrize("id", FROM_RUNS)
def test_the_stored_runs_refute_each_planted_version(id, monkeypatch):
    monkeypatch.delenv(stored_tables.VARIABLE, raising=False)
    record = tried(id, seed=0, deep=False)
    assert record["defects_planted"] >= 1 and record["defects_missed"] == []


@pytest.mark.parametrize(
    ("needed", "done", "answer"),
    [
        (69, 90, True),
        (1001, 1500, False),
        (math.inf, 1000, False),
        (math.inf, 90, None),
    ],
)
def test_a_run_that_ended_before_decides_nothing(needed, done, answer):
    assert arrives(needed, done, 1000) is answer


GOT_THERE, LATE, SHORT = (100.0, 1000.0), (math.inf, 1000.0), (math.inf, 90.0)


@pytest.mark.parametrize(
    ("away", "holds", "undecided"),
    [
        ((LATE, GOT_THERE), True, False),
        ((SHORT, GOT_THERE), True, True),
        ((GOT_THERE, GOT_THERE), False, False),
    ],
)
def test_one_scaling_of_the_rows_is_enough(away, holds, undecided):
    ends = {
        str(place): {"fw": GOT_THERE, "pfw": GOT_THERE, "afw": run}
        for place, run in enumerate(away)
    }
    outcome = away_steps_are_late.form(Case(kind="by hand", ends=ends))
    assert (outcome.holds, outcome.undecided) == (holds, undecided)


def test_the_comparisons_of_all_data_sets_losses_and_k_are_fifty():
    cases = list(gains_over_top_1(None, False))
    assert len({(case.data, case.loss, case.k) for case in cases}) == len(cases) == 50


def test_the_printed_advantages_are_those_of_24_differences_each():
    found = {case.other: case for case in advantages(None, False)}
    assert found["Chu"].at_k_1 * 240 == 373
    assert all((24 * case.at_k_1 * 10).denominator == 1 for case in found.values())
