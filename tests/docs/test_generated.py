"""Parts of the site computed from stored records: findings, links of figures, words of claims."""

from pathlib import Path

import pytest

from fwlab.docs import claims, figure_links
from fwlab.docs.findings import findings
from fwlab.docs.records import counts, errors, meanings, read_records
from paper_checks.report import facts, order, words

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


@pytest.mark.parametrize("found", findings(read_records()), ids=lambda found: found.title)
def test_the_readme_has_the_findings_as_computed(found):
    text = " ".join(README.read_text("utf-8").split())
    for part in (found.title, found.text, found.command, *found.lines):
        assert part in text, f"README.md lacks {part!r}"


def test_a_figure_without_a_section_leads_to_the_list_of_scripts():
    assert figure_links.address("no_such_script") == "figures.md#the-scripts"


def test_claims_of_figures_are_claims_of_the_ledger():
    drawn = figure_links.figures_of_claims()
    assert drawn and drawn.keys() <= read_records().by_id.keys()


def test_every_figure_has_its_file_in_the_index():
    sources = {entry["source"] for entry in figure_links.index()["scripts"].values()}
    assert sources and all((ROOT / source).is_file() for source in sources)


def test_verdicts_and_tiers_have_the_meanings_of_the_ledger():
    assert meanings("verdict") == words.MEANING
    assert meanings("tier") == {"": "no evidence: untestable", **words.TIERS}


def test_verdicts_are_counted_as_in_the_ledger():
    records = list(read_records().by_id.values())
    assert facts.counts(records) == f"{len(records)} claims: {counts(records)}"
    numbers = errors(records).partition(" (")[2].rstrip(")")
    assert numbers and facts.errors(records).endswith(f": {numbers}")


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", '[{"id": "K19-a", "paper": "K19"}]', '[{"paper": "K19", "told": {"a": 1}}]'],
)
def test_other_files_than_records_are_one_sentence(text, tmp_path):
    path = tmp_path / "records.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="no records of"):
        read_records(path)


def test_a_damaged_index_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(figure_links, "INDEX", tmp_path / "index.json")
    (tmp_path / "index.json").write_text("{")
    with pytest.raises(ValueError, match="is damaged; python -m figures page writes it again"):
        figure_links.index.__wrapped__()


@pytest.mark.parametrize(
    ("where", "page", "expected"),
    [
        ("(2.26), Alg. 1 line 10", "section 2.4, (2.26), and Algorithm 1, line 10", "the page"),
        ("(8), C.1", "section 3.2, (8); section 4", "as told"),
        ("(8)", "section 3.2, (18)", "as told"),
    ],
)
def test_a_claim_has_its_place_once_unless_the_erratum_lacks_a_part(where, page, expected):
    record = {"where": where, "erratum": {"page": page}, "told": {"place": "as told"}}
    assert claims.place(record) == (page if expected == "the page" else expected)


def test_a_place_that_is_a_bare_number_is_called_a_section():
    for told, expected in (("7.4, last line", "section 7.4, last line"), ("C.1", "C.1")):
        record = {"where": told, "erratum": None, "told": {"place": told}}
        assert claims.place(record) == expected


def test_the_overview_of_the_ledger_counts_every_claim_once(tmp_path):
    records = read_records()
    claims.write_pages(tmp_path, records)
    lines = (tmp_path / "claims" / "index.md").read_text("utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| <span")]
    numbers = [[int(cell) for cell in row[2:]] for row in rows]
    assert sum(row[0] for row in numbers) == len(records.by_id)
    assert all(row[0] == sum(row[1:]) for row in numbers)


def test_what_is_wrong_in_print_is_what_the_ledger_says():
    records = read_records()
    chapters = {c.title: c.groups for c in order.chapters(list(records.by_id.values()))}
    shown = claims.wrong_in_print(records)
    assert [title for title in chapters if title in shown] == list(shown)
    assert all(list(groups.items()) == chapters[title] for title, groups in shown.items())
