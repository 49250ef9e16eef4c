"""The ledger's own machinery: verdicts follow from outcomes, records survive, bad input is told."""

import json
from fractions import Fraction

import numpy as np
import pytest

import reference
from fwlab import versions
from paper_checks import outcomes, run
from paper_checks.data_sets import data_set
from paper_checks.kato2019.exact_problems import ExactProblem
from paper_checks.ledger import (
    CLAIMS,
    Case,
    Claim,
    Condition,
    Experiment,
    Outcome,
    Tier,
    Untestable,
    WhereRight,
    claim,
    version,
)
from paper_checks.records import record
from paper_checks.trials import shown
from paper_checks.verdicts import Verdict, judge


def numbers(rng, deep):
    return [Case(kind="number", x=x) for x in range(1, 20 if deep else 6)]


def of_data(rng, deep):
    """Data of the paper, and others, on which a version that holds on the paper's fails."""
    yield from (Case(kind="ours", data="ours", x=x) for x in range(1, 6))
    yield Case(kind="other", data="other", x=-9)


def negatives(rng, deep):
    return [Case(kind="negative", x=x) for x in (-2, -1)]


def at_least(case, least=1):
    return outcomes.at_most(least, case.x)


def made(form=at_least, cases=numbers, **parts):
    return Claim("X-1", "(1)", "A number is at least 1.", form, cases, **parts)


ABOVE_TWO = Condition("x > 2", lambda case: case.x > 2)
VERDICTS = [
    (made(), Verdict.HOLDS),
    (made(relaxed=version("also 1/2", least=Fraction(1, 2))), Verdict.WIDER),
    (made(relaxed=version("below 0 too", cases=negatives)), Verdict.HOLDS),
    (made(lambda case, least=3: at_least(case, least)), Verdict.FAILS),
    (made(lambda case, least=3: at_least(case, least), condition=ABOVE_TWO), Verdict.CONDITIONAL),
    (made(lambda case, least=9: at_least(case, least), condition=ABOVE_TWO), Verdict.FAILS),
    (
        made(
            lambda case, least=3: at_least(case, least),
            derived=version("at least 1", least=1),
            where_right=WhereRight("p. 1"),
            condition=ABOVE_TWO,
        ),
        Verdict.MISPRINT,
    ),
    (
        made(
            lambda case, least=3: at_least(case, least),
            derived=version("at least 1", least=1),
            where_right=WhereRight("X-2", at_least),
        ),
        Verdict.MISPRINT,
    ),
    (
        made(
            lambda case, least=3: at_least(case, least),
            derived=version("at least 1", least=1),
            where_right=WhereRight("X-2", lambda case: at_least(case, 2)),
        ),
        Verdict.FAILS,
    ),
    (
        made(
            lambda case, least=3: at_least(case, least),
            derived=version("at least 1", least=1),
        ),
        Verdict.FAILS,
    ),
    (
        made(lambda case, least=3: at_least(case, least), derived=version("2", least=2)),
        Verdict.FAILS,
    ),
    # one symbol read otherwise
    (
        made(
            lambda case, least=3: at_least(case, least),
            reading=version("at least 1", least=1),
            derived=version("at least 1", least=1),
            where_right=WhereRight("p. 1"),
        ),
        Verdict.DEPENDS,
    ),
    (
        made(lambda case, least=3: at_least(case, least), reading=version("at least 2", least=2)),
        Verdict.FAILS,
    ),
    (made(reading=version("at least 2", least=2)), Verdict.HOLDS),
    (made(cases=lambda rng, deep: []), Verdict.UNTESTABLE),
    # a premise that no case meets, or some
    (made(premise=Condition("never", lambda case: False)), Verdict.EMPTY),
    (made(premise=ABOVE_TWO), Verdict.HOLDS),
    (
        made(
            lambda case, least=3: at_least(case, least),
            premise=Condition("never", lambda case: False),
        ),
        Verdict.FAILS,
    ),
    # an experiment that comes out otherwise
    *(
        (
            made(
                lambda case, least=3: at_least(case, least),
                experiment=Experiment(("ours",)),
                cases=of_data,
                **{name: version(name, least=least) for name, least in versions.items()},
            ),
            verdict,
        )
        for versions, verdict in (
            ({}, Verdict.NOT_REPRODUCED),
            ({"program": 2}, Verdict.NOT_REPRODUCED),
            ({"program": 1}, Verdict.WITH_PROGRAM),
            ({"cause": 1}, Verdict.EXPLAINED),
            ({"program": 2, "cause": 1}, Verdict.EXPLAINED),
            ({"program": 1, "cause": 1}, Verdict.WITH_PROGRAM),
        )
    ),
    # a conjecture is none, whether it is true or not
    (made(hedge="may be"), Verdict.NO_CLAIM),
    (made(lambda case, least=3: at_least(case, least), hedge="may be"), Verdict.NO_CLAIM),
]


