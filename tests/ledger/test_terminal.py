"""The ledger in Markdown and on the terminal."""

import re

from paper_checks.report.markdown import markdown
from paper_checks.report.order import chapters
from paper_checks.report.terminal import details, table
from tests.ledger.given_records import ERRATUM, RECORDS, STAMP


def test_markdown_has_the_same_order():
    text = markdown(RECORDS, STAMP)
    found = re.findall(r"^#### (\S+):", text, re.MULTILINE)
    assert found == [
        r["id"] for part in chapters(RECORDS) for _, group in part.groups for r in group
    ]
    assert f"* as it should be: ${ERRATUM['correct']}$" in text


def test_the_terminal_shows_the_sides_of_a_witness():
    lines = details([RECORDS[2]]).splitlines()
    for line in (
        "  tier           exact: m <= 4",
        "  derived form   the other sign (0 of 7 cases fail)",
        "  case           exact",
        "  given          z = (1, 2); k = 2",
        "  printed        1/3",
        "  summed up      -1/3",
    ):
        assert line in lines


def test_a_line_of_the_table_says_why_nothing_was_tried():
    first, second, *_ = table([RECORDS[4], RECORDS[5]]).splitlines()
    assert first.split() == ["L15-table", "untestable", "no", "table"]
    assert "float" in second and "defects 1/2" in second
