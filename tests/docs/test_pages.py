"""The site's pages: their code runs, and every link of a built site leads somewhere."""

import os
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from fwlab.docs.figure_links import address, figures_of_claims, first_sections, index

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "fwlab" / "docs" / "pages").glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = sorted((ROOT / "fwlab" / "docs" / "examples").glob("plot_*.py"))
SITE = os.environ.get("FWLAB_SITE", "")
with_site = pytest.mark.skipif(
    not SITE, reason="FWLAB_SITE does not name a folder that python -m fwlab.docs build wrote"
)


def blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text("utf-8"))


def test_code_is_found_in_pages():
    assert sum(len(blocks(page)) for page in PAGES) >= 8


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda page: page.stem)
def test_code_of_a_page_runs(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # which a page tells its reader to set
    names: dict[str, object] = {"__name__": page.stem}
    if any("import torch" in code for code in blocks(page)):
        pytest.importorskip("torch", reason="torch is not installed (extra torch)")
    for code in blocks(page):
        exec(compile(code, str(page), "exec"), names)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_short(example):
    code = example.read_text("utf-8").split('"""', 2)[2]
    lines = [line for line in code.splitlines() if line.strip() and not line.startswith("#")]
    assert len(lines) < 40


class Page(HTMLParser):
    """The links and the anchors of an HTML page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.images_without_text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.anchors |= {value for key in ("id", "name") if (value := found.get(key))}
        self.links += [value for key in ("href", "src") if (value := found.get(key))]
        if tag == "img" and "alt" not in found:  # an empty one says that the image is ornament
            self.images_without_text.append(str(found.get("src")))


@cache
def page_at(path: Path) -> Page:
    return Page(path.read_text("utf-8"))


def pages() -> Iterator[Path]:
    yield from sorted(Path(SITE).resolve().rglob("*.html"))


def is_outside(link: str) -> bool:
    return re.match(r"[a-z]+:", link) is not None


def broken(page: Path) -> Iterator[str]:
    """Yield the links of a page that lead nowhere inside the site."""
    for link in page_at(page).links:
        if is_outside(link) or link == "#":
            continue
        path, anchor = urldefrag(link)
        path = path.partition("?")[0]
        target = (page.parent / unquote(path)).resolve() if path else page
        if target.is_dir():
            target /= "index.html"
        if not target.is_file():
            yield link
        elif anchor and target.suffix == ".html":
            if unquote(anchor) not in page_at(target).anchors:
                yield link


@with_site
def test_every_link_leads_somewhere():
    assert {page.name: found for page in pages() if (found := list(broken(page)))} == {}


@with_site
def test_every_image_has_a_text():
    assert {p.name: found for p in pages() if (found := page_at(p).images_without_text)} == {}


@with_site
def test_nothing_is_loaded_from_a_network():
    loaded = re.compile(r"<(?:script|link|img)[^>]+(?:src|href)=\"https?:[^\"]+")
    found = {page.name: loaded.findall(page.read_text("utf-8")) for page in pages()}
    assert {name: links for name, links in found.items() if links} == {}


def claim_pages() -> list[Path]:
    return [p for p in sorted((Path(SITE) / "claims").glob("*-*.html"))]


@with_site
def test_a_claim_leads_to_its_check_its_paper_and_the_library():
    for page in claim_pages():
        links = page_at(page).links
        assert any(link.startswith("../source/") and "#L-" in link for link in links), page
        assert any("arxiv.org" in link or "mlr.press" in link for link in links), page
        if "compared with fwlab" in page.read_text("utf-8"):
            assert any(link.startswith(("../api/fwlab.", "../source/fwlab/")) for link in links), (
                page
            )


@with_site
def test_functions_lead_to_the_claims_that_exercise_them():
    page = Path(SITE) / "api" / "fwlab.solve.html"
    assert any(link.startswith("../claims/") for link in page_at(page).links)


@with_site
def test_a_figure_and_its_claims_lead_to_each_other():
    drawn = figures_of_claims()
    sections = first_sections()
    for claim, scripts in drawn.items():
        links = page_at(Path(SITE) / "claims" / f"{claim}.html").links
        for name in scripts:
            page, anchor = address(name).split(".md#")
            assert f"../{page}.html#{anchor.replace('_', '-')}" in links, (claim, name)
            if name in sections:
                assert f"../claims/{claim}.html" in page_at(Path(SITE) / f"{page}.html").links
    for name, place in sections.items():
        figures = page_at(Path(SITE) / place.replace(".md", ".html").partition("#")[0]).links
        assert f"../source/{index()['scripts'][name]['source']}.html" in figures, name
