"""Read the tables that `python -m figures` has made, for statements about published tables.

Each is read from its CSV, where the columns "X" and "X (paper)" hold our number and the printed
one. The folder is the --out of that command: `--figures` here, else the environment variable
FWLAB_FIGURES, else results/figures. The full size is preferred to the standard size. The quick
size, whose numbers mean nothing, is never read.
"""

import csv
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paper_checks.ledger import Untestable

VARIABLE = "FWLAB_FIGURES"
DEFAULT = "results/figures"
SIZES = ("full", "standard")
PAPER = " (paper)"


@dataclass(frozen=True)
class Line:
    """A line of a stored table."""

    table: str
    entries: Mapping[str, str | None]

    def __getitem__(self, column: str) -> str:
        """Return the entry of a column. Raises Untestable if there is none."""
        entry = self.entries.get(column)
        if entry is None:
            raise Untestable(f"the stored table {self.table} has a line without {column!r}")
        return entry


@dataclass(frozen=True)
class StoredTable:
    """The lines of a table's CSV, at least one, and the size of the study that made it."""

    name: str
    size: str
    lines: tuple[Line, ...]

    def matching(self, **entries: str) -> list[Line]:
        """Return the lines with these entries; a blank in a column's name is written as _.

        Raises Untestable if there is none.
        """
        wanted = {column.replace("_", " "): entry for column, entry in entries.items()}
        found = [x for x in self.lines if all(x[column] == wanted[column] for column in wanted)]
        return self._some(found, ", ".join(entries.values()))

    def line(self, **entries: str) -> Line:
        """Return the first line with these entries."""
        return self.matching(**entries)[0]

    def beginning(self, column: str, text: str) -> list[Line]:
        """Return lines whose entry begins with the text. Raises Untestable if there is none."""
        return self._some([x for x in self.lines if x[column].startswith(text)], f"{text} ..")

    def _some(self, lines: list[Line], wanted: str) -> list[Line]:
        if not lines:
            raise Untestable(f"the stored table {self.name} has no line {wanted}")
        return lines

    def kind(self, *entries: str) -> str:
        """Return the kind of a case from these entries.

        It says the size, and whether a fit met its cap, which the table marks by an asterisk.
        """
        met = " that met its cap" if any(entry.endswith("*") for entry in entries) else ""
        return f"{self.size} size{met}"


def stored_table(name: str) -> StoredTable:
    """Return a table by the name of its script in figures/.

    Raises Untestable if it is missing or has no line.
    """
    folder = Path(os.environ.get(VARIABLE) or DEFAULT)
    for size in SIZES:
        path = folder / size / f"{name}.csv"
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as file:
                lines = tuple(Line(name, entries) for entries in csv.DictReader(file))
            if not lines:
                raise Untestable(f"the stored table {name} has no lines")
            return StoredTable(name, size, lines)
    raise Untestable(
        f"its table is not in the folder {folder}: `python -m figures {name} --out {folder}` "
        "makes it"
    )


def number(entry: str) -> float:
    """Return a number of a table, without its mark. Raises Untestable where the table has none."""
    try:
        return float(entry.removesuffix("*"))
    except ValueError:
        raise Untestable(f"the stored table has no number where it says {entry!r}") from None
