"""The pages on heads and defaults show the stored tables, and say of them only what holds."""

from fwlab.docs import findings, measured

SECTION = """\
| data | head | top-1 |
| --- | --- | --- |
| a | one | 0.9000 |

Some text.

| k | top-1 |
| --- | --- |
| 1 | 0.5000 |
"""


def test_a_section_has_its_tables_in_order(monkeypatch):
    monkeypatch.setattr(measured, "page", lambda name: SECTION.splitlines())
    assert measured.tables("heads") == [
        [["data", "head", "top-1"], ["a", "one", "0.9000"]],
        [["k", "top-1"], ["1", "0.5000"]],
    ]


def test_what_is_near_the_best_is_bold():
    cells = {("one", "a"): "0.9000", ("two", "a"): "0.8960", ("three", "a"): "0.8940"}
    cells = {("one", "b"): "0.1000", ("two", "b"): "0.5000"} | cells
    text = measured.pivot(cells, best=True)
    assert text.splitlines()[2:] == [
        "| `one` | 0.1000 | **0.9000** |",
        "| `two` | **0.5000** | **0.8960** |",
        "| `three` |  | 0.8940 |",
    ]
    assert "**" not in measured.pivot(cells, best=False)


def test_summary_counts_sets_and_sums_seconds(monkeypatch):
    monkeypatch.setattr(measured, "PEER", "one")
    accuracy = {("one", "a"): "0.9000", ("two", "a"): "0.8960", ("one", "b"): "0.1000"}
    accuracy |= {("two", "b"): "0.5000", ("three", "b"): "0.4980"}
    seconds = {("one", "a"): "1.00", ("two", "a"): "2.00", ("one", "b"): "3.00"}
    seconds |= {("two", "b"): "6.00", ("three", "b"): "1.50"}
    memory = dict.fromkeys(accuracy, "7") | {("two", "b"): "9"}
    cells = {"top1": accuracy, "top5": accuracy, "choice": seconds, "fit": seconds}
    lines = measured.summary({**cells, "memory": memory}).splitlines()[2:]
    assert lines == [
        "| `one` | 1 of 2 | 1 of 2 | 1 | 1 | 7 MB |",
        "| `two` | 2 of 2 | 2 of 2 | 2 | 2 | 9 MB |",
        "| `three` | 1 of 1 | 1 of 1 | 0.5 | 0.5 | 7 MB |",
    ]


def test_facts_about_tol_are_medians():
    row = ["a", "one", "1"]
    rows = [[*row, "0.1", "1.0", "0.50", "0.0"], [*row, "1e-6", "4.0*", "0.52", "0.9"]]
    rows += [["b", *r[1:4], "1.0", "0.5", r[6]] for r in rows]
    first, last = measured.tol_facts(rows).splitlines()[2:]
    assert first == "| 0.1 | 0.62 | 2.00 | 0 % |" and last == "| 1e-6 | 1.00 | 0.00 | 90 % |"
    assert "| a | `one` | 1.0<br>0.50<br>0.0 | 4.0*<br>0.52<br>0.9 |" in measured.tol_table(rows)


def test_the_best_k_of_a_column_is_bold():
    rows = [["data", "k", "top-1"], ["a", "1", "0.5"], ["a", "2", "0.6"], ["b", "1", "0.4"]]
    assert measured.k_table(rows).splitlines()[2:] == [
        "| a | 1 | 0.5 |",
        "| a | 2 | **0.6** |",
        "| b | 1 | **0.4** |",
    ]


def test_the_pages_are_written_from_the_stored_tables(tmp_path):
    measured.write_pages(tmp_path)
    heads = (tmp_path / "heads.md").read_text("utf-8")
    for row in findings.table("heads"):
        assert row[4] in heads and row[6] in heads and row[7] in heads
    assert "| 1e-06 | 1.00 | 0.00 |" in (tmp_path / "defaults.md").read_text("utf-8")
