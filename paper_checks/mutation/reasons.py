"""Read reasons.toml, which says why changes survive, by the name of the change."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from paper_checks.mutation.judging import MutantResult
from paper_checks.mutation.mutants import ROOT, mutants

REASONS = Path(__file__).with_name("reasons.toml")


def reasons(path: Path = REASONS) -> dict[str, str]:
    """Return {name of a change: why it survives}. Raises ValueError for a name given twice."""
    found: dict[str, str] = {}
    for entry in tomllib.loads(path.read_text("utf-8")).get("survivor", []):
        if entry["change"] in found:
            raise ValueError(f"{path.name} has two reasons for {entry['change']}")
        found[entry["change"]] = entry["reason"]
    return found


def without_code(known: Iterable[str]) -> list[str]:
    """Return the names that match no change of the present code."""
    names = list(known)
    files = {name.partition(" ")[0] for name in names}
    keys = {m.key for file in files if (ROOT / file).is_file() for m in mutants(file)}
    return [name for name in names if name not in keys]


def stale(known: Mapping[str, str], found: Iterable[MutantResult]) -> list[str]:
    """Return a line for each reason whose change does not exist or is caught by a row."""
    gone = [f"no such change: {name}" for name in without_code(known)]
    caught = [f"caught by {r.caught_by}: {r.key}" for r in found if r.caught_by and r.key in known]
    return gone + caught
