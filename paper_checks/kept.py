"""Keep records in a file, one per line, each with a hash of the code that made it."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from fwlab.experiments import source_files
from fwlab.files import append_entry, entries
from paper_checks.ledger import CLAIMS
from paper_checks.records import Record
from paper_checks.verdicts import Verdict

JUDGE = "paper_checks.verdicts"
# part of the judge, too, but imported only by the first search
SEARCH = Path(__file__).with_name("search.py")


def code_hash(module: str) -> str:
    """Return a hash of the current sources of the judge and of everything that a module imports."""
    hasher = hashlib.sha256()
    for file in sorted({*source_files(JUDGE), *source_files(module), SEARCH}):
        hasher.update(file.read_bytes() if file.exists() else b"")
    return hasher.hexdigest()


def usable(path: Path | None, seed: int, deep: bool, codes: Mapping[str, str]) -> dict[str, Record]:
    """Return {id: record} of the claims that a run with this seed, depth and code can skip.

    Untestable claims are tried again, because the missing files may exist by now, and so are claims
    from a table, which may have changed. `codes` is {id: hash of the code of its claim}.
    """
    found = {}
    for kept in stored(path):
        code, id = kept.pop("code", None), kept["id"]
        same_run = (kept["seed"], kept["deep"], code) == (seed, deep, codes.get(id))
        if same_run and kept["verdict"] != Verdict.UNTESTABLE and not CLAIMS[id].from_table:
            found[id] = kept
    return found


def keep_record(path: Path, record: Record, code: str) -> None:
    """Add a record to a file, with a hash of the code that made it."""
    append_entry(path, {**record, "code": code})


def stored(path: Path | None) -> list[Record]:
    """Return the records of a file; lines that a killed run or a disk damaged are left out."""
    found = [] if path is None else entries(path)
    return [record for record in found if {"id", "seed", "deep", "verdict"} <= record.keys()]
