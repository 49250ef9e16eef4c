"""Seconds to a relative gap of 1e-4 with block norms on News20, and accuracies beside LP15 Table 2.

Sparse unit rows, lam = 1/n, hinge, one thread, CPU seconds. Then C and p are chosen on a fifth of
the training rows, and the machine is trained on all of them; LP15 prints means over ten splits
with five folds and finer grids.
"""

import time

import numpy as np

import fwlab
from fwlab.text import format_table

NORMS = (1.0, 1.1, 1.5, 2.0, 3.0)
CS = (0.1, 0.3, 1.0, 3.0, 10.0)
CANDIDATES = (1.5, 1.75, 2.0, 2.5, 3.0, 5.0)
PRINTED = {"p = 2": 85.12, "best p": 86.19}
TOL, ROUGH = 1e-4, 5e-3


def news20() -> fwlab.datasets.Dataset:
    """Return the data of all tables."""
    return fwlab.datasets.load("news20", normalize="unit")


def trained(
    X: object, y: np.ndarray, p: float, C: float, method: str = "direct", tol: float = ROUGH
) -> fwlab.Result:
    """Return the machine trained at C = 1 / (lam n)."""
    lam, m = 1 / (C * len(y)), int(y.max()) + 1
    problem = fwlab.Problem(X, y, fwlab.MaxHinge(), lam, n_classes=m, regularizer=fwlab.LpNorm(p))
    return fwlab.solve(problem, method, tol=tol, relative=True, max_iter=2000)


def accuracy(result: fwlab.Result, X: object, y: np.ndarray) -> float:
    """Return the percentage of correct predictions."""
    return 100 * float((result.predict(X) == y).mean())


def times(data: fwlab.datasets.Dataset) -> None:
    """Print a line per method and p."""
    lines = []
    for p in NORMS:
        for method in ("direct", "alternate"):
            trained(data.X_train, data.y_train, p, 1.0, method, tol=1.0)  # compiles
            start = time.process_time()
            result = trained(data.X_train, data.y_train, p, 1.0, method, TOL)
            seconds = time.process_time() - start
            gap = result.gap / max(abs(result.primal), abs(result.dual))
            percent = accuracy(result, data.X_test, data.y_test)
            line = f"{p:g}", method, str(result.nit), f"{seconds:.1f}", f"{gap:.1e}"
            lines.append([*line, f"{percent:.2f}"])
    header = ("p", "method", "passes", "seconds", "relative gap", "test accuracy")
    print(format_table(header, lines, right=("p", *header[2:])), flush=True)


def accuracies(data: fwlab.datasets.Dataset) -> None:
    """Print the test accuracies of p = 2 and of the best p, each with its best C."""
    order = np.random.default_rng(0).permutation(len(data.y_train))
    held, rest = np.split(order, [len(order) // 5])
    X, y = data.X_train, data.y_train
    scores = {
        (p, C): accuracy(trained(X[rest], y[rest], p, C), X[held], y[held])
        for p in CANDIDATES
        for C in CS
    }
    choices = {
        "p = 2": max((key for key in scores if key[0] == 2), key=scores.__getitem__),
        "best p": max(scores, key=scores.__getitem__),
    }
    lines = []
    for name, (p, C) in choices.items():
        percent = accuracy(trained(X, y, p, C, tol=TOL), data.X_test, data.y_test)
        ours = f"{scores[p, C]:.2f}", f"{percent:.2f}"
        lines.append([name, f"{p:g}", f"{C:g}", *ours, f"{PRINTED[name]:.2f}"])
    header = ("machine", "p", "C", "held out", "test", "LP15 Table 2")
    print(format_table(header, lines, right=header[1:]))


def run(quick: bool) -> None:
    """Print both tables, or only the first if quick."""
    data = news20()
    times(data)
    if not quick:
        accuracies(data)
