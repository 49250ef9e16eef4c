"""Split text files into rows of cells, with commas, semicolons or tabs between them.

A cell in double quotes may hold separators, line ends, and quotes that are written twice. A quote
that is not closed would make one cell of all lines after it, and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

SEPARATORS = (",", ";", "\t")
MOST_CHARACTERS = 2**17  # of a row that a quote continues
QUOTED = re.compile(r' *"((?:[^"]++|"")*+)" *')
OPEN = re.compile(r' *"')


def csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and stripped cells of every row that is not blank.

    The separator is the comma, semicolon or tab that is most frequent in the first line. Raises
    ValueError, with one sentence, if the file is not UTF-8 text or a quote in it is wrong.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            separator = _separator(next((line for line in stream if line.strip()), ""))
            stream.seek(0)
            for number, row in _rows(path, stream, separator):
                cells = [cell.strip() for cell in row]
                if len(cells) > 1 or cells[0]:
                    yield number, cells
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


def _separator(line: str) -> str:
    """Return what separates the cells of a line; a comma if there is one cell."""
    return max(SEPARATORS, key=re.sub('"[^"]*"', "", line).count)


def _rows(path: Path, stream: Iterator[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first line, and the cells, of every row."""
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
        width = width or len(cells)
        yield number, cells


def _cells(where: str, row: str, separator: str) -> list[str] | None:
    """Return the cells of a row, or None if it ends within quotes."""
    cells: list[str] = []
    place = 0
    while (quote := row.find('"', place)) >= 0:
        start = row.rfind(separator, place, quote) + 1 or place  # of the cell with the quote
        if start > place:
            cells += row[place : start - 1].split(separator)
        if quoted := QUOTED.match(row, start):
            cell, end = quoted[1].replace('""', '"'), quoted.end()
            if end < len(row) and row[end] != separator:
                raise ValueError(
                    f"{where}, column {len(cells) + 1}: the cell goes on after its closing quote; "
                    "write a quote within quotes twice."
                )
        elif OPEN.match(row, start):
            return None
        else:
            end = row.find(separator, start)
            end = len(row) if end < 0 else end
            cell = row[start:end]
        cells.append(cell)
        if end == len(row):
            return cells
        place = end + 1
    return cells + row[place:].split(separator)


def _is_row(line: str, separator: str, width: int) -> bool:
    """Return whether a line within quotes would be a row of numbers, so that they should be closed.

    If the line closes the quotes, only what stands before counts.
    """
    cells = line.partition('"')[0].split(separator)
    return len(cells) == width and any(map(is_number, cells))
