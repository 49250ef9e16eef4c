"""Turn class labels of any kind into the integers 0 .. m-1 that stand for them, and back.

Labels are compared by value: 1, 1.0 and True are one label, "1" is another one. Integers that
float64 cannot tell apart stay apart. As in scikit-learn, labels that are missing or not finite,
fractions, bytes, dates and mixtures of kinds are refused.
"""

import reprlib
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import LARGEST, as_array, as_floats

FEW = 50  # samples, of which each may have a class of its own
MOST_SHOWN = 3
KINDS = "integers, strings, truth values or whole numbers"


def encoded_labels(y: Any, n_classes: int | None = None) -> tuple[Integers, np.ndarray]:
    """Return the labels as integers 0 .. m-1, (n,), and the classes they stand for, (m,).

    Parameters
    ----------
    y : array (n,)
        Integers, strings, truth values or floats that are whole numbers, in an array, a list, or a
        column of a data frame, nullable or categorical, too. Their distinct values, in
        ascending order, are the classes.
    n_classes : int, optional
        With it, y holds integers 0 .. n_classes-1, not all of which need occur.

    Raises
    ------
    TypeError, ValueError
        With one sentence, if y is not as described.
    """
    if n_classes is not None:
        return as_labels(y, n_classes), np.arange(n_classes)
    classes, codes = np.unique(plain_labels(y), return_inverse=True)
    return codes.astype(np.int64), classes


def require_two_classes(classes: np.ndarray) -> None:
    """Raise ValueError if the labels y have only one class, in classes (m,)."""
    if len(classes) == 1:
        raise ValueError(
            f"y must hold at least two classes; got one class, {classes.tolist()[0]!r}."
        )


def codes_of(y: Any, classes: Any) -> Integers:
    """Return the place of each label y (n,) in the classes (m,), -1 for a label that is none.

    Raises TypeError or ValueError if y does not hold labels, or if no label is a class.
    """
    place = {label: code for code, label in enumerate(plain_labels(classes).tolist())}
    distinct, inverse = np.unique(plain_labels(y), return_inverse=True)
    codes = np.array([place.get(label, -1) for label in distinct.tolist()], dtype=np.int64)
    if len(codes) and codes.max() < 0:
        raise ValueError(
            f"y must hold labels of the classes {_shown(place)}; got none of them, but "
            f"{_shown(distinct.tolist())}."
        )
    return codes[inverse]


def codes_of_rows(y: Any, classes: Any, n: int) -> Integers:
    """Return `codes_of` the labels y. Raises ValueError unless there is one for each of n rows."""
    codes = codes_of(y, classes)
    if len(codes) != n:
        raise ValueError(f"y must have {n} labels, one per row; got {len(codes)}.")
    return codes


def as_labels(y: Any, n_classes: int | None = None) -> Integers:
    """Return y (n,), integers 0 .. n_classes-1, as int64."""
    labels = plain_labels(y)
    if labels.dtype.kind not in "iu":
        raise TypeError(f"y must hold integer class labels; got dtype {labels.dtype}.")
    if len(labels):
        low, high = labels.min(), labels.max()
        if low < 0 or (n_classes is not None and high >= n_classes):
            allowed = "0 or more" if n_classes is None else f"in 0..{n_classes - 1}"
            raise ValueError(f"y must be {allowed}; got {low if low < 0 else high}.")
        if high > np.iinfo(np.int32).max:
            raise ValueError(f"y must be below 2^31; got {high}.")
    return labels.astype(np.int64)


def labelled_rows(
    name: str, values: Any, y: Any, largest: float = LARGEST
) -> tuple[Floats, Integers, bool]:
    """Return rows (n, m) of finite numbers, their labels (n,), and whether it was a single row.

    `values` is (n, m) with y (n,), or a single row (m,) with a scalar y. Entries may have the size
    `largest` at most.
    """
    rows = as_floats(name, values, ndims=(1, 2), largest=largest)
    single = rows.ndim == 1
    rows = np.atleast_2d(rows)
    m = rows.shape[1]
    if m < 2:
        raise ValueError(f"{name} must have at least 2 columns, one a class; got {m}.")
    y = as_array("y", y)
    if single != (y.ndim == 0):
        raise ValueError(
            f"y must be (n,) for {name} (n, m) and a scalar for a single row; "
            f"got shapes {y.shape} and {np.shape(values)}."
        )
    labels = as_labels(np.atleast_1d(y), m)
    if len(labels) != len(rows):
        raise ValueError(
            f"y must have one label per row of {name}, {len(rows)}; got {len(labels)}."
        )
    return rows, labels, single


