"""Reading the site in a real browser: search, folds and filter, formulas, code, footer."""

from pathlib import Path

import pytest
from browser.built_site import SITE, address, needs_site

from fwlab.provenance import provenance

pytestmark = needs_site
MATHS_FONT = "Latin Modern Math"
WITH_FORMULAS = ("claims/T20-eq2.26", "wrong_in_print/T20", "mathematics")
WITH_CODE = ("start", "questions", "bring_your_own", "compare", "gallery/plot_01_own_csv")
LONG = {"figures/K19": "kato2019-figure3", "wrong_in_print/M20": "wrong-m20-thmd2-case2"}
WORDS = {"figures/K19": "hinge gap", "wrong_in_print/M20": "theorem best"}
# what an old address led to, and its page now
OLD = {
    "figures.html#kato2019-figure3": "figures/K19.html#kato2019-figure3",
    "figures.html#certified-gaps": "figures/own.html#certified-gaps",
    "wrong_in_print.html#wrong-t20-eq2-26": "wrong_in_print/T20.html#wrong-t20-eq2-26",
}
FOLDS = "article section > details"
# one element of formulas for each text
MARK_TEXTS = """document.querySelectorAll("details").forEach(one => { one.open = true; });
    new Map([...document.querySelectorAll("article math :is(mi, mn, mo)")]
    .map(one => [one.tagName + one.textContent, one])).forEach(one => { one.dataset.font = ""; })"""


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("2.26", "claims/T20-eq2.26.html"),
        ("(2.26)", "claims/T20-eq2.26.html"),
        ("eq 2.26", "claims/T20-eq2.26.html"),
        ("equation 2.26", "claims/T20-eq2.26.html"),
        ("T20-eq2.26", "claims/T20-eq2.26.html"),
        ("oracle call", "glossary.html"),
    ],
)
def test_search_begins_with(page, query, first):
    assert found(page, query)[0].partition("#")[0] == first


@pytest.mark.parametrize(
    ("query", "among"),
    [
        ("Theorem D.2", "claims/M20-thmD2-case1.html"),
        ("K19 Figure 3", "figures/K19.html"),
        ("ONNX", "questions.html"),
        ("skops", "classifier.html"),
        ("predict_proba", "questions.html"),
        ("predict_proba", "classifier.html"),
        ("bcpfw", "choose_a_method.html"),
        ("fcfw", "choose_a_method.html"),
        ("which seed", "questions.html"),
        ("cite", "cite.html"),
    ],
)
def test_search_finds(page, query, among):
    assert among in {link.partition("#")[0].partition("?")[0] for link in found(page, query)}


def found(page, query: str) -> list[str]:
    """Return the addresses that the search box finds, the best one first."""
    page.goto(address("index"))
    page.locator("input.sidebar-search").fill(query)
    page.keyboard.press("Enter")
    page.wait_for_function(
        "/finished|did not match/.test(document.querySelector('.search-summary')?.textContent)"
    )
    return page.eval_on_selector_all(
        "ul.search > li > a", "all => all.map(one => one.getAttribute('href'))"
    )


@pytest.mark.parametrize("name", LONG)
def test_a_long_page_is_folded_and_unfolds(page, name):
    page.goto(address(name))
    folds = page.locator(FOLDS)
    assert folds.count() >= 10
    assert page.locator(f"{FOLDS}[open]").count() == 0
    short = page.evaluate("document.documentElement.scrollHeight")
    page.get_by_role("button", name="Unfold all").click()
    assert page.locator(f"{FOLDS}[open]").count() == folds.count()
    assert page.evaluate("document.documentElement.scrollHeight") > 3 * short
    page.get_by_role("button", name="Fold all").click()
    assert page.locator(f"{FOLDS}[open]").count() == 0


def test_a_line_below_a_heading_says_more_than_the_heading(page):
    page.goto(address("figures/K19"))
    assert page.locator("summary .gist").count() >= 8
    page.goto(address("wrong_in_print/M20"))
    assert page.locator(FOLDS).count() >= 10 and page.locator("summary .gist").count() == 0


@pytest.mark.parametrize("name", LONG)
def test_an_address_opens_its_section_alone(page, name):
    page.goto(f"{address(name)}#{LONG[name]}")
    assert page.locator(f"{FOLDS}[open]").count() == 1
    target = page.locator(f'[id="{LONG[name]}"]').locator("xpath=ancestor-or-self::section[1]")
    assert target.locator("> details[open] > summary h3").is_visible()


@pytest.mark.parametrize("name", LONG)
def test_the_filter_keeps_the_sections_with_all_words(page, name):
    page.goto(address(name))
    field = page.get_by_label("Filter the sections by words")
    field.fill(WORDS[name])
    seen = page.locator("article section:has(> details):not([hidden])")
    texts = [text.lower() for text in seen.all_text_contents()]
    assert 0 < len(texts) < page.locator(FOLDS).count()
    words = WORDS[name].lower().split()
    assert [text for text in texts if not all(word in text for word in words)] == []
    assert page.locator(".filter output").text_content().startswith(f"{len(texts)} of ")
    field.fill("")
    assert seen.count() == page.locator(FOLDS).count()


