"""Proofs: what holds is proved, what fails gets the smallest witness, nothing slips through."""

from fractions import Fraction

import pytest

from paper_checks import outcomes
from paper_checks.arithmetic import all_of, divide, is_symbolic, kth_largest, largest_sum, maximum
from paper_checks.ledger import Case, Claim, Condition, version
from paper_checks.outcomes import at_most, both, equal
from paper_checks.proofs import BySolver, ByTheorem, decide_form, summary
from paper_checks.records import record
from paper_checks.symbols import real, reals
from paper_checks.trials import FOUND, Tier
from paper_checks.verdicts import Verdict, judge


def numbers(rng, deep):
    return [Case(kind="number", m=3, k=2, x=tuple(map(Fraction, (3, 2, 1))))]


def symbols(deep):
    for m in (2, 3):
        for k in (1, 2):
            yield Case(kind="symbols", m=m, k=k, x=reals("x", m))


def mean_below_maximum(case, factor=1, more=0):
    """State that factor times the mean of the k largest is at most the largest, plus more."""
    mean = largest_sum(case.x, case.k) / case.k
    return at_most(factor * mean, maximum(*case.x) + more)


PROOF = BySolver("ties", cases=symbols)
WRONG = version("twice the mean", factor=2)


def made(form=mean_below_maximum, cases=numbers, proofs=(PROOF,), planted=(WRONG,), **parts):
    return Claim("X-1", "(1)", "A statement.", form, cases, proofs=proofs, planted=planted, **parts)


def test_a_true_statement_is_proved_with_its_sizes():
    found = record(judge(made()))
    assert (found["verdict"], found["tier"]) == ("holds", "proved at small sizes")
    assert found["proof_sizes"] == "m = 2, 3; k = 1, 2 (4 sizes)"
    assert found["tier_detail"] == found["proof_sizes"] and found["proof_catches"] == "ties"


def test_a_statement_without_a_size_is_proved_for_all_sizes():
    """One symbolic case without a size holds all numbers; a named size bounds the proof."""
    one = lambda deep: [Case(kind="symbols", m=2, k=1, x=reals("x", 2))]  # noqa: E731
    free, named = BySolver("ties", one, sized_by=()), BySolver("ties", one, sized_by=("m",))
    assert judge(made(proofs=(free,))).tier == Tier.PROVED
    assert judge(made(proofs=(named,))).tier == Tier.PROVED_SMALL


def test_a_proof_that_refutes_no_planted_version_does_not_count():
    """The planted version is wrong on the cases alone: it says nothing of the proof."""
    only_there = version("wrong on these", cases=lambda rng, deep: numbers(rng, deep), factor=2)
    assert judge(made(planted=(only_there,))).tier == Tier.EXACT
    assert judge(made(planted=(version("true as well", more=1),))).tier == Tier.EXACT


def test_a_false_statement_that_the_cases_miss_is_refuted_by_the_solver():
    """On the case 3, 2, 1 the entry 2 is not negative; the solver finds entries that are."""

    def none_negative(case):
        return at_most(0, kth_largest(case.x, case.k))

    finding = judge(made(none_negative, planted=()))
    assert finding.verdict == Verdict.FAILS and finding.tier == Tier.EXACT
    assert finding.printed.failed == 1
    witness = finding.printed.witness
    assert witness.kind == FOUND and witness.given["m"] == "2"
    assert witness.given["x"] in ("(-1, -1)", "(0, -1)", "(-1, 0)")


def test_a_witness_has_many_zeros_and_small_numbers():
    def short(case):
        return at_most(sum(case.x), Fraction(7, 2))

    case = decide_form(PROOF, short, {}).counterexample
    assert sorted(case.x) in ([0, 4], [0, Fraction(9, 2)], [0, 5])


def test_a_derived_version_that_the_solver_refutes_is_no_derivation():
    printed = made(
        lambda case, more=-5: mean_below_maximum(case, more=more),
        derived=version("at most the largest minus 1/2", more=Fraction(-1, 2)),
        cases=lambda rng, deep: [Case(kind="number", m=2, k=2, x=(Fraction(9), Fraction(0)))],
        planted=(),
    )
    finding = judge(printed)
    assert finding.trials["derived"].failed == 1
    assert finding.verdict == Verdict.FAILS


