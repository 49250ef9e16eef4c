"""Cases of `versions`, timed by the fwlab that Python finds: prints {case: CPU seconds} as JSON."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median

import numpy as np
from sklearn.datasets import load_iris

import fwlab

REPEATS = 5
METHODS = ("fw", "afw", "pfw", "bcfw", "bcpfw", "fcfw", "newton")
# n, d, m and the gap of runs of ascent on Gaussian classes
RUNS = ((6000, 16, 26, 1e-3), (6000, 512, 20, 1e-3), (4000, 256, 200, 1e-3))


def cases(quick: bool) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the name of each case and its call."""
    flowers = load_iris(return_X_y=True)
    for name, tol in (("TopKSVC.fit on iris, no pass", 1e9), ("TopKSVC.fit on iris", 1e-2)):
        yield name, lambda tol=tol: fwlab.TopKSVC(tol=tol).fit(*flowers)
    digits = fwlab.datasets.load("digits", normalize="unit")
    problem = fwlab.Problem(digits.X_train, digits.y_train, fwlab.TopK(3), C=1.0)
    yield "auto, digits, gap 1e-5", lambda: fwlab.solve(problem, "auto", tol=1e-5)
    for method in () if quick else METHODS:
        yield (
            f"{method}, digits, 20 iterations",
            lambda method=method: fwlab.solve(problem, method, tol=0.0, max_iter=20),
        )
    rows = digits.X_train[:500], digits.y_train[:500]
    gram = fwlab.Problem(*rows, fwlab.TopK(3), C=1.0, kernel="linear")
    yield "ascent, 500 rows of digits, a Gram matrix", lambda: fwlab.solve(gram, "ascent", tol=1e-5)
    for *size, gap in () if quick else RUNS:
        data = fwlab.datasets.synthetic(*size, 0.25, rng=0, normalize="unit")
        drawn = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(5), C=1.0)
        yield (
            f"ascent, {' x '.join(map(str, size))}, gap {gap:.0e}",
            lambda drawn=drawn, gap=gap: fwlab.solve(drawn, "ascent", tol=gap),
        )
    vectors = np.random.default_rng(0).standard_normal((1000, 1000))
    yield "project_topk_simplex, 1000 x 1000", lambda: fwlab.project_topk_simplex(vectors, 5, 1.0)


def seconds(call: Callable[[], object]) -> float:
    """Return the median CPU time of calls after a first one."""
    call()
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return median(times)


if __name__ == "__main__":
    print(json.dumps({name: seconds(call) for name, call in cases("--quick" in sys.argv)}))
