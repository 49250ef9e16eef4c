"""Read tables in text files: rows of cells between commas, semicolons or tabs, with a label column.

A table of another shape is refused in one sentence that names the line and the cell.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fwlab.checks.labels import too_many_classes

CSV_ENDINGS = (".csv", ".tsv")
LABEL_NAMES = ("y", "label", "class")
SEPARATORS = (",", ";", "\t")
MISSING = ("", "?", "-", "na", "n/a", "nan", "null", "none")
NAME_IT = f"name it {', '.join(LABEL_NAMES[:-1])} or {LABEL_NAMES[-1]} in a header"


def read_table(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the features (n, d) and labels (n,) of a file.

    A header may name the label column y, label or class; otherwise the label is the last column.
    Labels are numbers or strings. The separator of the cells is the comma, semicolon or tab that is
    most frequent in the first line.
    """
    rows = csv_rows(path)
    line, first = next(rows, (0, []))
    if not first:
        raise ValueError(f"{str(path)!r} is empty.")
    if len(first) < 2:
        raise ValueError(
            f"{str(path)!r} must hold a label column beside at least one feature, with a comma, a "
            f"semicolon or a tab between them; line {line} is {first[0]!r}."
        )
    label_column = _label_column(path, first)
    unnamed = first[label_column].lower() not in LABEL_NAMES
    features: list[np.ndarray] = []
    labels: list[str] = []
    for number, row in rows:
        if len(row) != len(first):
            raise ValueError(
                f"{str(path)!r}, line {number}: {len(row)} cells where the first has {len(first)}."
            )
        labels.append(_label(path, number, row, label_column))
        features.append(_floats(path, number, row, label_column, unnamed))
    header = _is_header(first, label_column, labels)
    if header:
        if "" in first:
            raise ValueError(
                f"{str(path)!r}: the header has no name for column {first.index('') + 1}; "
                "name it if it is a feature, remove it if it is an index."
            )
    else:
        labels.insert(0, _label(path, line, first, label_column))
        features.insert(0, _floats(path, line, first, label_column, unnamed))
    if not labels:
        raise ValueError(f"{str(path)!r} holds a header and no rows.")
    X, y = np.array(features), label_array(labels)
    if unnamed or not header:
        _refuse_label_first(path, X[:, 0], y)
    return X, y


def _refuse_label_first(path: Path, first: np.ndarray, last: np.ndarray) -> None:
    """Raise ValueError if the labels seem to be in the first column and not in the last one.

    The first column then holds few whole numbers, and the last one a single number, fractions, or
    too many different numbers.
    """
    if last.dtype.kind not in "if" or not np.isfinite(last).all():
        return
    m = len(np.unique(first))
    few = (first == np.rint(first)).all() and 2 <= m <= max(2, len(first) // 2)
    fractions = (last != np.rint(last)).any()
    if few and (fractions or len(np.unique(last)) == 1 or too_many_classes(last)):
        kind = "fractions" if fractions else f"{len(np.unique(last))} different numbers"
        raise ValueError(
            f"{str(path)!r}: the label seems to be in column 1, which holds {m} different whole "
            f"numbers, not in the last one, which holds {kind}; move it to the end, or {NAME_IT}."
        )


def csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and stripped cells of every row that is not blank."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            lines = (line for line in stream if line.strip())
            separator = _separator(next(lines, ""))
            stream.seek(0)
            reader = csv.reader(stream, delimiter=separator)
            for row in reader:
                cells = [cell.strip() for cell in row]
                if len(cells) > 1 or "".join(cells):
                    yield reader.line_num, cells
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(
            f"{str(path)!r} is not a UTF-8 .csv file; save it as UTF-8 ({error})."
        ) from error


def _separator(line: str) -> str:
    """Return what separates the cells of a line; a comma if there is one cell."""
    return max(SEPARATORS, key=re.sub('"[^"]*"', "", line).count)


def _label_column(path: Path, first: list[str]) -> int:
    named = [column for column, cell in enumerate(first) if cell.lower() in LABEL_NAMES]
    if len(named) > 1:
        raise ValueError(
            f"{str(path)!r}: the header must name one label column; it names columns "
            f"{', '.join(str(column + 1) for column in named)}."
        )
    return named[0] if named else len(first) - 1


def _is_header(first: list[str], label_column: int, other_labels: list[str]) -> bool:
    """Return whether the first row is a header.

    It is a header if none of its cells is a number, or if a cell names the label column. If only
    the last cell does, and other rows have the same label, the row is no header.
    """
    if not any(is_number(cell) for cell in first):
        return True
    if first[label_column].lower() not in LABEL_NAMES:
        return False
    return label_column < len(first) - 1 or first[label_column] not in other_labels


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python reads 1_0 as 10, but a data file does not mean that


def _label(path: Path, line: int, row: list[str], label_column: int) -> str:
    if not row[label_column]:
        raise ValueError(f"{str(path)!r}, line {line}: the label is empty.")
    return row[label_column]


def _floats(path: Path, line: int, row: list[str], label_column: int, unnamed: bool) -> np.ndarray:
    columns = [column for column in range(len(row)) if column != label_column]
    return floats_of_row(path, line, row, columns, unnamed)


def floats_of_row(
    path: Path, line: int, row: list[str], columns: list[int], unnamed: bool = False
) -> np.ndarray:
    """Return the cells of these columns as numbers. Raises ValueError for a cell that is no number.

    `unnamed` says that no header names the label, so that one of the columns may be meant as it.
    """
    cells = [row[column] for column in columns]
    try:
        values = np.array(cells, dtype=np.float64)
    except ValueError:
        values = np.array([np.nan])
    if np.isfinite(values).all() and "_" not in "".join(cells):
        return values
    for column in columns:
        cell = row[column]
        if not (is_number(cell) and np.isfinite(float(cell))):
            break
    raise ValueError(
        f"{str(path)!r}, line {line}, column {column + 1}: {cell!r} is not a finite number; "
        f"{_advice(cell, column, unnamed)}."
    )


def _advice(cell: str, column: int, unnamed: bool) -> str:
    """Return what to do about a cell that is no number."""
    if cell.lower() in MISSING or is_number(cell):
        return "fill in missing values, or remove their rows"
    if is_number(cell.replace(",", ".")) or is_number(cell.replace(",", "")):
        return "write numbers with a decimal point and without commas"
    advice = "remove a column of names, and encode categories as numbers"
    if unnamed:
        return f"{advice}, or if column {column + 1} is the label, move it to the end, or {NAME_IT}"
    return advice


def label_array(labels: list[str]) -> np.ndarray:
    """Return the labels as integers or floats if all of them are such numbers, else as strings."""
    strings = np.array(labels)
    if all(is_number(label) for label in labels):
        try:
            return strings.astype(np.int64)
        except (ValueError, OverflowError):
            return strings.astype(np.float64)
    return strings
