"""Wall seconds of `solve` with one thread and with several.

The numbers of samples, features and classes come first; TopK(3), C = 1, dense rows of length 1.
Every fifth iteration is judged. The two runs take turns: medians, and the lowest and highest ratio
of a pair. A second table has runs of `ascent` to a relative gap of 1e-3; with two or more threads
they visit groups of rows in parallel; the groups do not depend on the number of threads. The rows
of a group see the same W, and reaching the gap takes about 1.3 times the work (a separate
measurement), so two threads take at best 0.65 of one thread's time.
"""

import os
from collections.abc import Iterator
from statistics import median

import scipy.sparse

import fwlab
from figures.benchmarks.timing import print_line

SIZES = ((16000, 1024, 20), (12811, 384, 1000))
SPARSE = (20000, 50000, 100)
DENSITY = 2e-3
GAP = 1e-3
TO_GAP = ((12000, 384, 500), (49152, 768, 1000))
ITERATIONS = {"fw": 10, "pfw": 10, "ascent": 5}
REPEATS = 5


def problems(quick: bool) -> Iterator[tuple[str, fwlab.Problem]]:
    """Yield the name and the problem."""
    for size in SIZES[: 1 if quick else None]:
        data = fwlab.datasets.synthetic(*size, 0.1, rng=0, normalize="unit")
        yield " x ".join(map(str, size)), problem_on(data.X_train, data.y_train)
    if not quick:
        n, d, m = SPARSE
        X = scipy.sparse.random(n, d, DENSITY, format="csr", random_state=0)
        labels = fwlab.datasets.synthetic(n, 2, m, 0.1, rng=0).y_train
        yield f"{n} x {d} x {m}, sparse", problem_on(X, labels)


def problem_on(X: object, y: object) -> fwlab.Problem:
    return fwlab.Problem(X, y, fwlab.TopK(3), C=1.0)


def seconds(problem: fwlab.Problem, method: str, n_threads: int) -> float:
    """Return the wall seconds of a run."""
    most = ITERATIONS[method]
    run = fwlab.solve(
        problem, method, tol=0.0, max_iter=most, check_every=5, n_threads=n_threads, rng=0
    )
    return run.wall_seconds


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    header = ("data", "method", "one thread", "two", "one / two")
    print_line(header)
    print_line("---" for _ in header)
    cores = os.cpu_count() or 1
    if cores < 2:
        print_line(("one processor only", *("" for _ in header[1:])))
        return
    for name, problem in problems(quick):
        for method in ITERATIONS:
            seconds(problem, method, 1)  # loads the kernels
            pairs = [
                (seconds(problem, method, 1), seconds(problem, method, 2))
                for _ in range(2 if quick else REPEATS)
            ]
            one, two = (median(column) for column in zip(*pairs, strict=True))
            ratios = sorted(a / b for a, b in pairs)
            spread = f"{median(ratios):.2f} [{ratios[0]:.2f}, {ratios[-1]:.2f}]"
            print_line((name, method, f"{one:.3f}", f"{two:.3f}", spread))
    if quick:
        return
    print()
    print_line(("data", "threads", "passes", "seconds", "part of one thread's"))
    print_line("---" for _ in range(5))
    for size in TO_GAP[: 1 if cores < 8 else 2]:
        to_gap(size, [1, *(count for count in (2, 4, 8, 16) if count <= cores)])


def to_gap(size: tuple[int, int, int], numbers: list[int]) -> None:
    """Print a line for each number of threads."""
    data = fwlab.datasets.synthetic(*size, 0.25, rng=0, normalize="unit")
    problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(5), C=1.0)
    for count in numbers[:2]:
        fwlab.solve(problem, "ascent", tol=0.0, max_iter=1, n_threads=count)
    runs = [
        [
            fwlab.solve(problem, "ascent", tol=GAP, relative=True, n_threads=count, rng=0)
            for count in numbers
        ]
        for _ in range(REPEATS)
    ]
    for column, count in enumerate(numbers):
        seconds = median(row[column].wall_seconds for row in runs)
        part = median(row[column].wall_seconds / row[0].wall_seconds for row in runs)
        passes = str(runs[0][column].nit)
        print_line(
            (" x ".join(map(str, size)), str(count), passes, f"{seconds:.2f}", f"{part:.2f}")
        )
