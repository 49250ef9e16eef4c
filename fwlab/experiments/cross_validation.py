"""Cross-validate machines along C. Each path of a fold is a cell, with warm starts along C.

The paths of the folds and the path on all training rows do not depend on each other, so all of them
can run at once. The choice of constants uses only the folds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_integer
from fwlab.datasets.named import Dataset
from fwlab.experiments.cells import Cell, run_cells
from fwlab.experiments.data_name import DataName
from fwlab.experiments.path import path
from fwlab.losses import Loss
from fwlab.lp_norm import LpNorm
from fwlab.metrics import topk_accuracy
from fwlab.problem import Problem
from fwlab.result import Result, Status
from fwlab.text import in_brackets

Fold = int | str


@dataclass(frozen=True)
class Protocol:
    """The settings that all paths of a cross-validation share.

    Parameters
    ----------
    Cs : tuple of float
        Values of C = 1 / (lam n), ascending, for warm starts.
    ks : tuple of int
        Values of k of the top-k accuracies.
    n_folds : int
        Number of stratified folds.
    n_held_out : int, optional
        How many folds are held out in turn, from the first one on; all by default.
    tol : float
        Absolute gap at which each fit stops.
    max_iter, check_every
        As for `solve`.
    rng : int
        Seed of the folds and of each fit.

    Raises
    ------
    TypeError, ValueError
        If n_folds, n_held_out or Cs are not as described.
    """

    Cs: tuple[float, ...]
    ks: tuple[int, ...]
    n_folds: int = 3
    n_held_out: int | None = None
    tol: float = 1e-3
    max_iter: int = 1000
    check_every: int | str = "auto"
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
    """Fit a machine along C, and measure its top-k accuracies on the part held out.

    Parameters
    ----------
    data : DataName or Dataset
        The data set.
    loss : Loss
        The loss of the machine.
    smoothing : float
        Constant of the Moreau envelope.
    fold : int, "valid" or "test"
        A fold 0 .. n_folds-1 is held out of the training rows. "valid" and "test" train on all
        training rows and are judged on this part of the data set.
    protocol : Protocol
        The settings of the fits.
    method : str
        A name from fwlab.methods().
    regularizer : LpNorm, optional
        LpNorm(2) by default.

    Returns
    -------
    list of dict
        One per C: C, the entries of `fitted`, and "accuracy" with one number per k <= n_classes.

    Raises
    ------
    ValueError
        If the data set has no such part.
    KeyboardInterrupt
        On Ctrl-C.
    """
    dataset = data if isinstance(data, Dataset) else data.load()
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
    """Return the certificate of a fit as plain numbers."""
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
    """Return the top-k accuracies of a linear machine.

    Parameters
    ----------
    result : Result
        A fit with W.
    X, y : arrays (n, d), (n,)
        The samples to judge it on.
    ks : sequence of int
        The values of k.

    Returns
    -------
    list of float
        One accuracy per k.
    """
    assert result.W is not None
    scores = np.asarray(X @ result.W.T)
    return [topk_accuracy(y, scores, k) for k in ks]


def split(dataset: Dataset, fold: Fold, protocol: Protocol) -> tuple[Any, Any, Any, Any]:
    """Return X and y to train on, and X and y to be judged on."""
    X, y = dataset.X_train, dataset.y_train
    if isinstance(fold, str):
        X_new, y_new = getattr(dataset, f"X_{fold}"), getattr(dataset, f"y_{fold}")
        if y_new is None:
            raise ValueError(f"data must have a {fold} part; {dataset.name!r} has none.")
        return X, y, X_new, y_new
    held_out = fold_of_row(y, protocol.n_folds, protocol.rng) == fold
    return X[~held_out], y[~held_out], X[held_out], y[held_out]


def fold_of_row(y: Integers, n_folds: int, rng: int) -> Integers:
    """Return the fold 0 .. n_folds-1 of each row: stratified, and random within each class."""
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
    """Return one cell for each machine and fold.

    Parameters
    ----------
    data : DataName or Dataset
        The data set.
    machines : dict of dict
        {name: {"loss": Loss, "smoothing": float, "method": str, "regularizer": LpNorm}}; only the
        loss is required.
    protocol : Protocol
        The settings of the fits.
    folds : sequence, optional
        Folds as for `accuracy_path`; by default the folds of the protocol and "test".
    cost : float
        Expected seconds of each cell.
    data_name : str, optional
        Beginning of the names of the cells; by default the name of the data set.

    Returns
    -------
    list of Cell
        Cells named "data_name, machine, fold f".
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
    """Accuracies of machines along C.

    Attributes
    ----------
    protocol : Protocol
        The settings of the fits.
    validation : dict of array (folds, Cs, ks)
        Accuracies on the folds held out, by machine.
    test : dict of array (Cs, ks)
        Accuracies on the test part, by machine.
    values : dict
        The results of `accuracy_path`, by the name of the cell.
    data_name : str
        Beginning of the names of the cells.
    """

    protocol: Protocol
    validation: dict[str, Floats]
    test: dict[str, Floats]
    values: dict[str, Any]
    data_name: str

    def __repr__(self) -> str:
        facts = [
            f"data = {self.data_name}",
            f"machines = {', '.join(self.validation)}",
            f"{len(self.protocol.Cs)} C from {self.protocol.Cs[0]:g} to {self.protocol.Cs[-1]:g}",
            f"{len(self.protocol.held_out)} of {self.protocol.n_folds} folds held out",
            f"k = {', '.join(map(str, self.protocol.ks))}",
        ]
        return in_brackets("CrossValidation", facts)

    @classmethod
    def of(
        cls, data_name: str, machines: Sequence[str], protocol: Protocol, values: dict[str, Any]
    ) -> "CrossValidation":
        """Collect the results of the cells of `sweep_cells`.

        Parameters
        ----------
        data_name : str
            Beginning of the names of the cells.
        machines : sequence of str
            The names of the machines.
        protocol : Protocol
            The settings of the fits.
        values : dict
            {cell name: result}.

        Returns
        -------
        CrossValidation
        """

        def array(machine: str, fold: Fold) -> Floats:
            entries = values[f"{data_name}, {machine}, fold {fold}"]
            return np.array([entry["accuracy"] for entry in entries])

        validation = {m: np.array([array(m, fold) for fold in protocol.held_out]) for m in machines}
        test = {m: array(m, "test") for m in machines}
        return cls(protocol, validation, test, values, data_name)

    def best(self, machines: Sequence[str], k_index: int) -> tuple[str, int]:
        """Return the machine and the index of C with the best mean accuracy over the folds.

        k_index chooses the k. Ties go to the machine named first and to the smallest C.
        """
        means = np.array([self.validation[m][:, :, k_index].mean(axis=0) for m in machines])
        row, column = np.unravel_index(means.argmax(), means.shape)
        return machines[int(row)], int(column)

    def fit(self, machine: str, C_index: int, fold: Fold = "test") -> dict[str, Any]:
        """Return the entry of one fit, as `accuracy_path` describes it."""
        entry: dict[str, Any] = self.values[f"{self.data_name}, {machine}, fold {fold}"][C_index]
        return entry


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
    """Cross-validate every machine along Cs, and judge every fit on the test part too.

    Parameters
    ----------
    data : DataName or Dataset
        The data set.
    machines : dict of dict
        As for `sweep_cells`.
    Cs : sequence of float
        Values of C = 1 / (lam n), ascending.
    ks : sequence of int
        Values of k of the top-k accuracies.
    n_folds : int
        Number of stratified folds.
    tol : float
        Absolute gap at which each fit stops.
    max_iter : int
        Iterations of each fit.
    rng : int
        Seed of the folds and of each fit.
    out : path
        Folder of stored cells, which are not computed again.
    n_jobs, backend, scheduler
        As for `run_cells`.

    Returns
    -------
    CrossValidation

    Raises
    ------
    TypeError, ValueError
        Before any fit, if an argument is wrong.
    """
    protocol = Protocol(tuple(Cs), tuple(ks), n_folds, tol=tol, max_iter=max_iter, rng=rng)
    cells = sweep_cells(data, machines, protocol)
    values = run_cells(cells, out, n_jobs, backend, scheduler)
    return CrossValidation.of(data.name, list(machines), protocol, values)
