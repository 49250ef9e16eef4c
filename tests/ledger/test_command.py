"""The command of the ledger: what it prints and writes, and what it says of bad input."""

import errno
import json
import os

import pytest

from paper_checks import outcomes, run
from paper_checks.__main__ import main
from paper_checks.ledger import CLAIMS, Case, Claim, Erratum, version


def tried_once(**parts):
    """Return a claim with one case, in which it holds."""
    return Claim(
        "X-1", "", "True.", lambda case: outcomes.true(), lambda *_: [Case(kind="one")], **parts
    )


def test_the_command_prints_json_and_writes_both_reports(tmp_path, capsys):
    page, text = tmp_path / "page.html", tmp_path / "page.md"
    options = ["--id", "K19-prop6", "--json", "--html", str(page), "--markdown", str(text)]
    assert main([*options, "--jobs", "1"]) == 0
    [record] = json.loads(capsys.readouterr().out)
    assert set(record) >= {
        *("id", "paper", "where", "statement", "verdict", "cases", "margin", "witness"),
        *("corrected", "defects_planted", "defects_caught", "seconds", "seed"),
    }
    for written in (page.read_text(), text.read_text()):
        assert "K19-prop6" in written and record["statement"] in written
        assert f"python -m paper_checks --id K19-prop6 --json --html {page}" in written


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--id", "K19-eq999"], "K19-eq999"),
        (["--id", "L15-lem1", "--paper", "K19"], "L15-lem1"),
        (["--html", "no-such-folder/page.html"], "no-such-folder"),
        (["--markdown", "."], "folder, not a file"),
        (["--seed", "-1"], "--seed"),
        (["--seed", "abc"], "'abc' is not a whole number of at least 0"),
        (["--jobs", "0"], "--jobs"),
        (["--paper", "K20"], "K20"),
    ],
)
def test_bad_input_is_told_before_any_work(options, said, capsys, monkeypatch):
    monkeypatch.setattr(run, "tried", lambda *_: pytest.fail("work began"))
    try:
        code = main(options)
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    assert said in capsys.readouterr().err


def test_a_part_of_an_id_lists_the_ids_with_it(capsys, monkeypatch):
    monkeypatch.setattr(run, "tried", lambda *_: pytest.fail("work began"))
    assert main(["--id", "EQ24"]) == 2
    first, *ids = capsys.readouterr().err.splitlines()
    assert first == "--id EQ24: no claim has this id; did you mean one of these?"
    assert [id.strip() for id in ids] == ["K19-eq24", "M20-eq24"]


def test_a_claim_asked_for_is_printed_in_full(capsys):
    assert main(["--id", "K19-eq22", "--jobs", "1"]) == 0
    said = capsys.readouterr().out
    for name in ("place", "statement", "verdict", "given", "<(22), B - A>"):
        assert f"\n  {name} " in said
    assert "defects" not in said


@pytest.mark.turns
def test_many_claims_are_printed_as_a_table(capsys):
    ids = ("K19-prop6", "K19-ptk-below", "K19-eq6", "K19-eq22", "K19-eq30", "K19-eq24")
    assert main(["--jobs", "1", *(part for id in ids for part in ("--id", id))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines[: len(ids)]} == set(ids)
    assert lines[-2].startswith("6 claims: ")
    assert lines[-1] == "1 refuted claims are 1 errors: slip: 1"


def test_a_page_needs_jinja(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("paper_checks.__main__.find_spec", lambda name: None)
    assert main(["--id", "K19-prop6", "--html", str(tmp_path / "page.html")]) == 2
    assert "pip install 'fwlab[report]'" in capsys.readouterr().err


WRONG = r"\nonsense"


@pytest.mark.parametrize(
    "parts",
    [
        {"formula": WRONG},
        {"derived": version("at least 1", formula=WRONG)},
        {"erratum": Erratum("p. 1", "x", WRONG, "", "")},
        {"erratum": Erratum("p. 1", "x", "x", "", f"It breaks ${WRONG}$.")},
    ],
)
def test_a_formula_that_cannot_be_shown_is_told_before_any_work(
    parts, tmp_path, capsys, monkeypatch
):
    monkeypatch.setitem(CLAIMS, "X-1", tried_once(**parts))
    monkeypatch.setattr(run, "tried", lambda *_: pytest.fail("work began"))
    assert main(["--id", "X-1", "--html", str(tmp_path / "page.html")]) == 2
    said = capsys.readouterr().err
    assert said == f"X-1: its formula cannot be read: {WRONG} is not known in ${WRONG}$\n"


def test_ctrl_c_is_told_and_what_is_finished_is_kept(tmp_path, capsys, monkeypatch):
    keep, real = tmp_path / "records", run.tried

    def second_is_interrupted(id, *rest):
        if id != "K19-prop6":
            raise KeyboardInterrupt
        return real(id, *rest)

    monkeypatch.setattr(run, "tried", second_is_interrupted)
    options = ["--id", "K19-prop6", "--id", "K19-ptk-below", "--jobs", "1", "--keep", str(keep)]
    assert main(options) == 130
    assert str(keep) in capsys.readouterr().err
    assert [file.name.partition("-prop6-")[0] for file in keep.iterdir()] == ["K19"]


def test_a_full_disk_ends_the_command_with_a_sentence(tmp_path, capsys, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert main(["--id", "K19-prop6", "--jobs", "1", "--keep", str(tmp_path)]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"[Errno 28] No space left on device: '{tmp_path}")


def test_records_need_a_folder(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["--id", "K19-prop6", "--keep", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err == f"--keep {tmp_path / 'file'}: Not a directory\n"


@pytest.mark.turns
def test_two_processes_find_what_one_finds():
    ids = ["K19-prop6", "K19-ptk-below"]
    found = {record["id"]: record["witness"] for record in run.run(ids, jobs=2)}
    assert found == {record["id"]: record["witness"] for record in run.run(ids)}
