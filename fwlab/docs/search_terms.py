"""Index entries by which the search finds claims and figures, such as "eq 2.26" and "K19 Figure 3".

Sphinx leaves numbers out of its index of words, but finds them in entries of the index. An entry is
found if the query is a part of it and at least half as long.
"""

import re
from pathlib import Path

from fwlab.docs.records import Record, Records

NUMBER = re.compile(r"\([A-Z]?\.?\d[\w.]*\)")
# "Theorem D.2", "Figure 3"
NAMED = re.compile(r"\b[A-Z][a-z]+ (?:[A-Z]\.)?\d[\d.]*\b")
EQUATION = ("equation", "eq", "eq.")
TITLE = re.compile(r"^# ", re.MULTILINE)
# the heading of a figure or table, with its target on the line before
HEADING = re.compile(
    r"^(\([\w.-]+\)=\n\n)(### (\w+ (?:Figure|Table|Corollary) \d+)\b)", re.MULTILINE
)


def add(source: Path, records: Records) -> None:
    """Add entries to the pages of all claims, and to the figures, in the folder `source`."""
    for record in records.by_id.values():
        page = source / "claims" / f"{record['id']}.md"
        entries = directive(names(record))
        page.write_text(TITLE.sub(rf"{entries}# ", page.read_text("utf-8"), count=1), "utf-8")
    for figures in (source / "figures").glob("*.md"):
        text = HEADING.sub(
            lambda m: directive([m[3], f"redraw {m[3]}"]) + m[1] + m[2], figures.read_text("utf-8")
        )
        figures.write_text(text, "utf-8")


def names(record: Record) -> list[str]:
    """Return a claim's id, and what a reader may call its place, alone and with its paper."""
    paper, where = record["paper"], record["where"]
    found = [record["id"]]
    for number in dict.fromkeys(NUMBER.findall(where)):
        bare = number.strip("()")
        found += [number, f"{paper} {number}", f"{paper} {bare}"]
        # each of these is found without its paper, too
        found += [f"{paper} {word} {one}" for word in EQUATION for one in (number, bare)]
    named = dict.fromkeys(NAMED.findall(where))
    return found + [name for one in named for name in (one, f"{paper} {one}")]


def directive(entries: list[str]) -> str:
    """Return the directive that makes entries of the index, "" for none."""
    return f"```{{index}} {', '.join(f'! {one}' for one in entries)}\n```\n\n" if entries else ""
