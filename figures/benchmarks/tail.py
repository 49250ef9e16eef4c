"""Seconds of `ascent`, `newton` and `auto` to a small gap on ten data sets at three values of C.

Unit rows, top-3 (top-1 for two classes), one thread. Every run ends at the gap or at its time
limit. The last column is the time of `auto` over that of the best single method. A set
that is not tuned on has a star: the rule that ends the first phase was made on the others.
"""

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
METHODS = ("ascent", "newton", "auto")


def row(name: str, C: float, data: fwlab.datasets.Dataset, tol: float, limit: float) -> list[str]:
    """One line: seconds a method, with the gap where the limit came first."""
    n, m = len(data.y_train), int(data.y_train.max()) + 1
    problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(min(3, m - 1)), 1 / (C * n))
    seconds, cells = {}, []
    for method in METHODS:
        result = fwlab.solve(problem, method, tol=tol, max_iter=10**6, time_limit=limit)
        seconds[method] = result.seconds if result.success else float("inf")
        cells.append(f"{result.seconds:.2f}" if result.success else f"(gap {result.gap:.0e})")
    best = min(seconds["ascent"], seconds["newton"])
    ratio = seconds["auto"] / best if best < float("inf") else float("nan")
    return [name + SETS[name], f"{C:g}", *cells, f"{ratio:.2f}"]


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    tol, limit = (1e-6, 10.0) if quick else (1e-8, 120.0)
    header = ("data", "C", *METHODS, "auto / best")
    print(f"seconds to a gap of {tol:g}, at most {limit:g}")
    print_line(header)
    print_line("---" for _ in header)
    for name in SETS:
        data = fwlab.datasets.load(name, normalize="unit")
        for C in CS:
            print_line(row(name, C, data, tol, limit))
