"""python -m figures: what it lists and refuses, its tables and captions, and its two scripts."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from figures import __main__ as command
from figures.kit import study as _study
from figures.kit.captions import Caption, caption_text
from figures.kit.script import script, script_names
from figures.kit.study import Study
from figures.kit.tables import Compared, Table, agreement
from fwlab.experiments.cells import Cell
from fwlab.experiments.data_name import DataName

ROOT = Path(__file__).parents[2]


def one(x):
    return {"x": x}


PAPERS = {
    "kato2019": "figure1 figure2 figure3 figure4 table1 table2 table3 table4 table5 table6 table7",
    "lapin2015": "figure2 figure3 table1 table2",
    "lei2015": "corollary8 table1 table2",
    "macha2020": "figure1 figure2 figure3 table1 table2 table3 table4",
    "tajima2020": "figure1 figure2 table1 table2 table3",
}


def test_the_list_has_every_script(capsys):
    assert command.main(["list"]) == 0
    listed = capsys.readouterr().out
    papers = {f"{folder}_{name}" for folder, names in PAPERS.items() for name in names.split()}
    own = {
        *("bent_path", "certified_gaps", "growth"),
        *("performance_costs", "performance_gaps", "performance_profiles", "printed_tables"),
        *("proved_labels", "pseudo_topk", "rates", "which_method", "worst_case"),
    }
    scripts = papers | own
    assert scripts == set(script_names())
    for name in scripts:
        assert f"\n{name} " in listed and f" {script(name).shows}\n" in listed
        assert set(script(name).seconds) == set(_study.SIZES)
        kind = name.partition("_")[2]
        if match := re.fullmatch(r"(figure|table)(\d)", kind):
            assert f" {match[1].title()} {match[2]}" in script(name).shows


def test_times_are_measured_one_after_the_other():
    timed = {name for name in script_names() if script(name).alone}
    assert timed == {
        "growth",
        "kato2019_figure2",
        "lapin2015_figure3",
        "macha2020_table1",
        "macha2020_table4",
        "performance_costs",
        "certified_gaps",
        "performance_gaps",
        "performance_profiles",
        "tajima2020_table2",
        "tajima2020_table3",
        "which_method",
    }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing"], "no figure is named 'nothing'. python -m figures list prints all names."),
        (["rate"], "no figure is named 'rate'. Did you mean 'rates'?"),
        (["kato2019_fig3"], "Did you mean 'kato2019_figure3'?"),
        (["lisst"], "Did you mean 'list'?"),
        (
            ["all", "rates"],
            "list, all, check, page, scoreboard, keep stand alone; got 'all rates'.",
        ),
        (["scoreboard", "--quick"], "scoreboard takes no --quick, whose numbers mean nothing."),
        (["keep", "--quick"], "keep takes no --quick"),
        (["keep"], "standard holds no results; python -m figures all makes them."),
        (["page"], "results/figures holds no figures; python -m figures all makes them"),
        (["rates", "--quick", "--full"], "not allowed with argument --quick"),
        (["rates", "--large"], "unrecognized arguments: --large"),
        (["rates", "--jobs", "0"], "jobs must be at least 1; got 0."),
        (["rates", "--jobs", "two"], "invalid int value: 'two'"),
        (["rates", "--backend", "dask"], "scheduler needs the address"),
        (["rates", "--out", __file__], "--out must be a folder to write in"),
        (["rates", "--full", "--plot-only"], "rates has no stored results of size full."),
    ],
)
def test_bad_input_gets_one_sentence(arguments, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command.main(arguments) in (1, 2)
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("figures: ") and sentence in error
    assert "Traceback" not in error


def test_estimates_are_spelled_in_their_unit():
    assert [command.spell(s) for s in (0.5, 59, 90, 7200)] == ["0.5 s", "59 s", "1.5 min", "2 h"]


def test_the_full_size_says_first_how_long_it_takes(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "make", lambda study, plot_only: True)
    assert command.main(["rates", "--full", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().err == "rates (full); about 40 s on two cores\n"


def test_time_left_follows_the_time_so_far(tmp_path):
    studies = [Study(name, "standard", tmp_path) for name in ("rates", "lapin2015_figure3")]
    first, second = (script(one.name).seconds["standard"] for one in studies)
    assert command.time_left(studies, 0, 0.0).endswith(
        f"{command.spell(first + second)} on two cores"
    )
    assert command.time_left(studies, 1, 2 * first) == f"; about {command.spell(2 * second)} left"


def test_a_page_that_cannot_be_written_is_one_sentence(capsys, tmp_path, monkeypatch):
    def full(folder):
        raise OSError("No space left on device")

    monkeypatch.setattr(command, "make", lambda study, plot_only: True)
    monkeypatch.setattr(command, "write_page", full)
    assert command.main(["rates", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "figures: No space left on device"


def test_ctrl_c_is_one_sentence(capsys, tmp_path, monkeypatch):
    def interrupted(study, plot_only):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "make", interrupted)
    assert command.main(["rates", "--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err.splitlines() == [
        "rates (standard); about 40 s on two cores",
        f"figures: interrupted; 0 of 1 figures are in {tmp_path}/standard, finished cells in "
        f"{tmp_path}/cells; the same command resumes from there.",
    ]


def heed_ctrl_c():
    """Undo what a shell does to commands in the background: they ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.turns
