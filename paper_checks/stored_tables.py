"""Tables that `python -m figures` has made, for statements about published tables.

Each is read from its CSV, where the columns "X" and "X (paper)" hold our number and the printed
one. The folder is the --out of that command: `--figures` here, else the environment variable
FWLAB_FIGURES, else results/figures. The full size goes before the standard one; the quick one,
whose numbers mean nothing, is never read.
"""

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from paper_checks.ledger import Untestable

VARIABLE = "FWLAB_FIGURES"
DEFAULT = "results/figures"
SIZES = ("full", "standard")
PAPER = " (paper)"


@dataclass(frozen=True)
class StoredTable:
    """The lines of a table's CSV, and the size of the study that made it."""

    name: str
    size: str
    lines: tuple[dict[str, str], ...]

    def matching(self, **entries: str) -> Iterator[dict[str, str]]:
        """Lines with these entries; a blank in a column's name is written as _."""
        wanted = {column.replace("_", " "): entry for column, entry in entries.items()}
        for line in self.lines:
            if all(line.get(column) == entry for column, entry in wanted.items()):
                yield line

    def line(self, **entries: str) -> dict[str, str]:
        """The first such line. Raises Untestable if there is none."""
        for line in self.matching(**entries):
            return line
        raise Untestable(f"the stored table {self.name} has no line {', '.join(entries.values())}")

    def kind(self, *entries: str) -> str:
        """The kind of a case from these entries: the size, and whether a fit met its cap, which
        the table marks by *."""
        met = " that met its cap" if any(entry.endswith("*") for entry in entries) else ""
        return f"{self.size} size{met}"


def stored_table(name: str) -> StoredTable:
    """A table by the name of its script in figures/. Raises Untestable if it is not there."""
    folder = Path(os.environ.get(VARIABLE) or DEFAULT)
    for size in SIZES:
        path = folder / size / f"{name}.csv"
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as file:
                return StoredTable(name, size, tuple(csv.DictReader(file)))
    raise Untestable(
        f"its table is not in the folder {folder}: `python -m figures {name} --out {folder}` "
        "makes it"
    )


def number(entry: str) -> float:
    """A number of a table, without its mark. Raises Untestable where the table has none."""
    try:
        return float(entry.removesuffix("*"))
    except ValueError:
        raise Untestable(f"the stored table has no number where it says {entry!r}") from None
