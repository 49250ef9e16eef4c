"""Sweeps along C and cross-validation: each path of a fold is a cell, with warm starts along C.

The paths of the folds and the one on all training rows do not depend on each other: all run at
once, and the choice of constants reads the folds alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_integer
from fwlab.datasets.named import Dataset
from fwlab.experiments.cells import Cell, DataName, run_cells
from fwlab.experiments.path import path
from fwlab.losses import Loss
from fwlab.lp_norm import LpNorm
from fwlab.metrics import topk_accuracy
from fwlab.problem import Problem
from fwlab.result import Result, Status

Fold = int | str


@dataclass(frozen=True)
class Protocol:
    """What all paths of a cross-validation share.

    Cs ascending, for warm starts; ks of the accuracies; n_folds stratified folds drawn by rng, of
    which the first n_held_out are held out in turn, all if None. max_iter and tol (absolute gap)
    are those of each fit.
    """

    Cs: tuple[float, ...]
    ks: tuple[int, ...]
    n_folds: int = 3
    n_held_out: int | None = None
    tol: float = 1e-3
    max_iter: int = 1000
    check_every: int = 5
    rng: int = 0

    def __post_init__(self) -> None:
        as_integer("n_folds", self.n_folds, low=2)
        if self.n_held_out is not None:
            as_integer("n_held_out", self.n_held_out, low=1, high=self.n_folds)
        if not self.Cs or list(self.Cs) != sorted(self.Cs):
            raise ValueError(f"Cs must be an ascending list; got {self.Cs!r}.")

    @property
    def held_out(self) -> range:
        """The folds that are held out in turn."""
        return range(self.n_folds if self.n_held_out is None else self.n_held_out)


def accuracy_path(
    data: DataName | Dataset,
    loss: Loss,
    smoothing: float,
    fold: Fold,
    protocol: Protocol,
    method: str = "ascent",
    regularizer: LpNorm | None = None,
) -> list[dict[str, Any]]:
    """One entry a C: top-k accuracies on the part held out, and the certificate of the fit.

    fold: 0 .. n_folds-1 holds out a part of the training rows; "valid" and "test" train on all of
    them and are judged on that part of the data set.
    """
    dataset = data.load() if isinstance(data, DataName) else data
    X, y, X_new, y_new = split(dataset, fold, protocol)
    problem = Problem(
        X, y, loss, 1.0, smoothing, n_classes=dataset.n_classes, regularizer=regularizer
    )
    results = path(
        problem,
        protocol.Cs,
        method=method,
        tol=protocol.tol,
        max_iter=protocol.max_iter,
        check_every=protocol.check_every,
        rng=protocol.rng,
    )
    if results[-1].status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    ks = [k for k in protocol.ks if k <= dataset.n_classes]
    return [
        {"C": C, **fitted(result), "accuracy": accuracies(result, X_new, y_new, ks)}
        for C, result in zip(protocol.Cs, results, strict=True)
    ]


def fitted(result: Result) -> dict[str, Any]:
    """The certificate of a fit as plain numbers."""
    own = result.trace.own_gap
    return {
        "gap": result.gap,
        "primal": result.primal,
        "own_gap": None if own is None else float(own[-1]),
        "status": result.status.name,
        "iterations": result.nit,
        "seconds": result.seconds,
    }


def accuracies(result: Result, X: Any, y: Integers, ks: Sequence[int]) -> list[float]:
    """Top-k accuracies of a linear machine, one a k."""
    assert result.W is not None
    scores = np.asarray(X @ result.W.T)
    return [topk_accuracy(y, scores, k) for k in ks]


def split(dataset: Dataset, fold: Fold, protocol: Protocol) -> tuple[Any, Any, Any, Any]:
    """X, y to train on, and X, y to be judged on."""
    X, y = dataset.X_train, dataset.y_train
    if isinstance(fold, str):
        X_new, y_new = getattr(dataset, f"X_{fold}"), getattr(dataset, f"y_{fold}")
        if y_new is None:
            raise ValueError(f"data must have a {fold} part; {dataset.name!r} has none.")
        return X, y, X_new, y_new
    held_out = fold_of_row(y, protocol.n_folds, protocol.rng) == fold
    return X[~held_out], y[~held_out], X[held_out], y[held_out]


def fold_of_row(y: Integers, n_folds: int, rng: int) -> Integers:
    """The fold 0 .. n_folds-1 of each row: stratified, class by class in a random order."""
    order = np.random.default_rng(rng).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    folds = np.empty(len(y), dtype=np.int64)
    folds[order] = np.arange(len(y)) % n_folds
    return folds


def sweep_cells(
    data: DataName | Dataset,
    machines: Mapping[str, Mapping[str, Any]],
    protocol: Protocol,
    folds: Sequence[Fold] | None = None,
    cost: float = 1.0,
    data_name: str | None = None,
) -> list[Cell]:
    """A cell for each machine and fold; by default the folds of `protocol` and "test".

    machines: {name: {"loss": Loss, "smoothing": float, "method": str}}, the last two optional.
    data_name: what the cells' names begin with; the data's own name if None.
    """
    data_name = data.name if data_name is None else data_name
    folds = [*protocol.held_out, "test"] if folds is None else folds
    cells = []
    for name, machine in machines.items():
        settings = {"smoothing": 0.0, **machine, "data": data, "protocol": protocol}
        for fold in folds:
            cell_name = f"{data_name}, {name}, fold {fold}"
            cells.append(Cell(cell_name, accuracy_path, {**settings, "fold": fold}, cost))
    return cells


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Accuracies of paths: validation {machine: (folds, Cs, ks)} and test {machine: (Cs, ks)}."""

    protocol: Protocol
    validation: dict[str, Floats]
    test: dict[str, Floats]
    values: dict[str, Any]
    data_name: str

    @classmethod
    def of(
        cls, data_name: str, machines: Sequence[str], protocol: Protocol, values: dict[str, Any]
    ) -> "CrossValidation":
        """From the results of `sweep_cells`."""

        def array(machine: str, fold: Fold) -> Floats:
            entries = values[f"{data_name}, {machine}, fold {fold}"]
            return np.array([entry["accuracy"] for entry in entries])

        validation = {m: np.array([array(m, fold) for fold in protocol.held_out]) for m in machines}
        test = {m: array(m, "test") for m in machines}
        return cls(protocol, validation, test, values, data_name)

    def best(self, machines: Sequence[str], k_index: int) -> tuple[str, int]:
        """The machine and the index of C with the best mean accuracy over the folds at one k.

        Ties go to the machine named first and the smallest C.
        """
        means = np.array([self.validation[m][:, :, k_index].mean(axis=0) for m in machines])
        row, column = np.unravel_index(means.argmax(), means.shape)
        return machines[int(row)], int(column)

    def fit(self, machine: str, C_index: int, fold: Fold = "test") -> dict[str, Any]:
        """The entry of one fit, as `accuracy_path` returns it."""
        return self.values[f"{self.data_name}, {machine}, fold {fold}"][C_index]


def cross_validate(
    data: DataName | Dataset,
    machines: Mapping[str, Mapping[str, Any]],
    Cs: Sequence[float],
    ks: Sequence[int] = (1,),
    n_folds: int = 3,
    tol: float = 1e-3,
    max_iter: int = 1000,
    rng: int = 0,
    out: str | Path = "results/cells",
    n_jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
) -> CrossValidation:
    """Cross-validate every machine along Cs and judge every fit on the test part too.

    machines as in `sweep_cells`; out, n_jobs, backend and scheduler as in `run_cells`: what is
    stored in `out` is not computed again. Raises ValueError or TypeError before any work.
    """
    protocol = Protocol(tuple(Cs), tuple(ks), n_folds, tol=tol, max_iter=max_iter, rng=rng)
    cells = sweep_cells(data, machines, protocol)
    values = run_cells(cells, out, n_jobs, backend, scheduler)
    return CrossValidation.of(data.name, list(machines), protocol, values)
