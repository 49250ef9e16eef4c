"""The severity of an error follows from the cases in which the printed form fails."""

import json
from collections import Counter
from pathlib import Path

import pytest

from paper_checks import main_cases, modules, outcomes
from paper_checks.kato2019.exact_problems import ExactProblem, array
from paper_checks.ledger import Case, Claim, Condition, WhereRight, version
from paper_checks.main_cases import MAIN_CASES, main_case
from paper_checks.records import record
from paper_checks.severity import Severity, severity
from paper_checks.slips import SLIPS, slip_of
from paper_checks.verdicts import Verdict, judge
from reference import TopK

RECORDS = {
    r["id"]: r
    for r in json.loads(Path(modules.__file__).with_name("ledger.json").read_text("utf-8"))
}
THEOREM, FORMULA, SLIP = Severity
LARGE = Condition("x > 3", lambda case: case.x > 3)
SMALL = Condition("x <= 2", lambda case: case.x <= 2)


def numbers(rng, deep):
    return [Case(kind="number", x=x) for x in range(1, 6)]


def at_least(case, least=3):
    return outcomes.at_most(least, case.x)


def other(case):
    return outcomes.true()


def made(form=at_least, **parts):
    return Claim("X-1", "(1)", "A number is at least 3.", form, numbers, **parts)


ONE = version("at least 1", least=1)
ROWS = [
    (made(), THEOREM),
    (made(main=SMALL), THEOREM),
    (made(main=LARGE), FORMULA),
    (made(condition=LARGE), THEOREM),
    (made(condition=LARGE, main=LARGE), FORMULA),
    (made(corrected=ONE), FORMULA),
    (made(derived=ONE), FORMULA),
    (made(condition=LARGE, corrected=ONE), FORMULA),
    # what is true instead is another statement, or not true either
    (made(corrected=version("something else", other)), THEOREM),
    (made(corrected=version("at least 2", least=2)), THEOREM),
    (made(corrected=version("large ones", cases=lambda *_: [Case(kind="large", x=9)])), THEOREM),
    (made(derived=ONE, where_right=WhereRight("p. 1")), SLIP),
    (made(lambda case: at_least(case, 1)), None),
]


@pytest.mark.parametrize(("claim", "expected"), ROWS)
def test_the_severity_follows_from_the_trials(claim, expected):
    found = judge(claim)
    assert severity(found) == expected
    written = record(found)
    assert written["severity"] == str(expected or "")
    assert bool(written["main_case"]) == bool(written["slip"]) == (expected is not None)


def test_the_failing_cases_of_the_main_case_are_counted():
    assert record(judge(made(main=SMALL)))["failed_in_main_case"] == 2
    assert record(judge(made(main=LARGE)))["failed_in_main_case"] == 0


def test_a_claim_without_a_main_case_has_that_of_its_paper(monkeypatch):
    assert main_case(made()).text == "all cases"
    monkeypatch.setitem(main_cases.MAIN_CASES, "X", LARGE)
    assert main_case(made()) is LARGE and main_case(made(main=SMALL)) is SMALL
    assert severity(judge(made())) == FORMULA


def problem(X, scale=1):
    sample = ExactProblem(array([[X]]), (0,), TopK(1), 2, 1)
    return Case(kind="exact", problem=sample, scale=scale)


@pytest.mark.parametrize(
    ("paper", "case", "inside"),
    [
        ("K19", problem(1), True),
        ("K19", problem(0), False),
        ("K19", problem(1, scale=10), False),
        ("K19", Case(kind="", k=2, m=2), False),
        ("T20", Case(kind="", costs=(0, 1), y=0), True),
        ("T20", Case(kind="", costs=(0, 2), y=0), False),
        ("T20", Case(kind="", costs=(0, 1), y=1), False),
        ("T20", Case(kind="", s=(0, 1)), True),
        ("L15", Case(kind="", m=3, k=2), True),
        ("L15", Case(kind="", m=3, k=3), False),
        ("L15", Case(kind="", m=3, k=1), False),
        ("M20", Case(kind="", delta=1), True),
        ("M20", Case(kind="", delta=0), False),
        ("M20", Case(kind="", delta=0, patmat=False), True),
        ("LP15", Case(kind="", p=4), True),
        ("LP15", Case(kind="", p=1), False),
        ("LP15", Case(kind="", p=2, c=2), False),
    ],
)
def test_the_main_case_of_each_paper(paper, case, inside):
    assert MAIN_CASES[paper].meets(case) == inside


def test_each_paper_has_a_main_case():
    assert list(MAIN_CASES) == list(modules.PAPERS)


# ---------------------------------------------------------------- the stored records


def test_errors_alone_have_a_severity():
    refuted = {Verdict.FAILS, Verdict.MISPRINT, Verdict.CONDITIONAL}
    for found in RECORDS.values():
        assert bool(found["severity"]) == (found["verdict"] in refuted), found["id"]
        open_reading = found["verdict"] == Verdict.DEPENDS
        shown = slip_of(found["id"]) if found["severity"] or open_reading else ""
        assert found["slip"] == shown


@pytest.mark.parametrize(
    "id",
    [
        *("L15-prop3", "L15-thm1", "L15-prop4", "L15-alg1-gap"),
        *("M20-alg-toppushk", "M20-alg-patmat-hinge", "K19-fw-linear", "LP15-prop16"),
    ],
)
def test_theorems_that_are_false_in_their_main_case_do_not_hide_as_conditional(id):
    assert RECORDS[id]["severity"] == THEOREM and RECORDS[id]["failed_in_main_case"] > 0
    assert RECORDS[id]["told"]["chapter"] == "theorems"


def test_a_cost_that_its_own_paper_corrects_is_a_slip():
    found = RECORDS["L15-cost-intro"]
    assert (found["severity"], found["where_right"]) == (SLIP, "L15-cost")


def test_an_error_is_of_one_paper_and_its_first_claim_is_the_gravest():
    ranks = list(Severity)
    assert max(Counter(id for ids in SLIPS for id in ids).values()) == 1
    for ids in SLIPS:
        found = [RECORDS[id] for id in ids]
        assert len({r["paper"] for r in found}) == 1 and len(found) > 1
        if {r["verdict"] for r in found} != {Verdict.DEPENDS}:
            order = [ranks.index(r["severity"]) for r in found]
            assert order[0] == min(order), ids


def test_no_error_is_left_without_its_first_claim():
    shown = {r["slip"] for r in RECORDS.values() if r["slip"]}
    assert all(RECORDS[id]["slip"] == id for id in shown)


@pytest.mark.parametrize(
    ("id", "verdict"),
    [
        *((id, Verdict.DEPENDS) for id in ("K19-eq40", "L15-tight")),
        *((f"M20-thmC1-delta-{case}", Verdict.DEPENDS) for case in ("case2", "case3")),
        # a lost superscript would not explain two of its factors; n stands in (34), too
        *((id, Verdict.MISPRINT) for id in ("M20-C1-proof-case3", "M20-eq32")),
        *((id, Verdict.NO_CLAIM) for id in ("T20-already-strong", "M20-table4-minutes")),
        # one formula of two papers
        *((id, Verdict.HOLDS) for id in ("K19-eq20", "T20-eq2.20")),
    ],
)
def test_a_verdict_that_hangs_on_one_symbol_is_no_error(id, verdict):
    assert RECORDS[id]["verdict"] == verdict
