"""The scoreboard: a line for each figure of the papers, made of findings alone."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from figures import __main__ as command
from figures.kit import scoreboard
from figures.kit import study as _study
from figures.kit.captions import Caption
from figures.kit.findings import FigureFinding, FigureOutcome
from figures.kit.index import index
from figures.kit.judge import judge
from figures.kit.outcomes import ORDER, OUTCOMES, row_of, worst
from figures.kit.page import HEAD, write_page
from figures.kit.readings import Reading, Tried
from figures.kit.scoreboard import (
    WITHOUT_SCRIPT,
    Score,
    label,
    markdown_scoreboard,
    scores,
    summary,
    terminal_scoreboard,
)
from figures.kit.script import Script, _scripts, script, script_names
from figures.kit.study import Study
from figures.kit.tables import Table
from fwlab.experiments.cells import Cell

ROOT = Path(__file__).parents[2]
SECONDS = {"quick": 1, "standard": 1, "full": 1}
# the captions of the five papers
FIGURES = {
    "K19": ("Figure 1-4", "Table 1-7"),
    "L15": ("Figure 1-3", "Table 1-2"),
    "LP15": ("Table 1-2",),
    "M20": ("Figure 1-3", "Table 1-4"),
    "T20": ("Figure 1-2", "Table 1-3"),
}


def figures_of_the_papers():
    for paper, groups in FIGURES.items():
        for group in groups:
            kind, last = group.split()[0], int(group[-1])
            yield from (f"{paper} {kind} {number}" for number in range(1, last + 1))


def near(x):
    return {"distance": x}


def finding(values, size):
    reading = Reading("rows of length 1", source="section 7")
    return judge([Tried(reading, {n: v["distance"] for n, v in values.items()})], 0.1)


ROW = "X20-table1-whole"
RIGHT = {ROW: "reproduced"}


@pytest.fixture
def board(tmp_path, monkeypatch):
    """board(distances): all lines, if one script alone is of a paper and its cells have these.

    Its values are those of the repository, and the ledger says of them what `verdicts` says.
    """

    def make(distances, size="standard", verdicts=RIGHT):
        cells = [Cell(str(i), near, {"x": d}) for i, d in enumerate(distances)]
        one = Script("X20 Table 1: shows.", SECONDS, lambda size: cells, lambda study: [], finding)
        for name in script_names():
            monkeypatch.setitem(_scripts(), name, replace(script(name), finding=None))
        monkeypatch.setitem(_scripts(), "x2020_table1", one)
        monkeypatch.setattr(_study, "KEPT", tmp_path)
        monkeypatch.setattr(scoreboard, "KEPT", tmp_path)
        monkeypatch.setattr(scoreboard, "verdicts", lambda ledger: verdicts)
        if distances is not None:
            one.compute(Study("x2020_table1", size, tmp_path))
        return scores(tmp_path, size)

    return make


def line(found):
    return next(score for score in found if score.figure == "X20 Table 1").texts()


def test_each_figure_of_the_papers_has_a_line():
    named = {label(script(name).shows) for name in script_names()}
    assert {*figures_of_the_papers()} - named - {*WITHOUT_SCRIPT} == set()


def test_the_line_follows_from_the_stored_values(board):
    assert line(board([0.05, 0.01])) == (
        "X20 Table 1", "agrees", "2 of 2 cells within 0.1", "rows of length 1", "1 reproduced", "",
    )  # fmt: skip
    found = board([0.05, 0.5], verdicts={ROW: "not reproduced"})
    assert line(found)[1:3] == ("not explained", "1 of 2 cells within 0.1")
    assert line(board([], "full", {ROW: "untestable"}))[1] == "nothing to compute"


def test_the_outcome_is_the_ledgers_not_the_figures(board):
    """The numbers agree; the ledger has another verdict on them, or none."""
    assert line(board([0.05], verdicts={ROW: "explained"}))[1] == "explained"
    assert line(board([0.05], verdicts={"X20-other": "reproduced"}))[1] == "not judged"
    found = board([0.05], verdicts={})
    assert "not judged: 2" in summary(found)
    assert terminal_scoreboard(found).endswith(scoreboard.JUDGE)


def test_values_of_ones_own_are_not_judged_by_the_repositorys_ledger(board, tmp_path, monkeypatch):
    board([0.05, 0.01])
    for module in (_study, scoreboard):
        monkeypatch.setattr(module, "KEPT", tmp_path / "kept")
    assert line(scores(tmp_path, "standard"))[1] == "not judged"
    assert line(scores(tmp_path, "standard", tmp_path / "ledger"))[1] == "agrees"
    kept = tmp_path / "kept" / "standard" / "x2020_table1.json"
    kept.parent.mkdir(parents=True)
    own = (tmp_path / "standard" / kept.name).read_text()
    kept.write_text(own)
    assert line(scores(tmp_path, "standard"))[1] == "agrees"
    kept.write_text(own.replace("0.05", "0.06"))
    assert line(scores(tmp_path, "standard"))[1] == "not judged"


def test_every_verdict_of_the_ledger_has_an_outcome():
    schema = json.loads((ROOT / "paper_checks" / "ledger.schema.json").read_text("utf-8"))
    assert {*OUTCOMES} == {*schema["items"]["properties"]["verdict"]["enum"]}
    assert {*ORDER} == {*FigureOutcome} and len(ORDER) == len(FigureOutcome)


@pytest.mark.parametrize(
    ("verdicts", "outcome"),
    [
        (["reproduced", "holds"], "agrees"),
        (["reproduced", "reproduced with the program"], "agrees with the program"),
        (["explained", "reproduced with the program", "holds"], "explained"),
        (["explained", "not reproduced"], "not explained"),
        (["holds", "fails"], "not explained"),
        (["reproduced", "inconclusive", "other data"], "agrees"),
        (["other data", "untestable"], "nothing to compute"),
        ([], "nothing to compute"),
    ],
)
def test_a_figure_with_several_rows_takes_the_worst(verdicts, outcome):
    assert worst(verdicts) == outcome == worst(reversed(verdicts))


def test_a_line_names_the_rows_that_are_worse_than_its_numbers():
    rows = {ROW: "reproduced", "X20-a": "holds", "X20-b": "fails"}
    one = Score("X20 Table 1", "x", FigureFinding(FigureOutcome.AGREES, "2 of 2"), verdicts=rows)
    assert one.texts()[1] == "not explained" and one.texts()[5] == "X20-b fails"


def test_the_outcomes_of_the_gallery_are_those_of_the_ledgers_rows():
    """They are stored apart; the table leads from one to another."""
    ledger = scoreboard.verdicts()
    lines = json.loads((_study.KEPT / "index.json").read_text("utf-8"))["scoreboard"]
    gallery = (ROOT / "figures" / "GALLERY.md").read_text("utf-8")
    line = re.compile(r"^\| \[?([A-Z0-9]+ \w+ \d)[^|]*\| ([\w ]+) \|", re.MULTILINE)
    outcomes = dict(line.findall(gallery))
    assert len(lines) > 30 and len(outcomes) == len(lines)
    for one in lines:
        assert one["claims"][0] == row_of(one["figure"])
        assert outcomes[one["figure"]] == one["outcome"]
        assert one["outcome"] == worst(ledger[id] for id in one["claims"])


def test_what_is_not_stored_is_not_computed(board, tmp_path):
    found = board([0.05])
    assert "agrees: 1" in summary(found)
    (tmp_path / "standard" / "x2020_table1.json").unlink()
    assert line(scores(tmp_path, "standard"))[1] == "not computed"
    assert "not computed: 1" in summary(scores(tmp_path, "full"))


def test_other_settings_are_marked(board, tmp_path, monkeypatch):
    board([0.05])
    cells = [Cell("0", near, {"x": 0.06})]
    changed = replace(script("x2020_table1"), cells=lambda size: cells)
    monkeypatch.setitem(_scripts(), "x2020_table1", changed)
    assert line(scores(tmp_path, "standard"))[1] == "agrees (stale)"


def test_the_summary_counts_every_line():
    found = [
        Score("a", "", FigureFinding(FigureOutcome.NOTHING, ""), verdicts={"A-1": verdict})
        for verdict in (
            *("reproduced", "holds", "reproduced with the program"),
            *("explained", "fails", "untestable"),
        )
    ]
    assert summary(found) == (
        "Of 6 results: agrees: 2, agrees with the program: 1, explained: 1, not explained: 1, "
        "nothing to compute: 1."
    )


def test_the_reading_says_of_how_many():
    tried = [Tried(Reading(name), {"a": d}, {"b": d}) for name, d in (("R", 0.0), ("S", 0.3))]
    texts = Score("K19 Figure 3", "k", judge(tried, 0.1)).texts()
    assert texts[3] == "R (1 of 2)" and texts[1] == "not judged"
    assert "neither the paper nor a program" in texts[5]


def test_lines_of_the_page_lead_to_their_figures():
    one = Score(
        "K19 Figure 3",
        "kato2019_figure3",
        FigureFinding(FigureOutcome.AGREES, "|gap| small"),
        verdicts={"K19-figure3-whole": "reproduced"},
    )
    text = markdown_scoreboard([one, replace(one, figure="x", script="")], {one.script: "anchor"})
    assert "| [K19 Figure 3](#anchor) | agrees | \\|gap\\| small |" in text
    assert "| x | agrees" in text


def test_lines_of_a_terminal_end_with_its_edge(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    why = FigureFinding(FigureOutcome.NOT_EXPLAINED, "1 of 2 cells", "because " * 60)
    text = terminal_scoreboard([Score("K19 Figure 3", "k", why, verdicts=RIGHT)])
    assert max(map(len, text.splitlines())) <= 120


def test_the_gallery_opens_with_the_scoreboard():
    gallery = (ROOT / "figures" / "GALLERY.md").read_text()
    assert gallery.startswith(f"{HEAD}Of ")
    named = re.findall(r"^\| \[?([A-Z0-9]+ (?:Figure|Table) \d)", gallery, re.MULTILINE)
    assert {*figures_of_the_papers()} <= {*named}


def test_a_caption_has_the_finding_and_a_table_of_the_readings(tmp_path):
    tried = [
        Tried(Reading(name, source=source), {"a": d}, {"b": d, "c": 0.5})
        for name, d, source in (("R", 0.0, "section 7"), ("S", 0.3, ""))
    ]
    study = Study("example", "standard", tmp_path, finding=judge(tried, 0.1))
    study.compute([Cell("cell", near, {"x": 0.0})])
    caption = Caption("A title", "Shows this.", "seed 0.", "Computed besides.")
    text = study.save_table(Table(["k"], [["1"]]), caption)[-1].read_text()
    assert "*Agreement*: 2 of 3 cells within 0.1; 1 of 2 on numbers not used to" in text
    assert "choose the reading, under the reading R (1 of 2): tried 2 readings; " in text
    assert "Computed besides.\n" in text
    assert "| **R** | the text: section 7 | 1 of 1 near, nine of ten by 0 | 1 of 2 near" in text
    assert "| S | a guess of ours | 0 of 1 near, nine of ten by 0.3 |" in text
    page = write_page(study.folder).read_text()
    assert page.index("Computed besides.") < page.index("| **R** |") < page.index("<details>")


def test_the_quick_size_has_no_finding(tmp_path):
    one = Script("X20 Table 1: shows.", SECONDS, lambda size: [], lambda study: [], finding)
    study = Study("x2020_table1", "quick", tmp_path)
    one.compute(study)
    assert one.found(study) is None


def test_the_line_counts_the_verdicts_of_the_ledger():
    known = {"A-1": "holds", "A-table1-whole": "reproduced", "A-3": "holds", "A-4": "fails"}
    rows = scoreboard.rows_of("A Table 1", ("A-3", "A-1", "A-unknown"), known)
    finding = FigureFinding(FigureOutcome.AGREES, "")
    assert Score("A Table 1", "a", finding, verdicts=rows).ledger == "2 holds, 1 reproduced"


def test_without_a_ledger_the_column_is_empty(tmp_path, monkeypatch):
    monkeypatch.setattr(scoreboard, "LEDGER", tmp_path / "ledger.json")
    assert scoreboard.verdicts.__wrapped__(scoreboard.LEDGER) == {}
    assert {score.outcome for score in scores(tmp_path, "standard")} == {"not judged"}


@pytest.mark.parametrize("text", ["", "[1]", '[{"id": "A-1"}]', '{"id": "A-1"}'])
def test_a_damaged_ledger_is_one_sentence(text, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(scoreboard, "LEDGER", tmp_path / "ledger.json")
    monkeypatch.setattr(scoreboard, "verdicts", scoreboard.verdicts.__wrapped__)
    (tmp_path / "ledger.json").write_text(text)
    assert command.main(["scoreboard", "--out", str(tmp_path)]) == 1
    [said] = capsys.readouterr().err.splitlines()
    assert "ledger.json holds no records of" in said


def test_the_gallery_says_what_the_stored_results_say(tmp_path):
    """Both are read from figures/results; the links of the gallery are not compared."""
    gallery = (ROOT / "figures" / "GALLERY.md").read_text("utf-8")
    board = markdown_scoreboard(scores(tmp_path, "standard"), {})
    assert board in re.sub(r"\[([^]]*)\]\(#\w+\)", r"\1", gallery)


def test_the_index_is_that_of_the_stored_results():
    """The site is made from it; `python -m figures page` writes it."""
    stored = json.loads((_study.KEPT / "index.json").read_text("utf-8"))
    assert stored == json.loads(json.dumps(index()))


def test_the_index_has_the_lines_of_the_gallery():
    gallery = (ROOT / "figures" / "GALLERY.md").read_text("utf-8")
    rows = re.findall(
        r"^\| \[?([A-Z0-9]+ [A-Z]\w+ \d)(?:\]\(#\w+\))? \| (.*) \|$", gallery, re.MULTILINE
    )
    lines = json.loads((_study.KEPT / "index.json").read_text("utf-8"))["scoreboard"]
    columns = ("outcome", "measured", "reading", "ledger", "because")
    expected = [(one["figure"], " | ".join(one[column] for column in columns)) for one in lines]
    assert len(rows) > 30 and rows == expected


def test_a_picture_is_drawn_without_a_ledger(tmp_path, monkeypatch):
    monkeypatch.setattr(scoreboard, "LEDGER", tmp_path / "none")
    monkeypatch.setattr(Path, "read_text", without_ledger(Path.read_text))
    name = "lapin2015_figure2"
    assert command.main([name, "--plot-only", "--out", str(tmp_path)]) == 0


def without_ledger(read):
    def read_text(path, *given):
        assert path.name != "ledger.json"
        return read(path, *given)

    return read_text
