"""Compile what a run needs before its clock starts."""

from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse

from fwlab.losses import TopK
from fwlab.problem import Problem
from fwlab.solvers.compiling import compiling_shown
from fwlab.solvers.method import Method, State


def warm_up(problem: Problem, method: Method) -> None:
    """Run one iteration of the method on two samples, stored as the samples of the problem are.

    numba compiles a second version for read-only arrays, such as memory maps, and for float32.
    """
    sparse = scipy.sparse.issparse(problem.X)
    values = problem.X.data if sparse else problem.X
    indices = problem.X.indices.dtype.str if sparse else None
    storage = values.dtype.name
    form = problem.kernel, indices, values.flags.writeable, storage
    try:
        _iterate_once_per_form(method, *form)
    except TypeError:
        # an option, such as an array, cannot be hashed
        _iterate_once(method, *form)


@cache
def _iterate_once_per_form(method: Method, *form: Any) -> None:
    _iterate_once(method, *form)


def _iterate_once(
    method: Method, kernel: str | None, indices: str | None, writeable: bool, storage: str
) -> None:
    with compiling_shown():
        _iterate_on_two_samples(deepcopy(method), kernel, indices, writeable, storage)


def _iterate_on_two_samples(
    method: Method, kernel: str | None, indices: str | None, writeable: bool, storage: str
) -> None:
    X: Any = np.eye(2, dtype=storage)
    if indices is not None:
        places = np.arange(3, dtype=indices)
        X = scipy.sparse.csr_matrix((np.ones(2, storage), places[:2], places), shape=(2, 2))
    (X if indices is None else X.data).flags.writeable = writeable
    for smoothing in (0.0, 1.0):
        tiny = Problem(
            X, np.array([0, 1]), TopK(1), 1.0, smoothing=smoothing, kernel=kernel, storage=storage
        )
        if method.refuses(tiny):
            continue
        rng = np.random.default_rng(0)
        state = State(tiny, np.zeros((2, 2)), rng, method.needs(tiny))
        method.iterate(state, method.start(state))
        method.warm_up(state)
        tiny.certificate(state.A)
        tiny.infeasibility(state.A)
        tiny.is_feasible(state.A)
