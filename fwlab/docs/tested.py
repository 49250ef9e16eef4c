"""The page on how fwlab is tested, with the numbers of the stored results."""

import re
from pathlib import Path

from fwlab.docs.markdown import write
from fwlab.docs.records import Records

TABLE = Path(__file__).parents[2] / "tests" / "planted" / "TABLE.md"
ROW = re.compile(r"^\| `([\w.]+)` \| (.+?) \| \S+", re.MULTILINE)


def write_page(source: Path, records: Records) -> None:
    """Write testing.md below `source`."""
    found = list(records.by_id.values())
    write(
        source / "testing.md",
        "testing.md",
        n_claims=len(found),
        n_proved=sum(record["tier"] == "proved" for record in found),
        n_small=sum(record["tier"] == "proved at small sizes" for record in found),
        n_library=sum(bool(record["library"]) for record in found),
        caught=sum(record["defects_caught"] for record in found),
        planted=sum(record["defects_planted"] for record in found),
        defects=planted_defects(),
    )


def planted_defects() -> str:
    """Return how many defects `python tests/planted` planted, in words."""
    rows = set(ROW.findall(TABLE.read_text("utf-8")))
    return f"{len(rows)}, in {len({module for module, _ in rows})} modules"
