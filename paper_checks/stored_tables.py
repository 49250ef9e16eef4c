"""Read the tables and figures made by `python -m figures`, for statements about published ones.

A table is read from its CSV, where column "X" holds our number and "X (paper)" the printed one. A
figure is read from its JSON, which holds the values of its cells. The folder is `--figures` (the
--out of that command), else the environment variable FWLAB_FIGURES, else figures/results, which is
part of the repository. The full size is preferred to the standard size. The quick size, whose
numbers mean nothing, is never read.
"""

import csv
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figures.kit.findings import FigureFinding, nothing_to_compute
from figures.kit.script import script
from paper_checks.ledger import Untestable

VARIABLE = "FWLAB_FIGURES"
ROOT = Path(__file__).parents[1]
DEFAULT = ROOT / "figures" / "results"
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
    """The lines of a table's CSV (at least one), and the size of the study that made it."""

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
        """Return the lines whose entry begins with the text. Raises Untestable if there is none."""
        return self._some([x for x in self.lines if x[column].startswith(text)], f"{text} ..")

    def _some(self, lines: list[Line], wanted: str) -> list[Line]:
        if not lines:
            raise Untestable(f"the stored table {self.name} has no line {wanted}")
        return lines

    def kind(self, *entries: str) -> str:
        """Return the kind of a case built from these entries.

        It names the size, and says whether a fit reached its iteration limit, which the table marks
        with an asterisk.
        """
        met = " that met its cap" if any(entry.endswith("*") for entry in entries) else ""
        return f"{self.size} size{met}"


@dataclass(frozen=True)
class StoredFigure:
    """The values of a figure's cells, the finding based on them, and the size of the study."""

    size: str
    values: dict[str, Any]
    finding: FigureFinding

    @property
    def kind(self) -> str:
        """The kind of a case, which names the reading and the size."""
        return f"{self.finding.reading}, {self.size} size"


def stored_table(name: str) -> StoredTable:
    """Return a table by the name of its script in figures/.

    Raises Untestable if it is missing or has no line.
    """
    size, path = stored_file(f"{name}.csv")
    with path.open(encoding="utf-8", newline="") as file:
        lines = tuple(Line(name, entries) for entries in csv.DictReader(file))
    if not lines:
        raise Untestable(f"the stored table {name} has no lines")
    return StoredTable(name, size, lines)


def stored_figure(name: str) -> StoredFigure:
    """Return a figure by the name of its script in figures/.

    Raises Untestable if it is missing or has no finding.
    """
    size, path = stored_file(f"{name}.json")
    values, finding = json.loads(path.read_text("utf-8"))["values"], script(name).finding
    if finding is None or not values:
        raise Untestable(f"the stored figure {name} has no finding")
    return StoredFigure(size, values, finding(values, size))


def stored_finding(name: str) -> tuple[str, FigureFinding]:
    """Return the size of a stored figure, and its finding from the stored values.

    Raises Untestable if it is missing.
    """
    size, path = stored_file(f"{name}.json")
    values, finding = json.loads(path.read_text("utf-8"))["values"], script(name).finding
    if finding is None or not values:
        return size, nothing_to_compute()
    return size, finding(values, size)


def stored_file(file: str) -> tuple[str, Path]:
    """Return the largest size for which figures/ has made this file, and the file's path.

    Raises Untestable if there is none.
    """
    folder, name = Path(os.environ.get(VARIABLE) or DEFAULT), file.partition(".")[0]
    for size in SIZES:
        if (path := folder / size / file).is_file():
            return size, path
    if folder == DEFAULT:
        makes = f"`python -m figures {name}` and `python -m figures keep` put it there"
    else:
        makes = f"`python -m figures {name} --out {folder}` makes it"
    # records in the repository must not name folders of the machine that made them
    shown = folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder
    raise Untestable(f"{file} is not in the folder {shown}: {makes}")


def number(entry: str) -> float:
    """Return a number of a table, without its asterisk.

    Raises Untestable if the entry is not a number.
    """
    try:
        return float(entry.removesuffix("*"))
    except ValueError:
        raise Untestable(f"the stored table has no number where it says {entry!r}") from None
