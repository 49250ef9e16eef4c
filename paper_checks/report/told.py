"""Add to a record what the reports say of it, for readers that do not import this package."""

from paper_checks.records import Record
from paper_checks.report import facts, order

# facts that have entries of their own
BESIDE = ("tier", "planted errors", "of the library")


def told(record: Record) -> Record:
    """Return a record with its words, as `--json` prints it and the site shows it."""
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
