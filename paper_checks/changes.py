"""List the verdicts that differ between two ledgers: python -m paper_checks.changes OLD NEW

OLD and NEW are files written by `python -m paper_checks --json`, such as two versions of
ledger.json.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fwlab.command import run_command
from paper_checks.records import Record

# what is compared, in the order of the list
FIELDS = ("verdict", "severity", "tier", "corrected", "statement")


def changes(old: Sequence[Record], new: Sequence[Record]) -> Iterator[str]:
    """Yield a line per row that was added, was removed, or differs in one of FIELDS."""
    before, after = by_id(old), by_id(new)
    for id, record in after.items():
        if id not in before:
            yield f"{id}: new, {record['verdict']}"
        else:
            yield from differences(id, before[id], record)
    yield from (f"{id}: gone, was {before[id]['verdict']}" for id in before if id not in after)


def by_id(records: Sequence[Record]) -> dict[str, Record]:
    return {record["id"]: record for record in records}


def differences(id: str, old: Record, new: Record) -> Iterator[str]:
    """Yield a line per field that differs."""
    for field in FIELDS:
        if old[field] != new[field]:
            yield f"{id}: {field}: {old[field] or 'none'} -> {new[field] or 'none'}"


def read(path: str) -> list[Record]:
    """Return the records in a file. Raises ValueError if it has none."""
    try:
        records = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
    if not isinstance(records, list) or not all(is_record(record) for record in records):
        raise ValueError(f"{path}: no records of `python -m paper_checks --json`")
    return records


def is_record(value: object) -> bool:
    return isinstance(value, Mapping) and all(name in value for name in ("id", *FIELDS))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the changes; return 0, or 2 for a file that is not a ledger."""
    parser = argparse.ArgumentParser("python -m paper_checks.changes", description=__doc__)
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")
    options = parser.parse_args(arguments)
    try:
        found = list(changes(read(options.old), read(options.new)))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(found) or "no verdict differs")
    return 0


if __name__ == "__main__":
    sys.exit(run_command("paper_checks.changes", main))
