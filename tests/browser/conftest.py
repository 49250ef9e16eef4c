"""One headless Chromium for all tests of pages; they skip where there is none."""

import shutil

import pytest

MILLISECONDS = 120_000


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install 'fwlab[browser]'"
    )
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def new_page(browser):
    """Provide a function that opens an empty page, which waits longer on a busy machine."""

    def opened(**options):
        page = browser.new_page(**options)
        page.set_default_timeout(MILLISECONDS)
        return page

    return opened


@pytest.fixture
def page(new_page):
    opened = new_page(viewport={"width": 1280, "height": 900})
    yield opened
    opened.close()
