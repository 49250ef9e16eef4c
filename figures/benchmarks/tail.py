"""Seconds of `ascent`, `newton` and `auto` to a small gap on ten data sets at three values of C.

Unit rows, top-3 (top-1 for two classes), one thread. If no single method reached the gap within its
time limit, the times are to the last power of ten that one of them reached. Short runs are
repeated, the methods in turn, and medians are shown. The last column divides the time of `auto` by
the best single method's. A star marks a set that was not used for tuning the rule that ends the
first phase.
"""

import math
from statistics import median
from typing import Any

import fwlab
from figures.benchmarks.timing import print_line

SETS = {
    "letter": "",
    "news20_svd1024": "",
    "synthetic-a": "",
    "synthetic-b": "",
    "digits": "*",
    "news20": "*",
    "fashion_mnist": "*",
    "caltech101_sil16_derived": "*",
    "spambase": "*",
    "winequality_white": "*",
}
CS = (0.01, 1.0, 100.0)
SINGLE = ("ascent", "newton")
AUTO = "auto"
REPEATS = 5
# a round is repeated if its first run took at most these seconds
SHORT = 10.0


def row(name: str, C: float, data: fwlab.datasets.Dataset, tol: float, limit: float) -> list[str]:
    """Return one line: the gap, the seconds of each method to it, and their ratio."""
    n, m = len(data.y_train), int(data.y_train.max()) + 1
    problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(min(3, m - 1)), 1 / (C * n))
    gap, first = one_round(problem, tol, limit)
    more = REPEATS - 1 if sum(first.values()) <= SHORT else 0
    rounds = [first, *(one_round(problem, tol, limit)[1] for _ in range(more))]
    seconds = {method: median(times[method] for times in rounds) for method in first}
    ratio = seconds[AUTO] / min(seconds[method] for method in SINGLE)
    times = (f"{one:.2f}" for one in seconds.values())
    return [name + SETS[name], f"{C:g}", f"{gap:.0e}", *times, f"{ratio:.2f}"]


def one_round(problem: fwlab.Problem, tol: float, limit: float) -> tuple[float, dict[str, float]]:
    """Return the gap and the seconds of each method to it, inf if it was not reached."""
    options: dict[str, Any] = {"max_iter": 10**6, "time_limit": limit}
    results = {
        method: fwlab.solve(problem, method, tol=tol, **options, check_every=1) for method in SINGLE
    }
    smallest = min(result.trace.gap.min() for result in results.values())
    gap = tol if smallest <= tol else 10.0 ** math.ceil(math.log10(smallest))
    options["time_limit"] = 2 * limit
    results[AUTO] = fwlab.solve(problem, AUTO, tol=gap, **options, check_every=1)
    return gap, {method: seconds_to(result.trace, gap) for method, result in results.items()}


def seconds_to(trace: fwlab.Trace, gap: float) -> float:
    """Return the seconds to the first checkpoint with at most this gap, inf if there is none."""
    return float(min(trace.seconds[trace.gap <= gap], default=math.inf))


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    tol, limit = (1e-6, 10.0) if quick else (1e-8, 120.0)
    header = ("data", "C", "gap", *SINGLE, AUTO, "auto / best")
    print(f"seconds to a gap of {tol:g}, at most {limit:g}, or to the gap shown")
    print_line(header)
    print_line("---" for _ in header)
    for name in SETS:
        data = fwlab.datasets.load(name, normalize="unit")
        for C in CS:
            print_line(row(name, C, data, tol, limit))
