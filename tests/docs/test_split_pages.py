"""The figures and the errata: an index with each old address, and a page per paper."""

import re

import pytest

from fwlab.docs import claims, figure_links, figure_pages
from fwlab.docs.markdown import escaped, moved, section, with_code, with_letters
from fwlab.docs.papers import PAPERS
from fwlab.docs.records import read_records

MOVED = re.compile(r'<a class="moved" id="([\w-]+)" href="([\w/]+)\.html#([\w-]+)">')
TARGET = re.compile(r"^\(([\w.-]+)\)=\n\n### (.*)$", re.MULTILINE)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    records = read_records()
    figure_pages.write_pages(folder, records)
    claims.write_wrong_in_print(folder, records)
    return folder


def anchor(target: str) -> str:
    """Return the anchor that Sphinx makes of a target."""
    return re.sub(r"[\W_]+", "-", target.lower())


def sections(folder) -> dict[str, dict[str, str]]:
    """Return {page: {anchor: heading}} of the pages in a folder."""
    found = {}
    for page in folder.glob("*.md"):
        targets = TARGET.findall(page.read_text("utf-8"))
        found[page.stem] = {anchor(target): heading for target, heading in targets}
    return found


@pytest.mark.parametrize("name", ["figures", "wrong_in_print"])
def test_each_old_address_leads_to_the_one_page_with_the_section(written, name):
    held = sections(written / name)
    links = MOVED.findall((written / f"{name}.md").read_text("utf-8"))
    assert len(links) == sum(map(len, held.values())) > 40
    for own, page, target in links:
        assert own == target
        assert page.startswith(f"{name}/") and target in held[page.split("/")[1]]


def test_all_of_the_gallery_is_on_the_pages(written):
    gallery = [stem for stem, _ in figure_links.SECTION.findall(figure_links.GALLERY.read_text())]
    held = sections(written / "figures")
    assert sorted(map(anchor, gallery)) == sorted(one for page in held.values() for one in page)
    assert {*held} == {*PAPERS, "own"}
    for name, place in figure_links.first_sections().items():
        page, _, target = place.partition("#")
        assert anchor(target) in held[page.split("/")[1].removesuffix(".md")], name


@pytest.mark.parametrize("name", ["figures", "wrong_in_print"])
def test_headings_of_a_page_differ_and_say_more_than_a_number(written, name):
    for page in sections(written / name).values():
        headings = list(page.values())
        assert len(headings) == len({*headings})
        assert [one for one in headings if not re.search(r"[^:]{10}", one)] == []
        assert [one for one in headings if "\N{HORIZONTAL ELLIPSIS}" in one] == []


def test_a_heading_names_its_part_in_words(written):
    headings = [one for page in sections(written / "figures").values() for one in page.values()]
    assert [one for one in headings if "_" in one.split(" (")[-1] and one.endswith(")")] == []
    told = figure_pages.told_apart({"kato2019_figure2_prose": "a", "kato2019_figure2_news20": "a"})
    assert list(told.values()) == ["a (numbers in the text)", "a (News20)"]


def test_links_of_a_page_lead_out_of_its_folder(written):
    for page in [*(written / "figures").glob("*.md"), *(written / "wrong_in_print").glob("*.md")]:
        text = page.read_text("utf-8")
        assert re.findall(r"\]\((?:claims|pictures|figures|api)/", text) == [], page


def test_only_the_errors_of_one_paper_are_on_its_page():
    chapters = claims.wrong_in_print(read_records())
    for paper in PAPERS:
        found = claims.errors_of(paper, chapters)
        assert {record["paper"] for group in found.values() for record in group} <= {paper}
    count = sum(len(group) for groups in chapters.values() for group in groups.values())
    shown = sum(len(g) for p in PAPERS for g in claims.errors_of(p, chapters).values())
    assert count == shown > 40


def test_each_page_has_as_many_errors_as_its_header_claims(written):
    claimed = {}
    for paper in PAPERS:
        text = (written / "wrong_in_print" / f"{paper}.md").read_text("utf-8")
        claimed[paper] = int(re.search(r": (\d+) errors \(", text)[1])
        errors, _, _ = text.partition(f"\n## {claims.WRONG['readings']}\n")
        assert len(TARGET.findall(errors)) == claimed[paper], paper
    text = (written / "wrong_in_print.md").read_text("utf-8")
    errors, _, _ = text.partition(f"\n## {claims.WRONG['readings']}\n")
    in_all = int(re.search(r"(\d+) errors \(", text)[1])
    assert len(MOVED.findall(errors)) == in_all == sum(claimed.values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X A'/(lam n) at lam = 1/n", "X A'/(λn) at λ = 1/n"),
        ("lambda_max(K)/(lam n)", "λ_max(K)/(λn)"),
        ("lambda = t, lambdas, slam, lamb", "λ = t, lambdas, slam, lamb"),
        ("`lam n` and lam", "`lam n` and λ"),
        ("Setting(lam=0.2)", "Setting(lam=0.2)"),
        ("lam no more", "λ no more"),
        ("```text\nlam n\n```\nlam", "```text\nlam n\n```\nλ"),
    ],
)
def test_lambda_is_a_letter_in_words_and_a_name_in_code(text, expected):
    assert with_letters(text) == expected


def test_a_summary_keeps_its_code_and_has_no_other_markup():
    assert with_code("Define `__call__` of <a_b>.") == r"Define `__call__` of \<a\_b\>."


def test_the_heading_of_an_error_is_its_place_and_the_whole_statement(written):
    chapters = claims.wrong_in_print(read_records())
    for paper in PAPERS:
        held = set(sections(written / "wrong_in_print").get(paper, {}).values())
        for records in claims.errors_of(paper, chapters).values():
            for one in records:
                place, said = escaped(section(one["where"])), escaped(one["statement"])
                assert f"**{place}:** {said}" in held, one["id"]


def test_a_moved_section_is_a_link_with_its_old_anchor():
    link = '<a class="moved" id="b-c" href="a/p.html#b-c">words</a>'
    assert moved("a/p.md", "b-c", "words") == link
