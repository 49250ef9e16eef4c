"""Add to a record the texts that the reports show, for programs that do not import this package."""

from paper_checks.records import Record
from paper_checks.report import facts, order

# facts that have separate entries
BESIDE = ("tier", "planted errors", "of the library")


def told(record: Record) -> Record:
    """Return a record with its texts, as `--json` prints it and the site shows it."""
    words = {
        "place": facts.place(record),
        "severity": facts.severity(record),
        "tier": facts.tier(record),
        "witness": dict(facts.witness(record)),
        "heads": [facts.printed_as(record), facts.corrected_as(record)],
        "true_version": facts.true_version(record),
        "corrected": facts.corrected(record),
        "evidence": {name: text for name, text in facts.evidence(record) if name not in BESIDE},
        "planted": facts.planted(record),
        "command": facts.run_command(record),
        "chapter": order.place(record),
        "group": order.heading(record["paper"], [record]),
        "breaks_something": order.breaks_something(record),
    }
    return {**record, "told": words}
