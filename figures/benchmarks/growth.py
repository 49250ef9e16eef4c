"""How a pass of `ascent` grows with n, d, m and k, each over two decades with the others fixed.

Synthetic data, unit rows, lam = 1/n, CPU times of one thread. The exponent is the slope of a line
through the logarithms: 1 is linear growth.
"""

import numpy as np

import fwlab
from figures.benchmarks.timing import iteration, milliseconds
from fwlab.text import format_table

FIXED = {"n": 2000, "d": 256, "m": 30, "k": 3}
GROWING = {
    "n": (200, 600, 2000, 6000, 20_000),
    "d": (16, 50, 160, 500, 1600),
    "m": (10, 30, 100, 300, 1000),
    "k": (1, 3, 10, 30, 100),
}
# k may not exceed the number of classes
CLASSES_FOR_K = 128


def sizes(name: str, value: int) -> dict[str, int]:
    """The sizes of a cell: one is changed."""
    m = CLASSES_FOR_K if name == "k" else FIXED["m"]
    return {**FIXED, "m": m, name: value}


def problem(n: int, d: int, m: int, k: int) -> fwlab.Problem:
    data = fwlab.datasets.synthetic(n, d, m, 0.5, rng=0, normalize="unit")
    return fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(k), 1 / n, n_classes=m)


def run(quick: bool) -> None:
    """Print a line a size that grows."""
    rows = []
    for name, values in GROWING.items():
        values = values[:2] if quick else values
        calls = {
            str(v): iteration(problem(**sizes(name, v)), "ascent", shrink=False) for v in values
        }
        times = milliseconds(calls, 3 if quick else 9)
        cells = [f"{value}: {times[str(value)]:.2f}" for value in values]
        exponent = np.polyfit(np.log(values), np.log(list(times.values())), 1)[0]
        rows.append((name, f"{exponent:.2f}", ", ".join(cells)))
    print(format_table(("grows", "exponent", "ms a pass at each size"), rows, right=("exponent",)))
