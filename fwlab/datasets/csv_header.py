"""Decide whether the first row of a table is a header or a sample.

A row of names is a header. A row of numbers may be one, too: pandas counts columns 0, 1, 2, .., and
people name them 1, 2, 3, or by years and wavelengths. Such a row is refused where it may be either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from fwlab.arrays import Floats
from fwlab.datasets.csv_rows import is_number
from fwlab.datasets.text_labels import is_missing

LABEL_NAMES = ("y", "label", "class")
LABEL_NAME = f"{', '.join(LABEL_NAMES[:-1])} or {LABEL_NAMES[-1]}"
# names that people give it
MAY_NAME = (
    "target",
    "labels",
    "classes",
    "category",
    "outcome",
    "output",
    "species",
    "kind",
    "type",
)
MARKS = " %/!*"  # of comments, before a header
NAME_IT = f"name it {LABEL_NAME} in a header"
WRITE_HEADER = f"write a header of names that are no numbers, with {LABEL_NAME} above the label"
LONG = 6  # numbers, which grow by chance in one row of 720
ROUNDING = 1e-6  # of equal steps


def names_label(cell: str) -> bool:
    """Return whether a cell of a header names the column of labels."""
    return cell.lstrip(MARKS).strip().lower() in LABEL_NAMES


def without(cells: Sequence[str], column: int | None) -> tuple[str, ...]:
    """Return the cells of all columns except one, of all columns for None."""
    return tuple(cell for place, cell in enumerate(cells) if place != column)


def is_header(
    first: Sequence[str],
    label_column: int | None,
    X: Floats,
    labels: Sequence[str],
    classes: Iterable[str] = (),
    fewest_classes: int = 1,
) -> bool | None:
    """Return whether the first row of a table is a header, None for one that may be a sample.

    Parameters
    ----------
    first : sequence of str
        The cells of the row.
    label_column : int or None
        The column of the labels, if the table has them.
    X, labels : array (n, d), sequence of str (n,)
        The features and the labels of all other rows; labels are empty without a column of them.
    classes : iterable of str
        Labels that are known to be none of a header.
    fewest_classes : int
        How many classes the other rows have at least if the row is a header.
    """
    names = without(first, label_column)
    label = None if label_column is None else first[label_column]
    named = label is not None and names_label(label)
    if not any(map(is_number, first)):
        return named or not all(map(is_missing, names))
    if not first[0] and (_counts(first[1:-1]) or np.array_equal(X[:, 0], np.arange(len(X)))):
        return True  # above an index, which has no name
    others = {other for other in (*labels, *classes) if not is_missing(other)}
    if label is not None and named:
        last = label_column == len(first) - 1
        if last and label in others:
            return False
        return True if _is_named_header(names, label, others, last) else None
    if len(others) < fewest_classes or not _may_be_header(first, label_column, X, labels, others):
        return False
    return None


def _is_named_header(names: Sequence[str], label: str, others: set[str], last: bool) -> bool:
    """Return whether a row must be a header, whose label is y, label or class.

    It may be a sample of this class, too, unless the others are numbers or a feature is a name.
    """
    if all(map(is_number, others)) or not all(
        is_number(name) or is_missing(name) for name in names
    ):
        return True
    alike = last and label.lower() in {other.lower() for other in others}
    return _counts(names) and not alike


def _may_be_header(
    first: Sequence[str],
    label_column: int | None,
    X: Floats,
    labels: Sequence[str],
    others: set[str],
) -> bool:
    """Return whether a row with numbers may be a header.

    It is 0, 1, 2, .., or a sequence that the next row is not, or its label is a word above numbers,
    a number above words, or a usual name that is no other label.
    """
    if _counts(first):
        return True
    names = without(first, label_column)
    if label_column is None:
        return _is_sequence(names, X, new=False)
    label = first[label_column]
    if is_missing(label) or not others:
        return False
    below = [is_number(other) for other in labels if not is_missing(other)]
    if below and all(number != is_number(label) for number in below):
        return True
    new = label not in others
    if is_number(label):
        column = [float(other) if is_number(other) else 0.0 for other in labels]
        return _is_sequence([*names, label], np.column_stack([X, column]), new)
    return new and (label.lower() in MAY_NAME or _counts(names) or _is_sequence(names, X, new))


def _is_sequence(cells: Sequence[str], below: Floats, new: bool) -> bool:
    """Return whether the cells are a sequence of numbers that may be names of the columns below.

    It grows or falls in equal steps, or is long, and the first row below, (n, cells), is no such
    sequence; or it holds whole numbers, and a column below it none. A short one counts if the label
    is `new`, or if it is 1, 2, 3.
    """
    if not len(below) or len(cells) < 2 or not all(map(is_number, cells)):
        return False
    numbers = np.array(cells, dtype=np.float64)
    if new and len(numbers) >= LONG and _is_sorted(numbers) and not _is_sorted(below[0]):
        return True
    if not _has_equal_steps(numbers):
        return False
    fractions = (np.rint(below) != below).all(axis=0)
    if (np.rint(numbers) == numbers).all() and fractions.any():
        return new or len(numbers) > 2
    enough = 3 if new or numbers[:2].tolist() == [1, 2] else 4
    return len(numbers) >= enough and not _has_equal_steps(below[0])


def _is_sorted(numbers: Floats) -> bool:
    """Return whether numbers grow all the time, or fall all the time."""
    return bool((numbers[1:] > numbers[:-1]).all() or (numbers[1:] < numbers[:-1]).all())


def _has_equal_steps(numbers: Floats) -> bool:
    """Return whether numbers grow in equal steps, or fall in them."""
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.diff(numbers)
        equal = np.abs(steps - steps[0]) <= ROUNDING * abs(steps[0])
    return bool(steps[0] != 0 and equal.all())


def _counts(cells: Sequence[str]) -> bool:
    """Return whether the cells are 0, 1, 2, .."""
    return all(cell == str(place) for place, cell in enumerate(cells))
