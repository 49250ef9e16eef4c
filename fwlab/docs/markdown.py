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


def escaped(text: Any) -> str:
    """Return a text in which Markdown finds no markup."""
    return MARKUP.sub(r"\\\1", str(text))


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
    return made


def write(path: Path, template: str, **values: Any) -> None:
    """Write a page from a template."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(templates().get_template(template).render(**values), "utf-8")
