"""The site and the ledger's page in a real browser: contrast, keyboard, width, print, network."""

from pathlib import Path

import pytest
from browser.built_site import SITE, needs_site

from fwlab.docs.records import read_records
from paper_checks.report.page import html_page

pytestmark = needs_site
CONTRAST = (Path(__file__).parent / "contrast.js").read_text("utf-8")
LEDGER = "ledger"
PAGES = (
    *("index", "start", "choose_a_method", "bring_your_own", "figures", "wrong_in_print"),
    *("claims/index", "claims/T20", "claims/T20-eq2.26", "api/fwlab.solve", "benchmarks"),
    *("gallery/plot_03_step_rules", "source/fwlab/problem.py", LEDGER),
    *("questions", "glossary", "peers", "cite", "gallery/index"),
    *("figures/K19", "figures/own", "wrong_in_print/M20"),
)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    records = list(read_records().by_id.values())
    names = ("version", "commit", "date", "command", "seed", "deep", "python", "processor")
    path = tmp_path_factory.mktemp("ledger") / "ledger.html"
    path.write_text(html_page(records, dict.fromkeys(names, "")), "utf-8")
    return path


@pytest.fixture
def address(ledger):
    def found(name: str) -> str:
        path = ledger if name == LEDGER else Path(SITE).resolve() / f"{name}.html"
        return path.as_uri()

    return found


@pytest.fixture
def page(new_page):
    opened = new_page()
    yield opened
    opened.close()


@pytest.mark.turns
@pytest.mark.parametrize("name", PAGES)
def test_letters_can_be_told_from_their_ground(page, address, name):
    page.goto(address(name))
    page.add_style_tag(content="* { transition: none !important; }")
    assert page.evaluate(CONTRAST) == []
    page.evaluate("document.body.dataset.theme = 'dark'")  # as the theme's button does
    assert page.evaluate(CONTRAST) == []
    page.emulate_media(color_scheme="dark")
    page.evaluate("document.body.dataset.theme = 'auto'")
    assert page.evaluate(CONTRAST) == []


def test_low_contrast_is_found(page):
    page.set_content("<body style='background: #fff'><p style='color: #888'>grey</p></body>")
    assert len(page.evaluate(CONTRAST)) == 1


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_telephone_and_asks_no_other_host(new_page, address, name):
    opened = new_page(viewport={"width": 390, "height": 800})
    said, asked = [], []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda one: asked.append(one.url))
    opened.goto(address(name))
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    opened.close()


def reached_by_tab(page, presses: int) -> list[str]:
    """Return the elements that Tab reaches, each with its outline."""
    found = []
    for _ in range(presses):
        page.keyboard.press("Tab")
        found.append(
            page.evaluate(
                "(() => { const e = document.activeElement, s = getComputedStyle(e);"
                "return `${e.tagName} ${e.name || e.textContent.trim()} ${s.outlineStyle}`; })()"
            )
        )
    return found


def test_tab_reaches_search_and_navigation(new_page, address):
    opened = new_page(viewport={"width": 1200, "height": 900})
    opened.goto(address("index"))
    pages = opened.locator(".toctree-l1").count()
    found = reached_by_tab(opened, pages + 5)
    assert any(one.startswith("INPUT q") for one in found), found
    assert any(one.startswith("A What is wrong in print") for one in found), found
    assert [one for one in found if one.endswith("none")] == []
    opened.close()


def test_tab_reaches_the_filter_of_the_ledger(new_page, address):
    opened = new_page(viewport={"width": 1200, "height": 900})
    opened.goto(address(LEDGER))
    opened.locator("nav a").last.focus()
    found = reached_by_tab(opened, 8)
    for control in ("SELECT paper", "SELECT verdict", "SELECT tier", "INPUT text", "BUTTON"):
        assert any(one.startswith(control) for one in found), found
    assert [one for one in found if one.endswith("none")] == []
    opened.close()


@pytest.mark.parametrize("name", ("index", "claims/T20-eq2.26"))
def test_paper_has_the_text_without_the_navigation(new_page, address, name):
    opened = new_page()
    opened.goto(address(name))
    opened.emulate_media(media="print")
    for part in (".sidebar-drawer", ".mobile-header", ".toc-drawer", ".related-pages"):
        assert not opened.locator(part).first.is_visible(), part
    assert opened.locator("article h1").is_visible()
    shown = "getComputedStyle(document.querySelector('article a.external'), '::after').content"
    assert name == "index" or "http" in opened.evaluate(shown)
    opened.close()
