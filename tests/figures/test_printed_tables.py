"""Why the printed tables differ: what is told follows from stored results, or is not measured."""

from types import SimpleNamespace

import numpy as np
import pytest

from figures.kato2019.machines import KS
from figures.kato2019.printed import TABLES
from figures.kit import study as _study
from figures.kit.findings import FigureFinding, FigureOutcome
from figures.kit.pixels import GREY
from figures.kit.readings import Program, Reading, Tried
from figures.macha2020.program import CHECKS
from figures.own import printed_tables
from figures.own.printed_tables import NOT_MEASURED, items, nearest, printed_advantages

PROGRAM = Program("owner/name 0123abc file.py", "(24), gamma")
RUN = {"loops": list(range(1, 25)), "gap": [0.5] * 12 + [1e-9] * 12}
VALUES = {
    "Pat&Mat|gap": RUN,
    **{f"Pat&Mat|optimum|C={C:g}": {"all": 3.0, "negatives": 1.0} for C in printed_tables.CS},
}


def tried(reading, near):
    return Tried(reading, {str(i): float(i >= near) for i in range(10)})


def test_the_printed_advantages_by_hand():
    """At k = 1 the 24 differences to Chu add up to 37.3 points."""
    assert printed_advantages("Chu")[0] * 24 == pytest.approx(37.3)
    first = [
        100 * (a - b)
        for one in TABLES.values()
        for a, b in zip(one["ours"][1], one["Lapin"][1], strict=True)
    ]
    assert printed_advantages("Lapin")[1] == pytest.approx(sum(first) / len(first))


def test_the_nearest_reading_counts():
    assert nearest([tried(Reading("a"), 3), tried(Reading("b"), 7)], 0.5) == "7 of 10"
    assert nearest([], 0.5) == ""


def test_what_is_not_stored_is_not_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(_study, "KEPT", tmp_path)
    pixels, start, smoothed, at_k_1 = items(VALUES, "standard", tmp_path)
    assert smoothed["measured"] == [NOT_MEASURED] == pixels["measured"]
    assert NOT_MEASURED in at_k_1["control"] and at_k_1["measured"][2].endswith(NOT_MEASURED)
    assert "+1.55 points at k = 1" in at_k_1["measured"][0]
    assert start["measured"][0] == "relative gap with the program's start, after 12 loops: 5.0e-01"
    assert "1e-09" in start["control"]


def test_readings_of_the_text_and_of_the_program_stand_side_by_side(tmp_path, monkeypatch):
    finding = FigureFinding(
        FigureOutcome.EXPLAINED,
        "",
        f"{GREY}: 0.5 in place of 2; 9 of 10 cells near with it, 3 of 10 in the control without "
        "it; other: 1; 7 of 10 cells near with it, 6 of 10 in the control without it",
        tried=(
            tried(Reading("text", source="7.4"), 5),
            tried(Reading("program", program=PROGRAM), 8),
            tried(Reading("guess"), 10),
        ),
        tolerance=0.5,
    )
    monkeypatch.setattr(printed_tables, "stored", lambda *place: ({}, finding))
    own = {"": [0.5, 0.0, 0.0, 0.0], "n": [1.0, 0.0, 0.0, 0.0]}
    monkeypatch.setattr(printed_tables, "own_advantages", lambda *place: (["Letter"], own))
    pixels, _, smoothed, at_k_1 = items(VALUES, "standard", tmp_path)
    assert smoothed["measured"][0] == (
        "K19, Caltech101: without smoothing 5 of 10 accuracies agree; with n gamma 8 of 10"
    )
    letter = printed_advantages("Chu", ["Letter"])[0]
    assert at_k_1["measured"][2].startswith(
        "computed here on Letter, K19 with n gamma minus Chu: +1.00 points at k = 1"
    )
    assert f"(printed there: {letter:+.2f} points at k = 1" in at_k_1["measured"][2]
    assert "on Letter, K19 without smoothing minus Chu: +0.50 points" in at_k_1["control"]
    assert pixels["measured"] == ["K19, Caltech101: in black and white 9 of 10 accuracies agree"]
    assert pixels["control"] == "The same rows with grey pixels: 3 of 10 accuracies agree."


def test_a_figure_without_the_program_comes_last_and_says_so(monkeypatch, tmp_path):
    near = {"K19, News20": ("3 of 80", ""), "K19, Figure 3": ("11 of 11", "9 of 11")}
    monkeypatch.setattr(printed_tables, "smoothing", lambda *place: near)
    assert printed_tables.smoothing_by_n("standard", tmp_path)["measured"] == [
        "K19, Figure 3: with gamma 11 of 11 statements agree; with n gamma 9 of 11",
        "K19, News20: without smoothing 3 of 80 accuracies agree; no whole table with n gamma is "
        "stored",
    ]


def test_without_smoothing_our_machines_are_one_at_k_1():
    """The control of the printed tables: one problem, two methods, one protocol."""
    names, found = printed_tables.own_advantages("standard", _study.KEPT)
    assert names == ["Caltech101", "Letter"] and found.keys() == {"", "n"}
    assert abs(found[""][0]) < 0.05 < min(np.abs(found[""][2:]))
    assert found["n"][0] != found[""][0]


def test_both_smoothings_are_compared_on_the_same_sets(tmp_path, monkeypatch):
    """News20 has no reading with n gamma, and is left out of both lines."""
    fits = {("ours", k): [SimpleNamespace(accuracy=0.5)] * 4 for k in KS}
    fits |= {("Chu", k): [SimpleNamespace(accuracy=0.25)] * 4 for k in KS}
    monkeypatch.setattr(printed_tables, "stored", lambda *place: ({}, None))
    monkeypatch.setattr(printed_tables, "chosen_entries", lambda *given: fits)
    names, found = printed_tables.own_advantages("standard", tmp_path)
    assert names == ["Caltech101", "Letter"]
    assert found == {"": [25.0] * 4, "n": [25.0] * 4}


def test_the_gap_of_the_program_stays_until_delta_is_set_again():
    cell = printed_tables.cells("quick")[0]
    run = cell.function(**{**cell.settings, "loops": 1200})
    before, after = np.split(np.array(run["gap"]), 2)
    assert run["loops"][-1] == 2400 and len(before) == CHECKS
    assert before[-1] > 1e-3 > 1e3 * after[-1]


def test_all_samples_make_a_larger_problem_than_the_negatives():
    cell = printed_tables.cells("quick")[1]
    found = cell.function(**cell.settings)
    assert found["all"] > found["negatives"] > 0
