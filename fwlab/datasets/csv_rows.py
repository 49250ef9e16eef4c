"""Split text files into rows of cells, with commas, semicolons or tabs between them.

A cell in double quotes may hold separators, line ends, and quotes that are written twice, and keeps
its blanks; other cells lose the blanks around them. A quote that is not closed would make one cell
of all lines after it, and is refused.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterator
from pathlib import Path

COMMA = ","
SEPARATORS = (COMMA, ";", "\t")
MARK = re.compile(r"(?<=\d), ?(?=\d)")  # a comma within a number
COMMENT = "#"  # numpy.savetxt writes it before a header
MOST_CHARACTERS = 2**17  # of a row that a quote continues
BLANKS = {separator: rf"[^\S{separator}]*" for separator in SEPARATORS}
QUOTED = {s: re.compile(rf'{blanks}"((?:[^"]++|"")*+)"{blanks}') for s, blanks in BLANKS.items()}
OPEN = {s: re.compile(rf'{blanks}"') for s, blanks in BLANKS.items()}


def csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of every row that is not blank.

    The separator is the comma, semicolon or tab that is most frequent in the first line. A # before
    a header is left out. Raises ValueError, with one sentence, if the file is not UTF-8 text, if a
    quote in it is wrong, or if it is unclear what its commas mean.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            separator = _separator(path, stream)
            stream.seek(0)
            rows = _rows(path, stream, separator)
            number, cells = next(rows, (0, []))
            if cells:
                yield number, _without_mark(f"{str(path)!r}, line {number}", cells)
            yield from rows
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{str(path)!r} is not a UTF-8 .csv file; save it as UTF-8 ({error})."
        ) from error


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, finite or not."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python reads 1_0 as 10, but a data file does not mean that


def _without_mark(where: str, first: list[str]) -> list[str]:
    """Return the cells of a first row without the # before a header; a column may have the name #.

    Raises ValueError if a row with a # is no header.
    """
    if not first[0].startswith(COMMENT) or first[0] == COMMENT:
        return first
    names = [first[0].lstrip(f"{COMMENT} "), *first[1:]]
    if len(names) < 2 or any(map(is_number, names)):
        raise ValueError(
            f"{where} begins with {COMMENT}: {reprlib.repr(','.join(first))}; remove the line if "
            f"it is a comment, or the {COMMENT} if it is none."
        )
    return names


def _separator(path: Path, stream: Iterator[str]) -> str:
    """Return what separates cells, a comma if there is one cell.

    It is the most frequent separator of the first line, or the first of several. Raises ValueError
    if commas may separate cells or be marks in numbers.
    """
    lines = enumerate(stream, start=1)
    number, line = next(((number, line) for number, line in lines if line.strip()), (0, ""))
    line = re.sub('"[^"]*"', '""', line.strip(" \r\n"))
    found = sorted(filter(line.count, SEPARATORS), key=line.index)
    separator = max(found, key=line.count, default=COMMA)
    if separator == COMMA and any(_has_marks(line.strip(), rival) for rival in SEPARATORS[1:]):
        raise ValueError(
            f"{str(path)!r}, line {number}: {reprlib.repr(line)} may have commas between its "
            "cells or within its numbers; write numbers with a decimal point and no commas, and "
            "text with commas in quotes."
        )
    return separator


def _has_marks(line: str, separator: str) -> bool:
    """Return whether all cells but the last are numbers if commas in them are marks."""
    cells = line.split(separator)[:-1]
    return bool(cells) and all(is_number(MARK.sub("", cell)) for cell in cells)


def _rows(path: Path, stream: Iterator[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first line, and the cells, of every row that is not blank."""
    width = 0
    lines = enumerate(stream, start=1)
    for number, line in lines:
        where, row = f"{str(path)!r}, line {number}", line
        while (cells := _cells(where, row.rstrip("\r\n"), separator)) is None:
            _, line = next(lines, (0, ""))
            row += line
            if not line or _is_row(line, separator, width) or len(row) > MOST_CHARACTERS:
                raise ValueError(f"{where}: a quote opens and does not close; close or remove it.")
        if "\0" in row:
            raise ValueError(f"{where} holds a zero byte; save the file as UTF-8 text.")
        if len(cells) > 1 or row.strip():
            width = width or len(cells)
            yield number, cells


def _cells(where: str, row: str, separator: str) -> list[str] | None:
    """Return the cells of a row, or None if it ends within quotes."""
    cells: list[str] = []
    place = 0
    while (quote := row.find('"', place)) >= 0:
        start = row.rfind(separator, place, quote) + 1 or place  # of the cell with the quote
        if start > place:
            cells += _stripped(row[place : start - 1], separator)
        if quoted := QUOTED[separator].match(row, start):
            cell, end = quoted[1].replace('""', '"'), quoted.end()
            if end < len(row) and row[end] != separator:
                raise ValueError(
                    f"{where}, column {len(cells) + 1}: the cell goes on after its closing quote; "
                    "write a quote within quotes twice."
                )
        elif OPEN[separator].match(row, start):
            return None
        else:
            end = row.find(separator, start)
            end = len(row) if end < 0 else end
            cell = row[start:end].strip()
        cells.append(cell)
        if end == len(row):
            return cells
        place = end + 1
    return cells + _stripped(row[place:], separator)


def _stripped(row: str, separator: str) -> list[str]:
    return [cell.strip() for cell in row.split(separator)]


def _is_row(line: str, separator: str, width: int) -> bool:
    """Return whether a line within quotes would be a row of numbers, so that they should be closed.

    If the line closes the quotes, only what stands before counts.
    """
    cells = line.partition('"')[0].split(separator)
    return len(cells) == width and any(map(is_number, cells))