def as_positive(y: Any) -> np.ndarray:
    """Return a mask of the positive labels, (n,) bool, for labels in {0, 1} or {-1, +1}."""
    labels = plain_labels(y)
    text = labels.dtype.kind == "U"
    for allowed in ([0, 1], [-1, 1]):
        if not text and np.isin(labels, allowed).all():
            return np.asarray(labels == 1)
    error = TypeError if text else ValueError
    found = _shown(np.unique(labels).tolist())
    raise error(f"y must hold labels 0 and 1, or -1 and +1; got {found}.")


def plain_labels(y: Any) -> np.ndarray:
    """Return labels (n,) of any kind as an array of integers, strings, truth values or floats."""
    # numpy would turn a list of strings and numbers into strings, and large integers into floats
    labels = as_array("y", y, object if isinstance(y, list | tuple) else None)
    if labels.ndim == 0:
        raise TypeError(f"y must be an array of labels; got {reprlib.repr(y)}.")
    if labels.ndim != 1:
        raise ValueError(f"y must be 1-D; got shape {labels.shape}.")
    if labels.dtype.kind in "OT":  # Python objects, or numpy's strings of any length
        labels = _of_one_kind(labels.astype(object))
    if labels.dtype.kind == "f":
        whole = np.isfinite(labels) & (np.floor(labels) == labels)
        if not whole.all():
            raise _fraction(labels[~whole][0])
    elif labels.dtype.kind not in "iubU":
        raise TypeError(f"y must hold {KINDS}; got dtype {labels.dtype}.")
    return labels


def one_column(y: Any) -> Any:
    """Return the labels (n,) of a column (n, 1), with scikit-learn's warning, and other y as it is.

    The entries keep their types.
    """
    try:
        labels = as_array("y", y, object if isinstance(y, list | tuple) else None)
    except (TypeError, ValueError):
        return y  # whoever reads it says what is wrong
    if labels.ndim != 2 or labels.shape[1] != 1:
        return y
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples, ), for example using ravel().",
        DataConversionWarning,
        stacklevel=3,
    )
    if isinstance(y, list | tuple):
        return labels[:, 0].tolist()
    return y.iloc[:, 0] if hasattr(y, "iloc") else labels[:, 0]


def too_many_classes(labels: np.ndarray) -> bool:
    """Return whether labels (n,) are numbers of which most differ, as targets of a regression."""
    if labels.dtype.kind not in "iuf" or len(labels) < FEW:
        return False
    return bool(len(np.unique(labels)) > len(labels) / 2)


def _of_one_kind(labels: np.ndarray) -> np.ndarray:
    """Return an array of Python objects as one of strings, truth values, integers or floats."""
    values = [label.item() if isinstance(label, np.generic) else label for label in labels]
    kinds = {_kind(value) for value in values}
    if kinds == {str}:
        return _strings(values)
    if kinds == {int, float}:
        values = [_whole(value) for value in values]
    elif len(kinds) > 1 or not kinds <= {int, float, bool}:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(f"y must hold labels of one kind, {KINDS}; got {names}.")
    return _integers(values) if int in kinds or not kinds else np.array(values)


def _kind(value: Any) -> type:
    """Return the type of a label: the one it is made from, for members of an Enum for example."""
    return next((kind for kind in (bool, int, float, str) if isinstance(value, kind)), type(value))


def _integers(values: list[int]) -> np.ndarray:
    """Return integers as an array. Raises ValueError if no type of 64 bits holds them all."""
    for dtype in (np.int64, np.uint64):
        try:
            return np.array(values, dtype=dtype)
        except OverflowError:
            continue
    raise ValueError(f"y must hold integers of at most 64 bits; got {int(max(values, key=abs))}.")


def _whole(value: int | float) -> int:
    """Return a whole number as an integer. Raises ValueError for another number."""
    if isinstance(value, float) and not value.is_integer():
        raise _fraction(value)
    return int(value)


def _fraction(number: float) -> ValueError:
    return ValueError(f"y must hold class labels, that is {KINDS}; got the number {number}.")


def _strings(values: list[str]) -> np.ndarray:
    """Return strings as an array. Raises ValueError for one that numpy would cut."""
    for value in values:
        if value.endswith("\0"):
            raise ValueError(f"y must hold strings that do not end in a zero byte; got {value!r}.")
    # a member of an Enum of strings has another str()
    return np.array([str.__str__(value) for value in values], dtype=np.str_)


def _shown(labels: Iterable[Any]) -> str:
    """Return a few labels as text."""
    listed = [repr(label) for label in labels]
    return ", ".join([*listed[:MOST_SHOWN], *[".."][: len(listed) > MOST_SHOWN]])
