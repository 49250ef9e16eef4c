"""T20 Table 3: measured exponents of each line of Algorithm 1, beside the stated complexities.

Each line is one numpy expression on arrays of the paper's shapes, for general joint features
(n, d, m) and for psi(x, j) = e_j (x) x with d = m d_0, n, m and d growing one after the other.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from figures.benchmarks.timing import milliseconds
from figures.kit.captions import Caption
from figures.kit.exponents import NEAR, Growth, bound_distances, exponent_table
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.readings import Reading, Tried
from figures.kit.study import Study
from figures.tajima2020.machines import LOSS
from figures.tajima2020.printed import LINE_6, TABLE_3
from fwlab.experiments import Cell

AXES = ("n", "m", "d")
SMOOTHING, STEP = 0.01, 0.1
FIXED = {
    "general": {"n": 1000, "m": 64, "d": 128},
    "special": {"n": 4000, "m": 64, "d": 8192},
}
FACTORS = (0.25, 0.5, 1, 2, 4)
GROWTH = {"quick": (0.125, 0.25, 0.5), "standard": FACTORS, "full": FACTORS}
REPEATS = {"quick": 3, "standard": 15, "full": 101}
SECONDS = {"quick": 3, "standard": 15, "full": 90}
ALONE = True  # times are compared


def line_times(kind: str, n: int, m: int, d: int, repeats: int) -> dict[str, float]:
    """Milliseconds of each line."""
    rng = np.random.default_rng(0)
    A, U, scores = rng.standard_normal((3, n, m))
    y = rng.integers(0, m, n)
    products = general_lines if kind == "general" else special_lines
    calls = {**products(rng, A, d), **either_lines(A, U, scores, y, rng.standard_normal(d))}
    return milliseconds({str(line): calls[line] for line in sorted(calls)}, repeats)


Lines = dict[int, Callable[[], object]]


def general_lines(rng: np.random.Generator, A: np.ndarray, d: int) -> Lines:
    """Lines 3, 5 and 9 with features psi(x_i, j) in R^d, one matrix (m, d) a sample."""
    n, m = A.shape
    psi, w = rng.standard_normal((n * m, d)), rng.standard_normal(d)
    return {
        3: lambda: A.ravel() @ psi,
        5: lambda: (psi @ w).reshape(n, m) - SMOOTHING * A,
        9: lambda: A.ravel() @ psi,
    }


def special_lines(rng: np.random.Generator, A: np.ndarray, d: int) -> Lines:
    """Lines 3, 5 and 9 with x_i in R^{d/m} and one weight vector per class."""
    n, m = A.shape
    X, W = rng.standard_normal((n, d // m)), rng.standard_normal((m, d // m))
    return {3: lambda: A.T @ X, 5: lambda: X @ W.T - SMOOTHING * A, 9: lambda: A.T @ X}


def either_lines(
    A: np.ndarray, U: np.ndarray, scores: np.ndarray, y: np.ndarray, w: np.ndarray
) -> Lines:
    """The lines that do not touch the features; w stands for Delta w."""
    rows = np.arange(len(y))
    moved = A.copy()

    def line_10() -> float:
        slope = U[rows, y].sum() - np.vdot(U, scores)
        return float(slope / (w @ w + np.vdot(U, U)))

    def line_12() -> None:
        moved.__iadd__(STEP * U)

    return {
        6: lambda: LOSS.subgradient(scores, y),
        7: lambda: U - A,
        10: line_10,
        12: line_12,
    }


def cells(size: str) -> list[Cell]:
    found = []
    for kind, fixed in FIXED.items():
        for axis in AXES:
            for factor in GROWTH[size]:
                shape = {**fixed, axis: int(fixed[axis] * factor)}
                settings = {"kind": kind, **shape, "repeats": REPEATS[size]}
                found.append(Cell(f"{kind}|{axis}|{factor}", line_times, settings, cost=factor))
    return found


def growths(values: dict[str, Any], size: str) -> list[Growth]:
    """Return the times of all lines as each size grows."""
    return [
        Growth(
            (kind, f"Line {number}"),
            bounds.get(number, LINE_6),
            [[values[f"{kind}|{axis}|{f}"][str(number)] for f in GROWTH[size]] for axis in AXES],
        )
        for kind, bounds in TABLE_3.items()
        for number in sorted({*bounds, 6})
    ]


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Return the finding: no measured exponent is above the stated one."""
    distances = bound_distances(AXES, GROWTH[size], growths(values, size))
    what = f"exponents with an interval that is at most {NEAR:g} above the stated bound"
    one = Tried(Reading("", source="T20 Table 3"), distances)
    return judge([one], NEAR, what, claims=("T20-table3",))


def plot(study: Study) -> list[Path]:
    found = growths(study.values, study.size)
    table, agreement = exponent_table(("case", "line"), AXES, GROWTH[study.size], found)
    return study.save_table(table, caption(study.size, agreement))


def caption(size: str, agreement: str) -> Caption:
    fixed = "; ".join(
        f"{kind}: {', '.join(f'{axis} = {value}' for axis, value in sizes.items())}"
        for kind, sizes in FIXED.items()
    )
    return Caption(
        title="T20 Table 3: measured exponents of the lines of Algorithm 1, synthetic numbers",
        shows=(
            "Slope of log(CPU time) against the log of n, m or d, ours (the stated exponent, "
            "difference), and half the width of its 95% confidence interval. d is the length of "
            "the joint features: in the special case d = m d_0, so that m grows at fixed d. Line "
            "10, O(mn + d), is compared with its first term, line 6 with the O(m log m) a sample "
            "of the text."
        ),
        settings=(
            f"standard normal numbers, seed 0; {fixed}; the growing size from {GROWTH[size][0]} to "
            f"{GROWTH[size][-1]} times that; median of {REPEATS[size]}, one thread."
        ),
        agreement=agreement,
    )
