"""Reading the site in a real browser: formulas."""

import os
from pathlib import Path

import pytest

SITE = os.environ.get("FWLAB_SITE", "")
pytestmark = pytest.mark.skipif(
    not SITE, reason="FWLAB_SITE does not name a folder that python -m fwlab.docs build wrote"
)
MATHS_FONT = "Latin Modern Math"
WITH_FORMULAS = ("claims/T20-eq2.26", "wrong_in_print", "mathematics")
# one element of formulas for each text
MARK_TEXTS = """document.querySelectorAll("details").forEach(one => { one.open = true; });
    new Map([...document.querySelectorAll("article math :is(mi, mn, mo)")]
    .map(one => [one.tagName + one.textContent, one])).forEach(one => { one.dataset.font = ""; })"""


def address(name: str) -> str:
    return (Path(SITE).resolve() / f"{name}.html").as_uri()


@pytest.fixture
def page(new_page):
    opened = new_page(viewport={"width": 1280, "height": 900})
    yield opened
    opened.close()


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
