"""Real data of our own figures, and random parts of them that are small enough for many runs."""

from typing import Any

import numpy as np

from fwlab.experiments import DataName

DIGITS = {"digits": DataName("digits", "unit")}
REAL = {
    **DIGITS,
    "letter": DataName("letter", "unit"),
    "News20": DataName("news20_svd1024", "unit"),
    "Fashion": DataName("fashion_mnist", "unit"),
}


def random_rows(data: DataName, n: int) -> tuple[Any, np.ndarray]:
    """Return X (n, d) and y (n,) of random training rows, the same for every caller."""
    part = data.load()
    rows = np.random.default_rng(0).permutation(len(part.y_train))[:n]
    return part.X_train[rows], part.y_train[rows]
