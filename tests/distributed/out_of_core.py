"""Problems out of core for the tests: X in every kind of place, in chunks of few rows."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from solvers.solver_table import Case

import fwlab
from fwlab import distributed
from fwlab.distributed import CsrFiles, OutOfCoreProblem, PackedResult


class RowChunks:
    """Chunks of rows that can be iterated again and again."""

    def __init__(self, X: Any, rows: int) -> None:
        self.X, self.rows = X, rows

    def __iter__(self):
        yield from (self.X[i : i + self.rows] for i in range(0, self.X.shape[0], self.rows))


def saved(folder: Path, X: Any) -> Path:
    """Return the .npy file of an array, written now."""
    path = folder / "X.npy"
    np.save(path, X)
    return path


def saved_csr(folder: Path, X: Any, indptr_type: type = np.int64) -> CsrFiles:
    """Return the three files of a matrix, written now."""
    csr = scipy.sparse.csr_matrix(X.astype(np.float64))
    data = csr.data.astype(X.dtype)
    parts = {"data": data, "indices": csr.indices, "indptr": csr.indptr.astype(indptr_type)}
    for name, array in parts.items():
        np.save(folder / f"{name}.npy", array)
    return CsrFiles(*(folder / f"{name}.npy" for name in parts), n_features=X.shape[1])


def out_of_core(problem: fwlab.Problem, chunk_rows: int, X: Any = None) -> OutOfCoreProblem:
    """Return a problem out of core; X, its own by default, holds the same numbers."""
    return OutOfCoreProblem(
        problem.X if X is None else X,
        problem.y,
        problem.loss,
        problem.lam,
        smoothing=problem.smoothing,
        n_classes=problem.n_classes,
        sample_weight=problem.sample_weight,
        chunk_rows=chunk_rows,
    )


def dense(result: PackedResult) -> fwlab.Result:
    """Return the result with a dense A."""
    return replace(result, A=result.A.toarray())


def runs_of(case: Case, chunk_rows: int, method: str, **options: Any) -> tuple[Any, Any, Any]:
    """Return a problem in memory and the results of a run in memory and a run out of core."""
    problem = case.problem()
    inside = fwlab.solve(problem, method, max_gram_memory=0, **options)
    outside = distributed.solve(out_of_core(problem, chunk_rows), method, **options)
    return problem, inside, outside
