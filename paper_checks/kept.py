"""Keep the records of claims in a folder, as a study keeps its cells."""

from collections.abc import Mapping
from pathlib import Path

from fwlab.experiments.store import Place, load_record, place, record_of, save_record
from paper_checks.ledger import CLAIMS
from paper_checks.records import Record
from paper_checks.verdicts import Verdict, judge


def place_of(id: str, folder: Path, seed: int, deep: bool) -> Place:
    """Return the place of a claim's record; its code is the claim's, the judge included."""
    return place(folder, id, ".json", (CLAIMS[id], judge), (seed, deep))


def code_of(id: str) -> str:
    """Return the identity of a claim, "" if a record cannot depend on it."""
    return place_of(id, Path(), 0, False).code


def kept_records(places: Mapping[str, Place]) -> dict[str, Record]:
    """Return {id: record} of the claims whose places hold one."""
    files = {id: place.file for id, place in places.items()}
    found = {id: load_record(file) for id, file in files.items() if file is not None}
    return {id: record["value"] for id, record in found.items() if record is not None}


def keep_record(file: Path, record: Record) -> None:
    """Write a record, unless a later run with the same code may find something else.

    An untestable claim waits for files that are missing; a table that a claim reads may change.
    """
    if record["verdict"] != Verdict.UNTESTABLE and not CLAIMS[record["id"]].from_table:
        save_record(file, record_of(record, record["seconds"]))
