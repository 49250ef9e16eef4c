"""The judge of readings and causes: no choice among several may manufacture agreement."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from figures.kit import judge as _judge
from figures.kit.causes import Cause, cause_of
from figures.kit.findings import FigureOutcome
from figures.kit.judge import judge
from figures.kit.readings import Program, Reading, Tried, distance, within

PROGRAM = Program("author/name 0123abc folder/file.py lines 7, 9", "X20 (3), gamma")


def tried(name, choose, confirm=(), source="section 7", program=None):
    parts = [
        {f"{part} {i}": d for i, d in enumerate(distances)}
        for part, distances in (("choose", choose), ("confirm", confirm))
    ]
    return Tried(Reading(name, source=source, program=program), *parts)


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
    assert (found.outcome, found.reading, found.n_readings) == (FigureOutcome.AGREES, "near", 2)
    assert found.measured == (
        "3 of 3 cells within 0.1; 2 of 2 on numbers not used to choose the reading"
    )
    assert found.because == ""


def test_a_guess_does_not_agree():
    one, other = tried("a", [0.01], [0.01], source=""), tried("b", [0.05], [0.01])
    assert outcome(one, other) == outcome(one) == FigureOutcome.NOT_EXPLAINED
    assert judge([one], 0.1).because == (
        "tried 1 reading; neither the paper nor a program of its authors says so"
    )


def test_a_reading_of_the_program_agrees_with_the_program():
    one = tried("a", [0.01], [0.01], source="", program=PROGRAM)
    found = judge([one, tried("b", [0.05], [0.01])], 0.1)
    assert found.outcome == FigureOutcome.AGREES_WITH_PROGRAM
    assert "author/name 0123abc folder/file.py lines 7, 9" in found.because
    assert "where the text says otherwise: X20 (3), gamma" in found.because
    far = tried("a", [0.01], [0.3], source="", program=PROGRAM)
    assert outcome(far, tried("b", [0.05], [0.3])) == FigureOutcome.NOT_EXPLAINED


def test_of_equally_near_readings_the_text_comes_first_then_the_program():
    guess, text = tried("a", [0.01], [0.01], source=""), tried("b", [0.01], [0.01])
    theirs = tried("c", [0.01], [0.01], source="", program=PROGRAM)
    assert judge([guess, theirs, text], 0.1).reading == "b"
    assert judge([guess, theirs], 0.1).reading == "c"


def test_without_confirmation_it_does_not_agree():
    assert outcome(tried("a", [0.01]), tried("b", [0.3])) == FigureOutcome.NOT_EXPLAINED
    a, b = tried("a", [0.01] * 20, [0.3]), tried("b", [0.3] * 20, [0.3])
    assert outcome(a, b) == FigureOutcome.NOT_EXPLAINED
    assert "only 0 of 1 other cells confirm it" in judge([a, b], 0.1).because


def test_other_cells_can_refute_the_choice():
    assert outcome(tried("a", [0.01], [0.3] * 9), tried("b", [0.2], [0.3] * 9)) == "not explained"


def test_none_is_near():
    found = judge([tried("a", [0.3], [0.0]), tried("b", [0.2], [0.0])], 0.1)
    assert (found.outcome, found.reading) == (FigureOutcome.NOT_EXPLAINED, "b")
    assert found.because == "tried 2 readings; nine of ten are at a distance of at most 0.2"


@pytest.mark.parametrize("because", ["of a", lambda chosen: f"of {chosen.reading.name}"])
def test_a_script_says_what_was_tried(because):
    found = judge([tried("a", [math.inf])], 0.1, because=because)
    assert found.because == "tried 1 reading; of a"


def test_with_one_reading_nothing_was_chosen():
    assert outcome(tried("", [0.01])) == outcome(tried("", [], [0.01])) == FigureOutcome.AGREES
    assert outcome(tried("", [0.01] * 9, [0.3] * 3)) == FigureOutcome.NOT_EXPLAINED


def cause(present, absent, cell="confirm 0"):
    return Cause("their rows are halved", "2.5 times", {cell: present}, {cell: absent})


@pytest.mark.parametrize(
    ("present", "absent", "expected"),
    [
        (0.05, 0.3, "explained"),
        (0.2, 0.3, "not explained"),  # the figure does not come out with the cause, either
        (0.05, 0.05, "not explained"),  # it comes out without the cause, too
        (0.3, 0.05, "not explained"),
    ],
)
def test_a_cause_holds_against_its_control(present, absent, expected):
    one = tried("a", [0.01], [0.3])
    found = judge([one], 0.1, causes=[cause(present, absent)])
    assert found.outcome == expected
    told = f"{'' if expected == 'explained' else 'not '}their rows are halved: 2.5 times; "
    assert told in found.because and "in the control without it" in found.because


def test_a_cause_of_one_cell_leaves_the_others_unexplained():
    one = tried("a", [0.3], [0.3])
    assert judge([one], 0.1, causes=[cause(0.0, 0.3)]).outcome == FigureOutcome.NOT_EXPLAINED


def test_what_agrees_needs_no_cause():
    assert judge([tried("a", [0.01], [0.05])], 0.1, causes=[cause(0.0, 0.3)]).because == ""


def test_a_guess_is_explained_by_the_reading_without_it():
    guess, text = tried("a", [0.01], [0.01], source=""), tried("b", [0.3], [0.3])
    causes = [cause_of("the guess", "2 of 2", guess, text)]
    assert judge([guess, text], 0.1, causes=causes).outcome == FigureOutcome.EXPLAINED
    causes = [cause_of("the guess", "2 of 2", guess, tried("b", [0.01], [0.01]))]
    assert judge([guess, text], 0.1, causes=causes).outcome == FigureOutcome.NOT_EXPLAINED


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (("", "1", {"a": 0.0}, {"a": 1.0}), "must say what it is"),
        (("x", "", {"a": 0.0}, {"a": 1.0}), "a measured number"),
        (("x", "1", {"a": 0.0}, {"b": 1.0}), "the control must have the cells of the cause"),
        (("x", "1", {}, {}), "at least one"),
    ],
)
def test_a_cause_has_a_number_and_a_control(parts, said):
    with pytest.raises(ValueError, match=said):
        Cause(*parts)


def test_a_cause_changes_cells_of_the_figure():
    with pytest.raises(ValueError, match=r"the figure has no cells \['other'\]"):
        judge([tried("a", [0.3])], 0.1, causes=[cause(0.0, 1.0, "other")])


@pytest.mark.parametrize("file", ["", "author/name file.py", "name 0123abc file.py", "a/b 0123abc"])
def test_a_program_has_repository_commit_and_file(file):
    with pytest.raises(ValueError, match="repository, commit and file"):
        Program(file, "X20 (3)")


def test_a_program_is_read_where_the_text_says_otherwise():
    with pytest.raises(ValueError, match="that says otherwise"):
        Program(PROGRAM.file, "")
    with pytest.raises(ValueError, match="either allow a reading or say otherwise"):
        Reading("a", source="section 7", program=PROGRAM)


def test_a_reading_says_where_it_comes_from():
    origins = [Reading("a", source="section 7"), Reading("a", program=PROGRAM), Reading("a")]
    assert [one.origin for one in origins] == [
        "the text: section 7", f"the program: {PROGRAM.file}", "a guess of ours",
    ]  # fmt: skip


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
        agreed += judge(readings, 0.5).outcome == FigureOutcome.AGREES
    return agreed / 400


def test_many_readings_agree_by_chance_no_more_than_one_confirms():
    # three cells confirm with probability 1/8, however many readings were tried
    assert agreements_by_chance(30) == pytest.approx(1 / 8, abs=0.06)


def test_cells_that_choose_and_confirm_manufacture_agreement(monkeypatch):
    broken = _judge.judge.__globals__["_comes_out"]

    def by_the_choice(chosen, others, tolerance):
        return broken(Tried(chosen.reading, chosen.choose), chosen.choose, tolerance)

    monkeypatch.setattr(_judge, "_comes_out", by_the_choice)
    assert agreements_by_chance(30) > 0.9
