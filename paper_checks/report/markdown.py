"""Write the ledger in Markdown, in the order of the page."""

from collections.abc import Mapping, Sequence
from typing import Any

from paper_checks.records import Record
from paper_checks.report.facts import (
    corrected_as,
    counts,
    errors,
    facts,
    others,
    place,
    printed_as,
    run_command,
    setting,
    texts,
)
from paper_checks.report.order import chapters


def markdown(records: Sequence[Record], stamp: Mapping[str, Any]) -> str:
    """Return the ledger: counts, then each chapter with its claims."""
    lines = ["# Ledger of claims", "", f"{counts(records)}.", "", setting(records), ""]
    if found := errors(records):
        lines += [f"{found}.", ""]
    lines += [f"* {name}: {value}" for name, value in stamp.items()]
    for paper, judged in texts(records).items():
        lines.append(f"* machine-read text of {paper}: {judged['file']}, sha256 {judged['sha256']}")
    for chapter in chapters(records):
        lines += ["", f"## {chapter.title}", "", chapter.about]
        for title, chosen in chapter.groups:
            lines += ["", f"### {title}", "", f"{counts(chosen)}."]
            for record in chosen:
                lines += ["", *entry(record), *also(record, records)]
    return "\n".join([*lines, ""])


def entry(record: Record) -> list[str]:
    """Return the lines of one claim."""
    lines = [f"#### {record['id']}: {record['verdict']}", ""]
    lines += [f"{record['where']}. {record['statement']}", ""]
    if record["formula"]:
        lines += [f"$${record['formula']}$$", ""]
    lines += [f"* {name}: {text}" for name, text in erratum(record)]
    lines += [f"* {name}: {text}" for name, text in facts(record)]
    return [*lines, f"* run again: `{run_command(record)}`"]


def also(record: Record, records: Sequence[Record]) -> list[str]:
    """Return the other places of an error, a line for each."""
    return [f"* also {r['id']}: {place(r)}. {r['statement']}" for r in others(record, records)]


def erratum(record: Record) -> list[tuple[str, str]]:
    """Return the margin note for the paper, as names and texts."""
    if (note := record["erratum"]) is None:
        return []
    return [
        ("page", note["page"]),
        (printed_as(record), f"${note['printed']}$"),
        (corrected_as(record), f"${note['correct']}$"),
        ("proof", note["proof"]),
        ("what it breaks", note["breaks"]),
    ]
