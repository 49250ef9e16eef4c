"""Results in the repository: compact copies that draw the same, and marks on stale ones."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from figures import __main__ as command
from figures.kit import study as _study
from figures.kit.captions import Caption
from figures.kit.kept import agrees, compact, is_stale, keep, rounded
from figures.kit.listing import stored
from figures.kit.script import Script, _scripts
from figures.kit.study import NotRun, Study, readable
from figures.kit.tables import Table
from fwlab import ranking
from fwlab.experiments.cells import Cell

SECONDS = {"quick": 1, "standard": 1, "full": 1}


def thirds(x):
    return {"gap": [x / 3, 1e-9 / 3], "last_primal": x / 3, "n": 12_345_678, "status": "OPTIMAL"}


def sixths(x):
    return {"gap": [x / 6]}


def cells(size, function=thirds, x=1.0):
    return [Cell("one", function, {"x": x}), Cell("two", function, {"x": 2.0})]


def plot(study):
    table = Table(["cell", "gap"], [[n, f"{v['gap'][0]:.4g}"] for n, v in study.values.items()])
    return study.save_table(table, Caption("Thirds", "Thirds.", "none."))


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The folder in the repository, with a script "thirds" among all others."""
    folder = tmp_path / "kept"
    monkeypatch.setattr(_study, "KEPT", folder)
    monkeypatch.setitem(_scripts(), "thirds", Script("Thirds.", SECONDS, cells, plot))
    return folder


def run(*arguments):
    return command.main([*map(str, arguments)])


def test_a_fresh_clone_draws_what_was_kept(kept, tmp_path, capsys):
    out, clone = tmp_path / "out", tmp_path / "clone"
    assert run("thirds", "--out", out) == 0
    assert [p.name for p in keep(out, "standard", ["thirds", "rates"], kept)] == [
        "thirds.json",
        "thirds.csv",
    ]
    assert run("thirds", "--plot-only", "--out", clone) == 0
    for file in ("thirds.csv", "thirds.md", "thirds.caption.md", "README.md"):
        assert (clone / "standard" / file).read_text() == (out / "standard" / file).read_text()
    assert not (clone / "cells").exists()
    # what is computed here goes before what is kept
    assert run("thirds", "--out", clone) == 0
    assert Study("thirds", "standard", clone).values["one"]["gap"][0] == 1 / 3
    with pytest.raises(NotRun):
        _ = Study("thirds", "full", clone).values


def test_old_tables_go_and_other_scripts_stay(kept, tmp_path):
    (kept / "standard").mkdir(parents=True)
    for name in ("thirds_old.csv", "thirds2.csv", "rates.json"):
        (kept / "standard" / name).write_text("old")
    assert run("thirds", "--out", tmp_path) == 0
    keep(tmp_path, "standard", ["thirds", "rates"], kept)
    assert sorted(p.name for p in (kept / "standard").iterdir()) == [
        "rates.json",
        "thirds.csv",
        "thirds.json",
        "thirds2.csv",
    ]


def test_a_kill_while_results_are_copied_loses_no_table(kept, tmp_path, monkeypatch):
    (kept / "standard").mkdir(parents=True)
    (kept / "standard" / "thirds_old.csv").write_text("old")
    assert run("thirds", "--out", tmp_path) == 0

    def killed(*arguments):
        raise SystemExit

    monkeypatch.setattr("figures.kit.kept.write_text_atomically", killed)
    with pytest.raises(SystemExit):
        keep(tmp_path, "standard", ["thirds"], kept)
    assert (kept / "standard" / "thirds_old.csv").read_text() == "old"


@pytest.mark.parametrize("content", ['{"values": ', "[]", "\x80"])
def test_a_damaged_record_is_named(kept, tmp_path, capsys, content):
    assert run("thirds", "--out", tmp_path) == 0
    record = tmp_path / "standard" / "thirds.json"
    record.write_text(content, "latin-1")
    for arguments in (["thirds", "--plot-only"], ["keep"]):
        capsys.readouterr()
        assert run(*arguments, "--out", tmp_path) == 1
        said = capsys.readouterr().err.splitlines()[-1]
        assert f"{record} is damaged (" in said
        assert said.endswith("; python -m figures thirds makes it again.")
    assert run("thirds", "--out", tmp_path) == 0


def test_a_compact_record_is_the_record_with_rounded_floats(tmp_path):
    record = {"size": "standard", "settings": {"one": {"x": 1 / 3}}, "values": {"one": thirds(1)}}
    text = compact(record)
    assert len(text.splitlines()) == 7
    read = json.loads(text)
    assert read["settings"] == record["settings"]
    assert read["values"]["one"] == {
        "gap": [0.333333, 3.33333e-10],
        "last_primal": 0.333333333333,
        "n": 12_345_678,
        "status": "OPTIMAL",
    }


@given(st.floats(allow_nan=False))
def test_six_digits_are_kept(x):
    assert rounded([{"gap": x}])[0]["gap"] == pytest.approx(x, rel=5.1e-6, abs=1e-300)
    assert rounded({"dual": x})["dual"] == pytest.approx(x, rel=5.1e-12, abs=1e-300)


def test_what_json_cannot_round_is_kept():
    assert rounded([math.inf, True, None, "a", 3]) == [math.inf, True, None, "a", 3]


def test_a_record_is_stale_when_settings_differ(kept, tmp_path):
    study = Study("thirds", "standard", tmp_path)
    study.compute(cells("standard"))
    assert not is_stale(study.record, cells("standard"))
    assert not is_stale(study.record, cells("standard", sixths))
    assert not is_stale(study.record, [*cells("standard"), Cell("more", thirds, {"x": 3.0})])
    assert is_stale(study.record, cells("standard", x=1.5))
    assert is_stale(study.record, cells("standard")[:1])


def test_an_option_that_is_newer_than_a_record_has_its_default():
    def settings(**options):
        return {"C": 1.0, "objective": ranking.PatMat(0.05, **options)}

    stored = json.loads(json.dumps(readable(settings())))
    assert agrees(stored, settings()) and not agrees(stored, settings(over="all"))
    del stored["objective"]["over"]
    assert agrees(stored, settings()) and not agrees(stored, settings(over="all"))
    assert not agrees(stored, settings(theta=2.0))
    stored["objective"]["former"] = 1
    assert not agrees(stored, settings())
    assert not agrees({"C": 1.0}, {"C": 1.0, "D": 2.0})


def test_stale_is_a_mark_and_no_refusal(kept, tmp_path, monkeypatch):
    assert run("thirds", "--out", tmp_path) == 0
    caption = tmp_path / "standard" / "thirds.caption.md"
    assert "stale" not in caption.read_text() and stored("thirds", tmp_path) == "standard"
    changed = Script("Thirds.", SECONDS, lambda size: cells(size, x=1.5), plot)
    monkeypatch.setitem(_scripts(), "thirds", changed)
    assert stored("thirds", tmp_path) == "standard (stale)"
    assert run("thirds", "--plot-only", "--out", tmp_path) == 0
    assert "**stale**" in caption.read_text()


def test_the_list_says_what_is_stored(kept, tmp_path, capsys):
    for size in ("--quick", "--full"):
        assert run("thirds", size, "--out", tmp_path) == 0
    capsys.readouterr()
    assert run("list", "--out", tmp_path) == 0
    (line,) = [x for x in capsys.readouterr().out.splitlines() if x.startswith("thirds ")]
    assert "  quick, full  Thirds." in line
    assert stored("thirds", tmp_path / "none") == "-"
