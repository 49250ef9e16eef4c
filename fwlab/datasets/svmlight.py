"""Read LIBSVM's text format: a label per line, and index:value for each feature that is not 0.

The first feature has index 1 by LIBSVM's convention, and index 0 in files of other writers, such as
scikit-learn's `dump_svmlight_file`. A file that leaves out its first feature does not show which.
"""

from __future__ import annotations

import bz2
from array import array
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from fwlab.arrays import Integers
from fwlab.datasets.contents import Contents
from fwlab.datasets.text_labels import label_array

SVMLIGHT_ENDINGS = (".svm", ".libsvm", ".txt", ".scale", ".bz2")
LARGEST_INDEX = 2**31 - 1


def read_svmlight(path: Path, index_base: int | None = None) -> Contents:
    """Read a training file, plain or .bz2, with features (n, d) as CSR.

    Without `index_base`, the first feature has index 0 if any row has this index, and index 1
    otherwise. Raises ValueError if the file is not in this format, or contradicts `index_base`.
    """
    entries, labels = _read(path)
    low, high = entries.ends()
    if index_base is None:
        index_base = min(low, 1)
    if low < index_base:
        raise ValueError(f"index_base must be 0 for {str(path)!r}, which has index 0; got 1.")
    X = entries.matrix(index_base, high + 1 - index_base)
    return Contents({"train": (X, label_array(labels))}, index_base=index_base)


def read_svmlight_samples(
    path: Path, n_features: int, index_base: int | None
) -> tuple[Any, list[str]]:
    """Read samples to predict: features (n, n_features) as CSR, and labels as they are written.

    The first feature has index `index_base`, as in the training file. Without it, the file must
    show this by having index 0 or index n_features. Raises ValueError if it does not, or if it has
    other indices.
    """
    entries, labels = _read(path)
    low, high = entries.ends()
    if index_base is None:
        if low > 0 and high != n_features and len(entries.columns):
            raise ValueError(
                f"{str(path)!r} has neither index 0 nor index {n_features}, so that its first "
                "feature may be either 0 or 1; index_base (--index-base) must say which."
            )
        index_base = min(low, 1)
    last = n_features - 1 + index_base
    if low < index_base or high > last:
        raise ValueError(
            f"{str(path)!r} must have indices {index_base} to {last}, as the file that the model "
            f"was trained on; got {low if low < index_base else high}; if its first feature has "
            f"index {1 - index_base}, index_base (--index-base) must say so."
        )
    return entries.matrix(index_base, n_features), labels


class _Entries:
    """The entries of a sparse matrix row by row, with columns as a file numbers them."""

    def __init__(self) -> None:
        self.columns, self.values = array("q"), array("d")
        self.row_ends = array("q", [0])

    def add_row(self, columns: list[int], values: list[float]) -> None:
        self.columns.extend(columns)
        self.values.extend(values)
        self.row_ends.append(len(self.columns))

    def ends(self) -> tuple[int, int]:
        """Return the lowest and the highest column, 1 and 0 if there is no entry."""
        columns = _as_integers(self.columns)
        return (int(columns.min()), int(columns.max())) if len(columns) else (1, 0)

    def matrix(self, first: int, width: int) -> Any:
        """Return the matrix (n, width) as CSR, whose first column the file gives this number."""
        columns, row_ends = _as_integers(self.columns) - first, _as_integers(self.row_ends)
        values = np.array(self.values, dtype=np.float64)
        return sparse.csr_array((values, columns, row_ends), shape=(len(row_ends) - 1, width))


def _as_integers(numbers: array[int]) -> Integers:
    return np.array(numbers, dtype=np.int64)


def _read(path: Path) -> tuple[_Entries, list[str]]:
    """Return all entries and labels of a file."""
    entries, labels = _Entries(), list[str]()
    for number, line in _lines(path):
        try:
            label, columns, values = _parsed(line)
        except ValueError as error:
            raise ValueError(
                f"{str(path)!r}, line {number} is not in LIBSVM format ({error})."
            ) from error
        labels.append(label)
        entries.add_row(columns, values)
    return entries, labels


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of each line that is not blank, without its comment."""
    opener: Callable[..., Any] = bz2.open if path.suffix.lower() == ".bz2" else open
    with opener(path, "rb") as stream:
        try:
            for number, line in enumerate(stream, start=1):
                content = line.partition(b"#")[0].strip()
                if number == 1:
                    content = content.removeprefix(BOM_UTF8)
                if content:
                    yield number, content
        except (OSError, EOFError) as error:  # of a damaged archive
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(f"{str(path)!r} is not in LIBSVM format ({error}).") from error


def _parsed(line: bytes) -> tuple[str, list[int], list[float]]:
    """Return label, columns and values of a line. Raises ValueError if they are not ascending."""
    if b"_" in line:
        raise ValueError("a number holds an underscore")  # Python reads 1_0 as 10
    label, *words = line.split()
    float(label)
    if words and words[0].startswith(b"qid:"):
        del words[0]
    pairs = [word.split(b":") for word in words]
    columns = [int(column) for column, _ in pairs]
    if sorted(set(columns)) != columns:
        raise ValueError("indices must ascend")
    if columns and not 0 <= columns[0] <= columns[-1] <= LARGEST_INDEX:
        raise ValueError(f"indices must be in 0..{LARGEST_INDEX}")
    return label.decode("ascii"), columns, [float(value) for _, value in pairs]
