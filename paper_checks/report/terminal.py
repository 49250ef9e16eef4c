"""Show the ledger on the terminal: one line per claim, or everything about a few claims."""

import textwrap
from collections.abc import Sequence

from paper_checks.records import Record
from paper_checks.report.facts import (
    corrected,
    counts,
    errors,
    right_in_paper,
    severity,
    tier,
    true_version,
    witness_lines,
)
from paper_checks.report.words import MEANING

WIDTH = 100
NAMES = 15


def table(records: Sequence[Record]) -> str:
    """Return one line per claim, and the counts by verdict.

    An untestable claim shows the reason.
    """
    width = max((len(record["id"]) for record in records), default=0)
    lines = [line(record, width) for record in records]
    return "\n".join([*lines, "", counts(records), errors(records)]).rstrip()


def line(record: Record, width: int) -> str:
    """Return a claim's line; `width` is the width of the ids."""
    start = f"{record['id']:{width}}  {record['verdict']:14}  "
    if not record["cases"]:
        return f"{start}{record['reason']}"
    return (
        f"{start}{record['tier']:17}  {record['cases']:6d} cases  "
        f"defects {record['defects_caught']}/{record['defects_planted']}  "
        f"{record['seconds']:6.1f} s"
    )


def details(records: Sequence[Record]) -> str:
    """Return the statement, place, verdict, tier, correction and witness of each claim."""
    return "\n\n".join(one(record) for record in records)


def one(record: Record) -> str:
    """Return the details of one claim."""
    lines = [
        ("place", f"{record['paper']}, {record['where']}"),
        ("statement", record["statement"]),
        ("verdict", f"{record['verdict']}: {MEANING[record['verdict']]}"),
        ("severity", severity(record)),
        ("reason", record["reason"]),
        ("tier", tier(record)),
        (true_version(record), corrected(record)),
        ("right in paper", right_in_paper(record)),
        *witness_lines(record),
    ]
    return "\n".join([record["id"], *(named(name, text) for name, text in lines if text)])


def named(name: str, text: str) -> str:
    """Return a name followed by a wrapped text."""
    start = f"  {name:{NAMES - 1}} "
    return textwrap.fill(text, WIDTH, initial_indent=start, subsequent_indent=" " * (NAMES + 2))
