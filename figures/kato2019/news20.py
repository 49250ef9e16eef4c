"""Readings of News20 in K19 sections 7.1 to 7.3, which scale its 1024 features in no stated way.

Section 7.1 states lam = 1/n and k = 3, and all three sections are about one data set, so that one
reading has to serve all of them: a scaling, and a smoothing that is gamma, as the text has it, or
n gamma, as the authors' program has it. To divide all rows by s is to divide C = 1 / (lam n) by
s^2, so a scaling is read as a C.
"""

import math
from typing import Any

import numpy as np

import fwlab
from figures.kit.readings import Program, Reading
from figures.kit.traces import trace
from fwlab.experiments import Cell, DataName

NAME = "news20_svd1024"
UNIT, RAW, STANDARD = DataName(NAME, "unit"), DataName(NAME), DataName(NAME, "standard")
LARGEST, MEAN_SQUARE = "the largest norm", "the root mean square of the norms"
NO_SCALING = "K19 7.1, no scaling"
# rows that train
N = 15_935
# (27) and (59) have gamma where the program has n gamma: in the scores and in the line search
SMOOTHED_BY_N = Program("hirohashi/wtopk cf9ccbd wtopk.py lines 70, 73", "K19 (27), gamma alone")
N_GAMMA = ", smoothing n gamma"

SCALINGS = (
    Reading("rows of length 1", {"data": UNIT}, NO_SCALING),
    Reading("rows of length at most 1", {"data": RAW, "divisor": LARGEST}, NO_SCALING),
    Reading(
        "features of variance 1, rows of mean square 1",
        {"data": STANDARD, "divisor": MEAN_SQUARE},
        NO_SCALING,
    ),
)
READINGS = (
    *SCALINGS,
    *(Reading(one.name + N_GAMMA, one.settings, program=SMOOTHED_BY_N) for one in SCALINGS),
)
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
    note: str = "",
) -> Cell:
    """Return a cell with the trace of a run; figures with equal runs share it.

    With n gamma the gap is (27), as in the program, because that of the smoothed problem is at most
    1 / (2 n gamma) at the start; a run does not stop by it, and meets its cap. With gamma the gap
    is that of the smoothed problem, which is at most (27).
    """
    settings = {"tol": TOL, **reading.settings, "method": method, "smoothing": smoothing}
    if reading.program and smoothing:
        settings |= {"tol": 0.0, "augmented": True, "smoothing": N * smoothing}
    name = cell_name(reading.name, method, smoothing, note)
    return Cell(name, scaled_trace, {**settings, "max_iter": max_iter, "loss": loss}, 5.0)


def cell_name(reading: str, method: str, smoothing: float = 0.0, note: str = "") -> str:
    """Return "SCALING|RUN". note: what tells it from the other runs of this method, if anything.

    Without smoothing, readings that have one scaling share their runs.
    """
    scaling = reading.removesuffix(N_GAMMA)
    times_n = " n" if smoothing and scaling != reading else ""
    return f"{scaling}|{method}, smoothing {smoothing:g}{times_n}{f', {note}' if note else ''}"


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
