"""Tables of our numbers, the paper's and their differences, as CSV, Markdown and LaTeX."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Compared:
    """Our number and the printed one, each None if there is none.

    The mark is "*" for a fit that reached its iteration limit, explained in the caption; spec
    formats both numbers.
    """

    ours: float | None
    printed: float | None = None
    spec: str = ".3f"
    mark: str = ""

    @property
    def difference(self) -> float | None:
        if self.ours is None or self.printed is None:
            return None
        return self.ours - self.printed

    def parts(self) -> tuple[str, str, str]:
        """Return our number, the printed one and the difference as text, "" for none."""
        ours = "" if self.ours is None else format(self.ours, self.spec) + self.mark
        printed = "" if self.printed is None else format(self.printed, self.spec)
        difference = "" if self.difference is None else format(self.difference, "+" + self.spec)
        return ours, printed, difference

    def __str__(self) -> str:
        ours, printed, difference = self.parts()
        if not printed:
            return ours or "-"
        return f"{ours} ({printed}, {difference})" if ours else f"- ({printed})"


Entry = str | Compared


@dataclass(frozen=True)
class Table:
    """A header and rows of strings and Compared.

    A compared column has the heading "ours (paper, difference)" in Markdown and LaTeX, and becomes
    three columns in CSV.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Entry]]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"a row must have {len(self.header)} entries; got {len(row)}.")

    def csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        compared = [self._compared(j) for j in range(len(self.header))]
        names = [
            [n, f"{n} (paper)", f"{n} (difference)"] if three else [n]
            for n, three in zip(self.header, compared, strict=True)
        ]
        writer.writerow([name for group in names for name in group])
        for row in self.rows:
            cells = [_csv_cells(e, three) for e, three in zip(row, compared, strict=True)]
            writer.writerow([cell for group in cells for cell in group])
        return text.getvalue()

    def markdown(self) -> str:
        lines = [list(map(str, row)) for row in self.rows]
        rule = ["---:" if self._compared(j) else "---" for j in range(len(self.header))]
        return "".join(f"| {' | '.join(line)} |\n" for line in [self.header, rule, *lines])

    def latex(self) -> str:
        columns = "".join("r" if self._compared(j) else "l" for j in range(len(self.header)))
        lines = [[_escaped(str(entry)) for entry in row] for row in [self.header, *self.rows]]
        texts = [" & ".join(line) + r" \\" for line in lines]
        parts = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", texts[0], r"\hline", *texts[1:]]
        return "\n".join([*parts, r"\hline", r"\end{tabular}", ""])

    def _compared(self, column: int) -> bool:
        return any(isinstance(row[column], Compared) for row in self.rows)


def agreement(entries: Sequence[Compared], tolerance: float, unit: str) -> str:
    """Return a sentence: how many of our numbers lie within `tolerance` of the printed ones."""
    differences = [e.difference for e in entries if e.difference is not None]
    if not differences:
        return "No printed number can be compared with one of ours."
    near = sum(abs(d) <= tolerance for d in differences)
    mean = sum(differences) / len(differences)
    worst = max(differences, key=abs)
    return (
        f"{near} of {len(differences)} numbers lie within {tolerance:g} {unit} of the printed "
        f"ones; the mean difference is {mean:+.3f}, the largest {worst:+.3f}."
    )


def _csv_cells(entry: Entry, three: bool) -> list[str]:
    if isinstance(entry, Compared):
        return list(entry.parts())
    return [entry, "", ""] if three else [entry]


def _escaped(text: str) -> str:
    for character in "&%_#":
        text = text.replace(character, "\\" + character)
    return text
