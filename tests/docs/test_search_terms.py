"""The index has the numbers of claims and figures, which the search finds."""

import pytest

from fwlab.docs import search_terms
from fwlab.docs.records import Records


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("Theorem D.2", ["Theorem D.2", "T20 Theorem D.2"]),
        ("7.2, Figure 3", ["Figure 3", "T20 Figure 3"]),
        ("section 2.2, footnote 3", []),
    ],
)
def test_names_of_a_place(where, found):
    assert search_terms.names({"id": "T20-a", "where": where, "paper": "T20"}) == ["T20-a", *found]


@pytest.mark.parametrize(
    "query",
    [
        *("2.26", "(2.26)", "eq 2.26", "eq. 2.26", "eq (2.26)", "eq. (2.26)", "equation 2.26"),
        *("equation (2.26)", "T20 2.26", "T20 eq 2.26", "T20 equation (2.26)", "T20-eq2.26"),
    ],
)
def test_an_equation_is_found_however_it_is_written(query):
    record = {"id": "T20-eq2.26", "where": "(2.26), Alg. 1 line 10", "paper": "T20"}
    found = [name for name in search_terms.names(record) if query in name]
    assert any(len(query) >= len(name) / 2 for name in found)


def test_all_equations_of_a_place_have_their_names_once():
    names = search_terms.names({"id": "a", "where": "(C.25) (C.26) (C.25)", "paper": "T20"})
    assert len(names) == len({*names})
    assert {"(C.25)", "T20 (C.25)", "T20 C.25", "(C.26)", "T20 equation C.26"} <= {*names}


def test_entries_stand_before_the_title_and_before_the_figure(tmp_path):
    (tmp_path / "claims").mkdir()
    claim = tmp_path / "claims" / "T20-a.md"
    claim.write_text("---\norphan: true\n---\n# T20-a: holds\n\n# no title\n")
    (tmp_path / "figures").mkdir()
    figures = (
        "# Figures\n\n(kato2019_figure3)=\n\n### K19 Figure 3: smoothing\n\n### Costs of a run\n"
    )
    (tmp_path / "figures" / "K19.md").write_text(figures)
    search_terms.add(tmp_path, Records([{"id": "T20-a", "paper": "T20", "where": "Theorem D.2"}]))
    entry = "```{index} ! T20-a, ! Theorem D.2, ! T20 Theorem D.2\n```\n\n"
    assert claim.read_text() == (f"---\norphan: true\n---\n{entry}# T20-a: holds\n\n# no title\n")
    assert (tmp_path / "figures" / "K19.md").read_text() == (
        "# Figures\n\n```{index} ! K19 Figure 3, ! redraw K19 Figure 3\n```\n\n"
        "(kato2019_figure3)=\n\n### K19 Figure 3: smoothing\n\n### Costs of a run\n"
    )
