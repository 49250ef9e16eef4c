"""Readings of News20 in K19 sections 7.1 to 7.3, which scale its 1024 features in no stated way.

Section 7.1 states lam = 1/n and k = 3; sections 7.2 and 7.3 state neither. To divide all rows by s
is to divide C = 1 / (lam n) by s^2, so a scaling is read as a C.
"""

import math
from typing import Any

import numpy as np

import fwlab
from figures.kit.readings import Reading
from figures.kit.traces import trace
from fwlab.experiments import Cell, DataName

NAME = "news20_svd1024"
UNIT, RAW, STANDARD = DataName(NAME, "unit"), DataName(NAME), DataName(NAME, "standard")
LARGEST, MEAN_SQUARE = "the largest norm", "the root mean square of the norms"
NO_SCALING, NO_LAM = "K19 7.1, no scaling", "K19 7.2 and 7.3, no lam"

ROWS_OF_LENGTH_1 = Reading("rows of length 1", {"data": UNIT}, NO_SCALING)
AS_THEY_ARE = Reading("rows as they are", {"data": RAW}, NO_SCALING)
BY_MEAN_SQUARE = Reading("rows of mean square 1", {"data": RAW, "divisor": MEAN_SQUARE}, NO_SCALING)
BY_LARGEST = Reading("rows of length at most 1", {"data": RAW, "divisor": LARGEST}, NO_SCALING)
STANDARDISED = Reading(
    "features of variance 1, rows of mean square 1",
    {"data": STANDARD, "divisor": MEAN_SQUARE},
    NO_SCALING,
)
SMALL_C = Reading("rows of length 1, C = 1e-3", {"data": UNIT, "C": 1e-3}, NO_LAM)
STATED_LAM = (ROWS_OF_LENGTH_1, AS_THEY_ARE, BY_MEAN_SQUARE, BY_LARGEST, STANDARDISED)
READINGS = (*STATED_LAM, SMALL_C)
# of a run, unless a script says otherwise
K, MAX_ITER, TOL = 3, 100, 1e-5
TOP_K = fwlab.TopK(K)
# distances are decimal logarithms of factors; within a factor of 2, because our News20 is made anew
TOLERANCE = math.log10(2)


def reading_cell(
    reading: Reading,
    method: str,
    smoothing: float = 0.0,
    max_iter: int = MAX_ITER,
    loss: fwlab.losses.Loss = TOP_K,
    loss_name: str = "",
) -> Cell:
    """Return a cell "READING|RUN" with the trace of a run; figures with equal runs share it."""
    settings = {"method": method, "smoothing": smoothing, "max_iter": max_iter, "loss": loss}
    name = f"{reading.name}|{run(method, smoothing, loss_name)}"
    return Cell(name, scaled_trace, {"tol": TOL, **reading.settings, **settings}, 5.0)


def run(method: str, smoothing: float = 0.0, loss_name: str = "") -> str:
    """Return the name of a run. loss_name: "" for the top-k hinge."""
    return f"{method}, smoothing {smoothing:g}{f', {loss_name}' if loss_name else ''}"


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
