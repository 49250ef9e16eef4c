"""The stored records, which the site shows, are records of the claims as they stand."""

import json
from pathlib import Path

import pytest

from paper_checks import modules
from paper_checks.modules import claims
from paper_checks.report.told import told

STORED = Path(__file__).parents[2] / "paper_checks" / "ledger.json"
RECORDS = {record["id"]: record for record in json.loads(STORED.read_text("utf-8"))}
FIELDS = ("where", "statement", "formula", "shapes", "judged", "assumed")
AGAIN = "python -m paper_checks --json > paper_checks/ledger.json writes them again"


def test_each_claim_has_a_record_and_each_record_a_claim():
    assert list(RECORDS) == [claim.id for claim in claims()], AGAIN


def test_claims_are_in_the_order_of_the_papers_whichever_was_imported_first(monkeypatch):
    claims()
    monkeypatch.setattr(modules, "CLAIMS", dict(reversed(modules.CLAIMS.items())))
    assert list(dict.fromkeys(claim.paper for claim in claims())) == list(modules.PAPERS)


@pytest.mark.parametrize("field", FIELDS)
def test_the_texts_are_those_of_the_claims(field):
    changed = [c.id for c in claims() if RECORDS[c.id][field] != getattr(c, field)]
    assert changed == [], AGAIN


def test_the_words_follow_from_the_records():
    other = [id for id, record in RECORDS.items() if told(record)["told"] != record["told"]]
    assert other == [], AGAIN


def test_every_planted_error_was_refuted():
    assert [id for id, record in RECORDS.items() if record["defects_missed"]] == []
