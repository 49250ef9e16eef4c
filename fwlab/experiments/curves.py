"""Compute the curves of a comparison: one for each run, and a median with its range for several.

At any x a run is worth the smallest value that it has certified so far. After its last checkpoint
it keeps this value. At each x, several runs have the median and the range of these values; the
curve begins where the last run has its first value.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.plot import GAP, rounding_floor
from fwlab.result import Result

# what x can be, and the label of its axis
X_LABELS = {
    "iteration": "iterations (each sees all n rows at least once)",
    "cpu": "CPU seconds (judging excluded)",
    "wall": "seconds (judging excluded)",
    "calls": "oracle calls (LMO and projections)",
    "passes": "passes over X: rows of scores / n",
}
# what y can be: the gap, or what it bounds
Y_LABELS = {
    "gap": GAP,
    "primal": "primal \N{MINUS SIGN} best dual of all runs",
    "dual": "best primal of all runs \N{MINUS SIGN} dual",
}
# points of a median; more cannot be told apart
MOST_POINTS = 400


class Curve(NamedTuple):
    """The checkpoints of a run, each of shape (checkpoints,).

    floor is one unit of rounding of the objectives (fwlab.plot.rounding_floor).
    """

    iteration: Integers
    x: Floats
    y: Floats
    floor: Floats

    @property
    def drawn(self) -> "Curve":
        """The part from iteration 1 on with a positive x, as logarithmic axes show it."""
        kept = (self.iteration > 0) & (self.x > 0)
        return Curve(self.iteration[kept], self.x[kept], self.y[kept], self.floor[kept])


class Band(NamedTuple):
    """The median, the smallest and the largest value of several runs at each x, all (points,)."""

    x: Floats
    median: Floats
    low: Floats
    high: Floats


def x_of(result: Result, x: str, n: int) -> Floats:
    """Return the x of each checkpoint, nan where it was not recorded; n is the samples' number."""
    trace = result.trace
    if x == "passes":
        return _column(trace.n_rows, len(trace.gap)) / n
    found = {
        "iteration": trace.iteration,
        "cpu": trace.cpu_seconds,
        "wall": trace.seconds,
        "calls": trace.calls,
    }[x]
    return _column(found, len(trace.gap))


def _column(values: Floats | Integers | None, length: int) -> Floats:
    return np.full(length, np.nan) if values is None else np.asarray(values, dtype=np.float64)


def best_values(results: Sequence[Result]) -> tuple[float, float]:
    """Return the lowest primal and the highest dual value of all runs; they bound the optimum."""
    primals = [float(np.nanmin(result.trace.primal)) for result in results]
    duals = [float(np.nanmax(result.trace.dual)) for result in results]
    return min(primals), max(duals)


def curve(result: Result, x: str, y: str, n: int, best: tuple[float, float]) -> Curve:
    """Return the curve of a run; `best` are the values of all runs of its problem."""
    trace = result.trace
    lowest, highest = best
    values = {
        "gap": trace.gap,
        "primal": trace.primal - highest,
        "dual": lowest - trace.dual,
    }[y]
    floor = rounding_floor(trace.primal, trace.dual)
    return Curve(trace.iteration, x_of(result, x, n), values, floor)


def curves_of(
    runs: Mapping[str, Sequence[Result]], x: str, y: str, n: int
) -> dict[str, list[Curve]]:
    """Return the drawn curves of the runs of a problem, by method.

    Runs without points are left out; n is the number of samples.
    """
    results = [result for group in runs.values() for result in group]
    if not results:
        return {}
    best = best_values(results)
    found = {
        method: [curve(result, x, y, n, best).drawn for result in group]
        for method, group in runs.items()
    }
    return {method: [c for c in curves if len(c.x)] for method, curves in found.items()}


def band(curves: Sequence[Curve]) -> Band:
    """Return the median and the range of the drawn curves of several runs."""
    steps = [(c.x, np.minimum.accumulate(np.maximum(c.y, c.floor))) for c in curves]
    begin = max(x[0] for x, _ in steps)
    grid = np.unique(np.concatenate([x for x, _ in steps]))
    grid = grid[grid >= begin]
    if len(grid) > MOST_POINTS:
        places = np.geomspace(1, len(grid), MOST_POINTS).round().astype(int) - 1
        grid = grid[np.unique(places)]
    values = np.array([y[np.searchsorted(x, grid, side="right") - 1] for x, y in steps])
    return Band(grid, np.median(values, axis=0), values.min(axis=0), values.max(axis=0))
