"""Turn labels, as text files write them, into numbers, and see which ones are missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from unicodedata import normalize

import numpy as np

from fwlab.datasets.csv_rows import is_number
from fwlab.text import as_whole_number

# what pandas reads as missing, and ?; "-" and "none" may be names of classes
WORDS = "? NA na <NA> N/A n/a #N/A #NA NaN nan NAN -NaN -nan NaT null NULL Null None \\N"
MISSING = frozenset(["", *WORDS.split()])
MOST_DIGITS = 20  # of an integer of 64 bits


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


def require_labels(name: str, labels: np.ndarray) -> None:
    """Raise ValueError if one of the labels is text that stands for a missing one."""
    if labels.dtype.kind != "U":
        return
    for row, label in enumerate(labels.ravel().tolist()):
        if label in MISSING:
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
