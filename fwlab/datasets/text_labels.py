"""Turn labels, as text files write them, into numbers, and see which ones are missing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from unicodedata import normalize

import numpy as np

from fwlab.arrays import Integers
from fwlab.datasets.csv_rows import is_number
from fwlab.text import as_whole_number

# what pandas reads as missing, ?, and the errors of spreadsheets, in any case of letters
ANY_CASE = r"|\?|<na>|#?n/a|#na|#n/a n/a|null|\\n|#(null|div/0|value|ref|num)!|#name\?"
# what programs print for no number
NO_NUMBER = r"[+-]?nan|[+-]?1\.#(ind|qnan|snan|inf)\d*"
# Na, NAT, none and "-" may be names of classes
THIS_CASE = "NA|na|None|NaT"
MISSING = re.compile(f"(?i:{ANY_CASE}|{NO_NUMBER})|{THIS_CASE}")
TRUTH_VALUES = {"false": False, "true": True}
MOST_DIGITS = 20  # of an integer of 64 bits


def is_missing(cell: str) -> bool:
    """Return whether a cell stands for a missing value."""
    return MISSING.fullmatch(cell.strip()) is not None


def label_array(labels: Sequence[str]) -> np.ndarray:
    """Return labels as integers if 64 bits hold all of them, and otherwise as the strings they are.

    1, 1.0, 01 and 1e0 are one integer. Floats are returned only for numbers that are no labels:
    fractions, NaN and infinity.
    """
    strings = np.array(labels)
    if not all(map(is_number, labels)):
        return strings
    whole = {label: as_whole_number(label, MOST_DIGITS) for label in set(labels)}
    numbers = [whole[label] for label in labels]
    if None not in numbers:
        for kind in (np.int64, np.uint64):
            try:
                return np.array(numbers, dtype=kind)
            except OverflowError:
                pass
    values = strings.astype(np.float64)
    fractions = (values != np.rint(values)) | ~np.isfinite(values)
    return values if fractions.any() else strings


def codes_of_texts(labels: Sequence[str], classes: np.ndarray) -> Integers:
    """Return the place of each label in the classes (m,), -1 for a label that is none.

    If the classes are numbers or truth values, so are the labels that can be read as such.
    """
    place = {label: code for code, label in enumerate(classes.tolist())}
    value = str if classes.dtype.kind == "U" else _value
    codes = {label: place.get(value(label), -1) for label in set(labels)}
    return np.array([codes[label] for label in labels], dtype=np.int64)


def _value(label: str) -> int | None:
    """Return the integer or the truth value that a label writes, None for any other text."""
    if is_number(label):
        return as_whole_number(label, MOST_DIGITS)
    return TRUTH_VALUES.get(label.strip().lower())


def as_truth_values(classes: np.ndarray) -> np.ndarray:
    """Return classes False and True, if they are texts, as truth values, and others as they are."""
    texts = [label.lower() for label in classes.tolist()] if classes.dtype.kind == "U" else [""]
    if TRUTH_VALUES.keys() >= set(texts):
        return np.array([TRUTH_VALUES[text] for text in texts])
    return classes


def require_labels(name: str, labels: np.ndarray | Sequence[str]) -> None:
    """Raise ValueError if one of the labels is text that stands for a missing one."""
    labels = np.asarray(labels)
    if labels.dtype.kind != "U":
        return
    for row, label in enumerate(labels.ravel().tolist()):
        if is_missing(label):
            raise ValueError(
                f"{name} must hold a label in every row; row {row} has {label!r}, which stands for "
                "a missing one."
            )


def require_one_form(where: str, labels: Iterable[str]) -> None:
    """Raise ValueError if two labels are the same text in two forms of Unicode."""
    forms: dict[str, str] = {}
    for label in sorted(set(labels)):
        other = forms.setdefault(normalize("NFC", label), label)
        if other != label:
            raise ValueError(
                f"{where}: the labels {other!a} and {label!a} are the same text in two "
                "forms of Unicode; write both in one form."
            )
