"""The stored proofs belong to the claims as they stand, and the checker accepts them."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from paper_checks import verify_proofs
from paper_checks.__main__ import main
from paper_checks.certify.export import has_proof_or_witness, proofs_of
from paper_checks.certify.formulas import lines_of
from paper_checks.ledger import CLAIMS
from paper_checks.modules import PAPERS, claims
from paper_checks.verify_proofs import FOLDER, weakness

AGAIN = "python -m paper_checks --certificates paper_checks/certificates writes them again"
ROWS = {
    row["id"]: row
    for paper in PAPERS
    for row in json.loads((FOLDER / f"{paper}.json").read_text("utf-8"))
}
STORED = Path(verify_proofs.__file__).with_name("ledger.json")
RECORDS = {record["id"]: record for record in json.loads(STORED.read_text("utf-8"))}
# one or two per paper whose formulas are quick to write
SAMPLE = ("K19-eq12", "K19-eq22", "L15-psi-iff", "T20-max-hinge", "T20-eq2.26", "M20-eq23")
SAMPLE += ("M20-thmC1-delta-case2", "LP15-def2")
PROOFS = [(id, proof) for id, row in ROWS.items() for proof in row["proofs"] + row["refutation"]]


def test_each_row_that_is_proved_or_refuted_exactly_is_listed():
    exact = [id for id, record in RECORDS.items() if has_proof_or_witness(record)]
    assert list(ROWS) == exact, AGAIN
    for id, row in ROWS.items():
        assert row["verdict"] == RECORDS[id]["verdict"], AGAIN
        assert row["true"] == RECORDS[id]["corrected"], AGAIN
        for side, wanted in (("proofs", "proof_sizes"), ("refutation", "witness")):
            assert bool(row[side] or row[f"{side}_missing"]) == bool(RECORDS[id][wanted]), AGAIN
            assert all(reason for _, reason in row[f"{side}_missing"])


def test_the_checker_accepts_a_sample():
    for kind in ("cases", "witness", "rate"):
        sample = [(id, proof) for id, proof in PROOFS if proof["kind"] == kind][::30]
        assert sample and [(id, p["size"]) for id, p in sample if weakness(p)] == []


@pytest.mark.deep
def test_the_checker_accepts_all():
    assert [(id, proof["size"]) for id, proof in PROOFS if weakness(proof)] == []


def test_the_command_counts_what_it_accepts_and_rejects(tmp_path):
    file = tmp_path / "rows.json"
    row = {**ROWS["M20-eq23"], "proofs_missing": [["m = 9", "too large"]]}
    for proofs, code, text in (
        (row["proofs"], 0, "0 stored, 1 in part, 0 not stored"),
        ([{**row["proofs"][0], "tree": ""}], 1, "REJECTED M20-eq23, proofs, all numbers: "),
    ):
        file.write_text(json.dumps([{**row, "proofs": proofs}]))
        # -I: without the packages of the repository, -S: without any installed package
        command = [sys.executable, "-I", "-S", verify_proofs.__file__, "--missing", str(file)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        assert text in done.stdout and "M20-eq23, proofs, m = 9: too large" in done.stdout


@pytest.mark.parametrize("id", SAMPLE)
def test_the_stored_formulas_are_those_that_the_ledger_proves(id, monkeypatch):
    """Only the formulas are written again; the search for a tree takes long."""
    claims()
    stored = {
        (proof["size"], tuple(proof["formula"]))
        for proof in ROWS[id]["proofs"]
        if proof["kind"] == "cases"
    }
    monkeypatch.setattr("paper_checks.certify.export.by_cases", lambda formula: formula)
    made = {
        (size, tuple(lines_of(formula)))
        for size, formula in proofs_of(CLAIMS[id], RECORDS[id])
        if not isinstance(formula, str | dict)
    }
    assert stored and stored <= made, AGAIN
    assert len(made - stored) <= len(ROWS[id]["proofs_missing"]), AGAIN


def test_stored_rates_have_the_steps_and_the_bound_of_the_statement():
    rates = [proof for proof in ROWS["T20-open-loop"]["proofs"] if proof["kind"] == "rate"]
    assert len(rates) == 10
    for t, rate in enumerate(rates, 1):
        assert list(map(Fraction, rate["steps"])) == [Fraction(2, i + 1) for i in range(1, t + 1)]
        assert Fraction(rate["bound"]) == Fraction(2, t + 3)  # the relaxed statement
        forged = {**rate, "bound": str(Fraction(rate["bound"]) - Fraction(1, 10**9))}
        assert weakness(rate) == "" and weakness(forged)


def test_forged_witnesses_are_rejected():
    rejected = 0
    for _, proof in PROOFS:
        if proof["kind"] == "witness":
            for name, number in proof["at"].items():
                forged = {**proof, "at": {**proof["at"], name: str(Fraction(number) - 7)}}
                rejected += bool(weakness(forged))
    assert rejected > 50


def test_the_option_writes_what_is_stored(tmp_path, capsys):
    command = ["--id", "M20-eq23", "--id", "LP15-def2", "--jobs", "1", "--certificates"]
    assert main([*command, str(tmp_path / "none")]) == 2
    assert "no such folder" in capsys.readouterr().err
    assert main([*command, str(tmp_path)]) == 0
    for id, file in (("M20-eq23", "M20.json"), ("LP15-def2", "LP15.json")):
        assert json.loads((tmp_path / file).read_text("utf-8")) == [ROWS[id]], AGAIN
