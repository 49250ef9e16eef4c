"""Warn about a feature that numbers the rows of a table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

FEWEST_ROWS = 10
ENDINGS = ("id", "index")  # of the names of such features


def warn_of_index(path: Path, X: Any, names: Sequence[str] | None) -> None:
    """Warn about features that seem to be an index of the rows of X (n, d), dense or sparse.

    Such a feature grows by one from row to row, or has the name of an index, names (d,), and a
    different whole number in each row.
    """
    if sparse.issparse(X) or len(X) < FEWEST_ROWS:
        return
    shown = [str(place + 1) for place in range(X.shape[1])] if names is None else names
    for name, values in zip(shown, X.T, strict=True):
        if (np.diff(values) == 1).all() or (name.lower().endswith(ENDINGS) and _numbers(values)):
            warnings.warn(
                f"{str(path)!r}: the feature {name} seems to be an index of the rows; remove it "
                "from the file if a machine should not learn from it.",
                stacklevel=4,  # at the caller of datasets.load
            )


def _numbers(values: np.ndarray) -> bool:
    """Return whether values (n,) are different whole numbers."""
    return bool((np.rint(values) == values).all()) and len(np.unique(values)) == len(values)
