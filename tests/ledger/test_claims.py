"""Every claim of the papers, tried in its quick form, and what a ledger entry must have."""

import pytest

from paper_checks.__main__ import check_formulas
from paper_checks.ledger import CLAIMS
from paper_checks.run import claims, tried
from paper_checks.stored_tables import VARIABLE
from paper_checks.verdicts import Verdict

IDS = [claim.id for claim in claims()]


@pytest.mark.parametrize("id", IDS)
def test_a_claim_has_a_verdict_with_evidence(id, tmp_path, monkeypatch):
    """Its check runs; a true statement was tried on cases, and every planted error was refuted.
    Tables that figures/ may have made are left to test_stored_tables.py."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    record = tried(id, seed=0, deep=False)
    verdict = Verdict(record["verdict"])
    if verdict == Verdict.UNTESTABLE:
        assert record["reason"]
        return
    assert record["cases"] > 0
    assert record["defects_caught"] == record["defects_planted"]
    if verdict in (Verdict.HOLDS, Verdict.WIDER):
        assert record["defects_planted"] >= 1
    else:
        assert record["witness"]
    if record["corrected"]:
        assert record["corrected_trial"]["failed"] == 0


@pytest.mark.parametrize("id", IDS)
def test_a_claim_is_written_out(id):
    claim = CLAIMS[id]
    assert claim.where and claim.statement.endswith(".")
    check_formulas(id)
