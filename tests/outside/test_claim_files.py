"""python -m paper_checks --file: claims from files outside the repository."""

import json
import shutil

import pytest
from files import ROOT, forgotten, ran, written

from paper_checks import run
from paper_checks.__main__ import main
from paper_checks.modules import claims
from paper_checks.report.told import told

HEAD = """
from paper_checks.ledger import Case, claim, version
from paper_checks.outcomes import at_most
"""
OWN = (
    HEAD
    + """
import helper


def draws(rng, deep):
    return [Case(kind="drawn", x=int(rng.integers(1, 5))) for _ in range(20)]


wrong = version("at least 2", least=2), version("at least 0", least=0)


@claim("DOE24-1", "p. 1 <of 2>", "A number is at least 1.", cases=draws, planted=wrong)
def at_least(case, least=1):
    return at_most(least, helper.FACTOR * case.x)
"""
)


@pytest.fixture
def visitor(tmp_path, monkeypatch):
    claims()
    with forgotten(monkeypatch):
        monkeypatch.chdir(tmp_path)
        yield tmp_path


@pytest.mark.turns
def test_claims_are_tried_in_workers_kept_and_tried_again_after_an_edit(tmp_path):
    """The template as it stands, and a file with a helper beside it, in another folder."""
    shutil.copy(ROOT / "paper_checks" / "template.py", tmp_path / "my_claims.py")
    written(tmp_path / "other place", "own.py", OWN)
    helper = written(tmp_path / "other place", "helper.py", "FACTOR = 1\n")
    command = ["paper_checks", "--file", "my_claims.py", "--file", "other place/own.py", "--json"]
    command += ["--keep", "kept", "--seed", "3"]
    reports = ["--html", "page.html", "--markdown", "page.md"]
    first = {r["id"]: r for r in json.loads(ran(tmp_path, *command, "--jobs", "2", *reports))}
    assert {id: r["verdict"] for id, r in first.items()} == {
        "MY-order": "holds",
        "DOE24-1": "holds",
    }
    assert first["MY-order"]["defects_caught"] == first["MY-order"]["defects_planted"] == 2
    assert first["DOE24-1"]["defects_missed"] == ["at least 0"]
    assert not list(tmp_path.rglob("__pycache__"))

    text = (tmp_path / "page.md").read_text()
    assert "## DOE24: claims of other place/own.py" in text
    assert "1 of 2 refuted: at least 2; at least 0 (not refuted: at least 0)" in text
    assert "`python -m paper_checks --file 'other place/own.py' --id DOE24-1 --seed 3`" in text
    page = (tmp_path / "page.html").read_text()
    assert "MY: claims of my_claims.py" in page and "p. 1 &lt;of 2&gt;" in page

    helper.write_text("FACTOR = 0\n")
    (kept,) = (tmp_path / "kept").glob("MY-order-*.json")
    kept.write_text(kept.read_text().replace('"cases": 14', '"cases": 15'))
    second = {r["id"]: r for r in json.loads(ran(tmp_path, *command, "--jobs", "1"))}
    assert second["DOE24-1"]["verdict"] == "fails" and second["DOE24-1"]["failed"] == 20
    assert second["MY-order"] == told({**first["MY-order"], "cases": 15})  # read from the file
    assert len([*(tmp_path / "kept").iterdir()]) == 3


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ([], ["DOE24-1"]),
        (["--paper", "DOE24"], ["DOE24-1"]),
        (["--id", "DOE24-1", "--id", "L15-lem1"], ["L15-lem1", "DOE24-1"]),
        (["--paper", "DOE24", "--paper", "L15", "--id", "L15-lem1"], ["L15-lem1"]),
    ],
)
def test_papers_and_ids_choose_among_all_claims(options, ids, visitor, capsys):
    written(visitor, "helper.py", "FACTOR = 1\n")
    written(visitor, "own_chosen.py", OWN)
    assert main(["--file", "own_chosen.py", "--list", *options]) == 0
    assert capsys.readouterr().out.split() == ids


def one_claim(id="DOE24-1", **changes):
    parts = {"planted": "()", "cases": "list", **changes}
    given = ", ".join(f"{name}={text}" for name, text in parts.items())
    return f"{HEAD}\n@claim('{id}', 'p', 'S.', {given})\ndef form(case, least=1):\n    return 0\n"