def test_a_condition_is_proved_on_symbols():
    below = Condition("the entries are at most 0", lambda case: all_of(*(x <= 0 for x in case.x)))
    claim = made(lambda case, factor=2: mean_below_maximum(case, factor), condition=below)
    # a planted version: half of the mean of entries below 0 is above the largest
    claim = made(
        lambda case, factor=2: mean_below_maximum(case, factor),
        condition=below,
        planted=(version("half", factor=Fraction(1, 2)),),
        cases=lambda rng, deep: [
            Case(kind="number", m=2, k=1, x=(Fraction(1), Fraction(0))),
            Case(kind="number", m=2, k=1, x=(Fraction(-1), Fraction(-2))),
        ],
    )
    finding = judge(claim)
    assert (finding.verdict, finding.tier) == (Verdict.CONDITIONAL, Tier.PROVED_SMALL)


def test_a_form_that_says_something_else_of_numbers_is_told():
    def two_faced(case):
        return at_most(maximum(*case.x), 0) if is_symbolic(case.x) else outcomes.true()

    with pytest.raises(RuntimeError, match="two_faced"):
        judge(made(two_faced))


def test_an_undefined_quotient_has_to_be_excluded():
    def cases(deep):
        yield Case(kind="symbols", m=1, k=1, x=real("x"))

    def quotient(case):
        return equal(divide(case.x, case.x), 1)

    refuted = decide_form(BySolver("", cases=cases), quotient, {})
    assert refuted.counterexample.x == 0
    nonzero = BySolver("", cases=cases, assuming=lambda case: case.x > 0)
    assert decide_form(nonzero, quotient, {}).holds


def test_an_irrational_witness_or_too_much_work_stays_open():
    def cases(deep):
        yield Case(kind="symbols", m=1, x=real("x"))

    decision = decide_form(
        BySolver("", cases=cases, sized_by=("m",)),
        lambda case: both(at_most(case.x**2, 2), at_most(2, case.x**2)),
        {},
    )
    assert decision.counterexample is not None  # x = 0
    decision = decide_form(
        BySolver("", cases=cases, assuming=lambda case: case.x**2 >= 0, sized_by=("m",)),
        lambda case: outcomes.truth(all_of(case.x**3 >= 2, case.x**3 <= 2).negated()),
        {},
    )
    assert decision.undecided == ("m = 1",) and not decision.holds


def test_a_theorem_is_asked_for_each_version():
    theorem = ByTheorem("all sizes", prove=lambda deep, factor=1, more=0: factor <= 1 and more == 0)
    finding = judge(made(proofs=(theorem,)))
    assert (finding.tier, record(finding)["proof_sizes"]) == (Tier.PROVED, "all sizes")
    bounded = ByTheorem(
        "c <= 4", lambda deep, factor=1, more=0: factor <= 1 and more == 0, everywhere=False
    )
    assert judge(made(proofs=(bounded,))).tier == Tier.PROVED_SMALL
    assert judge(made(proofs=(PROOF, theorem))).tier == Tier.PROVED
    gullible = ByTheorem("all sizes", prove=lambda deep, factor=1, more=0: True)
    assert judge(made(proofs=(gullible,))).tier == Tier.EXACT


def test_sizes_are_summed_up():
    assert summary(("m = 2, k = 1",)) == "m = 2; k = 1"
    assert summary(("m = 2, k = 1", "m = 4, k = 1")) == "m = 2, 4; k = 1 (2 sizes)"
    in_a_row = [f"m = {m}, k = 1" for m in (2, 3, 4)]
    assert summary(in_a_row) == "2 <= m <= 4; k = 1 (3 sizes)"
    assert summary(()) == ""


@pytest.mark.parametrize("parts", [{"proofs": [PROOF]}, {"proofs": ("z3",)}, {"planted": [WRONG]}])
def test_a_claim_with_wrong_parts_is_refused(parts):
    from paper_checks.ledger import check_claim

    with pytest.raises(TypeError, match="X-1: "):
        check_claim(made(**parts))
