"""Readings and their judge: choosing the best of several must not manufacture agreement."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from figures.kit import judge as _judge
from figures.kit.findings import Agreement
from figures.kit.judge import judge
from figures.kit.readings import Reading, Tried, distance, within


def tried(name, choose, confirm=(), source="section 7"):
    parts = [
        {f"{part} {i}": d for i, d in enumerate(distances)}
        for part, distances in (("choose", choose), ("confirm", confirm))
    ]
    return Tried(Reading(name, source=source), *parts)


def outcome(*all_tried, tolerance=0.1):
    return judge(all_tried, tolerance).outcome


@given(st.lists(st.floats(0, math.inf), min_size=1, max_size=40), st.floats(0, 10))
def test_nine_of_ten_cells_lie_within_the_distance(distances, tolerance):
    cells = dict(enumerate(distances))
    assert 10 * within(cells, distance(cells)) >= 9 * len(cells)
    near = 10 * within(cells, tolerance) >= 9 * len(cells)
    assert near == (distance(cells) <= tolerance)


def test_the_nearest_reading_that_the_others_confirm_agrees():
    found = judge([tried("far", [0.3], [0.0, 0.0]), tried("near", [0.01], [0.05, 0.02])], 0.1)
    assert (found.outcome, found.reading, found.n_readings) == (Agreement.AGREES, "near", 2)
    assert found.measured == "3 of 3 cells within 0.1; 2 of 2 of those without part in the choice"
    assert found.because == ""


def test_what_the_text_does_not_allow_could_agree():
    one, other = tried("a", [0.01], [0.01], source=""), tried("b", [0.05], [0.01])
    assert outcome(one, other) == outcome(one) == Agreement.COULD_AGREE
    assert "does not say" in judge([one], 0.1).because


def test_of_two_equally_near_readings_the_text_chooses():
    one, other = tried("a", [0.01], [0.01], source=""), tried("b", [0.01], [0.01])
    assert judge([one, other], 0.1).reading == "b"


def test_without_confirmation_it_could_agree():
    assert outcome(tried("a", [0.01]), tried("b", [0.3])) == Agreement.COULD_AGREE
    a, b = tried("a", [0.01] * 20, [0.3]), tried("b", [0.3] * 20, [0.3])
    assert outcome(a, b) == Agreement.COULD_AGREE
    assert "only 0 of 1 other cells confirm it" in judge([a, b], 0.1).because


def test_other_cells_can_refute_the_choice():
    assert outcome(tried("a", [0.01], [0.3] * 9), tried("b", [0.2], [0.3] * 9)) == "disagrees"


def test_none_is_near():
    found = judge([tried("a", [0.3], [0.0]), tried("b", [0.2], [0.0])], 0.1)
    assert (found.outcome, found.reading) == (Agreement.DISAGREES, "b")
    assert found.because == "nine of ten are at a distance of at most 0.2"
    assert judge([tried("a", [math.inf])], 0.1, because="rows are lost").because == "rows are lost"


def test_with_one_reading_nothing_was_chosen():
    assert outcome(tried("", [0.01])) == outcome(tried("", [], [0.01])) == Agreement.AGREES
    assert outcome(tried("", [0.01] * 9, [0.3] * 3)) == Agreement.DISAGREES


def test_a_cell_cannot_choose_and_confirm():
    with pytest.raises(ValueError, match=r"\['fold 1'\] do both"):
        Tried(Reading("a"), {"fold 1": 0.1}, {"fold 1": 0.1})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "there must be a reading"),
        ([tried("a", [])], "each must have cells"),
        ([tried("a", [0.1]), tried("a", [0.1])], "different names"),
        ([tried("a", [], [0.1]), tried("b", [], [0.1])], "none to choose by"),
        ([tried("a", [0.1], [0.1]), tried("b", [0.1])], "'b' has others than 'a'"),
        ([tried("a", [0.1]), tried("b", [0.1, 0.2])], "'b' has others than 'a'"),
    ],
)
def test_what_cannot_be_judged(given, said):
    with pytest.raises(ValueError, match=said):
        judge(given, 0.1)


@pytest.mark.parametrize("wrong", [-0.1, math.nan])
def test_a_distance_is_a_number(wrong):
    with pytest.raises(ValueError, match="at least 0"):
        tried("a", [wrong])


def agreements_by_chance(n_readings):
    """Return how often readings agree whose cells are near with probability one half."""
    rng = np.random.default_rng(0)
    agreed = 0
    for _ in range(400):
        cells = rng.integers(2, size=(n_readings, 2, 3))  # 0 is near, 1 is far
        readings = [tried(str(i), *parts) for i, parts in enumerate(cells.tolist())]
        agreed += judge(readings, 0.5).outcome == Agreement.AGREES
    return agreed / 400


def test_many_readings_agree_by_chance_no_more_than_one_confirms():
    # three cells confirm with probability 1/8, however many readings were tried
    assert agreements_by_chance(30) == pytest.approx(1 / 8, abs=0.06)


def test_cells_that_choose_and_confirm_manufacture_agreement(monkeypatch):
    broken = _judge.judge.__globals__["_outcome"]

    def by_the_choice(chosen, others, tolerance):
        return broken(Tried(chosen.reading, chosen.choose), chosen.choose, tolerance)

    monkeypatch.setattr(_judge, "_outcome", by_the_choice)
    assert agreements_by_chance(30) > 0.9
