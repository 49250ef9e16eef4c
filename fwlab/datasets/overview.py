"""Look at a data set before training: its classes, the scales of its features, repeated rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from fwlab.datasets.named import Dataset


def overview(dataset: Dataset) -> dict[str, Any]:
    """Return the tables "classes", "features" and "duplicates", ready for JSON."""
    if not isinstance(dataset, Dataset):
        raise TypeError(f"dataset must be what datasets.load returns; got {dataset!r}.")
    return {
        "classes": class_counts(dataset),
        "features": feature_scales(dataset.X_train),
        "duplicates": duplicates(dataset),
    }


def class_counts(dataset: Dataset) -> list[dict[str, Any]]:
    """Return the number of samples of each class in each part that the data set has."""
    counts = {
        part: np.bincount(y, minlength=dataset.n_classes).tolist() for part, _, y in _parts(dataset)
    }
    return [
        {"class": label, **{part: count[j] for part, count in counts.items()}}
        for j, label in enumerate(dataset.classes)
    ]


def feature_scales(X: Any) -> dict[str, Any]:
    """Return the range of all entries, and how far the deviations of the features (n, d) differ.

    Constant features do not count; the answer is None if all features are constant.
    """
    low, high = (_plain(end(axis=0)) for end in (X.min, X.max))
    constant = low == high
    with np.errstate(over="ignore", invalid="ignore"):
        if sparse.issparse(X):
            squares = _plain(X.multiply(X).mean(axis=0)) - _plain(X.mean(axis=0)) ** 2
            deviation = np.sqrt(np.maximum(squares, 0.0))[~constant]
        else:
            deviation = X.std(axis=0)[~constant]
    return {
        "smallest": float(low.min()),
        "largest": float(high.max()),
        "constant": int(constant.sum()),
        "smallest_deviation": float(deviation.min()) if len(deviation) else None,
        "largest_deviation": float(deviation.max()) if len(deviation) else None,
    }


def duplicates(dataset: Dataset) -> dict[str, int]:
    """Return how many train rows repeat an earlier one, and how many of them with another label.

    For each other part, return the number of its rows that also occur in the train part.
    """
    seen: dict[bytes, int] = {}
    repeated = contradicting = 0
    for row, label in zip(_rows(dataset.X_train), dataset.y_train.tolist(), strict=True):
        first = seen.setdefault(row, label)
        repeated += 1
        contradicting += first != label
    found = {"train": repeated - len(seen), "train_with_another_label": contradicting}
    for part, X, _ in _parts(dataset):
        if part != "train":
            found[part] = sum(row in seen for row in _rows(X))
    return found


def _parts(dataset: Dataset) -> Iterator[tuple[str, Any, np.ndarray]]:
    for part in ("train", "valid", "test"):
        y = getattr(dataset, f"y_{part}")
        if y is not None:
            yield part, getattr(dataset, f"X_{part}"), y


def _rows(X: Any) -> Iterator[bytes]:
    """Yield each row as bytes, equal for equal rows; adding 0 turns -0 into 0."""
    if not sparse.issparse(X):
        yield from (row.tobytes() for row in X + 0.0)
        return
    X = X.copy()
    X.eliminate_zeros()
    columns = X.indices.astype(np.int64)  # the parts may store them in different types
    for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        yield columns[start:end].tobytes() + X.data[start:end].tobytes()


def _plain(values: Any) -> np.ndarray:
    """Return one number per feature as an array (d,), whatever scipy returned."""
    dense = values.toarray() if sparse.issparse(values) else values
    return np.asarray(dense, dtype=np.float64).ravel()
