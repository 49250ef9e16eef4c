"""Defects planted in every module of mathematics: each must turn its test red, which is green on
the code as it is. A commit draws a dozen; the deep profile runs all."""

from collections import Counter
from collections.abc import Iterator

import pytest
from in_turn import seed_of_commit
from planted_defects import DOZEN, Defect, drawn, file_of, read_defects
from planted_runs import Outcome, Planting, server
from planting import NOT_PLANTED

DEFECTS = read_defects()
DRAWN = drawn(DEFECTS, seed_of_commit())
ALL = [
    pytest.param(defect, id=defect.name, marks=() if defect.name in DRAWN else (pytest.mark.deep,))
    for defect in DEFECTS
]
COMPILED = [pytest.param(defect, id=defect.name) for defect in DEFECTS if defect.compiled]


@pytest.fixture(scope="module")
def planting() -> Iterator[Planting]:
    with server() as running:
        yield running


def assert_caught(defect: Defect, outcome: Outcome) -> None:
    assert outcome.code == 1, outcome.output
    assert outcome.failed.startswith(defect.test), outcome.output


@pytest.mark.turns
def test_the_code_as_it_is_passes(planting):
    outcome = planting.leave(defect.test for defect in DEFECTS if defect.name in DRAWN)
    assert outcome.code == 0 and " passed" in outcome.output, outcome.output


@pytest.mark.deep
def test_the_code_as_it_is_passes_all_tests(planting):
    for test in dict.fromkeys(defect.test for defect in DEFECTS):
        outcome = planting.leave([test])
        assert outcome.code == 0 and " passed" in outcome.output, outcome.output


@pytest.mark.parametrize("defect", ALL)
def test_the_suite_catches(defect, planting):
    assert_caught(defect, planting.plant(defect))


@pytest.mark.deep
@pytest.mark.parametrize("defect", COMPILED)
def test_the_suite_catches_it_with_the_jit(defect):
    with server(compiled=True) as running:
        assert_caught(defect, running.plant(defect))


def test_a_passage_that_is_not_there_is_no_catch(planting):
    outcome = planting.run("weights", "no such passage", "", [DEFECTS[0].test])
    assert outcome.code == NOT_PLANTED and "no such passage" in outcome.output


def test_a_run_that_takes_too_long_is_no_catch(planting):
    line = "def flat(k: int) -> Floats:\n"
    outcome = planting.run("weights", line, f"while True:\n    pass\n{line}", [], seconds=1)
    assert outcome.code < 0 and not outcome.failed


def test_every_passage_occurs_once():
    """A defect whose code has moved on must follow, also where a commit does not draw it."""
    for defect in DEFECTS:
        assert file_of(defect.module).read_text().count(defect.old) == 1, (
            f"{defect.module}: {defect.name}"
        )
        assert defect.new != defect.old, defect.name


def test_names_are_different():
    assert max(Counter(defect.name for defect in DEFECTS).values()) == 1


def test_every_commit_draws_a_dozen():
    seeds = range(50)
    assert all(len(drawn(DEFECTS, seed)) == DOZEN for seed in seeds)
    assert drawn(DEFECTS, 7) == drawn(DEFECTS, 7) != drawn(DEFECTS, 8)


@pytest.mark.turns
def test_ten_defects_run_with_the_jit():
    assert len(COMPILED) == 10
