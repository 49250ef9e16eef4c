"""One small saved file of each kind for the tests, made without a run."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import fwlab
from fwlab import Status, Trace, ranking
from fwlab.datasets.normalize import Scaling
from fwlab.distributed import PackedResult
from fwlab.distributed.checkpoint import Checkpoint
from fwlab.ranking.machine import Machine

OUTCOME = {
    **{"primal": 0.5, "dual": 0.25, "gap": 0.25, "success": True, "status": Status.CONVERGED},
    **{"message": "Done.", "nit": 3, "seconds": 0.1, "method": "fw"},
}
A = np.array([[0.5, -0.5], [-0.25, 0.25], [0.0, 0.0]])


def trace() -> Trace:
    columns = (np.arange(2.0), np.ones(2), np.ones(2), np.zeros(2), np.ones(2))
    return Trace(np.arange(2), *columns[:4], np.arange(2), np.arange(2), np.zeros(2), columns[4])


def model() -> fwlab.Model:
    X = np.random.default_rng(0).normal(size=(5, 3))
    scaling = Scaling.fitted("standard", X)
    classes, names = np.array(["pear", "fig"]), ("a", "b", "c")
    texts = {"settings": {"C": 1.0}, "certificate": {"gap": 0.25}, "label_name": "fruit"}
    return fwlab.Model(
        X[:2], np.zeros(2), classes, scaling, feature_names=names, **texts, index_base=1
    )


def result(A: Any = A, kind: Any = fwlab.Result) -> Any:
    more = {"infeasibility": 0.0, "lam_n": 0.3, "classes": np.array([3, 7]), "trace": trace()}
    return kind(W=np.arange(6.0).reshape(2, 3), A=A, **OUTCOME, **more)


def ranked() -> ranking.Result:
    rows = sp.csr_matrix(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))
    machine = Machine("rbf", np.array([0.5, -1.0]), rows, 0.5, np.ones(3))
    points = {"alpha": np.ones(2), "beta": np.ones(3), "delta": 0.5, "threshold": 1.0}
    return ranking.Result(**OUTCOME, **points, trace=trace(), machine=machine)


def checkpoint() -> Checkpoint:
    packed = [sp.csr_array(A[:2]), sp.csr_array(A[2:])]
    own = {"gaps": np.ones(3), "order": np.arange(3)}
    return Checkpoint({"n": 3}, packed, 2, link=np.ones((2, 3)), arrays=own, notes={"seconds": 1.0})


SAVED = {
    "Trace": trace(),
    "Model": model(),
    "Result": result(),
    "PackedResult": result(sp.csr_array(A), PackedResult),
    "ranking.Result": ranked(),
    "Checkpoint": checkpoint(),
}


def same(one: Any, other: Any) -> bool:
    """Return whether two loaded objects are equal, bit for bit."""
    if type(one) is not type(other):
        return False
    if dataclasses.is_dataclass(one) and not isinstance(one, type):
        names = [field.name for field in dataclasses.fields(one)]
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    if sp.issparse(one):
        return all(same(getattr(one, p), getattr(other, p)) for p in ("data", "indices", "indptr"))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or (one != one and other != other)


def loaded(owner: str, path: Path) -> Any:
    return type(SAVED[owner]).load(path)
