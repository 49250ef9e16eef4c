"""Read samples to predict: features in the order of a trained machine, and labels if there are any.

A file with labels has the format that `read_file` reads. A .csv file may also hold only the
features, an .npz file only an array X, and a .npy file holds nothing else.
"""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.datasets.csv_files import (
    CSV_ENDINGS,
    LABEL_NAMES,
    counts,
    floats_of_row,
    may_be_header,
    require_width,
)
from fwlab.datasets.csv_rows import csv_rows, is_number
from fwlab.datasets.readers import numeric_features, read_npz_features
from fwlab.datasets.svmlight import SVMLIGHT_ENDINGS, read_svmlight_samples
from fwlab.datasets.text_labels import MISSING, label_array
from fwlab.npz import read_npy

SAMPLE_ENDINGS = (*CSV_ENDINGS, ".npz", ".npy", *SVMLIGHT_ENDINGS)


def read_samples(
    path: Path,
    n_features: int,
    names: Sequence[str] | None = None,
    label_name: str | None = None,
    index_base: int | None = None,
    text_labels: bool = False,
) -> tuple[Any, np.ndarray | None]:
    """Return features (n, n_features), and labels (n,) if the file has them, else None.

    Parameters
    ----------
    path : Path
        A .csv, .npz or .npy file, or one in LIBSVM's format.
    n_features : int
        Number of features of the trained machine.
    names, label_name : sequence of str, and str, optional
        Features and label of the trained machine. A .csv file whose header has them may hold the
        columns in any order, beside other columns.
    index_base : 0 or 1, optional
        Index of the first feature in a LIBSVM file. Without it, the file must show it.
    text_labels : bool
        Whether the classes of the machine are strings, so that a label 01 is not the number 1.

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
    if ending in CSV_ENDINGS:
        X, labels = _csv_samples(path, n_features, names, label_name, text_labels)
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
    if labels is not None and labels.shape[:1] != X.shape[:1]:
        raise ValueError(
            f"{str(path)!r} has {X.shape[0]} samples and labels of shape {labels.shape}."
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
    names: Sequence[str] | None,
    label_name: str | None,
    text_labels: bool,
) -> tuple[np.ndarray, np.ndarray | None]:
    rows = list(csv_rows(path))
    if not rows:
        raise ValueError(f"{str(path)!r} holds no rows.")
    line, first = rows[0]
    width = len(first)
    for number, row in rows:
        require_width(path, number, row, width)
    header = first if _is_header(first, n_features, names) else None
    if header is not None:
        rows = rows[1:]
    elif _may_be_header(first, n_features, [row[-1] for _, row in rows[1:]]):
        raise ValueError(
            f"{str(path)!r}, line {line}: {reprlib.repr(','.join(first))} may be a header or a "
            "sample; remove it if it is a header, or write names above it."
        )
    columns, label = _columns(path, header, width, n_features, names, label_name)
    features = [floats_of_row(path, number, row, columns) for number, row in rows]
    X = np.array(features).reshape(len(rows), len(columns))
    if label is None:
        return X, None
    labels = [row[label] for _, row in rows]
    return X, np.array(labels) if text_labels else label_array(labels)


def _is_header(first: list[str], n_features: int, names: Sequence[str] | None) -> bool:
    """Return whether the first row is a header: without numbers, or with the machine's features."""
    if names is not None and set(names).issubset(first):
        return True
    return not (any(map(is_number, first)) or MISSING.issuperset(first[:n_features]))


def _may_be_header(first: list[str], n_features: int, last: list[str]) -> bool:
    """Return whether a row with numbers may be a header, above rows with these last cells."""
    if len(first) == n_features + 1:
        return may_be_header(first, n_features, set(last) - MISSING)
    return counts(first)


def _columns(
    path: Path,
    header: list[str] | None,
    width: int,
    n_features: int,
    names: Sequence[str] | None,
    label_name: str | None,
) -> tuple[list[int], int | None]:
    """Return the columns of the features in the machine's order, and the column of the label."""
    if header is None:
        if width == n_features + 1:
            return list(range(n_features)), n_features
        return list(range(width)), None
    usual = (place for place, cell in enumerate(header) if cell.lower() in LABEL_NAMES)
    label = header.index(label_name) if label_name in header else next(usual, None)
    others = [place for place in range(width) if place != label]
    if names is None or [header[place] for place in others] == list(names):
        return others, label
    for name in names:
        if header.count(name) != 1:
            has = f"{header.count(name)} columns" if name in header else "no column"
            raise ValueError(
                f"{str(path)!r}: the header has {has} {name!r}, which the model was trained on."
            )
    return [header.index(name) for name in names], label
