"""The ledger's page: its order, each claim once, nothing loaded from elsewhere."""

import re
from html.parser import HTMLParser

import pytest

from paper_checks.report.facts import counts, errors, place, with_decimals
from paper_checks.report.order import chapters
from paper_checks.report.page import html_page, source_link
from paper_checks.report.stamp import stamp
from paper_checks.report.terminal import details
from paper_checks.report.words import MEANING, SEVERITIES, TIERS
from paper_checks.run import tried
from paper_checks.severity import Severity
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
        "L15-fails",
        "K19-eq22",
        *("K19-if", "T20-eq"),
        "K19-fig",
        *("K19-holds", "L15-table", "MY-own"),
    ]
    ids = [attributes["id"] for _, attributes in ELEMENTS if "id" in attributes]
    assert len(ids) == len(set(ids))
    names = [attributes["id"] for attributes in of("section") if "id" in attributes]
    assert names == ["formulas", "slips", "conditions", "experiments", "rest"]


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
        record("L15-grave", "misprint", erratum=ERRATUM),
    ]
    [slips] = chapters(records)
    assert [[r["id"] for r in chosen] for _, chosen in slips.groups] == [
        ["K19-grave", "K19-slip"],
        ["L15-grave"],
    ]


THEOREM = "theorem false in its main case"


@pytest.mark.parametrize("verdict", ["fails", "conditional"])
def test_a_theorem_false_in_its_main_case_comes_first(verdict):
    records = [record("K19-slip", "misprint"), record("L15-thm", verdict, severity=THEOREM)]
    assert [chapter.name for chapter in chapters(records)] == ["theorems", "slips"]


def test_an_error_in_several_claims_is_shown_and_counted_once():
    records = [
        record("K19-first", "misprint"),
        record("K19-second", "conditional", slip="K19-first", where="(23)"),
        record("K19-third", "misprint"),
    ]
    assert errors(records) == "3 refuted claims are 2 errors: formula or constant: 1, slip: 1"
    page = html_page(records, STAMP)
    assert page.count("<article") == 2 and '<li id="K19-second">(23), K19-second' in page
    assert errors([record("K19-holds")]) == ""


def test_a_claim_whose_error_is_shown_under_another_one_is_shown_alone():
    page = html_page([record("K19-second", "misprint", slip="K19-first")], STAMP)
    assert '<article id="K19-second"' in page


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


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("1/3", "1/3"),
        ("429/25", "429/25 ≈ 17.16"),
        ("(-49/6344, 1/2)", "(-49/6344, 1/2) ≈ (-0.007724, 0.5)"),
        ("1/(96 t) for all t", "1/(96 t) for all t"),
        ("x1/25", "x1/25"),
        ("array (176, 34)", "array (176, 34)"),
        ("(" + "429/25, " * 9 + ")", "(" + "429/25, " * 9 + ")"),
    ],
)
def test_a_fraction_that_is_hard_to_read_has_its_decimals_beside_it(value, shown):
    assert with_decimals(value) == shown


def test_a_place_is_named_once():
    assert place(RECORDS[0]) == "(22)" and place(RECORDS[2]) == "p. 5 · (22)"
    note = {**RECORDS[2]["erratum"], "page": "A.2, (22), first line"}
    assert place({**RECORDS[2], "erratum": note}) == "A.2, (22), first line"


def test_the_head_counts_errors_by_severity_and_explains_each():
    head = PAGE[: PAGE.index("<main>")]
    assert "4 refuted claims are 4 errors: formula or constant: 3, slip: 1." in head
    for name, meaning in SEVERITIES.items():
        assert f"<dt>{name}</dt><dd>{meaning}</dd>" in head


def test_an_error_names_its_main_case():
    assert "slip: fails in 1 cases of the main case (k &lt; m)." in article("K19-eq22")


def test_the_text_that_was_judged_stands_in_front():
    head = PAGE[: PAGE.index("<main>")]
    for paper in ("K19", "L15", "T20"):
        assert f"<dt>{paper}</dt><dd>read.txt, sha256 <code>{'0' * 64}</code></dd>" in head
    assert "<dt>MY</dt>" not in head
    assert "text judged</dt><dd>machine-read, read.txt, sha256 000000000000<" in article("K19-if")
    assert "text judged" not in article("MY-own")


def test_what_depends_on_the_reading_stands_last():
    records = [record("K19-one", "depends on the reading", erratum=ERRATUM), record("K19-two")]
    assert [chapter.name for chapter in chapters(records)] == ["rest", "readings"]
    page = html_page(records, STAMP)
    assert "<h5>as read</h5>" in page and "<h5>read otherwise</h5>" in page


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
    assert list(SEVERITIES) == list(Severity)


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
