"""CPU seconds and memory to a certified relative gap of 1e-6: ranking machines on M20's data sets.

The training halves of the four UCI sets, raw and standardised, with the linear kernel and with
exp(-0.05 |x - z|^2); then the first 50 000 rows of Fashion-MNIST, pixels in [0, 1], class 0
positive, with exp(-0.01 |x - z|^2). M20 4.2 has both numbers; the second is also one
over the sum of the variances of the pixels. C = 1, one thread, the default method. Each line is
made by a separate process; its peak memory includes the data and the library.
"""

import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

from figures.benchmarks.timing import print_line
from fwlab import datasets, ranking

UCI = ("ionosphere", "spambase", "winequality_white", "winequality_red")
UCI_OBJECTIVES = (
    ranking.TopPush(),
    ranking.TopPushK(10),
    ranking.TopPushK(5, "hinge"),
    ranking.PatMat(0.05),
    ranking.PatMat(0.1, "hinge"),
)
FASHION_OBJECTIVES = (ranking.TopPush(), ranking.TopPushK(5), ranking.PatMat(0.01))
FASHION_ROWS = 50_000
FASHION_MEMORY = 3 * 2**30
KERNELS = {"linear": None, "rbf": 0.05}
TOL = 1e-6
HEADER = (
    "data", "kernel", "objective", "n", "gap", "CPU s", "iterations", "alpha > 0", "beta > 0",
    "peak GB", "method",
)  # fmt: skip


def training_set(name: str, normalize: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Return X, and y in {0, 1}."""
    data = datasets.load(name, normalize=normalize)
    if name != "fashion_mnist":
        return data.X_train, data.y_train
    return data.X_train[:FASHION_ROWS] / 255, (data.y_train[:FASHION_ROWS] == 0).astype(int)


def line(name: str, normalize: str | None, objective: Any, options: dict[str, Any]) -> list[str]:
    """Return one line of the table."""
    X, y = training_set(name, normalize)
    start = time.process_time()
    result = ranking.solve(X, y, objective, 1.0, tol=TOL, **options)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    # the interior-point method leaves all variables above 0
    support = [
        str(np.count_nonzero(part > 1e-6 * part.max())) for part in (result.alpha, result.beta)
    ]
    gap = result.gap / max(abs(result.primal), abs(result.dual))
    return [
        f"{name} {normalize or 'raw'}",
        options["kernel"],
        described(objective),
        str(len(y)),
        f"{gap:.1e}" if result.success else f"not met: {gap:.1e}",
        f"{seconds:.2f}",
        str(result.nit),
        *support,
        f"{peak:.2f}",
        result.method,
    ]


def described(objective: Any) -> str:
    """Return the name of an objective, such as PatMat(tau = 0.05), and ", hinge" if it has that."""
    hinge = ", hinge" if objective.surrogate == "hinge" else ""
    if isinstance(objective, ranking.PatMat):
        return f"PatMat(tau = {objective.tau:g}{hinge})"
    return f"TopPushK(K = {objective.K}{hinge})"


def tasks(quick: bool) -> list[tuple[str, str | None, Any, dict[str, Any]]]:
    """Return the arguments of `line` for each line of the table."""
    uci = [
        (name, normalize, objective, {"kernel": kernel, "sigma": sigma})
        for name in (UCI[:1] if quick else UCI)
        for normalize in (None, "standard")
        for kernel, sigma in KERNELS.items()
        for objective in UCI_OBJECTIVES
    ]
    options = {"kernel": "rbf", "sigma": 0.01, "max_gram_memory": FASHION_MEMORY}
    fashion = [("fashion_mnist", None, objective, options) for objective in FASHION_OBJECTIVES]
    return uci if quick else [*uci, *fashion]


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    print_line(HEADER)
    print_line("---" for _ in HEADER)
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        for cells in pool.map(line, *zip(*tasks(quick), strict=True)):
            print_line(cells)