@pytest.mark.parametrize(("claim", "verdict"), VERDICTS)
def test_the_verdict_follows_from_the_outcomes(claim, verdict):
    assert judge(claim).verdict == verdict


def test_the_witness_is_the_shortest_failing_case():
    finding = judge(made(lambda case: outcomes.at_most(case.x, 2)))
    assert finding.printed.failed == 3
    assert str(finding.printed.witness) == "number: x = 3; left = 3, right = 2"
    assert finding.printed.worst == -3


def test_an_exact_witness_goes_before_a_shorter_one():
    def cases(rng, deep):
        return [Case(kind="float", x=3.5), Case(kind="exact", x=Fraction(1234567, 3))]

    finding = judge(made(lambda case: outcomes.at_most(case.x, 2), cases))
    assert finding.printed.witness.kind == "exact"


def test_a_large_array_is_not_written_out():
    assert shown(np.zeros((2, 50))).startswith("((0, 0, ")
    assert shown(np.zeros((2, 51))) == "array (2, 51)"


def test_a_condition_shows_both_sides_and_what_is_true_in_all_cases():
    claim = made(
        lambda case, least=3: at_least(case, least),
        condition=ABOVE_TWO,
        corrected=version("at least 1", least=1),
    )
    found = record(judge(claim))
    assert found["corrected"] == "true if x > 2; in all cases: at least 1"
    assert found["corrected_trial"]["cases"] == 3 and found["corrected_trial"]["failed"] == 0
    assert found["otherwise"]["cases"] == found["otherwise"]["failed"] == 2


def test_planted_errors_are_counted():
    planted = (version("at least 2", least=2), version("at least 0", least=0))
    finding = judge(made(planted=planted))
    assert finding.planted == (Tier.EXACT, None)
    assert finding.defects_missed == ("at least 0",)


@pytest.mark.parametrize(
    ("first", "tried_wrong", "tier"),
    [(1.0, 1, Tier.FLOAT), (Fraction(1), 1, Tier.EXACT)],
    ids=["floats alone", "fractions"],
)
def test_a_planted_error_is_tried_until_a_stronger_refutation_would_change_no_tier(
    first, tried_wrong, tier
):
    tried = []

    def counted(case, least=1):
        tried.append(least)
        return outcomes.at_most(least, case.x)

    cases = [Case(kind="number", x=first + i) for i in range(5)]
    finding = judge(made(counted, lambda *_: cases, planted=(version("at least 9", least=9),)))
    assert (tried.count(9), finding.planted) == (tried_wrong, (tier,))


def test_a_float_refutes_a_planted_error_only_until_a_fraction_does():
    cases = [Case(kind="number", x=x) for x in (1.0, 2.0, Fraction(3), Fraction(4))]
    finding = judge(made(cases=lambda *_: cases, planted=(version("at least 9", least=9),)))
    assert finding.planted == (Tier.EXACT,) and finding.tier == Tier.EXACT


def test_what_cannot_be_tried_says_why():
    def none(rng, deep):
        raise Untestable("no table here")

    finding = judge(made(cases=none))
    assert finding.verdict == Verdict.UNTESTABLE
    assert record(finding)["reason"] == "no table here"


def test_no_cases_are_a_reason():
    finding = judge(made(cases=lambda rng, deep: []))
    assert finding.verdict == Verdict.UNTESTABLE and finding.reason == "there are no cases"


def test_cases_depend_on_seed_and_claim_alone():
    def random(rng, deep):
        return [Case(kind="random", x=1 + int(rng.integers(10**9)))]

    claim = made(lambda case: outcomes.false(), random)
    first, second, other = (judge(claim, seed).printed.witness for seed in (0, 0, 1))
    assert first == second != other


# ---------------------------------------------------------------- outcomes


