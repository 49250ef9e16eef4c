"""Order the pages: errors first, the most severe at the top; each error and claim appears once."""

from collections.abc import Sequence
from dataclasses import dataclass

from paper_checks.modules import PAPERS
from paper_checks.records import Record
from paper_checks.report.words import EXPERIMENTS, REFUTED

WITNESS = (
    "Each has the smallest instance that refutes it, which can be checked by hand. "
    "Its arrays have one row per sample, W has one row per class, samples and "
    "classes count from 0, and root is sqrt(gamma lam n)."
)
# name, title, content
SECTIONS = (
    (
        "theorems",
        "Theorems that are false in their main case",
        "Each statement fails within its paper's main case, which is given with it, "
        "and no other numbers in the printed form make it true. " + WITNESS,
    ),
    (
        "formulas",
        "Formulas and constants",
        "Each statement is true with a different formula or constant, which appears "
        "nowhere in the paper. For each paper, errors that affect other results come "
        "first.",
    ),
    (
        "slips",
        "Slips",
        "The paper itself has the correct form of each elsewhere. For each paper, "
        "errors that affect other results come first.",
    ),
    (
        "conditions",
        "Conditions that the papers omit",
        "Each statement is false as stated, and true under the condition given. It "
        "is also true with a different formula, or it fails only outside the main "
        "case.",
    ),
    (
        "experiments",
        "Experiments",
        "Experimental results that the papers report, repeated here.",
    ),
    (
        "rest",
        "The other statements",
        "All remaining statements, by paper.",
    ),
    (
        "readings",
        "What depends on the reading",
        "Each statement is false as read, and true if one symbol or word is read "
        "differently. The text judged is machine-read, so a lost subscript or "
        "superscript is not an error of the paper.",
    ),
)


@dataclass(frozen=True)
class Chapter:
    """A part of the page: its records, grouped under the titles of their papers."""

    name: str
    title: str
    about: str
    groups: list[tuple[str, list[Record]]]


def chapters(records: Sequence[Record]) -> list[Chapter]:
    """Return the chapters that have records.

    An error that refutes several claims appears once, under the first of them; the other claims are
    left out if the first is among the records.
    """
    ids = {record["id"] for record in records}
    once = [r for r in records if r["slip"] in ("", r["id"]) or r["slip"] not in ids]
    ordered = sorted(once, key=breaks_something, reverse=True)
    found = [
        Chapter(name, title, about, by_paper([r for r in ordered if place(r) == name]))
        for name, title, about in SECTIONS
    ]
    return [chapter for chapter in found if chapter.groups]


def breaks_something(record: Record) -> bool:
    """Return whether the error in this record affects other parts of the paper."""
    note = record["erratum"]
    return note is not None and not note["breaks"].startswith("Nothing")


def place(record: Record) -> str:
    """Return the name of the one section that a record belongs to."""
    if record["severity"] == "theorem false in its main case":
        return "theorems"
    if record["verdict"] == "conditional":
        return "conditions"
    if record["verdict"] == "depends on the reading":
        return "readings"
    if record["verdict"] in REFUTED:
        return "slips" if record["severity"] == "slip" else "formulas"
    return "experiments" if record["verdict"] in EXPERIMENTS else "rest"


def by_paper(records: Sequence[Record]) -> list[tuple[str, list[Record]]]:
    """Return titles with their records: the papers first, then other sources."""
    found = []
    for paper in dict.fromkeys([*PAPERS, *(record["paper"] for record in records)]):
        chosen = [record for record in records if record["paper"] == paper]
        if chosen:
            found.append((heading(paper, chosen), chosen))
    return found


def heading(paper: str, records: Sequence[Record]) -> str:
    """Return the title above the records of a paper or of another source."""
    title = PAPERS[paper][1] if paper in PAPERS else f"claims of {files(records)}"
    return f"{paper}: {title}"


def files(records: Sequence[Record]) -> str:
    """Return the users' files from which records come."""
    return ", ".join(dict.fromkeys(record["file"] for record in records))
