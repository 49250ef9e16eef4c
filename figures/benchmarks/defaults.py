"""Defaults of `TopKSVC` and `TopKClassifier`: tol, fit_intercept, and k in training.

The sets and the choice of C, at the default tol, are as in the table heads. All fits have
method="auto". Accuracies are measured on the test part after a fit on the training part. Seconds
are CPU seconds of one thread, and "proved" is the share of the test part's labels that are proved
to be those of the exact optimum. max_iter is 10,000, and a star marks a fit that reached it.

The second table has digits, letter and caltech101_sil28 as they come ("raw", with C between 1e-6
and 1) and standardised, each without an intercept and with one. "choice" is the time of the choice.

The third table is about top-k hinges, without an intercept: with k of the fit in the rows and k of
the test in the columns. Each accuracy has the C that is best for it on the validation part.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

import fwlab
from figures.benchmarks import choice
from figures.benchmarks.timing import print_line

TOLS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
MAX_ITER = 10_000
SCALED = ("digits", "letter", "caltech101_sil28")
RAW_CS = tuple(C / 1000 for C in choice.CS)
TRAINED, TESTED = (1, 2, 3, 5, 10, 20), (1, 3, 5, 10)
Make = Callable[[float, int], Any]

HEADS: dict[str, Callable[..., Any]] = {
    "TopKSVC": fwlab.TopKSVC,
    "TopKClassifier": fwlab.TopKClassifier,
}


def maker(head: Callable[..., Any], **parameters: Any) -> Make:
    """Return a function of C and the number of rows that makes a head with the parameters."""
    return lambda C, n: head(C=C, warm_start=True, method="auto", **parameters)


def tol_rows(data: choice.ThreeParts) -> Iterator[list[str]]:
    """Yield a line per head and tol: C, seconds, test accuracy, share of proved labels."""
    for name, head in HEADS.items():
        (C,) = choice.choose(maker(head), data, [1]).C
        for tol in TOLS:
            began = time.process_time()
            machine = head(C=C, tol=tol, method="auto", max_iter=MAX_ITER)
            choice.fitted(machine, data.X_train, data.y_train)
            seconds = time.process_time() - began
            star = "" if machine.duality_gap_ + machine.gap_error_ <= tol else "*"
            (accuracy,) = choice.accuracies(machine, data.X_test, data.y_test, [1])
            proved = machine.proved(data.X_test).mean()
            cells = (f"{seconds:.3f}{star}", f"{accuracy:.4f}", f"{proved:.3f}")
            yield [name, f"{C:g}", f"{tol:g}", *cells]


def chosen(
    make: Make, data: choice.ThreeParts, ks: Iterable[int], Cs: Iterable[float] = choice.CS
) -> tuple[list[float], list[float], float]:
    """Return the best C and the test accuracy for each k, and the seconds of the choice."""
    ks, n = list(ks), len(data.y_train)
    found = choice.choose(make, data, ks, Cs)
    accuracies = []
    for C, k in zip(found.C, ks, strict=True):
        head = choice.fitted(make(C, n), data.X_train, data.y_train)
        accuracies += choice.accuracies(head, data.X_test, data.y_test, [k])
    return found.C, accuracies, found.seconds


def intercept_rows(name: str) -> Iterator[list[str]]:
    """Yield a line per scaling and head: C, test accuracy and seconds without and with one."""
    for scaling, normalize, Cs in (("raw", None, RAW_CS), ("standard", "standard", choice.CS)):
        data = choice.parts(name, normalize)
        for which, head in HEADS.items():
            cells = [name, scaling, which]
            for intercept in (False, True):
                make = maker(head, fit_intercept=intercept)
                (C,), (accuracy,), seconds = chosen(make, data, [1], Cs)
                cells += [f"{C:g}", f"{accuracy:.4f}", f"{seconds:.2f}"]
            yield cells


def k_rows(data: choice.ThreeParts) -> Iterator[list[str]]:
    """Yield a line per k of the fit: the test accuracy for each k of the test."""
    m = len(np.unique(data.y_train))
    for k in (k for k in TRAINED if k < m):
        _, accuracies, _ = chosen(maker(fwlab.TopKSVC, k=k), data, TESTED)
        yield [str(k), *(f"{accuracy:.4f}" for accuracy in accuracies)]


def print_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table in Markdown, line by line."""
    header = list(header)
    print_line(header)
    print_line("---" for _ in header)
    for row in rows:
        print_line(row)


def run(quick: bool) -> None:
    """Print the three tables."""
    names = [*choice.SETS, *choice.SEPARATIONS][: 1 if quick else None]
    print_table(
        ("data", "head", "C", "tol", "seconds", "top-1", "proved"),
        ([name, *row] for name, data in choice.data_sets(names) for row in tol_rows(data)),
    )
    print()
    sides = [f"{what}, {side}" for side in ("without", "with") for what in ("C", "top-1", "choice")]
    print_table(
        ("data", "features", "head", *sides),
        (row for name in SCALED[: 1 if quick else None] for row in intercept_rows(name)),
    )
    print()
    many = (
        ["hard"] if quick else [name for name in names if name not in ("digits", "fashion_mnist")]
    )
    print_table(
        ("data", "k of the fit", *(f"top-{k}" for k in TESTED)),
        ([name, *row] for name, data in choice.data_sets(many) for row in k_rows(data)),
    )
