"""Compile what a run needs before its clock starts."""

from functools import cache
from typing import Any

import numpy as np
import scipy.sparse

from fwlab.losses import TopK
from fwlab.problem import Problem
from fwlab.solvers.method import State
from fwlab.solvers.registry import REGISTRY, build


def warm_up(problem: Problem, method: str) -> None:
    """Run one iteration of `method` on two samples, stored as those of `problem` are.

    To the compiler a read-only array, a memory map say, is of another type, and so is float32.
    """
    sparse = scipy.sparse.issparse(problem.X)
    values = problem.X.data if sparse else problem.X
    indices = problem.X.indices.dtype.str if sparse else None
    storage = values.dtype.name
    _iterate_once(method, problem.kernel, indices, values.flags.writeable, storage)


@cache
def _iterate_once(
    method: str, kernel: str | None, indices: str | None, writeable: bool, storage: str
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
        if REGISTRY[method].refuses(tiny):
            continue
        state = State(tiny, np.zeros((2, 2)), np.random.default_rng(0))
        solver = build(method, {})
        solver.iterate(state, solver.start(state))
        REGISTRY[method].reach_kernels(state)
        tiny.certificate(state.A)
        tiny.infeasibility(state.A)
        tiny.is_feasible(state.A)
