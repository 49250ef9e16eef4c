"""Every claim of the papers, tried in its quick form, and what a ledger entry must have."""

import json
from pathlib import Path

import pytest

from fwlab.docs import mathml
from paper_checks import modules
from paper_checks.ledger import CLAIMS
from paper_checks.library_defects import owner_of
from paper_checks.run import claims, tried
from paper_checks.stored_tables import VARIABLE
from paper_checks.trials import Tier
from paper_checks.verdicts import Verdict
from tests.ledger.captions import contradictions

IDS = [claim.id for claim in claims()]
STORED = json.loads(Path(modules.__file__).with_name("ledger.json").read_text("utf-8"))
LONG = {record["id"] for record in STORED if record["seconds"] > 0.5}
TRIED = [pytest.param(id, marks=pytest.mark.turns if id in LONG else ()) for id in IDS]
PLAIN = [id for id in IDS if CLAIMS[id].experiment is None and not CLAIMS[id].from_table]
WRONG = (Verdict.MISPRINT, Verdict.FAILS)


@pytest.mark.parametrize("id", TRIED)
def test_a_claim_has_a_verdict_with_evidence(id, tmp_path, monkeypatch):
    """Its check runs; a true statement was tried on cases, and every planted error was refuted.
    Tables that figures/ may have made are left to test_stored_tables.py."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    record, claim = tried(id, seed=0, deep=False), CLAIMS[id]
    verdict = Verdict(record["verdict"])
    if verdict == Verdict.UNTESTABLE:
        assert record["reason"] and not record["tier"]
        return
    assert Tier(record["tier"]) != Tier.READ
    assert record["source"].startswith("paper_checks/")
    if verdict != Verdict.OTHER_DATA:
        assert record["cases"] > 0
    assert record["defects_caught"] == record["defects_planted"]
    if verdict in (Verdict.HOLDS, Verdict.WIDER, Verdict.REPRODUCED, Verdict.EMPTY):
        assert record["defects_planted"] >= 1
    elif claim.experiment is None:
        assert record["witness"]
    if record["corrected"]:
        assert record["corrected_trial"]["failed"] == 0
    if verdict == Verdict.MISPRINT:
        place = claim.where_right.place
        assert (place in CLAIMS) == (claim.where_right.form is not None), place
    if verdict in WRONG and claim.experiment is None:
        assert claim.erratum is not None
    assert record["library_failed"] == 0
    assert contradictions(id, verdict) == []
    if claim.proofs:
        assert record["proof_sizes"] and record["proof_catches"]
    else:
        assert claim.not_proved


@pytest.mark.parametrize("id", IDS)
def test_a_claim_is_written_out(id):
    claim = CLAIMS[id]
    assert claim.where and claim.statement.endswith(".")
    if claim.formula:
        assert "<math" in mathml.display(claim.formula)
    for name in claim.library.names if claim.library else ():
        owner_of(name)


@pytest.mark.deep
@pytest.mark.parametrize("id", PLAIN)
def test_a_row_says_the_same_for_each_seed(id):
    """One verdict of one tier, one correction, and every planted error caught, for seeds 0 to
    29."""
    found = [tried(id, seed, deep=False) for seed in range(30)]
    for part in ("verdict", "tier", "corrected"):
        assert len({record[part] for record in found}) == 1, part
    assert not any(record["defects_missed"] or record["library_failed"] for record in found)


@pytest.mark.deep
@pytest.mark.parametrize("id", [id for id in IDS if CLAIMS[id].library])
def test_a_row_sees_a_defect_in_the_library(id):
    record = tried(id, seed=0, deep=True)
    assert record["library_cases"] > 0 and not record["library_defects_missed"]
