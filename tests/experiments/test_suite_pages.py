"""The page and the tables of a suite, and two suites compared."""

import json
import re

import numpy as np
import pytest
from tiny_suite import make_tiny

import fwlab
from fwlab.experiments.profiles import GAPS, Profiles
from fwlab.experiments.suite_page import profile_figure
from fwlab.experiments.suite_record import SuiteRecord
from fwlab.experiments.suite_tables import duel_table, factor_text, problem_table, wins

pytest.importorskip("plotly", reason="plotly is not installed: pip install 'fwlab[report]'")


@pytest.fixture
def profiles():
    """Provide made-up costs of methods a and b on three problems."""
    by_gap = {
        1e-2: [[1, 4], [np.inf, 1], [1, np.inf]],
        1e-3: [[2, 4], [np.inf, np.inf], [6, np.inf]],
        1e-4: [[np.inf, 4], [np.inf, np.inf], [np.inf, np.inf]],
    }
    costs = {(kind, gap): np.array(by_gap[gap]) for kind in ("calls", "cpu") for gap in GAPS}
    costs["cpu", 1e-2] = np.array([[6, 4], [np.inf, 1], [1, np.inf]])
    gaps = np.array([[5e-4, 5e-5], [0.5, 5e-3], [6e-4, 0.25]])
    return Profiles(("p0", "p1", "p2"), ("a", "b"), costs, gaps)


def test_the_problems_are_ordered_by_where_a_method_is_ahead(profiles):
    header, lines = problem_table(profiles, "a")
    assert header[:3] == ["problem", "1e-2, calls", "1e-2, CPU"]
    assert lines == [
        ["p2", "alone", "alone", "alone", "alone", "-", "-", "6.0e-04", "2.5e-01"],
        ["p0", "4.00", "0.67", "2.00", "2.00", *["not solved"] * 2, "5.0e-04", "5.0e-05"],
        ["p1", "not solved", "not solved", *["-"] * 4, "5.0e-01", "5.0e-03"],
    ]
    assert [factor_text(f) for f in (np.nan, 0.0, np.inf, 1.5)] == [
        *("-", "not solved", "alone", "1.50")
    ]


def test_wins_are_counted(profiles):
    assert wins(profiles, "a") == [
        "To a gap of 1e-2 it is ahead of all others by oracle calls on 2 of 3, 1 of them alone, "
        "by CPU seconds on 1 of 3, 1 of them alone.",
        "To a gap of 1e-3 it is ahead of all others by oracle calls on 2 of 3, 1 of them alone, "
        "by CPU seconds on 2 of 3, 1 of them alone.",
        "To a gap of 1e-4 it is ahead of all others by oracle calls on 0 of 3, "
        "by CPU seconds on 0 of 3.",
    ]
    assert duel_table(profiles, "b")[1] == [
        ["a", "1 of 3 (0.25)", "2 of 3 (1.50)", *["0 of 3 (0.50)"] * 2, *["1 of 3"] * 2]
    ]


