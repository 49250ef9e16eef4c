"""Every symbol of the ledger's formulas is defined where it is used."""

import json
from pathlib import Path

import pytest

from paper_checks import notation
from paper_checks.ledger import Version
from paper_checks.modules import PAPERS, claims
from paper_checks.notation import explained, is_named, symbols, undefined

STORED = Path(notation.__file__).with_name("ledger.json")


def formulas(claim):
    note = claim.erratum
    found = [claim.formula, *(other.formula for other in claim.versions.values())]
    found += [note.printed, note.correct] if note else []
    return " , ".join(formula for formula in found if formula)


@pytest.mark.parametrize(
    ("formula", "found"),
    [
        (r"P_{ptk}(W(A))-D(A)\to0", ["P_ptk", "W", "A", "D"]),
        (r"\tilde W+\hat\gamma\,\rho^{flat}_j", ["tilde W", "hat gamma", "rho", "j"]),
        (r"\max_i\mathrm{Gap}_{stk}(A)\leq\exp(-\zeta t)", ["i", "A", "zeta", "t"]),
        (r"\phi^*_{utk}(v;y)", ["phi_utk", "v", "y"]),
        (r"\operatorname{argmax}\frac{1}{2}\|\alpha_i\|^2", ["alpha", "i"]),
        (r"R_S(H)\leq\ell(t)", ["R_S", "H", "ell", "t"]),
    ],
)
def test_symbols_are_found(formula, found):
    assert symbols(formula) == found


def test_a_symbol_is_named_by_a_word_of_its_own():
    assert is_named("A", "A: (m, n)") and is_named("vartheta", "theta > 0")
    assert not is_named("A", "Any number") and not is_named("P_ptk", "P_ptkx, P")
    assert is_named("rho", "rho': one for each k") and is_named("tilde W", "W~: (d+n, m)")


def test_an_undefined_symbol_is_seen():
    assert undefined("K19", r"\Xi+\xi_i\geq Q", "") == ["Xi", "xi", "Q"]
    assert undefined("K19", r"P(Q)", "Q: a number") == []
    assert undefined("MY", r"P(x)", "") == ["P"]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_symbol_is_defined(paper):
    missing = {}
    for claim in claims(paper):
        texts = " ".join((claim.shapes, claim.judged, claim.assumed, *claim.sides))
        if found := undefined(paper, formulas(claim), texts):
            missing[claim.id] = found
    assert missing == {}, "say what they mean in `shapes`, or in paper_checks/notation.json"


def test_without_a_paper_s_notation_symbols_are_missing(monkeypatch):
    """The test above fails without the table."""
    monkeypatch.setattr(notation, "notation", lambda: {"": {}})
    assert sum(bool(undefined("K19", formulas(claim), "")) for claim in claims("K19")) > 40


def test_no_meaning_is_empty():
    assert {*notation.notation()} == {"", *PAPERS}
    assert all(text for known in notation.notation().values() for text in known.values())


def test_what_a_claim_names_is_not_repeated():
    found = explained("K19", r"P(W(A))-D(A)", "W: (d, m)")
    assert [*found] == ["P", "A", "D"] and found["D"] == "the dual objective (2)"
    assert explained("K19", r"\sum_i\alpha_i", "") == {"alpha": "alpha_i: the i-th column of A"}


def test_the_records_say_what_the_symbols_mean():
    records = {record["id"]: record for record in json.loads(STORED.read_text("utf-8"))}
    told = records["K19-gap-certificate"]["told"]["evidence"]["symbols"]
    assert "P: the regularised risk (1)" in told and "D: the dual objective (2)" in told


def test_versions_with_formulas_are_covered():
    assert any(isinstance(v, Version) and v.formula for c in claims() for v in c.versions.values())
