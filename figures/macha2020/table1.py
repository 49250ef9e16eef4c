"""M20 Table 1: measured exponents of a repeat loop of Algorithm 3.1, beside the stated ones.

The kernel matrix is stored, or its columns are computed when needed; n and d grow separately.
"""

from pathlib import Path
from typing import Any

import numpy as np

from figures.benchmarks.pair_steps import loop_parts
from figures.benchmarks.timing import milliseconds
from figures.kit.captions import Caption
from figures.kit.exponents import NEAR, Growth, bound_distances, exponent_table
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.readings import Reading, Tried
from figures.kit.study import Study
from figures.macha2020.printed import TABLE_1
from fwlab import ranking
from fwlab.experiments import Cell

AXES = ("n", "d")
FIXED = {"n": 2000, "d": 512}
FACTORS = (0.25, 0.5, 1, 2, 4)
GROWTH = {"quick": (0.0625, 0.125, 0.25), "standard": FACTORS, "full": FACTORS}
REPEATS = {"quick": 5, "standard": 101, "full": 1001}
OBJECTIVE = ranking.TopPushK(5)
SECONDS = {"quick": 2, "standard": 25, "full": 150}
ALONE = True  # times are compared


def loop_times(kernel: str, n: int, d: int, repeats: int) -> dict[str, float]:
    """Return the milliseconds of the parts of a loop and of a whole one.

    The evaluation of one step is the evaluation of all n, divided by n. `kernel` is "stored" or
    "not stored".
    """
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, d)), (np.arange(n) % 3 == 0).astype(int)
    if kernel == "stored":
        problem = ranking.Problem(X @ X.T, y, OBJECTIVE, 1.0, "precomputed")
    else:
        problem = ranking.Problem(X, y, OBJECTIVE, 1.0)
    times = milliseconds(loop_parts(problem, rng), repeats)
    return {**times, "evaluation of one step": times["evaluation of one step"] / n}


def cells(size: str) -> list[Cell]:
    return [
        Cell(
            f"{kernel}|{axis}|{factor}",
            loop_times,
            {
                "kernel": kernel,
                **FIXED,
                axis: int(FIXED[axis] * factor),
                "repeats": REPEATS[size],
            },
            cost=factor,
        )
        for kernel in TABLE_1
        for axis in AXES
        for factor in GROWTH[size]
    ]


def growths(values: dict[str, Any], size: str) -> list[Growth]:
    """Return the times of all parts of a loop as n and d grow."""
    return [
        Growth(
            (kernel, part),
            stated,
            [[values[f"{kernel}|{axis}|{f}"][part] for f in GROWTH[size]] for axis in AXES],
        )
        for kernel, bounds in TABLE_1.items()
        for part, stated in bounds.items()
    ]


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Return the finding: no measured exponent is above the stated one."""
    distances = bound_distances(AXES, GROWTH[size], growths(values, size))
    what = f"exponents with an interval that is at most {NEAR:g} above the stated bound"
    one = Tried(Reading("", source="M20 Table 1"), distances)
    return judge([one], NEAR, what, claims=("M20-complexity",))


def plot(study: Study) -> list[Path]:
    header, found = ("kernel matrix", "part of a loop"), growths(study.values, study.size)
    table, agreement = exponent_table(header, AXES, GROWTH[study.size], found)
    return study.save_table(table, caption(study.size, agreement))


def caption(size: str, agreement: str) -> Caption:
    return Caption(
        title="M20 Table 1: measured exponents of a repeat loop, synthetic numbers",
        shows=(
            "Slope of log(CPU time) against log n or log d, ours (the stated exponent, "
            "difference), and half the width of its 95% confidence interval. One step is "
            "evaluated for all n partners at once, and its time is an n-th of that."
        ),
        settings=(
            f"standard normal rows, a third positive, linear kernel, {OBJECTIVE!r}, C = 1; "
            f"n = {FIXED['n']}, d = {FIXED['d']}, the growing one from {GROWTH[size][0]} to "
            f"{GROWTH[size][-1]} times that; median of {REPEATS[size]}, one thread, seed 0."
        ),
        agreement=agreement,
    )
