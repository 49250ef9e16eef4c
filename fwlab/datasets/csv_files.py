"""Read tables in text files: rows of numbers with a label column, and perhaps a header.

A table of another shape is refused in one sentence that names the line and the cell.
"""

from __future__ import annotations

import reprlib
from pathlib import Path

import numpy as np

from fwlab.datasets.contents import Contents
from fwlab.datasets.csv_header import NAME_IT, WRITE_HEADER, is_header, names_label, without
from fwlab.datasets.csv_rows import SEPARATORS, csv_rows, is_number
from fwlab.datasets.label_place import refuse_label_first
from fwlab.datasets.text_labels import is_missing, label_array

CSV_ENDINGS = (".csv", ".tsv")


def read_table(path: Path) -> Contents:
    """Read a file.

    A header may name the label column y, label or class; otherwise the label is the last column.
    Labels are numbers or strings. Raises ValueError, with one sentence, for any other file.
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
    unnamed = not names_label(first[label_column])
    features: list[np.ndarray] = []
    labels: list[str] = []
    for number, row in rows:
        require_width(path, number, row, len(first))
        labels.append(_label(path, number, row, label_column))
        features.append(_floats(path, number, row, label_column, unnamed))
    X = np.array(features).reshape(len(labels), len(first) - 1)
    header = is_header(first, label_column, X, labels, fewest_classes=2)
    if header is None:
        raise unclear_header(path, line, first, f"in both cases, {WRITE_HEADER}")
    if header:
        require_names(path, first)
    else:
        labels.insert(0, _label(path, line, first, label_column))
        X = np.vstack([_floats(path, line, first, label_column, unnamed), X])
    if not labels:
        raise ValueError(f"{str(path)!r} holds a header and no rows.")
    y = label_array(labels)
    if y.dtype.kind == "U":
        _refuse_commas(path, labels)
    if unnamed or not header:
        refuse_label_first(path, X[:, 0], y)
    if not header:
        return Contents({"train": (X, y)})
    return Contents({"train": (X, y)}, without(first, label_column), first[label_column])


def unclear_header(path: Path, line: int, first: list[str], advice: str) -> ValueError:
    """Return the error for a first row that may be a header or a sample."""
    row = reprlib.repr(",".join(first))
    return ValueError(f"{str(path)!r}, line {line}: {row} may be a header or a sample; {advice}.")


def require_names(path: Path, header: list[str]) -> None:
    """Raise ValueError if a column has no name, as the index of pandas."""
    if "" in header:
        raise ValueError(
            f"{str(path)!r}: the header has no name for column {header.index('') + 1}; "
            "name it if it is a feature, remove it if it is an index."
        )


def require_width(path: Path, line: int, row: list[str], width: int) -> None:
    """Raise ValueError if a row and the first one differ in their numbers of cells."""
    if len(row) != width:
        raise ValueError(
            f"{str(path)!r}, line {line}: {len(row)} cells where the first has {width}."
        )


def _label_column(path: Path, first: list[str]) -> int:
    named = [column for column, cell in enumerate(first) if names_label(cell)]
    if len(named) > 1:
        raise ValueError(
            f"{str(path)!r}: the header must name one label column; it names columns "
            f"{', '.join(str(column + 1) for column in named)}."
        )
    return named[0] if named else len(first) - 1


def _label(path: Path, line: int, row: list[str], label_column: int) -> str:
    label = row[label_column]
    if is_missing(label):
        what = f"{label!r}, which stands for a missing one" if label else "empty"
        raise ValueError(
            f"{str(path)!r}, line {line}: the label is {what}; fill it in, or remove the row."
        )
    return label


def _refuse_commas(path: Path, labels: list[str]) -> None:
    """Raise ValueError if all labels are numbers, and some have a comma."""
    marked = next((label for label in labels if "," in label), None)
    if marked and all(is_number(label.replace(",", ".")) for label in labels):
        raise ValueError(
            f"{str(path)!r}: the labels are numbers with a comma, such as {marked!r}; "
            "write numbers with a decimal point and without commas."
        )


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
    if is_missing(cell) or cell == "-" or is_number(cell):
        return "fill in missing values, or remove their rows"
    if is_number(cell.replace(",", ".")) or is_number(cell.replace(",", "")):
        return "write numbers with a decimal point and without commas"
    if any(separator in cell for separator in SEPARATORS):
        return "put the same separator between all cells, and text that holds one in quotes"
    advice = "remove a column of names, and encode categories as numbers"
    if unnamed:
        return f"{advice}, or if column {column + 1} is the label, move it to the end, or {NAME_IT}"
    return advice
