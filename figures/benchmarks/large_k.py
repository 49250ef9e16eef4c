"""Milliseconds of a pass of `ascent` with large k, and with few features.

An exact step projects a row onto its loss's domain. For 5 classes of 200 it moves a few entries of
A, for 150 almost all of them; with 16 features the products no longer hide it. Unit rows, class
separation 0.25, C = 1, CPU time of one thread, a pass over all rows after eight others; the losses
of a size in turn, medians. "changed" counts the entries of A that the pass changes in a row, and
"flops" adds their updates of W to the products with all m classes: (m + changed) d for each row, in
units of the first k. Most of the extra time of a pass with k = 150 is due to these flops; the rest
is its projection.
"""

import numpy as np

import fwlab
from figures.benchmarks.timing import iteration, milliseconds
from fwlab.text import format_table

# samples, features, classes, and the k of each loss; the first one is the unit
SIZES = {(3000, 256, 200): (5, 1, 20, 150), (3000, 16, 32): (3, 5), (12000, 16, 26): (3, 5)}
BEFORE, REPEATS = 8, 15


def changes(problem: fwlab.Problem) -> float:
    """Return the mean number of entries per row that the pass after the first eight changes."""
    points = [
        np.asarray(fwlab.solve(problem, "ascent", tol=0.0, max_iter=passes, shrink=False).A)
        for passes in (BEFORE, BEFORE + 1)
    ]
    return float(np.mean(np.count_nonzero(points[1] - points[0], axis=1)))


def run(quick: bool) -> None:
    """Print the table."""
    rows = []
    for size, ks in list(SIZES.items())[-1:] if quick else SIZES.items():
        data = fwlab.datasets.synthetic(*size, 0.25, rng=0, normalize="unit")
        problems = {k: fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(k), C=1.0) for k in ks}
        calls = {
            str(k): iteration(problem, "ascent", shrink=False) for k, problem in problems.items()
        }
        for call in calls.values():
            for _ in range(BEFORE):
                call()
        times = milliseconds(calls, 3 if quick else REPEATS)
        unit, changed = times[str(ks[0])], {k: changes(one) for k, one in problems.items()}
        for k in ks:
            one, flops = times[str(k)], (size[2] + changed[k]) / (size[2] + changed[ks[0]])
            cells = (f"{one:.2f}", f"{1e3 * one / size[0]:.2f}", f"{one / unit:.2f}")
            counts = (f"{changed[k]:.1f}", f"{flops:.2f}")
            rows.append((" x ".join(map(str, size)), str(k), *cells, *counts))
    header = ("n x d x m", "k", "ms", "us a row", "of the first k", "changed", "flops")
    print(format_table(header, rows, right=header[1:]))
