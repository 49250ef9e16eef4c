"""Wall seconds of `solve` to a gap, beside a run with a fixed number of passes.

That run judges only the start and the end. Its number of passes is the one that a run needs if it
judges each pass. Unit rows; TopK(3) with C = 1, TopK(5) with 500 classes or more, whose separation
is 0.25; one thread. Short runs are repeated in turn: medians, and the lowest and highest ratio of a
pair. "method" is the time of the passes alone. "X W^T" is the time of this product by BLAS, or by
scipy for a sparse X: a pass over all rows takes at least that long, and so does judging. "top-1" is
the accuracy of the first run's W on the test part, where there is one.
"""

import time
from collections.abc import Iterator
from statistics import median

import numpy as np

import fwlab
from figures.benchmarks.timing import print_line
from fwlab.datasets import Dataset

DECADES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
SETS = {
    "digits": DECADES,
    "synthetic-a": (1e-5,),
    "synthetic-b": DECADES,
    "letter": (1e-5,),
    "news20": (1e-4,),
    "news20_svd1024": (1e-5,),
}
MANY_CLASSES = {
    (12000, 384, 500): DECADES,
    (12811, 384, 1000): (1e-4,),
    (50000, 768, 1000): (1e-3,),
}
N_TEST = 5000
REPEATS = 7
# seconds; longer runs are not repeated
SHORT = 3.0


def cases(
    quick: bool,
) -> Iterator[tuple[str, Dataset, fwlab.Loss, tuple[float, ...]]]:
    """Yield the name, the data, the loss and the gaps to reach; missing data sets are left out."""
    for name, gaps in list(SETS.items())[: 1 if quick else None]:
        try:
            data = fwlab.datasets.load(name, normalize="unit")
        except FileNotFoundError:
            continue
        yield name, data, fwlab.TopK(3), gaps
    for size, gaps in () if quick else MANY_CLASSES.items():
        data = fwlab.datasets.synthetic(*size, 0.25, rng=0, normalize="unit", n_test=N_TEST)
        yield " x ".join(map(str, size)), data, fwlab.TopK(5), gaps


def problem_on(data: fwlab.datasets.Dataset, loss: fwlab.Loss) -> fwlab.Problem:
    return fwlab.Problem(data.X_train, data.y_train, loss, 1 / len(data.y_train))


def row(name: str, data: Dataset, loss: fwlab.Loss, gap: float) -> list[str]:
    """Return one line of the table."""
    problem = problem_on(data, loss)
    needed = fwlab.solve(problem, tol=gap, check_every=1).nit
    pairs = []
    for _ in range(REPEATS):
        auto = fwlab.solve(problem, tol=gap)
        told = fwlab.solve(problem, tol=gap, check_every=needed, max_iter=needed)
        pairs.append((auto, told))
        if auto.wall_seconds > SHORT:
            break
    ratios = [auto.wall_seconds / told.wall_seconds for auto, told in pairs]
    seconds = [median(column) for column in zip(*(times(*pair) for pair in pairs), strict=True)]
    spread = f"{median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}]"
    passes = f"{auto.nit} / {needed}"
    W, once = np.asarray(auto.W), []
    for _ in range(REPEATS):
        began = time.perf_counter()
        problem.X @ W.T
        once.append(time.perf_counter() - began)
    seconds.append(median(once))
    shown = (f"{one:.3f}" for one in seconds)
    return [name, f"{gap:.0e}", passes, top1(data, W), *shown, spread]


def top1(data: Dataset, W: np.ndarray) -> str:
    """Return the accuracy on the test part, or a dash where there is none."""
    if data.X_test is None:
        return "-"
    return f"{np.mean(np.argmax(data.X_test @ W.T, axis=1) == data.y_test):.4f}"


def times(auto: fwlab.Result, told: fwlab.Result) -> tuple[float, float, float]:
    return auto.wall_seconds, told.wall_seconds, auto.seconds


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    seconds = ("wall", "fixed", "method", "X W^T", "wall / fixed")
    header = ("data", "gap", "passes / needed", "top-1", *seconds)
    print_line(header)
    print_line("---" for _ in header)
    for name, data, loss, gaps in cases(quick):
        for gap in gaps[: 2 if quick else None]:
            print_line(row(name, data, loss, gap))
