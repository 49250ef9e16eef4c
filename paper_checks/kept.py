"""Keep records in a file, one per line, each with the identity of the code that made it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from fwlab.files import append_entry, entries
from fwlab.identity import identity
from paper_checks.ledger import CLAIMS
from paper_checks.records import Record
from paper_checks.verdicts import Verdict, judge


def code_of(id: str, tell: Callable[[str], None] | None = None) -> str | None:
    """Return the identity of a claim, the judge included, None if a record cannot depend on it.

    `tell` is called with a line that says why.
    """
    try:
        return identity(CLAIMS[id], judge)
    except Exception as error:
        if tell is not None:
            tell(f"{id} will not be kept: {error}.")
        return None


def usable(
    path: Path | None, seed: int, deep: bool, codes: Mapping[str, str | None]
) -> dict[str, Record]:
    """Return {id: record} of the claims that a run with this seed, depth and code can skip.

    Untestable claims are tried again, because the missing files may exist by now, and so are claims
    from a table, which may have changed. `codes` is {id: what `code_of` returns}.
    """
    found = {}
    for kept in stored(path):
        code, id = kept.pop("code", None), kept["id"]
        same_run = (kept["seed"], kept["deep"], code) == (seed, deep, codes.get(id))
        if (
            code is not None
            and same_run
            and kept["verdict"] != Verdict.UNTESTABLE
            and not CLAIMS[id].from_table
        ):
            found[id] = kept
    return found


def keep_record(path: Path, record: Record, code: str) -> None:
    """Add a record to a file, with the identity of the code that made it."""
    append_entry(path, {**record, "code": code})


def stored(path: Path | None) -> list[Record]:
    """Return the records of a file; lines that a killed run or a disk damaged are left out."""
    found = [] if path is None else entries(path)
    return [record for record in found if {"id", "seed", "deep", "verdict"} <= record.keys()]