def test_a_link_to_a_filtered_section_shows_it(page):
    name = "wrong_in_print/M20"
    page.goto(address(name))
    page.get_by_label("Filter the sections by words").fill("no such words")
    assert page.locator("article section:has(> details):not([hidden])").count() == 0
    page.evaluate(f"location.hash = '{LONG[name]}'")
    page.wait_for_selector(f"{FOLDS}[open]")
    assert page.locator("article section:has(> details):not([hidden])").count() >= 10


@pytest.mark.parametrize("old", OLD)
def test_an_old_address_leads_to_the_section(page, old):
    page.goto((Path(SITE).resolve() / old.partition("#")[0]).as_uri() + "#" + old.partition("#")[2])
    page.wait_for_url(f"**/{OLD[old]}")
    target = page.locator(f'[id="{OLD[old].partition("#")[2]}"]').last
    assert target.locator("xpath=ancestor-or-self::section[1]").locator("h3").first.is_visible()


def test_without_scripts_an_old_address_shows_the_link(browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address('figures')}#kato2019-figure3")
    assert (
        page.locator('[id="kato2019-figure3"]').get_attribute("href")
        == (OLD["figures.html#kato2019-figure3"])
    )
    context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_cards_have_drawings_in_the_colours_of_the_theme(page, theme):
    page.goto(address("gallery/index"))
    page.evaluate(f"document.body.dataset.theme = '{theme}'")
    cards = page.locator("article a.card")
    assert cards.count() == cards.locator("svg").count() >= 13
    strokes = page.eval_on_selector_all(
        "article .card polyline.c0", "all => all.map(one => getComputedStyle(one).stroke)"
    )
    assert {*strokes} == {"rgb(0, 95, 151)" if theme == "light" else "rgb(108, 184, 240)"}


def test_without_scripts_a_long_page_is_whole(browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address("wrong_in_print/M20"))
    assert page.locator("article h3").last.is_visible() and page.locator(FOLDS).count() == 0
    context.close()


@pytest.mark.parametrize("name", WITH_FORMULAS)
def test_formulas_have_the_font_that_the_site_brings(page, name):
    page.goto(address(name))
    page.evaluate("document.fonts.ready")
    session = page.context.new_cdp_session(page)
    session.send("DOM.enable")
    session.send("CSS.enable")
    page.evaluate(MARK_TEXTS)
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    nodes = session.send("DOM.querySelectorAll", {"nodeId": root, "selector": "[data-font]"})
    used = {
        font["familyName"]
        for node in nodes["nodeIds"]
        for font in session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
    }
    assert used == {MATHS_FONT}


@pytest.mark.parametrize("name", WITH_CODE)
@pytest.mark.parametrize("width", (918, 390))
def test_lines_of_code_are_not_cut_off(new_page, name, width):
    opened = new_page(viewport={"width": width, "height": 900})
    opened.goto(address(name))
    cut = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
    assert (
        opened.eval_on_selector_all("article div:not(.highlight-none) > .highlight > pre", cut)
        == []
    )
    opened.close()


def test_pages_stand_in_groups(page):
    page.goto(address("start"))
    assert page.locator(".sidebar-tree .caption").count() >= 5
    sizes = page.eval_on_selector_all(
        ".sidebar-tree > ul", "all => all.map(one => one.children.length)"
    )
    assert sizes and max(sizes) <= 8


@pytest.mark.parametrize("name", ("index", "claims/T20-eq2.26", "api/fwlab.solve"))
def test_the_footer_has_version_commit_licence_and_citation(page, name):
    page.goto(address(name))
    told = provenance()
    text = page.locator("footer .about").text_content()
    assert f"fwlab {told['fwlab']}" in text and "BSD-3-Clause" in text
    assert not told["commit"] or "commit " in text
    assert "Copyright © 2026" in page.locator("footer").text_content()
    page.locator("footer .about").get_by_text("How to cite").click()
    assert "@software{fwlab" in page.locator("article").text_content()


@pytest.mark.parametrize("name", ("index", "claims/T20-eq2.26", "source/fwlab/problem.py"))
def test_every_page_has_an_icon(page, name):
    page.goto(address(name))
    link = page.locator("link[rel~=icon]").get_attribute("href").partition("?")[0]
    assert (Path(SITE) / f"{name}.html").parent.joinpath(link).resolve().is_file()


def test_headings_of_a_page_differ(page):
    for name in LONG:
        page.goto(address(name))
        headings = page.locator("article h3").all_text_contents()
        assert len(headings) == len(set(headings)), name
