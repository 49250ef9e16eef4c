"""See whether the labels of a table without their name are in another column than the last."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fwlab.arrays import Floats
from fwlab.checks.labels import too_many_classes
from fwlab.datasets.csv_header import NAME_IT, WRITE_HEADER
from fwlab.datasets.csv_rows import is_number
from fwlab.datasets.row_index import FEWEST_ROWS
from fwlab.datasets.text_labels import codes_of_texts


def refuse_label_first(path: Path, first: np.ndarray, last: np.ndarray) -> None:
    """Raise ValueError if the labels seem to be in the first column and not in the last one.

    The first column then holds few whole numbers, and the last one a single number, fractions, or
    too many different numbers.
    """
    if last.dtype.kind not in "iuf" or not np.isfinite(last).all():
        return
    m = len(np.unique(first))
    few = (first == np.rint(first)).all() and 2 <= m <= max(2, len(first) // 2)
    fractions = (last != np.rint(last)).any()
    if few and (fractions or len(np.unique(last)) == 1 or too_many_classes(last)):
        kind = "fractions" if fractions else f"{len(np.unique(last))} different numbers"
        raise ValueError(
            f"{str(path)!r}: the label seems to be in column 1, which holds {m} different whole "
            f"numbers, not in the last one, which holds {kind}; move it to the end, or {NAME_IT}."
        )


def refuse_label_not_last(
    path: Path, X: Floats, labels: Sequence[str], classes: np.ndarray
) -> None:
    """Raise ValueError if the columns seem to be an index, or the label, and then the features.

    X (n, d) are all columns except the last one, whose cells are the labels. The last column may be
    a feature if it holds numbers that are none of the classes. The first one may be an index if it
    numbers the rows, and the label if it holds classes.
    """
    last = np.array([float(label) if is_number(label) else np.nan for label in labels])
    unknown = codes_of_texts(labels, classes) < 0
    if not np.isfinite(last).all() or not unknown.any():
        return
    what = _in_first_column(X[:, 0], last, bool(unknown.all()), classes)
    if what:
        raise ValueError(
            f"{str(path)!r}: the last column holds {labels[int(unknown.argmax())]}, which is no "
            f"class of the model, and column 1 {what}; if it is a feature, "
            f"{WRITE_HEADER}."
        )


def _in_first_column(first: Floats, last: Floats, all_unknown: bool, classes: np.ndarray) -> str:
    """Return what the first column seems to be if the last one is a feature, "" for a feature.

    A last column of one number from -1 to 1 holds labels that are to be filled in.
    """
    found, fractions, many = np.unique(first), last != np.rint(last), len(first) >= FEWEST_ROWS
    to_fill_in = len(np.unique(last)) == 1 and last[0] in (-1, 0, 1)
    differ = len(found) == len(first) and bool((first == np.rint(first)).all())
    strange = all_unknown and not to_fill_in
    if (differ and (strange or (many and not to_fill_in))) or (
        many and (np.diff(first) == 1).all()
    ):
        return "seems to number the rows; remove it"
    only_classes = classes.dtype.kind != "U" and np.isin(found, classes).all()
    if only_classes and (strange or len(found) > 2):
        return f"holds only classes; move it to the end, or {NAME_IT}"
    return "may be an index; remove it" if fractions.mean() > 0.5 else ""
