"""Pages made of the ledger: one per claim, one per paper, the errata and the mathematics."""

import re
from html import escape
from pathlib import Path

from fwlab.docs import api, figure_links, sources
from fwlab.docs.markdown import moved, section, write
from fwlab.docs.papers import PAPERS
from fwlab.docs.records import (
    Record,
    Records,
    counts,
    errors,
    meanings,
    source_file,
    source_line,
)

FOLDER, ERRATA = "claims", "wrong_in_print"
# of a section, an equation or a line
NUMBER = re.compile(r"(?:[A-Z]\.)?\d+(?:\.\d+)*")
# {title of a chapter: {title of a paper: its errors}}
Chapters = dict[str, dict[str, list[Record]]]


def write_pages(source: Path, records: Records) -> None:
    """Write all pages of the ledger below `source`."""
    drawn = figure_links.figures_of_claims()
    for record in records.by_id.values():
        write_claim(source, record, records, drawn.get(record["id"], []))
    everything = list(records.by_id.values())
    write(
        source / FOLDER / "index.md",
        "ledger.md",
        MEANING=meanings("verdict"),
        SEVERITIES=meanings("severity"),
        TIERS=meanings("tier"),
        PAPERS=PAPERS,
        records=everything,
        errors=errors(everything),
    )
    for paper in PAPERS:
        of_paper = records.of_paper(paper)
        write(
            source / FOLDER / f"{paper}.md",
            "paper.md",
            paper=PAPERS[paper],
            name=paper,
            claims=of_paper,
            counts=counts(of_paper),
            errors=errors(of_paper),
        )
    write_wrong_in_print(source, records)
    write(
        source / "mathematics.md",
        "mathematics.md",
        papers=formulas(records),
        PAPERS=PAPERS,
        address={n: api.function_address(n) for n in records.by_function},
    )


def write_wrong_in_print(source: Path, records: Records) -> None:
    """Write the index of the errors, each once, the gravest first, and a page of them per paper."""
    chapters = wrong_in_print(records)
    write(
        source / f"{ERRATA}.md",
        "wrong_in_print.md",
        chapters=chapters,
        link=error_link,
        papers=[paper for paper in PAPERS if errors_of(paper, chapters)],
        PAPERS=PAPERS,
        errors=errors(list(records.by_id.values())),
        SEVERITIES=meanings("severity"),
    )
    for paper in PAPERS:
        if found := errors_of(paper, chapters):
            write(
                source / ERRATA / f"{paper}.md",
                "wrong_in_paper.md",
                name=paper,
                paper=PAPERS[paper],
                chapters=found,
                others=records.others,
                errors=errors(records.of_paper(paper)),
            )


def error_link(record: Record) -> str:
    """Return the place of an error as a link from the index to its entry."""
    anchor = re.sub(r"[\W_]+", "-", f"wrong-{record['id'].lower()}")
    return moved(f"{ERRATA}/{record['paper']}.md", anchor, escape(section(record["where"])))


def errors_of(paper: str, chapters: Chapters) -> dict[str, list[Record]]:
    """Return {title of a chapter: the errors of one paper}."""
    found = {
        chapter: [r for group in groups.values() for r in group if r["paper"] == paper]
        for chapter, groups in chapters.items()
    }
    return {chapter: records for chapter, records in found.items() if records}


def write_claim(source: Path, record: Record, records: Records, figures: list[str]) -> None:
    """Write the page of one claim. figures: the scripts whose figure is about it."""
    write(
        source / FOLDER / f"{record['id']}.md",
        "claim.md",
        record=record,
        told=record["told"],
        place=place(record),
        paper=PAPERS[record["paper"]],
        meaning=meanings("verdict")[record["verdict"]],
        others=records.others(record),
        check=sources.address(source_file(record), source_line(record)) if record["source"] else "",
        where_right_is_claim=record["where_right"] in records.by_id,
        figures={name: figure_links.address(name) for name in figures},
        functions={n: api.function_address(n) for n in record["library"]},
    )


def place(record: Record) -> str:
    """Return the place of a claim once: the erratum's, if that has all numbers of the claim's."""
    where, note = str(record["where"]), record["erratum"]
    if note and {*NUMBER.findall(where)} <= {*NUMBER.findall(note["page"])}:
        return str(note["page"])
    return section(str(record["told"]["place"]))


# the chapters of the page, each with its title
WRONG = {
    "theorems": "Theorems that are false in their main case",
    "formulas": "Formulas and constants",
    "slips": "Slips",
    "conditions": "Conditions that the papers omit",
    "readings": "What depends on the reading",
}


def wrong_in_print(records: Records) -> Chapters:
    """Return {title: {title of a paper: its records that are wrong in print}}.

    An error in several records is in its first one alone. Records that break something come first.
    """
    found: Chapters = {title: {} for title in WRONG.values()}
    for paper in PAPERS:
        shown = [r for r in records.of_paper(paper) if r["slip"] == r["id"]]
        for record in sorted(shown, key=lambda r: not r["told"]["breaks_something"]):
            if title := WRONG.get(record["told"]["chapter"]):
                found[title].setdefault(record["told"]["group"], []).append(record)
    return found


def formulas(records: Records) -> dict[str, list[Record]]:
    """Return {paper: its records that have a true formula and a function of fwlab}."""
    return {
        paper: [r for r in records.of_paper(paper) if true_formula(r) and r["library"]]
        for paper in PAPERS
    }


def true_formula(record: Record) -> str:
    """Return the formula as it should be, "" if the claim has none."""
    if record["erratum"]:
        return str(record["erratum"]["correct"])
    refuted = record["verdict"] in ("misprint", "fails", "conditional")
    return str(record["corrected_formula"] if refuted else record["formula"])
