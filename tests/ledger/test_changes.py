"""The list of changes between two ledgers names each row that differs."""

import json
from pathlib import Path

from paper_checks.changes import changes, main

STORED = Path(__file__).parents[2] / "paper_checks" / "ledger.json"
RECORDS = json.loads(STORED.read_text("utf-8"))


def test_equal_ledgers_have_no_changes(capsys):
    assert list(changes(RECORDS, RECORDS)) == []
    assert main([str(STORED), str(STORED)]) == 0
    assert capsys.readouterr().out == "no verdict differs\n"


def test_each_change_is_listed():
    first, second, *others = RECORDS
    new = [{**first, "verdict": "fails", "tier": "proved"}, *others, {**second, "id": "X-1"}]
    assert list(changes(RECORDS, new)) == [
        f"{first['id']}: verdict: {first['verdict']} -> fails",
        f"{first['id']}: tier: {first['tier']} -> proved",
        f"X-1: new, {second['verdict']}",
        f"{second['id']}: gone, was {second['verdict']}",
    ]


def test_a_file_that_is_no_ledger_is_named(tmp_path, capsys):
    file = tmp_path / "other.json"
    for text in ("", "{}", "[1]", '[{"id": "X-1"}]'):
        file.write_text(text)
        assert main([str(file), str(STORED)]) == 2
        assert str(file) in capsys.readouterr().err
    assert main([str(tmp_path / "none.json"), str(STORED)]) == 2
