"""Parts of the site computed from stored records: findings, tables of methods, links of figures."""

from pathlib import Path

import pytest

from fwlab.docs import choose, figure_links
from fwlab.docs.findings import findings
from fwlab.docs.records import read_records

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.parametrize("found", findings(read_records()), ids=lambda found: found.title)
def test_the_readme_has_the_findings_as_computed(found):
    text = " ".join(README.read_text("utf-8").split())
    for part in (found.title, found.text, found.command, *found.lines):
        assert part in text, f"README.md lacks {part!r}"


def contest(condition, **milliseconds):
    runs = {method: [10 * cost, cost / 1000] for method, cost in milliseconds.items()}
    return {"condition": condition, "methods": runs}


def test_regimes_have_ranges_and_the_time_of_the_default():
    found = choose.regimes(
        {
            "a": contest(1.0, ascent=1.0, fw=5.0),
            "b": contest(10.0, ascent=2.0, fw=5.0),
            "c": contest(1e3, ascent=9.0, newton=3.0),
            "d": contest(1e5, newton=3.0),
            "e": contest(1e6),
        }
    )
    assert found == [
        ["ascent", "2", "1 to 10", "1"],
        ["newton", "2", "1e+03 to 1e+05", "3; not in time: 1"],
        ["none", "1", "1e+06", "not in time: 1"],
    ]


def test_methods_with_smaller_gaps_come_first():
    found = choose.arrivals(
        {
            "d|slow": {"reached": {"1e-3": [1, 9.0]}},
            "d|fast": {"reached": {"1e-3": [1, 0.5], "1e-5": [2, 0.75]}},
            "d|never": {"reached": {}},
        }
    )
    assert found == [["fast", "0.5", "0.75", ""], ["slow", "9", "", ""], ["never", "", "", ""]]


def test_a_figure_without_a_section_leads_to_the_list_of_scripts():
    assert figure_links.address("no_such_script") == "figures.md#the-scripts"


def test_claims_of_figures_are_claims_of_the_ledger():
    drawn = figure_links.figures_of_claims()
    assert drawn and drawn.keys() <= read_records().by_id.keys()
