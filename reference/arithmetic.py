"""Vectors of fractions: object arrays that hold exact numbers."""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np


def fractions(numbers: Iterable) -> np.ndarray:
    """Return an object array of the same shape that holds the numbers as Fractions."""
    given = np.asarray(numbers)
    exact = np.empty(given.shape, dtype=object)
    exact.ravel()[:] = [Fraction(x) for x in given.ravel().tolist()]
    return exact


def inner(a: np.ndarray, b: np.ndarray) -> Fraction:
    """Return <a, b> of two object arrays; zeros, which are common, are skipped."""
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction())
