"""Hold the contents of a data file, as a reader returns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Part = tuple[Any, np.ndarray]  # X dense (n, d) or CSR, y (n,)
Parts = dict[str, Part]  # "train", and "valid" and "test" if there are such parts


@dataclass(frozen=True, eq=False)
class Contents:
    """The parts of a file, with the labels as it writes them, and what it says of its columns.

    A .csv header gives `feature_names` and `label_name`; `index_base` is the index of the first
    feature in a LIBSVM file.
    """

    parts: Parts
    feature_names: tuple[str, ...] | None = None
    label_name: str | None = None
    index_base: int | None = None
