"""Readings of News20 in K19 sections 7.1 to 7.3, which scale its 1024 features in no stated way.

Section 7.1 states lam = 1/n and k = 3; sections 7.2 and 7.3 state neither. To divide all rows by s
is to divide C = 1 / (lam n) by s^2, so a scaling is read as a C.
"""

import math
from typing import Any

import numpy as np

from figures.kit.readings import Reading
from figures.kit.traces import trace
from fwlab.experiments import Cell, DataName

NAME = "news20_svd1024"
UNIT, RAW, STANDARD = DataName(NAME, "unit"), DataName(NAME), DataName(NAME, "standard")
LARGEST, MEAN_SQUARE = "the largest norm", "the root mean square of the norms"
NO_SCALING, NO_LAM = "K19 7.1, no scaling", "K19 7.2 and 7.3, no lam"

ROWS_OF_LENGTH_1 = Reading("rows of length 1", {"data": UNIT}, NO_SCALING)
AS_THEY_ARE = Reading("rows as they are", {"data": RAW}, NO_SCALING)
BY_MEAN_SQUARE = Reading(
    f"rows divided by {MEAN_SQUARE}", {"data": RAW, "divisor": MEAN_SQUARE}, NO_SCALING
)
BY_LARGEST = Reading(f"rows divided by {LARGEST}", {"data": RAW, "divisor": LARGEST}, NO_SCALING)
STANDARDISED = Reading(
    f"features of variance 1, rows divided by {MEAN_SQUARE}",
    {"data": STANDARD, "divisor": MEAN_SQUARE},
    NO_SCALING,
)
SMALL_C = Reading("rows of length 1, C = 1e-3", {"data": UNIT, "C": 1e-3}, NO_LAM)
STATED_LAM = (ROWS_OF_LENGTH_1, AS_THEY_ARE, BY_MEAN_SQUARE, BY_LARGEST, STANDARDISED)
READINGS = (*STATED_LAM, SMALL_C)
# iterations of a run, unless a script says otherwise
MAX_ITER, TOL = 100, 1e-5
# distances are decimal logarithms of factors; within a factor of 2, because our News20 is made anew
TOLERANCE = math.log10(2)


def reading_cell(
    reading: Reading, run: str, max_iter: int = MAX_ITER, cost: float = 5.0, **settings: Any
) -> Cell:
    """Return a cell "READING|RUN" with the trace of a run under a reading."""
    settings = {"tol": TOL, "max_iter": max_iter, **reading.settings, **settings}
    return Cell(f"{reading.name}|{run}", scaled_trace, settings, cost)


def scaled_trace(
    data: DataName, divisor: str = "", C: float = 1.0, **settings: Any
) -> dict[str, Any]:
    """Return `trace` with all rows divided by LARGEST or MEAN_SQUARE of their norms."""
    return trace(data, C=C / length(data.load().X_train, divisor) ** 2, **settings)


def length(X: np.ndarray, divisor: str) -> float:
    """Return what all rows of X (n, d) are divided by; 1 if there is no divisor."""
    squares = np.einsum("ij,ij->i", X, X)
    return {
        "": 1.0,
        LARGEST: float(np.sqrt(squares.max())),
        MEAN_SQUARE: float(np.sqrt(squares.mean())),
    }[divisor]


def factor(ours: float, printed: float) -> float:
    """Return |log10 ours / printed|, infinite where ours is not a positive number."""
    return abs(math.log10(ours / printed)) if 0 < ours < math.inf else math.inf


def excess(ours: float, printed: float) -> float:
    """Return log10 ours / printed where ours is larger, else 0."""
    return max(0.0, math.log10(ours / printed))