def test_the_figure_has_a_step_for_each_method(profiles):
    figure = profile_figure(profiles, "calls", "a")
    assert [trace.name for trace in figure.data] == ["a", "b"]
    assert [trace.line.width for trace in figure.data] == [4, 2]
    np.testing.assert_array_equal(figure.data[0].x, [1, 1, 1, 100])
    np.testing.assert_array_equal(figure.data[0].y, [0, 1 / 3, 2 / 3, 2 / 3])
    buttons = figure.layout.updatemenus[0].buttons
    assert [button.label for button in buttons] == ["gap 1e-2", "gap 1e-3", "gap 1e-4"]
    np.testing.assert_array_equal(buttons[1].args[0]["y"][1], [0, 1 / 3, 1 / 3])


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Provide the folders and reports of two short suites with two problems in common."""
    patch = pytest.MonkeyPatch()
    make_tiny(patch, 3)
    root = tmp_path_factory.mktemp("suites")
    common = ["tall top-3 C=0.1", "tall max-hinge C=0.1"]
    reports = {
        "A": fwlab.suite("fw-open-loop", out=root / "A", problems=[*common, "tall *entropy *"]),
        "B": fwlab.suite("bafw", out=root / "B", problems=[*common, "tall usunier-3 C=1"]),
    }
    yield root, reports
    patch.undo()


def test_the_page_says_what_was_run(folders):
    root, reports = folders
    page = (root / "A" / "suite.html").read_text("utf-8")
    assert "version 1 of the suite, size small, at most 600 s a run, one thread" in page
    assert "on 2 problems" in page and "tall cross-entropy C=1 (in no profile): it does not" in page
    assert len(re.findall(r'Plotly\.newPlot\(\s*"', page)) == 2
    assert "<td>missing sets</td><td>none</td>" in page and "<td>4 of 4</td>" in page
    report = reports["A"]
    assert report.worst in page and "file = np.load(&quot;worst_problem.npz&quot;)" in page
    tex = (root / "A" / "suite.tex").read_text("utf-8")
    assert "size small, 2 problems" in tex and tex.count(r"\\") == 2 + len(report.rows())
    widths = {line.count("&") for line in tex.splitlines() if "&" in line}
    assert widths == {4, 2 + 3 * 3}  # with spans, and without
    assert report.table().splitlines()[2].split()[0] == report.rows()[0]["method"]


def test_only_common_problems_are_compared(folders, tmp_path):
    root, _ = folders
    found = fwlab.compare_suites(root / "A", root / "B")
    assert found.methods == ("fw-open-loop", "bafw")
    assert set(found.profiles.problems) == {"tall top-3 C=0.1", "tall max-hinge C=0.1"}
    assert any("tall usunier-3 C=1" in note and str(root / "B") in note for note in found.notes)
    assert any("tall cross-entropy C=1" in note for note in found.notes)
    assert "The processors differ" not in " ".join(found.notes)
    assert {row["method"] for row in found.rows()} == set(found.methods)
    assert "Cost of bafw / cost of fw-open-loop:" in found.table()
    found.to_html(tmp_path / "page.html")
    assert "<h1>fw-open-loop and bafw</h1>" in (tmp_path / "page.html").read_text("utf-8")


def test_two_methods_of_one_name_are_told_apart_by_their_folders(folders):
    root, _ = folders
    one, other = fwlab.compare_suites(root / "A", root / "A").methods
    assert one == other == f"fw-open-loop ({root / 'A'})"


def edited(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("version = 1", "version = 2", "compare needs two suites of one version; .* has 1 and"),
        ('size = "small"', 'size = "large"', "compare needs two suites of one size; .* has small"),
    ],
)
def test_other_suites_are_refused(folders, tmp_path, old, new, sentence):
    root, _ = folders
    for name in ("suite.toml", "comparison.toml"):
        (tmp_path / name).write_bytes((root / "B" / name).read_bytes())
    edited(tmp_path / "suite.toml", old, new)
    with pytest.raises(ValueError, match=sentence):
        fwlab.compare_suites(root / "A", tmp_path)


def test_problems_with_other_data_are_not_common(folders, tmp_path):
    root, _ = folders
    (tmp_path / "runs").symlink_to(root / "B" / "runs")
    for name in ("suite.toml", "comparison.toml"):
        (tmp_path / name).write_bytes((root / "B" / name).read_bytes())
    # rounding of the features by another processor makes no other problem
    record = tmp_path / "comparison.toml"
    edited(record, 'data = "', 'data = "0')
    assert len(fwlab.compare_suites(root / "A", tmp_path).profiles.problems) == 2
    edited(record, "n = 20", "n = 21")
    with pytest.raises(ValueError, match="compare needs suites with problems in common"):
        fwlab.compare_suites(root / "A", tmp_path)
    with pytest.raises(ValueError, match="compare needs two folders of suites"):
        fwlab.compare_suites(root / "A", root)


def test_seconds_of_two_processors_are_not_compared(folders, monkeypatch):
    from fwlab.experiments.suite_comparison import StoredSuite

    root, _ = folders
    named = iter([{"one"}, {"two"}] * 2)
    monkeypatch.setattr(StoredSuite, "processors", property(lambda self: next(named)))
    assert "The processors differ (one and two): compare oracle calls, not seconds." in (
        fwlab.compare_suites(root / "A", root / "B").notes
    )


def test_a_record_is_read_as_it_was_written(tmp_path):
    record = SuiteRecord(1, "medium", 'a "rule"', ("letter", "news20"), 60)
    record.begin(tmp_path)
    assert SuiteRecord.read(tmp_path) == record
    assert json.dumps("medium") in (tmp_path / "suite.toml").read_text()
