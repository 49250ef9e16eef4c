"""The ledger's page: its order, each claim once, nothing loaded from elsewhere."""

import re
from html.parser import HTMLParser

import pytest

from paper_checks.report.facts import counts, place
from paper_checks.report.order import chapters
from paper_checks.report.page import html_page, source_link
from paper_checks.report.stamp import stamp
from paper_checks.report.terminal import details
from paper_checks.report.words import MEANING, TIERS
from paper_checks.run import tried
from paper_checks.trials import Tier
from paper_checks.verdicts import Verdict
from tests.ledger.given_records import ERRATUM, RECORDS, STAMP, record

VOID = ("meta", "input", "br", "wbr", "mspace")
PAGE = html_page(RECORDS, STAMP)


class Elements(HTMLParser):
    """Collect all elements with their attributes, and check that each one is closed."""

    def __init__(self, page):
        super().__init__()
        self.found, self.open = [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID and tag not in ("dt", "dd", "li", "option"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in ("dt", "dd", "li", "option"):
            assert self.open.pop() == tag


ELEMENTS = Elements(PAGE).found


def of(tag):
    return [attributes for name, attributes in ELEMENTS if name == tag]


def article(id):
    """Return the text of one claim's part of the page."""
    [found] = re.findall(rf'<article id="{re.escape(id)}".*?</article>', PAGE, re.DOTALL)
    return found


def test_what_is_wrong_in_print_comes_first_and_each_claim_once():
    assert [attributes["id"] for attributes in of("article")] == [
        "K19-eq22",
        *("K19-if", "T20-eq"),
        "K19-fig",
        *("K19-holds", "L15-table", "L15-fails", "MY-own"),
    ]
    ids = [attributes["id"] for _, attributes in ELEMENTS if "id" in attributes]
    assert len(ids) == len(set(ids))
    names = [attributes["id"] for attributes in of("section") if "id" in attributes]
    assert names == ["wrong", "conditions", "experiments", "rest"]


def test_every_link_inside_leads_somewhere():
    ids = {attributes.get("id") for _, attributes in ELEMENTS}
    inside = [a["href"][1:] for a in of("a") if a["href"].startswith("#")]
    assert set(inside) <= ids and len(inside) > len(RECORDS)


def test_nothing_is_loaded_from_elsewhere():
    assert not any("src" in attributes for _, attributes in ELEMENTS)
    assert not of("link") and not of("iframe")
    assert not re.search(r"https?:|@import|url\(|fetch\(", PAGE)


def test_the_filter_has_what_it_needs():
    for given, attributes in zip(chapter_order(), of("article"), strict=True):
        for field in ("paper", "verdict", "tier"):
            assert attributes[f"data-{field}"] == given[field]
    [form] = of("form")
    assert "hidden" in form, "without scripts the form does nothing, so it is not shown"
    assert {attributes["name"] for attributes in of("select")} == {"paper", "verdict", "tier"}
    for option in ("K19", "not reproduced", "Monte Carlo"):
        assert f"<option>{option}</option>" in PAGE


def chapter_order():
    return [r for part in chapters(RECORDS) for _, chosen in part.groups for r in chosen]


def test_errata_that_break_nothing_come_last_in_their_paper():
    slip = {**ERRATUM, "breaks": "Nothing: a slip."}
    records = [
        record("K19-slip", "misprint", erratum=slip),
        record("K19-grave", "misprint", erratum=ERRATUM),
        record("L15-grave", "fails", erratum=ERRATUM),
    ]
    [wrong] = chapters(records)
    assert [[r["id"] for r in chosen] for _, chosen in wrong.groups] == [
        ["K19-grave", "K19-slip"],
        ["L15-grave"],
    ]


def test_a_condition_is_about_what_is_stated():
    assert "as stated" in article("T20-eq") and "as printed" not in article("T20-eq")


def test_texts_are_escaped():
    assert "<at>" not in PAGE and "A number is &lt;at&gt; least 1 &amp; more." in PAGE
    assert "a &lt;b&gt;.html" in PAGE
    assert "the printed form is &lt; 0 &amp; the true one is not" in PAGE


def test_a_margin_note_shows_both_forms_the_numbers_the_proof_and_what_breaks():
    note = article("K19-eq22")
    for text in ("p. 5 · (22)", "as printed", "as it should be", "proof", "Lemma 3."):
        assert text in note
    for head, *parts in (
        ("case", "exact"),
        ("given", "z = (1, 2)", "k = 2"),
        *(("printed", "1/3"), ("summed up", "-1/3"), ("seen", "steps = 4")),
    ):
        cells = " ".join(f"<code>{part}</code>" for part in parts)
        assert f"<dt>{head}</dt><dd>{cells} </dd>" in note
    heads = re.findall(r"<dt>(case|given|printed|summed up|seen)</dt>", note)
    assert heads == ["case", "given", "printed", "summed up", "seen"]
    assert note.count("<dt>shapes</dt><dd>z: (m,)</dd>") == 1
    assert note.count('<math displaystyle="true">') == 2
    assert 'right in the paper</dt><dd>(8): <a href="#L15-fails">' in note


def test_a_row_shows_its_evidence():
    row = article("L15-fails")
    for text in (
        *(
            "7 exact: ",
            "float: m &lt;= 4",
            "2 of 7 fail, 1 of them",
            "the other sign (0 of 7 cases fail)",
        ),
        *("half</li>", "twice <strong>not refuted</strong>", "seed</dt><dd>3, quick"),
        '<a href="paper_checks/kato2019/losses.py#L57">paper_checks/kato2019/losses.py:57</a>',
        *("python -m paper_checks --id L15-fails --seed 3", "≤"),
    ):
        assert text in row
    assert "no table" in article("L15-table")
    own = article("MY-own")
    assert "--file &#39;my claims.py&#39; --id MY-own" in own
    assert "fwlab.TopK: 0 of 5 cases fail" in own


def test_a_place_is_named_once():
    assert place(RECORDS[0]) == "(22)" and place(RECORDS[2]) == "p. 5 · (22)"
    note = {**RECORDS[2]["erratum"], "page": "A.2, (22), first line"}
    assert place({**RECORDS[2], "erratum": note}) == "A.2, (22), first line"


def test_rows_refuted_without_a_margin_note_are_named_in_the_first_chapter():
    first = PAGE[PAGE.index('id="wrong"') : PAGE.index("<article")]
    assert 'href="#L15-fails"' in first and 'href="#K19-if"' not in first


def test_the_stamp_stands_in_front():
    head = PAGE[: PAGE.index("<main>")]
    for name in ("0.1", "abc+changes", "2026-01-01", "one", "3.11"):
        assert f"<dd>{name}</dd>" in head


def test_the_stamp_of_now_has_all_that_the_page_shows():
    now = stamp("python -m paper_checks", 3, False)
    assert set(now) == set(STAMP) and all(str(value) for value in now.values())


def test_the_records_here_have_the_fields_of_real_ones():
    assert set(tried("K19-prop6", 0, False)) == set(RECORDS[0])


def test_a_record_that_lacks_a_field_is_an_error():
    broken = {name: value for name, value in RECORDS[0].items() if name != "statement"}
    with pytest.raises(Exception, match="statement"):
        html_page([broken], STAMP)


def test_an_empty_ledger_is_a_page():
    Elements(html_page([], STAMP))


def test_all_verdicts_and_tiers_have_a_meaning():
    assert list(MEANING) == list(Verdict)
    assert list(TIERS) == list(Tier)


@pytest.mark.parametrize("verdict", MEANING)
def test_every_verdict_has_a_place_a_meaning_and_a_number(verdict):
    page = html_page([record("K19-one", verdict)], STAMP)
    assert page.count("<article") == 1
    assert counts([record("K19-one", verdict)]) == f"1 claims: 1 {verdict}"
    assert MEANING[verdict] in page
    assert verdict in details([record("K19-one", verdict)])


@pytest.mark.parametrize("tier", TIERS)
def test_every_tier_is_explained(tier):
    assert TIERS[tier] in html_page([record("K19-one", tier=tier)], STAMP)


def test_links_to_sources_start_where_they_are_told():
    assert source_link("a/b.py:3", "") == "a/b.py#L3"
    assert source_link("a/b.py:3", "../..") == "../../a/b.py#L3"
    assert source_link("/x/my claims.py:3", "..") == "/x/my%20claims.py#L3"
