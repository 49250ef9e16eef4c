"""Read .npz, .csv and LIBSVM files, and check every data set.

`checked` converts the parts of their `Contents` to float64 features and labels 0..m-1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from fwlab.arrays import Integers
from fwlab.checks.labels import encoded_labels, too_many_classes
from fwlab.datasets.contents import Contents, Parts
from fwlab.datasets.csv_files import CSV_ENDINGS, read_table
from fwlab.datasets.csv_rows import is_number
from fwlab.datasets.svmlight import SVMLIGHT_ENDINGS, read_svmlight
from fwlab.datasets.text_labels import require_labels, require_one_form
from fwlab.npz import npz_archive

# For each part, the possible names of its arrays in an .npz file. The first pair found is read.
_PART_ARRAYS = {
    "train": (("X_train", "y_train"), ("train", "y_train"), ("X", "y")),
    "valid": (("X_valid", "y_valid"), ("X_val", "y_val")),
    "test": (("X_test", "y_test"), ("test", "y_test")),
}


def read_npz(path: Path) -> Parts:
    """Read an .npz file.

    It holds X and y, or X_train and y_train and optionally X_valid, y_valid, X_test, y_test. A CSR
    matrix X is stored as X_data, X_indices, X_indptr, X_shape.
    """
    with npz_archive(path) as arrays:
        return _npz_parts(path, arrays)


def read_npz_features(path: Path) -> tuple[Any, np.ndarray | None]:
    """Read the samples to predict from an .npz file: X and, if the file has them, their labels y.

    They are the arrays X and y, or X_test and y_test if there is no X.
    """
    with npz_archive(path) as arrays:
        for X_name, y_name in (_PART_ARRAYS["train"][-1], *_PART_ARRAYS["test"]):
            if X_name in arrays or f"{X_name}_data" in arrays:
                labels = _npz_labels(path, arrays, y_name) if y_name in arrays else None
                return _npz_matrix(path, arrays, X_name), labels
        raise ValueError(
            f"{str(path)!r} must hold an array X; it holds {', '.join(arrays) or 'none'}."
        )


def _npz_parts(path: Path, arrays: Mapping[str, np.ndarray]) -> Parts:
    parts: Parts = {}
    for part, pairs in _PART_ARRAYS.items():
        for X_name, y_name in pairs:
            if X_name in arrays or f"{X_name}_data" in arrays:
                X = _npz_matrix(path, arrays, X_name)
                parts[part] = (X, _npz_labels(path, arrays, y_name))
                break
    if "train" not in parts:
        raise ValueError(
            f"{str(path)!r} must hold arrays X and y, or X_train and y_train; "
            f"it holds {', '.join(arrays) or 'none'}."
        )
    return parts


def _npz_array(path: Path, arrays: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    if name not in arrays:
        raise ValueError(f"{str(path)!r} holds no array {name!r}.")
    return arrays[name]


def _npz_labels(path: Path, arrays: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """Return an array of labels; bytes become text."""
    labels = _npz_array(path, arrays, name)
    if labels.dtype.kind != "S":
        return labels
    try:
        return np.strings.decode(labels, "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{str(path)!r}: the array {name!r} is no UTF-8 text ({error})."
        ) from error


def _npz_matrix(path: Path, arrays: Mapping[str, np.ndarray], name: str) -> Any:
    if name in arrays:
        return _npz_array(path, arrays, name)
    pieces = ("data", "indices", "indptr", "shape")
    data, indices, indptr, shape = (_npz_array(path, arrays, f"{name}_{p}") for p in pieces)
    _numeric(f"{str(path)!r}: {name}_data", data)
    indices, indptr, shape = (
        _whole(f"{str(path)!r}: {name}_{piece}", array)
        for piece, array in zip(pieces[1:], (indices, indptr, shape), strict=True)
    )
    try:
        X = sparse.csr_array((data, indices, indptr), shape=tuple(shape))
        X.check_format(full_check=True)
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"{str(path)!r}: {name} is not a valid CSR matrix ({error}).") from error
    return X


def _whole(where: str, numbers: np.ndarray) -> Integers:
    """Return numbers as int64. Raises ValueError if one of them is none, such as 0.9 or NaN."""
    if numbers.dtype.kind in "iuf":
        with np.errstate(invalid="ignore"):
            whole = numbers.astype(np.int64)
        if (whole == numbers).all():
            return whole
    raise ValueError(f"{where} must hold whole numbers.")


def _read_npz(path: Path) -> Contents:
    return Contents(read_npz(path))


READERS: Mapping[str, Callable[..., Contents]] = {
    ".npz": _read_npz,
    **dict.fromkeys(CSV_ENDINGS, read_table),
    **dict.fromkeys(SVMLIGHT_ENDINGS, read_svmlight),
}


def read_contents(path: Path, index_base: int | None = None) -> Contents:
    """Read a file in the format that its ending names.

    Raises ValueError for an unknown ending, FileNotFoundError for a missing file.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ValueError(f"path must end in one of {', '.join(READERS)}; got {str(path)!r}.")
    check_index_base(path, index_base)
    if not path.is_file():
        raise FileNotFoundError(f"path {str(path)!r} is not an existing file.")
    return reader(path) if index_base is None else reader(path, int(index_base))


