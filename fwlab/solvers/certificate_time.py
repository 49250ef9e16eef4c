"""Predict how long the certificate of a training run takes, from one of some of its samples."""

import time
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from fwlab.operators.features import features_of
from fwlab.primal_dual import PrimalDual

# one of so many samples is taken, but no fewer than FEWEST
ONE_OF, FEWEST = 16, 256


def seconds_to_certify(state: Any) -> float:
    """Return about the seconds that `certify` of a training state takes now; the state stays."""
    problem: PrimalDual = state.given_problem
    n, A = problem.n_samples, state.A
    rows = np.arange(0, n, max(1, min(ONE_OF, n // FEWEST)))
    part = type(state)(some_samples(problem, rows), A[rows], state.rng, state.needs)
    seconds = shortest(part.certify)
    if problem.kernel is not None:
        # the products with the whole rows of a Gram matrix
        some = problem.features.rows(rows)
        seconds += shortest(lambda: some.transposed_product(A[rows]))
    return seconds * n / len(rows)


def some_samples(problem: PrimalDual, rows: Any) -> PrimalDual:
    """Return the problem on some of the samples, by their index or, without a Gram matrix, a slice.

    lam n stays, and with it the curvatures.
    """
    other = copy(problem.at_data)
    gram = other.kernel == "precomputed"
    other.X = problem.X[np.ix_(rows, rows)] if gram else problem.X[rows, :]
    other.features = features_of(other.X, other.kernel)
    other.y, other.sample_weight = problem.y[rows], problem.sample_weight[rows]
    other.lam = problem.lam_n / len(other.y)
    other.polytopes = problem.polytopes.take(rows)
    other.curvatures = problem.curvatures[rows]
    return other


def shortest(work: Callable[[], Any]) -> float:
    """Return the seconds of the shorter of two calls: the first one may have to compile."""
    seconds = []
    for _ in range(2):
        clock = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - clock)
    return min(seconds)
