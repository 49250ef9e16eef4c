"""Rows about all numbers of a figure: the verdict follows from the figure's own comparison."""

import math
from fractions import Fraction

import pytest

from figures.kit.causes import Cause
from figures.kit.findings import nothing_to_compute
from figures.kit.judge import judge
from figures.kit.outcomes import OUTCOMES, row_of
from figures.kit.readings import Program, Reading, Tried, distance
from figures.kit.scoreboard import WITHOUT_SCRIPT, label
from figures.kit.script import script, script_names
from paper_checks import whole_figures
from paper_checks.ledger import CLAIMS
from paper_checks.run import claims, tried

PROGRAM = Program("owner/name 0123abc file.py lines 7, 9", "(24), gamma")
FIGURE, ROW = "K19 Table 6", "K19-table6-whole"
NEAR, FAR = {"a": 0.0, "b": 0.1}, {"a": 0.0, "b": 9.0}


def found_by(reading, cells, causes=()):
    return judge([Tried(reading, cells)], 0.5, causes=causes)


TEXT, GUESS = Reading("R", source="section 7"), Reading("G")
FINDINGS = {
    "reproduced": found_by(TEXT, NEAR),
    "not reproduced": found_by(TEXT, FAR),
    "reproduced with the program": found_by(Reading("P", program=PROGRAM), NEAR),
    "explained": found_by(TEXT, FAR, [Cause("why", "9", {"b": 0.1}, {"b": 9.0})]),
    "untestable": nothing_to_compute(why="no data"),
}


@pytest.mark.parametrize("verdict", FINDINGS)
def test_the_verdict_is_that_of_the_numbers(verdict, monkeypatch):
    finding = FINDINGS[verdict]
    monkeypatch.setattr(whole_figures, "stored_finding", lambda name: ("standard", finding))
    record = tried(ROW, seed=0, deep=False)
    assert record["verdict"] == verdict and OUTCOMES[verdict] == finding.outcome
    assert record["defects_missed"] == []
    if verdict == "untestable":
        assert record["reason"] == "no data"
    elif verdict != "reproduced":
        assert "2 cells within 0.5" in record["witness"]


def test_a_guess_that_comes_out_is_no_reproduction(monkeypatch):
    finding = found_by(GUESS, NEAR)
    monkeypatch.setattr(whole_figures, "stored_finding", lambda name: ("standard", finding))
    assert tried(ROW, seed=0, deep=False)["verdict"] == "not reproduced"


@pytest.mark.parametrize("n", [1, 3, 10, 20, 41])
def test_a_fifth_of_the_numbers_is_more_than_one_in_ten(n):
    half = n // 2
    parts = [{str(i): 0.0 for i in part} for part in (range(half, n), range(half))]
    one = Tried(TEXT, *parts)
    (far,) = whole_figures.moved(judge([one], 0.5), Fraction(1, 5))
    assert distance(far.cells) == math.inf and far.cells.keys() == one.cells.keys()
    assert 5 * sum(d == math.inf for d in far.cells.values()) >= n


def test_every_figure_of_a_paper_has_one_row():
    claims()
    shown = [label(script(name).shows) for name in script_names() if script(name).finding]
    ids = [row_of(figure) for figure in (*shown, *WITHOUT_SCRIPT)]
    assert len({*ids}) == len(ids) > 30
    assert {*ids} == {id for id in CLAIMS if id.endswith("-whole")}
    assert row_of(FIGURE) == ROW and row_of("LP15 Corollary 8") == "LP15-corollary8-whole"
