"""Words of the pages: one notation."""

import re

import pytest

from fwlab.docs.markdown import HERE

PAGES = sorted([*(HERE / "pages").glob("*.md"), *(HERE / "templates").glob("*.md")])
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`[^`]*`|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
# witnesses of errata use the names of the code
NAMES_OF_CODE = ("wrong_in_print",)


def prose(text: str) -> str:
    """Return a page without its code."""
    return INLINE.sub("", FENCED.sub("", text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_prose_writes_lambda_as_a_letter(page):
    if page.stem not in NAMES_OF_CODE:
        assert re.findall(r"\blam\b|\blambda\b", prose(page.read_text("utf-8"))) == []


def test_code_is_no_prose():
    text = "λ is `lam`\n```python\nlam = 1\n```\nand {{ lam }}"
    assert re.findall("lam", prose(text)) == []
