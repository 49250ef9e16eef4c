"""Texts of the ledger as Markdown for the site, and the templates of generated pages."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

HERE = Path(__file__).parent
# what Markdown or MyST would read as markup
MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~^@%$])")
# the name of lambda in words: of the code is lam=.., and what stands in backticks
LAMBDA = re.compile(r"\b(?:lam\b(?!=)|lambda(?=_|\b))(?: (?=n\b))?")
CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)


def escaped(text: Any) -> str:
    """Return a text in which Markdown finds no markup, and lambda is a letter."""
    return MARKUP.sub(r"\\\1", with_letters(str(text)))


def with_letters(text: str) -> str:
    """Return Markdown whose words, not its code, have the letter λ for lam or lambda."""
    parts = CODE.split(text)
    return "".join(part if i % 2 else LAMBDA.sub("λ", part) for i, part in enumerate(parts))


def with_code(text: str) -> str:
    """Return an escaped text whose code, between backticks, stays code."""
    parts = CODE.split(text)
    return "".join(part if i % 2 else escaped(part) for i, part in enumerate(parts))


def section(where: str) -> str:
    """Return a place in a paper; a bare number at its beginning numbers a section."""
    return f"section {where}" if where[:1].isdigit() else where


def moved(page: str, anchor: str, text: str) -> str:
    """Return a link to a section that an index once held, which has the section's old anchor.

    moved.js leads from the anchor to the section; without scripts the reader sees the link. The
    page is Markdown's, from the index; the text is HTML.
    """
    target = f"{page.removesuffix('.md')}.html#{anchor}"
    return f'<a class="moved" id="{anchor}" href="{target}">{text}</a>'


def prose(text: str) -> str:
    """Return an escaped text whose formulas, between dollar signs, stay formulas."""
    parts = text.split("$")
    return "".join(f"${part}$" if i % 2 else escaped(part) for i, part in enumerate(parts))


def code(text: Any) -> str:
    """Return a text as inline code, backticks in it included."""
    return f"`` {text} ``" if "`" in str(text) else f"`{text}`"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; the cells are Markdown already."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


@cache
def templates() -> Environment:
    """Return the templates, with the functions above as filters."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"escaped": escaped, "prose": prose, "code": code}
    made.filters |= {"with_code": with_code, "section": section}
    return made


def write(path: Path, template: str, **values: Any) -> None:
    """Write a page from a template."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(templates().get_template(template).render(**values), "utf-8")
