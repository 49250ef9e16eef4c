"""python -m figures --file: figures from files outside the repository."""

import json
import shutil
import time

import pytest
from files import ROOT, forgotten, ran, started, written

from figures import __main__ as command
from figures.kit.script import script_names

# every computation of a cell adds a file
OWN = '''"""Two numbers."""

import time
from pathlib import Path

import helper
from figures.kit.captions import Caption
from figures.kit.tables import Table
from fwlab.experiments import Cell

SECONDS = {"quick": 1, "standard": 1, "full": 1}
HERE = str(Path(__file__).parent)


def cells(size):
    return [Cell(function.__name__, function, {"folder": HERE}) for function in (first, second)]


def first(folder):
    (Path(folder) / f"first-{time.time_ns()}").touch()
    return helper.FACTOR


def second(folder):
    (Path(folder) / f"second-{time.time_ns()}").touch()
    while (Path(folder) / "wait").exists():
        time.sleep(0.05)
    return 2


def plot(study):
    rows = [[name, str(value)] for name, value in study.values.items()]
    return study.save_table(Table(["name", "value"], rows), Caption("T", "S.", "none", "A."))
'''


@pytest.fixture
def visitor(tmp_path, monkeypatch):
    script_names()
    with forgotten(monkeypatch):
        monkeypatch.chdir(tmp_path)
        yield tmp_path


@pytest.mark.turns
def test_figures_are_made_in_workers_resumed_after_a_kill_and_made_again_after_an_edit(tmp_path):
    """The template as it stands, and a file with a helper beside it, in another folder."""
    place = tmp_path / "other place"
    shutil.copy(ROOT / "figures" / "template.py", tmp_path / "my_figure.py")
    written(place, "own.py", OWN)
    helper = written(place, "helper.py", "FACTOR = 1\n")
    waiting = written(place, "wait", "")
    own = ["figures", "--file", "other place/own.py", "--quick"]

    def computed():
        return [len(list(place.glob(f"{name}-*"))) for name in ("first", "second")]

    def table():
        return (tmp_path / "results/figures/quick/own.md").read_text()

    run = started(tmp_path, *own)
    end = time.monotonic() + 120
    while computed() != [1, 1] and run.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    run.kill()
    run.communicate()
    waiting.unlink()
    assert computed() == [1, 1]

    printed = ran(tmp_path, *own, "--file", "my_figure.py", "--jobs", "2")
    assert "results/figures/quick/my_figure.png\n" in printed
    assert computed() == [1, 2] and "| first | 1 |" in table()
    caption = (tmp_path / "results/figures/quick/own.caption.md").read_text()
    assert "`python -m figures --file 'other place/own.py' own --quick`" in caption
    page = (tmp_path / "results/figures/quick/README.md").read_text()
    assert "![Gap and k" in page and "](my_figure.png)" in page and "| second | 2 |" in page
    record = json.loads((tmp_path / "results/figures/quick/my_figure.json").read_text())
    assert all(value["gap"] <= 1e-3 for value in record["values"].values())
    assert not list(tmp_path.rglob("__pycache__"))

    helper.write_text("FACTOR = 9\n")
    ran(tmp_path, *own)
    assert computed() == [2, 2] and "| first | 9 |" in table()


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        ([], {"own_chosen"}),
        (["rates"], {"rates"}),
        (["rates", "own_chosen"], {"rates", "own_chosen"}),
        (["all"], None),
    ],
)
def test_names_choose_among_all_figures(names, chosen, visitor, monkeypatch):
    made = []
    monkeypatch.setattr(command, "make", lambda study, plot_only: made.append(study.name))
    written(visitor, "helper.py", "FACTOR = 1\n")
    written(visitor, "own_chosen.py", OWN)
    everything = {*script_names(), "own_chosen"}
    assert command.main([*names, "--file", "own_chosen.py"]) == 1  # as nothing was made
    assert set(made) == (everything if chosen is None else chosen)


def test_the_list_has_the_figures_of_a_file(visitor, capsys):
    written(visitor, "own_listed.py", OWN.replace("import helper", ""))
    assert command.main(["list", "--file", "own_listed.py"]) == 0
    listed = capsys.readouterr().out
    assert "\nown_listed " in listed and "Two numbers.\n" in listed and "\nrates " in listed


PARTS = "SECONDS = dict(quick=1, standard=1, full=1)\ndef cells(size): ...\ndef plot(study): ...\n"
BAD = {
    "no such file": (None, "there is no such file"),
    "a syntax error": ("x = = 1", "its import raised SyntaxError"),
    "an error": ("\n1 / 0", "its import raised ZeroDivisionError in line 2: division by zero"),
    "nothing": ("", "the file lacks SECONDS, cells, plot; figures/template.py has all."),
    "no plot": (PARTS.replace("plot", "draw"), "the file lacks plot;"),
    "a size short": (PARTS.replace(", full=1", ""), "SECONDS must be a dict with a number for eac"),
    "no function": (f"{PARTS}cells = 1", "cells must be a function; got 1."),
    "no scripts": (
        f"{PARTS}SCRIPTS = [1]",
        "SCRIPTS must be a dict with a Script for each name; got [1].",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_sentence_before_any_work(name, visitor, capsys):
    text, sentence = BAD[name]
    if text is not None:
        written(visitor, "own.py", text)
    assert command.main(["--file", "own.py"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("figures: --file own.py: ") and sentence in line
    assert not (visitor / "results").exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (PARTS, "own: cells must return a list of Cell; got None."),
        (PARTS.replace("(size): ...", "(size): return []"), "own: plot must return the list of fi"),
    ],
)
def test_parts_that_return_nothing_are_one_sentence(text, sentence, visitor, capsys):
    written(visitor, "own.py", text)
    assert command.main(["--file", "own.py"]) == 1
    assert f"figures: {sentence}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--file", "rates.py"], "--file rates.py: there is a figure named rates already"),
        (["--file", "all.py"], "--file all.py: there is a figure named all already"),
        (["--file", "my figure.py"], "a figure's name must be of letters, digits, '_', '-'"),
        (["page", "--file", "own_page.py"], "page is for this repository and takes no --file"),
        (["nothing", "--file", "own_name.py"], "no figure is named 'nothing'."),
    ],
)
def test_names_that_clash_are_one_sentence(arguments, sentence, visitor, capsys):
    written(visitor, arguments[-1], PARTS)
    assert command.main(arguments) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("figures: ") and sentence in line
