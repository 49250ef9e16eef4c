"""Record which code, command and machine made a ledger."""

from typing import Any

from fwlab.provenance import provenance


def stamp(command: str, seed: int, deep: bool) -> dict[str, Any]:
    """Return the header of a ledger that is made now.

    `commit` ends in "+changes" if the sources differ from it, and is "unknown" outside a checkout.
    """
    made_by = provenance()
    return {
        "version": made_by["fwlab"],
        "commit": made_by["commit"] or "unknown",
        "date": made_by["date"],
        "command": command,
        "seed": seed,
        "deep": deep,
        "python": made_by["python"],
        "processor": made_by["processor"],
    }