BAD = {
    "no such file": (None, "own.py: there is no such file"),
    "a syntax error": ("x = = 1", "own.py: its import raised SyntaxError"),
    "an error": ("\n1 / 0", "own.py: its import raised ZeroDivisionError in line 2: division"),
    "a script that ends": ("raise SystemExit(3)", "own.py: its import raised SystemExit"),
    "no claims": ("x = 1", "own.py: the file has no claims"),
    "an id inside": (one_claim("K19-prop6"), "two claims have the id K19-prop6"),
    "an id with a blank": (one_claim("DOE 1"), "an id must be SOURCE-NAME"),
    "one version": (one_claim(planted="version('w', least=2)"), "planted must be a tuple of versi"),
    "an unknown number": (
        one_claim(planted="(version('wrong', lest=2),)"),
        "DOE24-1, 'wrong': the form got an unexpected keyword argument 'lest'",
    ),
    "no version": (one_claim(relaxed="'wider'"), "DOE24-1: its variants must be made by version()"),
    "no formula": (
        one_claim(formula="r'\\frac{1'"),
        "DOE24-1: its formula cannot be read: a brace without its other one",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_sentence_before_any_work(name, visitor, capsys, monkeypatch):
    text, sentence = BAD[name]
    monkeypatch.setattr(run, "tried", lambda *_: pytest.fail("work began"))
    if text is not None:
        written(visitor, "own.py", text)
    assert main(["--file", "own.py", "--html", "page.html"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert sentence in line and (line.startswith("--file own.py: ") or name == "no formula")


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (["colorsys.py"], "Python has another module named colorsys ("),
        (["."], ".: it is a folder"),
        (["own.txt"], "own.txt: a Python file is needed"),
        (["my.own.py"], "my.own.py: a Python file is needed"),
        (["a/one.py", "b/one.py"], "b/one.py: another file is named one.py, too"),
        (["a/one.py", "b/own.py"], "Python takes the module helper from "),
    ],
)
def test_names_that_clash_are_one_sentence(files, sentence, visitor, capsys):
    for folder in ("a", "b"):
        written(visitor / folder, "helper.py", "FACTOR = 1\n")
    for name in ("colorsys.py", "own.txt", "my.own.py", "a/one.py", "b/one.py"):
        (visitor / name).write_text(OWN.replace("DOE24", "ONE"))
    (visitor / "b" / "own.py").write_text(OWN)
    assert main([part for file in files for part in ("--file", file)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("--file ") and sentence in line


def test_a_file_may_import_another_one_and_be_given_twice(visitor, capsys):
    written(visitor, "helper.py", "FACTOR = 1\n")
    written(visitor, "own_first.py", OWN)
    more = "import own_first\n" + OWN.replace("DOE24-1", "DOE24-2")
    written(visitor, "own_second.py", more)
    files = "own_second.py", "own_first.py", str(visitor / "own_first.py")
    assert main([*(part for file in files for part in ("--file", file)), "--list"]) == 0
    assert capsys.readouterr().out.split() == ["DOE24-1", "DOE24-2"]


def test_a_form_must_return_an_outcome(visitor):
    written(visitor, "own.py", one_claim(cases="lambda rng, deep: [Case(kind='one')]"))
    with pytest.raises(TypeError, match=r"a form must return an Outcome .*; got 0"):
        main(["--file", "own.py", "--jobs", "1"])


@pytest.mark.turns
def test_a_record_of_code_that_was_edited_meanwhile_answers_for_the_code_that_ran(visitor, capsys):
    written(visitor, "helper.py", "FACTOR = 1\n")
    edit = "import pathlib\npathlib.Path('helper.py').write_text('FACTOR = 2')\n    return at_most("
    written(
        visitor, "own_edited.py", OWN.replace("return at_most(", edit.replace("\np", "\n    p"))
    )
    assert main(["--file", "own_edited.py", "--jobs", "1", "--keep", "kept"]) == 0
    assert "DOE24-1  holds" in capsys.readouterr().out
    assert len([*(visitor / "kept").iterdir()]) == 1
    ran(visitor, "paper_checks", "--file", "own_edited.py", "--jobs", "1", "--keep", "kept")
    assert len([*(visitor / "kept").iterdir()]) == 2


def test_a_claim_that_cannot_be_identified_is_not_kept_and_a_line_says_so(visitor, capsys):
    written(visitor, "helper.py", "FACTOR = 1\n")
    reads = "helper.FACTOR * case.x + 0 * eval('0')"
    written(visitor, "own_reading.py", OWN.replace("helper.FACTOR * case.x", reads))
    assert main(["--file", "own_reading.py", "--jobs", "1", "--keep", "kept"]) == 0
    assert "DOE24-1 will not be kept: " in capsys.readouterr().err
    assert not (visitor / "kept").exists()
