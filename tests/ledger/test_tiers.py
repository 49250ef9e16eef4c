"""How strong a verdict is follows from the arithmetic of its cases, and from nothing else."""

from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from paper_checks import library_defects, outcomes
from paper_checks.ledger import (
    Case,
    Claim,
    Condition,
    Experiment,
    Library,
    Untestable,
    WhereRight,
    version,
)
from paper_checks.modules import claims
from paper_checks.records import record
from paper_checks.trials import Tier, evidence, try_form
from paper_checks.verdicts import Judge, Verdict, judge
from tests.ledger.float_watch import watched


def fractions(rng, deep):
    return [Case(kind="exact", x=Fraction(x)) for x in (1, 2, 3)]


def mixed(rng, deep):
    return [*fractions(rng, deep), Case(kind="float", x=0.25)]


def floats(rng, deep):
    return [Case(kind="float", x=1.5)]


def at_least(case, least=0):
    return outcomes.at_most(least, case.x)


ABOVE_ONE = Condition("x > 1", lambda case: case.x > 1)
HIGH = version("at least 2", least=2)


def made(form=at_least, cases=fractions, **parts):
    return Claim("X-1", "(1)", "A number is at least 0.", form, cases, **parts)


@pytest.mark.parametrize(
    ("claim", "tier"),
    [
        (made(planted=(HIGH,)), Tier.EXACT),
        (made(cases=mixed, planted=(HIGH,)), Tier.EXACT),
        (made(cases=floats, planted=(HIGH,)), Tier.FLOAT),
        # only the float refutes what is planted: the fractions alone would not see an error
        (made(cases=mixed, planted=(version("1/2", least=Fraction(1, 2)),)), Tier.FLOAT),
        # refuted by a fraction; the true version decides
        (made(lambda case, least=2: at_least(case, least), condition=ABOVE_ONE), Tier.EXACT),
        (
            made(
                lambda case, least=2: at_least(case, least),
                corrected=version("0", least=0, cases=floats),
            ),
            Tier.FLOAT,
        ),
        (made(lambda case: at_least(case, 2)), Tier.EXACT),
        (made(lambda case: at_least(case, 2), cases=floats), Tier.FLOAT),
        (made(lambda case: outcomes.counted(3, 4)), Tier.COUNTED),
        (made(lambda case: outcomes.published(outcomes.at_most(3, 4))), Tier.PUBLISHED),
        (made(lambda case: outcomes.effect(0.1, 0.2)), Tier.MONTE_CARLO),
        (made(lambda case: outcomes.truth(True, tier=Tier.FLOAT)), Tier.FLOAT),
        (made(cases=lambda rng, deep: []), None),
    ],
)
def test_the_tier_follows_from_the_outcomes(claim, tier):
    assert judge(claim).tier == tier


@dataclass(frozen=True)
class Weights:
    rho: tuple[float, ...]


@pytest.mark.parametrize(
    ("value", "tier"),
    [
        ((1, Fraction(1, 2)), Tier.EXACT),
        ("0.5", Tier.EXACT),
        (np.array([1, 2]), Tier.EXACT),
        (np.array([Fraction(1, 2)], object), Tier.EXACT),
        (0.5, Tier.FLOAT),
        ([1, [0.5]], Tier.FLOAT),
        (np.array([0.5]), Tier.FLOAT),
        (np.array([0.5], object), Tier.FLOAT),
        (Weights((0.5,)), Tier.FLOAT),
    ],
)
def test_a_case_with_a_float_is_not_exact(value, tier):
    assert evidence(Case(kind="x", value=value), outcomes.true()) == tier


def test_a_float_says_its_tolerance_in_roundoffs():
    found = record(judge(made(cases=floats)))
    assert found["tier_detail"] == "1 of 1 cases, relative tolerance 1e-09 = 9e+06 unit roundoffs"


# ---------------------------------------------------------------- misprints


def test_a_correction_is_tried_on_fresh_cases():
    """A derived version that is right on the cases that it was read off is no derivation yet."""
    seen = []

    def draws(rng, deep):
        seen.append(int(rng.integers(10**9)))
        return [Case(kind="draw", x=Fraction(seen[-1]))]

    claim = made(
        lambda case, most=-1: outcomes.truth(case.x <= most or (case.x == seen[0] and most == 0)),
        draws,
        derived=version("right on the first draw", most=0),
        where_right=WhereRight("p. 1"),
    )
    finding = judge(claim)
    assert finding.trials["derived"].cases == 2 and len(set(seen)) == 2
    assert finding.verdict == Verdict.FAILS


@pytest.mark.parametrize(
    ("where", "at", "tier"),
    [
        (WhereRight("p. 1"), "", "read"),
        (WhereRight("X-2", at_least, at="(3)"), "(3)", "exact"),
        (WhereRight("K19-eq27", at_least), "(27)", "exact"),
    ],
)
def test_a_misprint_says_where_the_paper_is_right(where, at, tier):
    claim = made(
        lambda case, least=2: at_least(case, least),
        derived=version("0", least=0),
        where_right=where,
    )
    found = record(judge(claim))
    assert (found["verdict"], found["where_right"]) == ("misprint", where.place)
    assert (found["where_right_at"], found["where_right_tier"]) == (at, tier)


# ---------------------------------------------------------------- undefined expressions


