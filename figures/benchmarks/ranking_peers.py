"""Ranking in units of its peers: Clarabel's interior-point method, and one Cholesky factorisation.

First TopPush with the linear kernel beside Clarabel's own Python interface, on M20's data sets, raw
and standardised. Clarabel gets the primal program, whose matrices are built before the clock
starts, at a relative gap of 1e-6; it checks no input and certifies no rounding error. Then the rbf
kernel exp(-0.05 |x - z|^2) on standardised spambase in units of one Cholesky factorisation of an
n x n matrix by LAPACK, in place. C = 1, tol = 1e-6, one thread, the default method. CPU time of
whole calls in turn, medians, and the median of the ratios.

With the rbf kernel an iteration costs about 1.3 factorisations: it factors one n x n matrix, solves
with it and multiplies by the kernel. The kernel matrix takes 0.4 of a factorisation and the
certificate 0.3 (a separate measurement), so only fewer iterations could save much.

With 176 rows an iteration takes about 1.7 ms, nearly all of it Python overhead on small arrays. On
raw spambase a third of the time goes to residuals of the linear systems, a sixth to their
triangular solutions and a fifth to forming and factorising 57 x 57 matrices (a separate
measurement): the scales of its features differ by decades, and only refined solutions are good
steps.
"""

from collections.abc import Callable
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpotrf

from figures.benchmarks.ranking import TOL, UCI_OBJECTIVES, described, training_set
from figures.benchmarks.timing import print_line
from fwlab import ranking

LINEAR = ("ionosphere", "winequality_white", "spambase")
SIGMA = 0.05
REPEATS = 7
HEADER = ("data", "kernel", "objective", "n", "iterations", "ours, ms", "peer, ms", "ratio")


def toppush_program(X: np.ndarray, y: np.ndarray) -> tuple[Any, ...]:
    """Return Clarabel's P, q, A, b and cones of TopPush with C = 1, in the variables w, t, xi.

    min |w|^2 / 2 + |xi|^2   with   xi_i >= 1 + t - <w, x_i>,   xi >= 0,   t >= <w, x_j>
    """
    import clarabel

    positive, negative = X[y == 1], X[y != 1]
    p, q, d = len(positive), len(negative), X.shape[1]
    P = sp.diags(np.concatenate([np.ones(d), np.zeros(1), np.full(p, 2.0)])).tocsc()
    one, other = np.ones((p, 1)), np.ones((q, 1))
    A = sp.bmat(
        [
            [sp.csc_matrix(-positive), one, -sp.eye(p)],
            [None, None, -sp.eye(p)],
            [sp.csc_matrix(negative), -other, None],
        ]
    ).tocsc()
    b = np.concatenate([np.full(p, -1.0), np.zeros(p + q)])
    return P, np.zeros(d + 1 + p), A, b, [clarabel.NonnegativeConeT(len(b))]


def clarabel_call(X: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    """Return a call that solves the program of TopPush; its matrices exist."""
    import clarabel

    program, settings = toppush_program(X, y), clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_rel, settings.tol_gap_abs = TOL, 1e-300
    return lambda: clarabel.DefaultSolver(*program, settings).solve()


def cholesky_seconds(M: np.ndarray) -> float:
    """Return the CPU seconds of one factorisation of a copy of M, without the copy."""
    copy = M.copy(order="F")
    start = process_time()
    dpotrf(copy, lower=1, clean=0, overwrite_a=1)
    return process_time() - start


def seconds_of(call: Callable[[], Any]) -> float:
    """Return the CPU seconds of a call."""
    start = process_time()
    call()
    return process_time() - start


def print_row(
    names: tuple[str, ...], call: Callable[[], Any], peer: Callable[[], float], repeats: int
) -> None:
    """Print a line from calls that take turns; the first call of each kind warms up."""
    result = call()
    peer()
    times = [(seconds_of(call), peer()) for _ in range(repeats)]
    ours, theirs = (1e3 * median(column) for column in zip(*times, strict=True))
    ratio = median(one / other for one, other in times)
    nit = str(result.nit) if result.success else "not met"
    print_line((*names, nit, f"{ours:.1f}", f"{theirs:.1f}", f"{ratio:.2f}"))


def print_linear_rows(name: str, repeats: int) -> None:
    """Print the lines of a data set beside Clarabel."""
    objective = ranking.TopPush()
    for normalize in (None, "standard"):
        X, y = training_set(name, normalize)
        names = (f"{name} {normalize or 'raw'}", "linear", described(objective), str(len(y)))
        ours = partial(ranking.solve, X, y, objective, 1.0, tol=TOL)
        print_row(names, ours, partial(seconds_of, clarabel_call(X, y)), repeats)


def print_rbf_rows(name: str, repeats: int) -> None:
    """Print the lines of a data set in units of one Cholesky factorisation."""
    X, y = training_set(name, "standard")
    M = ranking.Problem(X, y, ranking.TopPush(), 1.0, "rbf", SIGMA).gram.matrix() + np.eye(len(y))
    for objective in UCI_OBJECTIVES:
        names = (f"{name} standard", "rbf", described(objective), str(len(y)))
        ours = partial(ranking.solve, X, y, objective, 1.0, "rbf", SIGMA, tol=TOL)
        print_row(names, ours, partial(cholesky_seconds, M), repeats)


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    print_line(HEADER)
    print_line("---" for _ in HEADER)
    repeats = 1 if quick else REPEATS
    for name in LINEAR[:1] if quick else LINEAR:
        print_linear_rows(name, repeats)
    print_rbf_rows("ionosphere" if quick else "spambase", repeats)
