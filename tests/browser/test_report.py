"""The page of `fwlab compare --html` in a real browser, at the width of a desktop and a phone."""

import pytest

import fwlab
from fwlab.experiments.curves import X_LABELS

pytest.importorskip("plotly", reason="plotly is not installed: pip install 'fwlab[report]'")
WIDTHS = {"desktop": (1200, 900), "phone": (390, 800)}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    data = fwlab.datasets.load("digits", normalize="unit")
    X, y = data.X_train[:60], data.y_train[:60]
    problems = {f"k = {k}": fwlab.Problem(X, y, fwlab.TopK(k), lam=0.1) for k in (1, 3)}
    path = tmp_path_factory.mktemp("report") / "report.html"
    fwlab.compare(problems, ["fw", "ascent"], tol=1e-4, max_iter=20).to_html(path)
    return path


@pytest.fixture(scope="module", params=WIDTHS)
def page(request, new_page, report):
    """The opened page; afterwards the console is empty, and nothing else was asked for."""
    width, height = WIDTHS[request.param]
    opened = new_page(viewport={"width": width, "height": height})
    said, asked = [], []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda one: asked.append(one.url))
    opened.goto(report.as_uri())
    opened.wait_for_selector(".plotly .legend")
    yield opened
    assert said == []
    assert asked == [report.as_uri()]
    opened.close()


def wait_for_curves(page, names: list[str]) -> None:
    """Wait until the curves of these names are drawn in the first figure, and no others."""
    page.wait_for_function(
        "names => document.querySelector('.js-plotly-plot').data"
        ".filter(one => one.visible !== 'legendonly').map(one => one.name).join() === names",
        arg=",".join(names),
    )


def wait_for_axis(page, name: str, value: str) -> None:
    """Wait until this attribute of the first figure's layout has this value."""
    page.wait_for_function(
        f"value => document.querySelector('.js-plotly-plot').layout.{name} === value", arg=value
    )


def test_hover_shows_gap_iteration_and_seconds(page):
    point = page.locator(".js-plotly-plot").first.locator(".trace .point").first
    point.scroll_into_view_if_needed()
    place = point.bounding_box()
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    text = page.wait_for_selector(".hoverlayer .hovertext").text_content()
    assert "gap" in text and "iteration" in text and " s" in text


def test_a_method_is_hidden_and_shown_from_the_legend(page):
    wait_for_curves(page, ["fw", "ascent"])
    toggle = page.locator(".js-plotly-plot").first.locator(".legendtoggle").first
    toggle.scroll_into_view_if_needed()
    toggle.click()
    wait_for_curves(page, ["ascent"])
    page.wait_for_timeout(500)  # two clicks at once would be a double click
    toggle.click()
    wait_for_curves(page, ["fw", "ascent"])


def test_the_axes_change(page):
    buttons = page.locator(".js-plotly-plot").first.locator(".updatemenu-button")
    buttons.get_by_text("iterations", exact=True).click()
    buttons.get_by_text("gap linear", exact=True).click()
    wait_for_axis(page, "xaxis.title.text", X_LABELS["iteration"])
    wait_for_axis(page, "yaxis.type", "linear")
    buttons.get_by_text("gap log", exact=True).click()
    wait_for_axis(page, "yaxis.type", "log")


def test_the_page_fits_its_width(page):
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
