"""Read .npz, .csv and LIBSVM files, and check every data set.

A reader returns `Parts`: {"train": (X, y)} and, if the file has them, "valid" and "test", with the
labels as the file writes them. `checked` converts them to float64 features and labels 0..m-1.
"""

from __future__ import annotations

import bz2
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from fwlab.checks.labels import KINDS, too_many_classes
from fwlab.datasets.csv_files import CSV_ENDINGS, read_table

Part = tuple[Any, np.ndarray]  # X dense (n, d) or CSR, y (n,)
Parts = dict[str, Part]

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
    with _npz_arrays(path) as arrays:
        return _npz_parts(path, arrays)


@contextmanager
def _npz_arrays(path: Path) -> Iterator[Mapping[str, np.ndarray]]:
    """Open an .npz file in a `with` block. Raises ValueError if it is none, or damaged."""
    if not zipfile.is_zipfile(path):  # numpy would try to unpickle it
        raise ValueError(f"{str(path)!r} is not an .npz archive.")
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            yield arrays
    except zipfile.BadZipFile as error:
        raise ValueError(f"{str(path)!r} is a damaged .npz archive ({error}).") from error


def read_npz_features(path: Path) -> tuple[Any, np.ndarray | None]:
    """Read the samples to predict from an .npz file: X and, if the file has them, their labels y.

    They are the arrays X and y, or X_test and y_test if there is no X.
    """
    with _npz_arrays(path) as arrays:
        for X_name, y_name in (_PART_ARRAYS["train"][-1], *_PART_ARRAYS["test"]):
            if X_name in arrays or f"{X_name}_data" in arrays:
                labels = _npz_array(path, arrays, y_name) if y_name in arrays else None
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
                parts[part] = (X, _npz_array(path, arrays, y_name))
                break
    if "train" not in parts:
        raise ValueError(
            f"{str(path)!r} must hold arrays X and y, or X_train and y_train; "
            f"it holds {', '.join(arrays) or 'none'}."
        )
    return parts


def _npz_array(path: Path, arrays: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    try:
        return arrays[name]
    except KeyError as error:
        raise ValueError(f"{str(path)!r} holds no array {name!r}.") from error
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
        if "Object arrays" in str(error):
            raise ValueError(
                f"{str(path)!r}: the array {name!r} holds Python objects, which are not read; save "
                f"it as numbers or text, by {name}.astype(float) or {name}.astype(str)."
            ) from error
        raise ValueError(f"{str(path)!r}: the array {name!r} is unreadable ({error}).") from error


def _npz_matrix(path: Path, arrays: Mapping[str, np.ndarray], name: str) -> Any:
    if name in arrays:
        return _npz_array(path, arrays, name)
    pieces = ("data", "indices", "indptr", "shape")
    data, indices, indptr, shape = (_npz_array(path, arrays, f"{name}_{p}") for p in pieces)
    _numeric(f"{str(path)!r}: {name}_data", data)
    try:
        X = sparse.csr_array((data, indices, indptr), shape=tuple(shape))
        X.check_format(full_check=True)
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"{str(path)!r}: {name} is not a valid CSR matrix ({error}).") from error
    return X


def read_csv(path: Path) -> Parts:
    """Read rows of numbers with a label column, as `read_table` describes them."""
    return {"train": read_table(path)}


def read_svmlight(path: Path) -> Parts:
    """Read LIBSVM's text format, plain or .bz2.

    Column 0 of X is index 0 if any row has this index, and index 1 otherwise.
    """
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(str(path))
    except (ValueError, OverflowError, OSError, EOFError) as error:
        place = _bad_svmlight_line(path)
        raise ValueError(f"{str(path)!r}{place} is not in LIBSVM format ({error}).") from error
    return {"train": (X, y)}


def _bad_svmlight_line(path: Path) -> str:
    """Return ', line N' for the first line that breaks the format, or '' if there is none."""
    opener: Callable[..., Any] = bz2.open if path.suffix.lower() == ".bz2" else open
    try:
        with opener(path, "rb") as stream:
            for number, line in enumerate(stream, start=1):
                if not _is_svmlight(line.split(b"#")[0].split()):
                    return f", line {number}"
    except (OSError, EOFError):
        pass
    return ""


def _is_svmlight(words: list[bytes]) -> bool:
    try:
        indices = []
        for word in words[1:]:
            index, value = word.split(b":")
            float(value)
            if index != b"qid":
                indices.append(int(index))
        if words:
            float(words[0])
    except ValueError:
        return False
    return all(a < b for a, b in pairwise([-1, *indices])) and max(indices, default=0) < 2**31


SPARSE_ENDINGS = (".svm", ".libsvm", ".txt", ".scale", ".bz2")
READERS: Mapping[str, Callable[[Path], Parts]] = {
    ".npz": read_npz,
    **dict.fromkeys(CSV_ENDINGS, read_csv),
    **dict.fromkeys(SPARSE_ENDINGS, read_svmlight),
}


def read_parts(path: Path) -> Parts:
    """Read a file in the format that its ending names.

    Raises ValueError for an unknown ending, FileNotFoundError for a missing file.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ValueError(f"path must end in one of {', '.join(READERS)}; got {str(path)!r}.")
    if not path.is_file():
        raise FileNotFoundError(f"path {str(path)!r} is not an existing file.")
    return reader(path)


def checked(where: str, parts: Parts) -> tuple[Parts, tuple[Any, ...]]:
    """Return the parts with float64 features and labels 0..m-1, and the m classes in sorted order.

    A class counts if any part contains it. `where` names the data in error messages.
    """
    matrices = {
        part: numeric_features(f"{where}: X of part {part}", X) for part, (X, _) in parts.items()
    }
    for part, (_, y) in parts.items():
        X = matrices[part]
        if y.ndim != 1 or y.dtype.kind not in "biufUS":
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
    textual = {y.dtype.kind in "US" for y in labels.values()}
    if len(textual) > 1:
        raise ValueError(f"{where}: y must hold strings in every part or numbers in every part.")
    together = np.concatenate(list(labels.values()))
    if together.dtype.kind == "f":
        if not np.isfinite(together).all():
            raise ValueError(f"{where}: y must not hold NaN or infinity.")
        broken = together[together != np.rint(together)]
        if len(broken):
            raise ValueError(
                f"{where}: y must hold class labels, that is {KINDS}; got the number {broken[0]}."
            )
        if np.abs(together).max() < 2**53:
            together = together.astype(np.int64)
    classes, numbers = np.unique(together, return_inverse=True)
    ends = np.cumsum([len(y) for y in labels.values()])[:-1]
    numbered = dict(zip(labels, np.split(numbers.astype(np.int64), ends), strict=True))
    y = labels["train"]
    if too_many_classes(y):
        raise ValueError(
            f"{where}: y of part train must hold class labels; got {len(np.unique(y))} different "
            f"numbers in {len(y)} rows, as a regression has; if they are classes, pass the arrays "
            "to fwlab.Problem."
        )
    if np.ptp(numbered["train"]) == 0:
        raise ValueError(f"{where}: y of part train must hold at least two classes.")
    return numbered, tuple(classes.tolist())
