"""Read samples to predict: features in the order of a trained machine, and labels if there are any.

A file with labels has the format that `read_file` reads. A .csv file may also hold only the
features, an .npz file only an array X, and a .npy file holds nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.datasets.csv_files import (
    CSV_ENDINGS,
    floats_of_row,
    require_names,
    require_width,
    unclear_header,
)
from fwlab.datasets.csv_header import is_header, names_label
from fwlab.datasets.csv_rows import csv_rows, is_number
from fwlab.datasets.label_place import refuse_label_not_last
from fwlab.datasets.readers import numeric_features, read_npz_features
from fwlab.datasets.svmlight import SVMLIGHT_ENDINGS, read_svmlight_samples
from fwlab.npz import read_npy

SAMPLE_ENDINGS = (*CSV_ENDINGS, ".npz", ".npy", *SVMLIGHT_ENDINGS)


def read_samples(
    path: Path,
    n_features: int,
    classes: np.ndarray,
    names: Sequence[str] | None = None,
    label_name: str | None = None,
    index_base: int | None = None,
) -> tuple[Any, np.ndarray | list[str] | None]:
    """Return features (n, n_features), and labels (n,) if the file has them, else None.

    Labels of a text file are the texts that it holds.

    Parameters
    ----------
    path : Path
        A .csv, .npz or .npy file, or one in LIBSVM's format.
    n_features : int
        Number of features of the trained machine.
    classes : array (m,)
        Its classes.
    names, label_name : sequence of str, and str, optional
        Features and label of the trained machine. A .csv file whose header has them may hold the
        columns in any order, beside other columns.
    index_base : 0 or 1, optional
        Index of the first feature in a LIBSVM file. Without it, the file must show it.

    Raises
    ------
    ValueError
        With one sentence, if features are missing or their number is wrong.
    FileNotFoundError
        If there is no such file.
    """
    ending = path.suffix.lower()
    if ending not in SAMPLE_ENDINGS:
        raise ValueError(f"path must end in one of {', '.join(SAMPLE_ENDINGS)}; got {str(path)!r}.")
    if not path.is_file():
        raise FileNotFoundError(f"path {str(path)!r} is not an existing file.")
    X: Any
    labels: np.ndarray | list[str] | None
    if ending in CSV_ENDINGS:
        X, labels = _csv_samples(path, n_features, classes, names, label_name)
    elif ending == ".npz":
        X, labels = read_npz_features(path)
    elif ending == ".npy":
        X, labels = _npy_features(path), None
    else:
        X, labels = read_svmlight_samples(path, n_features, index_base)
    X = numeric_features(f"file {str(path)!r}", X)
    if X.shape[1] != n_features:
        raise ValueError(
            f"{str(path)!r} has {X.shape[1]} features, and the model was trained on {n_features}."
        )
    if labels is not None and np.shape(labels)[:1] != X.shape[:1]:
        raise ValueError(
            f"{str(path)!r} has {X.shape[0]} samples and labels of shape {np.shape(labels)}."
        )
    return X, labels


def _npy_features(path: Path) -> np.ndarray:
    """Return the array of a .npy file. Raises ValueError if it is none of two dimensions."""
    X = read_npy(path)
    if X.ndim != 2:
        raise ValueError(f"{str(path)!r} must hold a 2-D array; got shape {X.shape}.")
    return X


def _csv_samples(
    path: Path,
    n_features: int,
    classes: np.ndarray,
    names: Sequence[str] | None,
    label_name: str | None,
) -> tuple[Floats, list[str] | None]:
    rows = list(csv_rows(path))
    if not rows:
        raise ValueError(f"{str(path)!r} holds no rows.")
    line, first = rows[0]
    for number, row in rows:
        require_width(path, number, row, len(first))
    header = _has_names(first, names)
    if header is False:
        last = len(first) - 1 if len(first) == n_features + 1 else None
        label = next((place for place, cell in enumerate(first) if names_label(cell)), last)
        columns = [place for place in range(len(first)) if place != label]
        others = rows[1:] if any(map(is_number, first)) else []
        X = _numbers(path, others, columns, unnamed=label is not None)
        labels = [row[label] for _, row in others] if label is not None else []
        header = is_header(first, label, X, labels, map(str, classes.tolist()))
        if header is False:
            X = np.vstack([_numbers(path, rows[:1], columns, unnamed=label is not None), X])
            if label is None:
                return X, None
            labels = [first[label], *labels]
            refuse_label_not_last(path, X, labels, classes)
            return X, labels
    if header is None:
        advice = "remove it if it is a header, or write names that are no numbers above it"
        raise unclear_header(path, line, first, advice)
    return _named_samples(path, rows, names, label_name)


def _named_samples(
    path: Path,
    rows: list[tuple[int, list[str]]],
    names: Sequence[str] | None,
    label_name: str | None,
) -> tuple[Floats, list[str] | None]:
    (_, header), *samples = rows
    columns, label = _columns(path, header, names, label_name)
    X = _numbers(path, samples, columns)
    return X, None if label is None else [row[label] for _, row in samples]


def _has_names(first: list[str], names: Sequence[str] | None) -> bool | None:
    """Return whether a row has the names of the machine's features, None if it may be a sample."""
    if names is None or not set(names).issubset(first):
        return False
    return True if len(names) > 2 or not all(map(is_number, first)) else None


def _numbers(
    path: Path, rows: list[tuple[int, list[str]]], columns: list[int], unnamed: bool = False
) -> Floats:
    """Return these columns of the rows, (n, len(columns))."""
    values = [floats_of_row(path, number, row, columns, unnamed) for number, row in rows]
    return np.array(values).reshape(len(rows), len(columns))


def _columns(
    path: Path, header: list[str], names: Sequence[str] | None, label_name: str | None
) -> tuple[list[int], int | None]:
    """Return the columns of the features in the machine's order, and the column of the label."""
    usual = (place for place, cell in enumerate(header) if names_label(cell))
    label = header.index(label_name) if label_name in header else next(usual, None)
    others = [place for place in range(len(header)) if place != label]
    if names is None:
        require_names(path, header)
    if names is None or [header[place] for place in others] == list(names):
        return others, label
    for name in names:
        if header.count(name) != 1:
            has = f"{header.count(name)} columns" if name in header else "no column"
            raise ValueError(
                f"{str(path)!r}: the header has {has} {name!r}, which the model was trained on."
            )
    return [header.index(name) for name in names], label