def test_an_undefined_expression_fails_and_says_so():
    from paper_checks.arithmetic import divide

    claim = made(lambda case: outcomes.equal(divide(0, case.x - 1), 0))
    found = record(judge(claim))
    assert (found["verdict"], found["failed"], found["undefined"]) == ("fails", 1, 1)
    assert found["witness"] == "exact: x = 1; undefined = 0 / 0"
    charitable = made(lambda case: outcomes.equal(divide(0, case.x - 1, zero_over_zero=0), 0))
    found = record(judge(charitable))
    assert (found["verdict"], found["charity"]) == ("holds", "0/0 is read as 0, 1 times")


# ---------------------------------------------------------------- experiments


def data_sets(*names):
    return lambda rng, deep: [Case(kind=name, data=name, at=i) for i, name in enumerate(names)]


def effects(*intervals):
    return lambda case: outcomes.effect(*intervals[case.at])


@pytest.mark.parametrize(
    ("names", "intervals", "verdict"),
    [
        (("a", "b"), ((1, 2), (0.5, 1)), Verdict.REPRODUCED),
        (("a", "b"), ((1, 2), (-0.5, 1)), Verdict.INCONCLUSIVE),
        (("a", "b"), ((-1, 2), (-3, -1)), Verdict.NOT_REPRODUCED),
        (("a", "c"), ((1, 2), (-3, -1)), Verdict.REPRODUCED),
        (("c",), ((-3, -1),), Verdict.OTHER_DATA),
        ((), (), Verdict.UNTESTABLE),
    ],
)
def test_an_experiment_has_a_verdict_of_its_own(names, intervals, verdict):
    claim = made(effects(*intervals), data_sets(*names), experiment=Experiment(("a", "b")))
    assert judge(claim).verdict == verdict


def test_an_experiment_shows_the_interval_that_is_closest_to_the_other_answer():
    intervals = ((3, 9), (1, 2), (2, 4))
    data = data_sets("a", "b", "c")
    claim = made(effects(*intervals), data, experiment=Experiment(("a", "b", "c")))
    assert record(judge(claim))["tier_detail"] == "3 of 3 cases, closest interval (1, 2)"


def test_other_data_say_what_was_found_there():
    claim = made(effects((1, 2), (-1, 1)), data_sets("c", "d"), experiment=Experiment(("a",)))
    found = record(judge(claim))
    assert (found["verdict"], found["tier"]) == ("other data", "Monte Carlo")
    assert found["reason"] == "on other data (c, d): holds in 1 of 2 cases"


# ---------------------------------------------------------------- the library in the loop


def twice(x):
    return 2.0 * x


@pytest.fixture
def library(monkeypatch):
    """Provide a module of fwlab with two functions, one of which the form below calls."""
    module = SimpleNamespace(twice=twice, thrice=lambda x: 3.0 * x)
    import fwlab.metrics as place

    monkeypatch.setattr(place, "twice", module.twice, raising=False)
    monkeypatch.setattr(place, "thrice", module.thrice, raising=False)
    return place


def test_a_row_sees_a_defect_in_what_it_exercises_only(library):
    form = lambda case: outcomes.equal(library.twice(float(case.x)), 2.0 * float(case.x))  # noqa: E731
    names = ("fwlab.metrics.twice", "fwlab.metrics.thrice")
    claim = made(planted=(HIGH,), library=Library(names, form))
    found = record(judge(claim, deep=True))
    assert (found["library_cases"], found["library_failed"]) == (3, 0)
    assert found["library_defects_missed"] == ["fwlab.metrics.thrice"]
    assert library.twice is twice
    assert record(judge(claim))["library_defects_missed"] == []


def test_a_library_that_disagrees_is_counted(library):
    claim = made(library=Library(("fwlab.metrics.twice",), lambda case: outcomes.false()))
    assert record(judge(claim))["library_failed"] == 3


@pytest.mark.parametrize("name", ["fwlab.nothing", "fwlab.metrics.none", "nowhere.at"])
def test_an_unknown_function_is_told(name):
    with pytest.raises(ValueError, match=f"{name}: fwlab has no such function"):
        with library_defects.planted_in(name):
            pass


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        (True, False),
        (3, 4),
        (1.0, 1.002),
        ((1, 2.0), (2, 2.003)),
        ("text", "text"),
        (Weights(np.array([0.0])), Weights(np.array([0.001]))),
    ],
)
def test_a_planted_defect_changes_the_result(value, wrong):
    assert library_defects.off(value) == wrong


# ---------------------------------------------------------------- no row claims more than it has


@pytest.mark.turns
@pytest.mark.parametrize("claim", claims(), ids=lambda claim: claim.id)
def test_an_exact_case_is_decided_without_rounding(claim):
    """While a form decides a case in fractions it touches no rounded number."""
    if claim.from_table or claim.experiment is not None:
        pytest.skip("tables and experiments are not exact")
    try:
        cases = Judge(claim, 0, False).drawn(claim.cases)
    except Untestable as reason:
        pytest.skip(str(reason))
    first_of_kind = {case.kind: case for case in reversed(cases)}
    for case in first_of_kind.values():
        if set(try_form(claim.form, [case]).tiers) == {Tier.EXACT}:
            with watched() as rounded:
                try_form(claim.form, [case])
            assert not rounded, rounded[:3]
