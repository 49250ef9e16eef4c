"""Long tables of the site in a real browser: filter, counts, cards on a telephone."""

import pytest
from browser.built_site import address, needs_site

pytestmark = needs_site
# pages with long tables, and words that some of their rows have
WORDS = {"figures": "K19 table", "wrong_in_print": "theorem M20", "claims/K19": "lemma holds"}
ROWS = "article .rows tbody tr"
# pages whose tables are text, and that a telephone shows without scrolling sideways
TEXTS = ("compare", "contribute", "estimator", "claims/index")
FIELD = "Filter the rows by words"
# parts of rows that a reader can see, and that stand outside the page
OFF = """all => all.filter(one => one.checkVisibility()).map(one => one.getBoundingClientRect())
    .filter(one => one.width && (one.left < 0 || one.right > innerWidth)).length"""


@pytest.fixture
def telephone(new_page):
    opened = new_page(viewport={"width": 380, "height": 800})
    yield opened
    opened.close()


@pytest.mark.parametrize("name", WORDS)
def test_the_filter_keeps_the_rows_with_all_words(page, name):
    page.goto(address(name))
    rows, seen = page.locator(ROWS), page.locator(f"{ROWS}:not([hidden])")
    page.get_by_label(FIELD).fill(WORDS[name])
    texts = [text.lower() for text in seen.all_text_contents()]
    assert 0 < len(texts) < rows.count()
    words = WORDS[name].lower().split()
    assert [text for text in texts if not all(word in text for word in words)] == []
    told = page.locator(".filter output[aria-live=polite]").text_content()
    assert told == f"{len(texts)} of {rows.count()} shown"
    page.get_by_label(FIELD).fill("no such words")
    assert [one for one in page.locator("article .rows").all() if one.is_visible()] == []


@pytest.mark.parametrize("name", ("figures", "wrong_in_print"))
def test_each_table_says_how_many_of_its_rows_are_shown(page, name):
    page.goto(address(name))
    page.get_by_label(FIELD).fill(WORDS[name])
    tables = page.locator("article .rows table")
    assert tables.count() > 1
    for table in tables.all():
        count = page.locator(f"#{table.get_attribute('aria-describedby')}").text_content()
        seen, rows = (table.locator(f"tbody tr{kind}").count() for kind in (":not([hidden])", ""))
        assert count == f"{seen} of {rows} shown"


@pytest.mark.parametrize("name", (*WORDS, "api/index", "peers"))
def test_on_a_telephone_no_cell_stands_off_the_edge(telephone, name):
    telephone.goto(address(name))
    for fold in telephone.locator("article details").all():
        fold.evaluate("one => { one.open = true; }")
    assert telephone.locator(ROWS).first.is_visible()
    assert telephone.eval_on_selector_all(f"{ROWS} :is(td, p, a, span)", OFF) == 0


@pytest.mark.parametrize("name", ("figures", "wrong_in_print", "api/index", "benchmarks"))
def test_on_a_telephone_an_index_takes_a_few_screens(telephone, name):
    telephone.goto(address(name))
    assert telephone.evaluate("document.documentElement.scrollHeight") < 6000


def test_on_a_telephone_a_card_unfolds(telephone):
    telephone.goto(address("figures"))
    card = telephone.locator(".scoreboard tr.folded").first
    why = card.locator("td").nth(4)
    more = card.get_by_role("button")
    assert not why.is_visible() and more.get_attribute("aria-expanded") == "false"
    more.click()
    assert why.is_visible() and more.get_attribute("aria-expanded") == "true"


def test_on_a_telephone_an_address_or_a_word_unfolds_a_chapter(telephone):
    telephone.goto(address("figures"))
    chapter = telephone.locator("#the-scripts > details")
    assert not chapter.evaluate("one => one.open")
    telephone.evaluate("location.hash = 'the-scripts'")
    telephone.wait_for_selector("#the-scripts > details[open]")
    telephone.goto(address("wrong_in_print"))
    assert telephone.locator("article details[open]").count() == 0
    telephone.get_by_label(FIELD).fill("theorem")
    assert telephone.locator(f"{ROWS}:not([hidden])").first.is_visible()


def test_a_wide_page_folds_nothing(page):
    page.goto(address("figures"))
    assert page.locator("article details").count() == 0
    assert page.locator(".scoreboard td").nth(4).is_visible()
    assert not page.locator(".scoreboard .more").first.is_visible()


def test_without_scripts_a_telephone_shows_every_cell(browser):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 380, "height": 800})
    page = context.new_page()
    page.goto(address("figures"))
    assert page.locator(".scoreboard tbody tr").first.locator("td").nth(4).is_visible()
    assert page.eval_on_selector_all(f"{ROWS} :is(td, p, a)", OFF) == 0
    context.close()


@pytest.mark.parametrize("name", TEXTS)
def test_a_table_of_text_fits_a_telephone(telephone, name):
    telephone.goto(address(name))
    wide = "all => all.filter(one => one.scrollWidth > one.clientWidth).length"
    tables = "article .table-wrapper"
    assert telephone.locator(tables).count() and telephone.eval_on_selector_all(tables, wide) == 0
    assert telephone.locator(".filter").count() == 0