def test_ctrl_c_in_the_middle_of_a_real_run(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-m", "figures", "rates", "--out", str(tmp_path)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=heed_ctrl_c,
    ) as run:
        assert run.stderr is not None
        first = run.stderr.readline()
        time.sleep(1.0)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate()
    assert first.startswith("rates (standard); about ") and run.returncode == 130
    assert errors.strip().splitlines()[-1].endswith("the same command resumes from there.")
    assert "Traceback" not in errors


def test_a_failed_script_is_one_sentence_and_the_next_goes_on(capsys, tmp_path, monkeypatch):
    def cells(size):
        raise FileNotFoundError("the data file is not here.")

    failing = replace(script("rates"), cells=cells)
    monkeypatch.setattr(command, "script", lambda name: failing)
    assert not command.make(Study("rates", "quick", tmp_path))
    assert capsys.readouterr().err.splitlines()[-1] == "figures: rates: the data file is not here."


def study(tmp_path):
    made = Study("example", "quick", tmp_path)
    settings = {"x": 1, "data": [DataName("digits", "unit", rows=20)]}
    made.compute([Cell("cell", with_data, settings)])
    return made


def with_data(x, data):
    return {"x": x}


def test_a_record_holds_all_that_drawing_needs(tmp_path):
    made = study(tmp_path)
    assert made.values == {"cell": {"x": 1}}
    record = json.loads((tmp_path / "quick" / "example.json").read_text())
    assert record["command"] == "python -m figures example --quick"
    assert "the first 20 rows" in record["data"][0] and "UCI" in record["data"][0]
    assert record["settings"]["cell"] == {"x": 1, "data": ["digits"]}
    assert len(record["date"]) == 10
    with pytest.raises(_study.NotRun, match="example has no stored results of size full"):
        _ = Study("example", "full", tmp_path).values


def test_a_table_is_written_three_times_with_its_caption(tmp_path):
    table = Table(
        ["method", "top-1 & more", "note"],
        [
            ["ours", Compared(0.771, 0.759), "a_b"],
            ["capped", Compared(0.5, 0.75, mark="*"), "50 %"],
            ["missing", Compared(None, 0.6), "-"],
            ["new", Compared(0.25), "-"],
        ],
    )
    caption = Caption("A title", "What it shows.", "seed 0.", "They agree.")
    files = study(tmp_path).save_table(table, caption, "part")
    assert [file.name for file in files] == [
        f"example_part{ending}" for ending in (".csv", ".md", ".tex", ".caption.md")
    ]
    rows = list(csv.reader(io.StringIO(files[0].read_text())))
    assert rows[0] == [
        "method", "top-1 & more", "top-1 & more (paper)", "top-1 & more (difference)", "note",
    ]  # fmt: skip
    assert rows[1] == ["ours", "0.771", "0.759", "+0.012", "a_b"]
    assert rows[2][1:4] == ["0.500*", "0.750", "-0.250"]
    assert rows[3][1:4] == ["", "0.600", ""]
    assert rows[4][1:4] == ["0.250", "", ""]
    markdown = files[1].read_text().splitlines()
    assert markdown[1] == "| --- | ---: | --- |"
    assert markdown[2] == "| ours | 0.771 (0.759, +0.012) | a_b |"
    assert markdown[4] == "| missing | - (0.600) | - |"
    latex = files[2].read_text()
    assert r"ours & 0.771 (0.759, +0.012) & a\_b \\" in latex and r"50 \%" in latex
    text = files[3].read_text()
    parts = ("**A title**", "not judged", "seed 0.", "quick:", "commit ", "digits", "--quick`")
    assert all(part in text for part in parts)


def test_sizes_but_the_quick_one_say_how_far_they_agree():
    record = {"size": "full", "data": [], "version": "1", "command": "python -m figures example"}
    text = caption_text(Caption("A title", "What it shows.", "seed 0.", "They agree."), record)
    assert "*Agreement*: They agree." in text and "full: the paper's protocol" in text
    assert "data: none" in text


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="a row must have 2 entries; got 1"):
        Table(["a", "b"], [["x"]])


def test_agreement_counts_what_is_printed():
    entries = [Compared(0.5, 0.51), Compared(0.6, 0.5), Compared(None, 0.1), Compared(0.1)]
    sentence = agreement(entries, 0.02, "of accuracy")
    assert sentence.startswith("1 of 2 numbers lie within 0.02 of accuracy")
    assert "mean difference is +0.045, the largest +0.100" in sentence
    assert (
        agreement([Compared(0.1)], 1, "") == "No printed number can be compared with one of ours."
    )