def check_index_base(path: Path, index_base: int | None) -> None:
    """Raise ValueError if `index_base` is given and wrong, or for a file not in LIBSVM's format."""
    if index_base is None:
        return
    if type(index_base) is bool or not isinstance(index_base, Integral) or index_base not in (0, 1):
        raise ValueError(f"index_base must be 0 or 1; got {index_base!r}.")
    if path.suffix.lower() not in SVMLIGHT_ENDINGS:
        raise ValueError(f"index_base is for files in LIBSVM's format; got it for {str(path)!r}.")


def checked(where: str, parts: Parts) -> tuple[Parts, tuple[Any, ...]]:
    """Return the parts with float64 features and labels 0..m-1, and the m classes in sorted order.

    A class counts if any part contains it. `where` names the data in error messages.
    """
    matrices = {
        part: numeric_features(f"{where}: X of part {part}", X) for part, (X, _) in parts.items()
    }
    for part, (_, y) in parts.items():
        X = matrices[part]
        if y.ndim != 1 or y.dtype.kind not in "biufU":
            raise ValueError(
                f"{where}: y of part {part} must be 1-D numbers or strings; "
                f"got shape {y.shape} of type {y.dtype}."
            )
        if len(y) != X.shape[0]:
            raise ValueError(f"{where}: part {part} has {X.shape[0]} rows in X and {len(y)} in y.")
        if X.shape[1] != matrices["train"].shape[1]:
            raise ValueError(
                f"{where}: part {part} has {X.shape[1]} features where part train has "
                f"{matrices['train'].shape[1]}."
            )
    labels, classes = _class_numbers(where, {part: y for part, (_, y) in parts.items()})
    return {part: (matrices[part], labels[part]) for part in parts}, classes


def _numeric(where: str, values: np.ndarray) -> None:
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{where} must hold real numbers; got type {values.dtype}.")


def numeric_features(where: str, X: Any) -> Any:
    """Return X as finite float64, C-ordered or canonical CSR, with at least one row and column."""
    _numeric(where, X)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"{where} must be (n, d) with n, d >= 1; got shape {X.shape}.")
    if sparse.issparse(X):
        index = np.int32 if max(X.nnz, *X.shape) < 2**31 else np.int64
        pieces = (X.data.astype(np.float64), X.indices.astype(index), X.indptr.astype(index))
        X = sparse.csr_array(pieces, shape=X.shape)
        X.sum_duplicates()
    else:
        with np.errstate(over="ignore"):  # of numbers beyond float64
            X = np.array(X, dtype=np.float64, order="C")
    finite = np.isfinite(X.data if sparse.issparse(X) else X)
    if not finite.all():
        row = np.argwhere(~finite)[0, 0]
        if sparse.issparse(X):
            row = np.searchsorted(X.indptr, row, side="right") - 1
        raise ValueError(f"{where} must be finite; row {row} holds NaN or infinity.")
    return X


def _class_numbers(
    where: str, labels: dict[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], tuple[Any, ...]]:
    """Return the labels of each part as 0..m-1, and the m classes in sorted order."""
    textual = {y.dtype.kind == "U" for y in labels.values()}
    if len(textual) > 1:
        raise ValueError(f"{where}: y must hold strings in every part or numbers in every part.")
    for part, y in labels.items():
        require_labels(f"{where}: y of part {part}", y)
    together: Any = np.concatenate(list(labels.values()))
    kinds = {y.dtype.kind for y in labels.values()}
    if together.dtype.kind == "f" and kinds != {"f"}:  # it may have changed integers
        together = [label for y in labels.values() for label in y.tolist()]
    try:
        numbers, classes = encoded_labels(together)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from error
    if classes.dtype.kind == "f" and np.abs(classes).max() < 2**63:
        classes = classes.astype(np.int64)
    if classes.dtype.kind == "U":
        require_one_form(where, classes.tolist())
    ends = np.cumsum([len(y) for y in labels.values()])[:-1]
    numbered = dict(zip(labels, np.split(numbers, ends), strict=True))
    y = labels["train"]
    are_numbers = y.dtype.kind != "U" or all(map(is_number, y.tolist()))
    if are_numbers and too_many_classes(numbered["train"]):
        raise ValueError(
            f"{where}: y of part train must hold class labels; got {len(np.unique(y))} different "
            f"numbers in {len(y)} rows, as a regression has; if they are classes, pass the arrays "
            "to fwlab.Problem."
        )
    if np.ptp(numbered["train"]) == 0:
        raise ValueError(f"{where}: y of part train must hold at least two classes.")
    return numbered, tuple(classes.tolist())