@pytest.mark.parametrize(
    ("outcome", "holds"),
    [
        (outcomes.equal(Fraction(1, 3), Fraction(1, 3)), True),
        (
            outcomes.equal((Fraction(1, 3), 1), (Fraction(1, 3), Fraction(10**12 + 1, 10**12))),
            False,
        ),
        (outcomes.equal(np.ones(3), np.ones(3) + 1e-12), True),
        (outcomes.equal(np.ones(3), np.ones(3) + 1e-6), False),
        (outcomes.equal(np.ones(3), np.ones(2)), False),
        (outcomes.equal(np.inf, np.inf), True),
        (outcomes.equal(np.inf, 1.0), False),
        (outcomes.equal(1.0, np.inf), False),
        (outcomes.equal(np.nan, np.nan), False),
        (outcomes.at_most(1, 1), True),
        (outcomes.at_most(Fraction(10**12 + 1, 10**12), 1), False),
        (outcomes.at_most(1.0, 1.0 - 1e-12), True),
        (outcomes.at_most(1.0, 0.9), False),
        (outcomes.at_most(Fraction(1), np.inf), True),
        (outcomes.at_most(np.inf, 1.0), False),
        (outcomes.at_most(np.nan, 1.0), False),
        (outcomes.less(1, 1), False),
        (outcomes.less(1.0, 1.0 + 1e-12), False),
        (outcomes.less(Fraction(-1), np.inf), True),
        (outcomes.less(np.inf, np.inf), False),
        (outcomes.both(outcomes.true(), outcomes.equal(1.0, 2.0)), False),
        (Outcome(float("nan")), False),
    ],
)
def test_outcomes(outcome, holds):
    assert outcome.holds is holds


# ---------------------------------------------------------------- records


def test_kept_records_are_not_tried_again(tmp_path, monkeypatch):
    [first] = run.run(["K19-ptk-below"], keep=tmp_path)
    monkeypatch.setattr(run, "tried", lambda *_: pytest.fail("tried again"))
    versions.SEEN.clear()  # as if the module had it
    assert list(run.run(["K19-ptk-below"], keep=tmp_path)) == [first]


def test_an_untestable_claim_is_not_kept(tmp_path, monkeypatch):
    real = run.tried
    monkeypatch.setattr(run, "tried", lambda *work: real(*work) | {"verdict": Verdict.UNTESTABLE})
    [found] = run.run(["K19-ptk-below"], keep=tmp_path)
    assert found["verdict"] == "untestable" and not [*tmp_path.iterdir()]


def test_a_record_of_another_seed_or_depth_is_tried_again(tmp_path):
    for count, (seed, deep) in enumerate([(0, False), (1, False), (0, True)], 1):
        [found] = run.run(["K19-ptk-below"], seed, deep, keep=tmp_path)
        assert (found["seed"], found["deep"]) == (seed, deep)
        assert len([*tmp_path.iterdir()]) == count


def test_a_damaged_record_is_tried_again(tmp_path, capsys):
    [first] = run.run(["K19-ptk-below"], keep=tmp_path)
    [file] = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-9])
    [again] = run.run(["K19-ptk-below"], keep=tmp_path)
    assert f"{file} cannot be read" in capsys.readouterr().err
    assert again["witness"] == first["witness"] and json.loads(file.read_bytes())["value"] == again


def test_a_number_inside_a_loss_is_written_as_a_reader_would():
    case = Case(kind="loss", loss=reference.WeightedTopK((Fraction(1, 2), Fraction(0))))
    assert str(case) == "loss = WeightedTopK(rho=(1/2, 0))"


def test_a_problem_is_written_as_its_quantities():
    problem = ExactProblem(np.array([[1]], object), (0,), reference.TopK(1), 2, Fraction(1, 2))
    case = Case(kind="exact", problem=problem, A=((1, -1),))
    text = "X = ((1)), y = (0), loss = TopK(k=1), m = 2, lam = 1/2, smoothing = 0, A = ((1, -1))"
    assert str(case) == text


def test_two_claims_cannot_share_an_id():
    with pytest.raises(ValueError, match="K19-prop6"):
        claim("K19-prop6", "", "", cases=numbers)(at_least)


def test_no_data_set_is_kept_for_the_next_claim(monkeypatch):
    def with_data(rng, deep):
        data_set("digits")
        assert data_set.cache_info().currsize == 1
        return numbers(rng, deep)

    monkeypatch.setitem(CLAIMS, "X-1", made(cases=with_data))
    assert run.tried("X-1", 0, False, "paper_checks.data_sets")["verdict"] == Verdict.HOLDS
    assert data_set.cache_info().currsize == 0
