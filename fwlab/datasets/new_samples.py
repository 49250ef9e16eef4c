"""Read samples to predict: features in the order of a trained machine, and labels if there are any.

A file with labels has the format that `read_file` reads. A .csv file may also hold only the
features, an .npz file only an array X, and a .npy file holds nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from fwlab.datasets.csv_files import (
    CSV_ENDINGS,
    LABEL_NAMES,
    csv_rows,
    floats_of_row,
    is_number,
    label_array,
)
from fwlab.datasets.readers import numeric_features, read_npz_features, read_parts


def column_names(path: Path) -> tuple[tuple[str, ...] | None, str | None]:
    """Return the names of features and label in the header of a .csv file; else None for both."""
    if path.suffix.lower() not in CSV_ENDINGS:
        return None, None
    _, first = next(csv_rows(path), (0, []))
    if any(is_number(cell) for cell in first):
        return None, None
    named = [place for place, cell in enumerate(first) if cell.lower() in LABEL_NAMES]
    label = named[0] if named else len(first) - 1
    return (*first[:label], *first[label + 1 :]), first[label]


def read_samples(
    path: Path,
    n_features: int,
    names: Sequence[str] | None = None,
    label_name: str | None = None,
) -> tuple[Any, np.ndarray | None]:
    """Return features (n, n_features), and labels (n,) if the file has them, else None.

    `names` and `label_name` are the features and the label of the trained machine. A .csv file
    whose header has them may hold the columns in any order, beside other columns. Raises
    ValueError, with one sentence, if features are missing or their number is wrong, and
    FileNotFoundError if there is no such file.
    """
    if not path.is_file():
        raise FileNotFoundError(f"path {str(path)!r} is not an existing file.")
    if path.suffix.lower() in CSV_ENDINGS:
        X, labels = _csv_samples(path, n_features, names, label_name)
    elif path.suffix.lower() == ".npz":
        X, labels = read_npz_features(path)
    elif path.suffix.lower() == ".npy":
        X, labels = _npy_features(path), None
    else:
        X, labels = _widened(read_parts(path)["train"], n_features)
    X = numeric_features(f"file {str(path)!r}", X)
    if X.shape[1] != n_features:
        raise ValueError(
            f"{str(path)!r} has {X.shape[1]} features, and the model was trained on {n_features}."
        )
    return X, labels


def _npy_features(path: Path) -> np.ndarray:
    """Return the array of a .npy file. Raises ValueError if it is none of two dimensions."""
    try:
        X: np.ndarray = np.load(path, allow_pickle=False)
    except (EOFError, ValueError) as error:
        raise ValueError(f"{str(path)!r} is no whole .npy file: {error}") from error
    if X.ndim != 2:
        raise ValueError(f"{str(path)!r} must hold a 2-D array; got shape {X.shape}.")
    return X


def _widened(part: tuple[Any, np.ndarray], n_features: int) -> tuple[Any, np.ndarray]:
    """Return sparse samples with at least n_features columns: the last columns may be all 0."""
    X, labels = part
    if X.shape[1] < n_features:
        X = sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features))
    return X, labels


def _csv_samples(
    path: Path, n_features: int, names: Sequence[str] | None, label_name: str | None
) -> tuple[np.ndarray, np.ndarray | None]:
    rows = list(csv_rows(path))
    if not rows:
        raise ValueError(f"{str(path)!r} holds no rows.")
    first = rows[0][1]
    header = None if any(is_number(cell) for cell in first) else first
    width, rows = len(first), rows[1:] if header else rows
    for number, row in rows:
        if len(row) != width:
            raise ValueError(
                f"{str(path)!r}, line {number}: {len(row)} cells where the first has {width}."
            )
    columns, label = _columns(path, header, width, n_features, names, label_name)
    features = [floats_of_row(path, number, row, columns) for number, row in rows]
    labels = None if label is None else label_array([row[label] for _, row in rows])
    return np.array(features).reshape(len(rows), len(columns)), labels


def _columns(
    path: Path,
    header: list[str] | None,
    width: int,
    n_features: int,
    names: Sequence[str] | None,
    label_name: str | None,
) -> tuple[list[int], int | None]:
    """Return the columns of the features in the machine's order, and the column of the label."""
    if header is not None:
        usual = (place for place, cell in enumerate(header) if cell.lower() in LABEL_NAMES)
        label = header.index(label_name) if label_name in header else next(usual, None)
        if names is not None:
            missing = [name for name in names if name not in header]
            if missing:
                raise ValueError(
                    f"{str(path)!r}: the header has no column {missing[0]!r}, which the model was "
                    "trained on."
                )
            return [header.index(name) for name in names], label
        return [place for place in range(width) if place != label], label
    if width == n_features + 1:
        return list(range(n_features)), n_features
    return list(range(width)), None
