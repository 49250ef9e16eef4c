"""Readings of a paper: where each comes from, and its distance from the paper.

A text can leave a choice open, and the authors' program can differ from the text. A cell is a
printed number, a point of a curve or a statement. Its distance from the paper is computed from
stored values; for a statement it is 0 if the statement holds and 1 if not.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# repository, commit, file: "owner/name 0123abc folder/file.py lines 7, 9"
FILE_OF_A_PROGRAM = re.compile(r"[\w.-]+/[\w.-]+ [0-9a-f]{7,40} [\w./-]+\.\w+.*")


@dataclass(frozen=True)
class Program:
    """Name a public program of the authors that differs from the paper's text.

    Parameters
    ----------
    file
        Repository, commit and file: "owner/name 0123abc folder/file.py lines 7, 9".
    text
        Place in the paper from which it differs, and the quantity: "K19 (24), gamma".
    """

    file: str
    text: str

    def __post_init__(self) -> None:
        if not FILE_OF_A_PROGRAM.fullmatch(self.file):
            raise ValueError(
                f"file must name repository, commit and file of a program; got {self.file!r}."
            )
        if not self.text:
            raise ValueError("text must be the place in the paper that says otherwise; got ''.")


@dataclass(frozen=True)
class Reading:
    """One way to read a paper.

    Parameters
    ----------
    name
        The reading, as shown in a table: "C = 1e-3, rows of length 1".
    settings
        The settings with which the script computes it.
    source
        Place in the paper whose text allows it, "" if none does: "K19 section 7.1".
    program
        The program that works like this, None if none does. A reading with neither is a guess of
        ours.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    program: Program | None = None

    def __post_init__(self) -> None:
        if self.source and self.program:
            raise ValueError(
                f"{self.name}: the text must either allow a reading or say otherwise than the "
                f"program; got both {self.source!r} and {self.program.text!r}."
            )

    @property
    def origin(self) -> str:
        """Return where the reading comes from, for a table."""
        if self.source:
            return f"the text: {self.source}"
        return f"the program: {self.program.file}" if self.program else "a guess of ours"

    @property
    def rank(self) -> int:
        """Return 0 for a reading of the text, 1 for one of a program, 2 for a guess."""
        return 0 if self.source else 1 if self.program else 2


@dataclass(frozen=True)
class Tried:
    """A reading with the distances of its cells from the paper, by name.

    choose: the cells by which one of several readings is chosen; confirm: all others. A single
    reading needs no choice, so its cells may be in either.
    """

    reading: Reading
    choose: Mapping[str, float]
    confirm: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if shared := self.choose.keys() & self.confirm.keys():
            raise ValueError(
                f"{self.reading.name}: a cell must either choose or confirm; {sorted(shared)} do "
                "both."
            )
        if wrong := {name: d for name, d in self.cells.items() if not d >= 0}:
            raise ValueError(f"{self.reading.name}: a distance must be at least 0; got {wrong}.")

    @property
    def cells(self) -> dict[str, float]:
        """Return the distances of all cells."""
        return {**self.choose, **self.confirm}


def truth_distance(holds: bool) -> float:
    """Return the distance of a statement: 0 if it holds, else 1."""
    return 0.0 if holds else 1.0


def within(cells: Mapping[str, float], tolerance: float) -> int:
    """Return the number of cells that lie within the tolerance."""
    return sum(d <= tolerance for d in cells.values())


def told_failures(tried: Sequence[Tried], tolerance: float) -> str:
    """Return the names of the cells beyond the tolerance, for each reading that has any."""
    told = []
    for one in tried:
        far = [name for name, d in one.cells.items() if d > tolerance]
        under = f"under {one.reading.name!r} " if len(tried) > 1 else ""
        if far:
            told.append(f"{under}not so: {', '.join(far)}")
    return "; ".join(told)


def distance(cells: Mapping[str, float]) -> float:
    """Return the least distance within which nine of ten cells lie, but at least one cell."""
    return sorted(cells.values())[math.ceil(9 * len(cells) / 10) - 1]
