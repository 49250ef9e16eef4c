"""The ledger's records, as `python -m paper_checks --json` prints them, and what links them."""

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from fwlab.docs.papers import PAPERS

Record = dict[str, Any]
LEDGER = Path(__file__).parents[2] / "paper_checks"
STORED = LEDGER / "ledger.json"


class Records:
    """The ledger's records by id, by paper and by function of fwlab."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.by_id = {record["id"]: record for record in records}

    def of_paper(self, paper: str) -> list[Record]:
        """Return the records of one paper."""
        return [record for record in self.by_id.values() if record["paper"] == paper]

    def others(self, record: Record) -> list[Record]:
        """Return the other records that the error in a record refutes."""
        if not record["slip"]:
            return []
        same = [r for r in self.by_id.values() if r["slip"] == record["slip"]]
        return [r for r in same if r["id"] != record["id"]]

    @cached_property
    def by_function(self) -> dict[str, list[Record]]:
        """Return {dotted name of a function of fwlab: the records that exercise it}."""
        found: dict[str, list[Record]] = {}
        for record in self.by_id.values():
            for name in record["library"]:
                found.setdefault(name, []).append(record)
        return dict(sorted(found.items()))

    @cached_property
    def files(self) -> list[str]:
        """Return the paths of the files that hold checks."""
        return sorted({source_file(record) for record in self.by_id.values() if record["source"]})


def read_records(path: Path | None = None) -> Records:
    """Return the records in a file, or the stored ones.

    Raises ValueError if the file does not hold all claims of all papers.
    """
    path = path or STORED
    try:
        records = json.loads(path.read_text("utf-8"))
        # records of an earlier version have no words to show
        papers = {record["paper"] for record in records if record["told"]}
    except (json.JSONDecodeError, TypeError, KeyError) as error:
        raise ValueError(f"{path}: no records of `python -m paper_checks --json`.") from error
    if missing := sorted({*PAPERS} - papers):
        raise ValueError(f"{path}: no records of {', '.join(missing)}; run all papers.")
    return Records(records)


@cache
def meanings(field: str) -> dict[str, str]:
    """Return {value: meaning} of the field "verdict", "severity" or "tier", from the schema."""
    schema = json.loads((LEDGER / "ledger.schema.json").read_text("utf-8"))
    known = schema["items"]["properties"][field]
    return dict(zip(known["enum"], known["enumDescriptions"], strict=True))


def counts(records: Sequence[Record]) -> str:
    """Return how many records have each verdict: "1 holds, 2 fails"."""
    found = Counter(record["verdict"] for record in records)
    return ", ".join(f"{found[name]} {name}" for name in meanings("verdict") if found[name])


def errors(records: Sequence[Record]) -> str:
    """Return how many errors have each severity; an error in several records counts once.

    It has the severity of its gravest record.
    """
    ranks = [name for name in meanings("severity") if name]
    gravest: dict[str, int] = {}
    for record in records:
        if record["severity"]:
            rank = ranks.index(record["severity"])
            gravest[record["slip"]] = min(rank, gravest.get(record["slip"], rank))
    found = Counter(gravest.values())
    parts = [f"{name}: {found[rank]}" for rank, name in enumerate(ranks) if found[rank]]
    return f"{len(gravest)} errors ({', '.join(parts)})"


def source_file(record: Record) -> str:
    """Return the path of the file that holds a record's check."""
    return str(record["source"].rpartition(":")[0])


def source_line(record: Record) -> int:
    """Return the line at which a record's check begins."""
    return int(record["source"].rpartition(":")[2])
