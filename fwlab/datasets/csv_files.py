"""Read tables in text files: rows of numbers with a label column, and perhaps a header.

A table of another shape is refused in one sentence that names the line and the cell.
"""

from __future__ import annotations

import reprlib
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from fwlab.checks.labels import too_many_classes
from fwlab.datasets.contents import Contents
from fwlab.datasets.csv_rows import csv_rows, is_number
from fwlab.datasets.text_labels import MISSING, label_array

CSV_ENDINGS = (".csv", ".tsv")
LABEL_NAMES = ("y", "label", "class")
LABEL_NAME = f"{', '.join(LABEL_NAMES[:-1])} or {LABEL_NAMES[-1]}"
NAME_IT = f"name it {LABEL_NAME} in a header"


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
    unnamed = first[label_column].lower() not in LABEL_NAMES
    features: list[np.ndarray] = []
    labels: list[str] = []
    for number, row in rows:
        require_width(path, number, row, len(first))
        labels.append(_label(path, number, row, label_column))
        features.append(_floats(path, number, row, label_column, unnamed))
    header = _is_header(f"{str(path)!r}, line {line}", first, label_column, labels)
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
    if not header:
        return Contents({"train": (X, y)})
    return Contents({"train": (X, y)}, without(first, label_column), first[label_column])


def without(cells: list[str], column: int) -> tuple[str, ...]:
    """Return the cells of all columns except one."""
    return (*cells[:column], *cells[column + 1 :])


def require_width(path: Path, line: int, row: list[str], width: int) -> None:
    """Raise ValueError if a row and the first one differ in their numbers of cells."""
    if len(row) != width:
        raise ValueError(
            f"{str(path)!r}, line {line}: {len(row)} cells where the first has {width}."
        )


def counts(cells: Sequence[str]) -> bool:
    """Return whether the cells are 0, 1, 2, .."""
    return all(cell == str(place) for place, cell in enumerate(cells))


def _refuse_label_first(path: Path, first: np.ndarray, last: np.ndarray) -> None:
    """Raise ValueError if the labels seem to be in the first column and not in the last one.

    The first column then holds few whole numbers, and the last one a single number, fractions, or
    too many different numbers.
    """
    if last.dtype.kind not in "iuf" or not np.isfinite(last).all():
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


def _label_column(path: Path, first: list[str]) -> int:
    named = [column for column, cell in enumerate(first) if cell.lower() in LABEL_NAMES]
    if len(named) > 1:
        raise ValueError(
            f"{str(path)!r}: the header must name one label column; it names columns "
            f"{', '.join(str(column + 1) for column in named)}."
        )
    return named[0] if named else len(first) - 1


def _is_header(where: str, first: list[str], label_column: int, others: list[str]) -> bool:
    """Return whether the first row is a header; `others` are the labels of all other rows.

    It is a header if none of its cells is a number, or if a cell names the label column. If only
    the last cell does, and other rows have the same label, the row is no header. Raises ValueError
    if it may be a header of numbers, as pandas writes it, or a sample.
    """
    label, features = first[label_column], without(first, label_column)
    named = label.lower() in LABEL_NAMES
    if not any(map(is_number, first)):
        return named or not MISSING.issuperset(features)
    if named and (label_column < len(first) - 1 or label not in others):
        return True
    if not first[0] and counts(first[1:-1]):
        return True
    classes = set(others)
    # as a header it would leave at least two classes
    if len(classes) > 1 and may_be_header(first, label_column, classes):
        raise ValueError(
            f"{where}: {reprlib.repr(','.join(first))} may be a header or a sample; in both cases, "
            f"write a header that names the label {LABEL_NAME}."
        )
    return False


def may_be_header(first: list[str], label_column: int, others: Collection[str]) -> bool:
    """Return whether a row with numbers may be a header; `others` are the labels of all other rows.

    pandas names columns 0, 1, 2, .., except perhaps the label. The name of a label is a word above
    numbers, or a number above words.
    """
    label, features = first[label_column], without(first, label_column)
    if counts(first):
        return True
    if label in MISSING or not others:
        return False
    if all(is_number(other) != is_number(label) for other in others):
        return True
    return counts(features) and not is_number(label) and label not in others


def _label(path: Path, line: int, row: list[str], label_column: int) -> str:
    label = row[label_column]
    if label in MISSING:
        what = f"{label!r}, which stands for a missing one" if label else "empty"
        raise ValueError(
            f"{str(path)!r}, line {line}: the label is {what}; fill it in, or remove the row."
        )
    return label


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
    if cell in MISSING or cell == "-" or is_number(cell):
        return "fill in missing values, or remove their rows"
    if is_number(cell.replace(",", ".")) or is_number(cell.replace(",", "")):
        return "write numbers with a decimal point and without commas"
    advice = "remove a column of names, and encode categories as numbers"
    if unnamed:
        return f"{advice}, or if column {column + 1} is the label, move it to the end, or {NAME_IT}"
    return advice
