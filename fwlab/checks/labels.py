"""Class labels of any kind, and the integers 0 .. m-1 that stand for them."""

from typing import Any

import numpy as np

from fwlab.arrays import Integers
from fwlab.checks.arguments import as_array, as_labels

FEW = 50  # samples, of which each may have a class of its own
KINDS = "integers, strings, truth values or whole numbers"


def encoded_labels(y: Any, n_classes: int | None = None) -> tuple[Integers, np.ndarray]:
    """Return the labels as integers 0 .. m-1, (n,), and the classes they stand for, (m,).

    Parameters
    ----------
    y : array (n,)
        Integers, strings, truth values or floats that are whole numbers. Their distinct values, in
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
    labels = plain_labels(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be 1-D; got shape {labels.shape}.")
    classes, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64), classes


def too_many_classes(labels: np.ndarray) -> bool:
    """Return whether labels (n,) are numbers of which most differ, as targets of a regression."""
    if labels.dtype.kind not in "iuf" or len(labels) < FEW:
        return False
    return bool(len(np.unique(labels)) > len(labels) / 2)


def plain_labels(y: Any) -> np.ndarray:
    """Return y as an array of integers, strings, truth values or whole floats."""
    labels = as_array("y", y)
    if labels.dtype.kind == "O":
        labels = of_one_kind(labels)
    if labels.dtype.kind == "f":
        broken = labels[~(np.floor(labels) == labels)]
        if len(broken):
            raise ValueError(
                f"y must hold class labels, that is {KINDS}; got the number {broken[0]}."
            )
    elif labels.dtype.kind not in "iubUS":
        raise TypeError(f"y must hold {KINDS}; got dtype {labels.dtype}.")
    return labels


def of_one_kind(labels: np.ndarray) -> np.ndarray:
    """Return an array of Python objects as one of strings or numbers."""
    flat = labels.ravel().tolist()
    kinds = {str if isinstance(label, str) else type(label) for label in flat}
    if len(kinds) > 1 or not kinds <= {str, int, float, bool}:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(f"y must hold labels of one kind, {KINDS}; got {names}.")
    return np.array(flat, dtype=kinds.pop() if kinds else int).reshape(labels.shape)


def codes_of(labels: Any, classes: np.ndarray) -> Integers:
    """Return the place of each label in the ascending classes, -1 for a label that is none."""
    known = plain_labels(labels)
    if (known.dtype.kind in "US") != (classes.dtype.kind in "US"):
        return np.full(known.shape, -1)
    places = np.searchsorted(classes, known).clip(max=len(classes) - 1)
    return np.where(classes[places] == known, places, -1)
