"""Machines, constants and readings of K19 Tables 2 to 7, and the cells that fit them.

Every machine is trained along C on folds of the training rows and on all of them. A reading says
which rows train, how they are scaled, which C are tried, and what the rows "UTk (Lapin)" train:
sections 7.1 and 8 say the pseudo top-k loss, as for "UTk (Chu)", whose minimiser is the same one.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import fwlab
from figures.kit.own_files import own_data
from figures.kit.readings import Reading
from fwlab.experiments import Cell, DataName, Protocol, accuracy_path, sweep_cells

KS = (1, 3, 5, 10)
ROWS = {
    "ours": "UTk (ours)",
    "linear": "WTk (linear)",
    "exp": "WTk (exp)",
    "Lapin": "UTk (Lapin)",
    "Chu": "UTk (Chu)",
}
WEIGHTS = {"linear": fwlab.weights.linear, "exp": fwlab.weights.exponential}
PSEUDO, USUNIER = "pseudo", "usunier"
# the methods of both rows of the paper end at one machine, because its minimiser is unique
SDCA = "sdca-chu-newton"
NUMBERS = {"ALOI": 2, "Caltech101": 3, "CUB": 4, "Indoor67": 5, "Letter": 6, "News20": 7}
QUICK_DATA = DataName("digits", "unit", rows=150)


@dataclass(frozen=True)
class TrainingRows:
    """Rows of a data set. half_of: number of rows of which a random half trains and the other
    half judges; None for the data set's own parts."""

    data: DataName
    half_of: int | None = None


PARTS, HALF = "the usual parts, rows of length 1", "a random half of n rows trains"
STANDARD = "the usual parts, features of variance 1"
CALTECH = DataName("caltech101_sil16_derived", "unit", join_valid=True)
NEWS20 = DataName("news20_svd1024", "unit")
HERE = {
    "Letter": {
        PARTS: TrainingRows(DataName("letter", "unit")),
        STANDARD: TrainingRows(DataName("letter", "standard")),
    },
    "News20": {PARTS: TrainingRows(NEWS20), HALF: TrainingRows(NEWS20, 15_935)},
    "Caltech101": {PARTS: TrainingRows(CALTECH), HALF: TrainingRows(CALTECH, 6_339)},
}


@dataclass(frozen=True)
class Grid:
    """Constants to try in one size."""

    ks: tuple[int, ...]
    smoothings: tuple[float, ...]
    protocol: Protocol


def grid(size: str) -> Grid:
    if size == "quick":
        return Grid((1, 3), (0.0,), Protocol((1.0,), (1, 3), n_folds=2, max_iter=30))
    if size == "standard":
        coarse = Protocol((0.1, 1.0, 10.0, 100.0), KS, n_held_out=1, max_iter=200)
        # on Letter, smoothing 0.1 in place of 0.01 changes no accuracy by more than 0.008
        return Grid(KS, (0.0,), coarse)
    Cs = tuple(10.0**power for power in range(-3, 4))
    return Grid(KS, (0.0, 1e-3, 1e-2, 1e-1), Protocol(Cs, KS, max_iter=1000))


def readings(name: str) -> list[Reading]:
    """Return the readings of a data set's table: its rows, its C, and what "UTk (Lapin)" trains."""
    found = []
    for lapin in (PSEUDO, USUNIER):
        source = "K19 7.4, no test rows, no scaling" if lapin == PSEUDO else ""
        told = "" if lapin == PSEUDO else ", Lapin: Usunier's loss"
        for rows in HERE.get(name, [PARTS]):
            settings = {"rows": rows, "lapin": lapin, "C": None}
            found.append(Reading(rows + told, settings, source))
            if name == "Caltech101" and rows == HALF:
                found.append(Reading(f"{rows}, C = 10{told}", {**settings, "C": 10.0}))
    return found


def machines(chosen: Grid) -> dict[str, dict[str, Any]]:
    """Return {name: arguments of accuracy_path}; at k = 1 all losses are the max hinge."""
    found: dict[str, dict[str, Any]] = {}
    for k in chosen.ks:
        losses: dict[str, fwlab.losses.Loss] = {"ours": fwlab.TopK(k)}
        if k > 1:
            losses |= {w: fwlab.WeightedTopK(rho(k)) for w, rho in WEIGHTS.items()}
            found[machine(USUNIER, k)] = {"loss": fwlab.Usunier(k), "method": "auto"}
            found[machine(PSEUDO, k)] = {"loss": fwlab.TopK(k), "method": SDCA}
        for row, loss in losses.items():
            for smoothing in chosen.smoothings:
                settings = {"loss": loss, "smoothing": smoothing, "method": "auto"}
                found[machine(row, k, smoothing)] = settings
    return found


def machine(row: str, k: int, smoothing: float = 0.0) -> str:
    return f"{row if k > 1 else 'ours'} k={k} smoothing={smoothing:g}"


def tried_machines(row: str, k: int, lapin: str, chosen: Grid) -> list[str]:
    """Return the machines of which a table's row has the best one, if "UTk (Lapin)" is `lapin`."""
    if row in WEIGHTS or row == "ours":
        return [machine(row, k, smoothing) for smoothing in chosen.smoothings]
    return [machine(lapin if row == "Lapin" else PSEUDO, k)]


def sources(size: str, names: Collection[str]) -> dict[str, dict[str, TrainingRows]]:
    """Return the rows of the named data sets that can be loaded."""
    if size == "quick":
        return {"Letter": {PARTS: TrainingRows(QUICK_DATA)}} if "Letter" in names else {}
    own = {name: {PARTS: TrainingRows(data)} for name, data in own_data(names).items()}
    return {name: rows for name, rows in HERE.items() if name in names} | own


def cells(size: str, names: Collection[str]) -> list[Cell]:
    """Return the fits on the named data sets that can be loaded."""
    tried, found = grid(size), []
    for name, each in sources(size, names).items():
        for label, rows in each.items():
            place = {"data": rows.data, "half_of": rows.half_of}
            fits = sweep_cells(
                rows.data, machines(tried), tried.protocol, data_name=f"{name}, {label}"
            )
            found += [
                replace(fit, function=fit_rows, settings={**fit.settings, **place}) for fit in fits
            ]
    return found


def fit_rows(data: DataName, half_of: int | None, **settings: Any) -> list[dict[str, Any]]:
    """Return `accuracy_path` on the rows that train and judge, with the number that judge."""
    rows = parts(data, half_of)
    return [{**fit, "n_test": len(rows.y_test)} for fit in accuracy_path(rows, **settings)]


def parts(data: DataName, half_of: int | None) -> fwlab.datasets.Dataset:
    """Return a data set, or random halves of `half_of` of its rows as its train and test part."""
    given = data.load()
    if half_of is None:
        return given
    X, y = np.vstack([given.X_train, given.X_test]), np.append(given.y_train, given.y_test)
    train, test = np.array_split(np.random.default_rng(0).permutation(len(y))[:half_of], 2)
    return replace(given, X_train=X[train], y_train=y[train], X_test=X[test], y_test=y[test])
