"""Store the records of claims in a folder, as a study stores its cells."""

from collections.abc import Mapping
from pathlib import Path

from fwlab.experiments.store import Place, load_record, place, record_of, save_record
from paper_checks.ledger import CLAIMS
from paper_checks.records import Record
from paper_checks.verdicts import Verdict, judge


def place_of(id: str, folder: Path, seed: int, deep: bool) -> Place:
    """Return the storage place of a claim's record.

    Its key includes the code of claim and judge.
    """
    return place(folder, id, ".json", (CLAIMS[id], judge), (seed, deep))


def code_of(id: str) -> str:
    """Return the identity of a claim's code, or "" if the code cannot be identified."""
    return place_of(id, Path(), 0, False).code


def kept_records(places: Mapping[str, Place]) -> dict[str, Record]:
    """Return {id: record} for the claims that have a stored record."""
    files = {id: place.file for id, place in places.items()}
    found = {id: load_record(file) for id, file in files.items() if file is not None}
    return {id: record["value"] for id, record in found.items() if record is not None}


def keep_record(file: Path, record: Record) -> None:
    """Write a record, unless a later run of the same code may give a different result.

    Records of untestable claims are not written, as missing files may appear, nor are records of
    claims that read a stored table, as the table may change.
    """
    if record["verdict"] != Verdict.UNTESTABLE and not CLAIMS[record["id"]].from_table:
        save_record(file, record_of(record, record["seconds"]))
