"""Data, machines and fits of M20's Figures 1 and 2 and Tables 2 and 3.

The validation part chooses C and sigma. M20 states no preprocessing: all fits are made with raw
(pixels in [0, 1]) and standardised features.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import gaussian_kde

from figures.kit.readings import Reading
from figures.macha2020.printed import RECALLS
from fwlab import ranking
from fwlab.experiments import Cell, DataName, fold_of_row
from fwlab.metrics import precision_at_recall

FASHION = "Fashion-MNIST"
SETS = {
    "Ionosphere": "ionosphere",
    "Spambase": "spambase",
    "WhiteWineQuality": "winequality_white",
    "RedWineQuality": "winequality_red",
    FASHION: "fashion_mnist",
}
POSITIVE = {"fashion_mnist": 0, "digits": 8}  # the others: class 1
DIGITS = "digits, class 8"
LOOPS = 20_000  # of Algorithm 3.1, by M20 4.2
# up to this number of rows the kernel matrix is computed once, not two columns per loop
MOST_STORED = 10_000
PREPROCESSING = {"raw": None, "standardised": "standard"}
BY_LOOPS = f"raw, {LOOPS} loops"
# M20 4.3 describes the data and mentions no scaling
SOURCES = {"raw": "M20 4.3, the data", "standardised": ""}
READINGS = {
    name: Reading(f"{name} features", {"preprocessing": name}, source)
    for name, source in SOURCES.items()
}
MACHINES = {
    "TopPush": ranking.TopPush(),
    "TopPushK, K = 5": ranking.TopPushK(5),
    "TopPushK, K = 10": ranking.TopPushK(10),
    "Pat&Mat, tau = 0.01": ranking.PatMat(0.01),
    "Pat&Mat, tau = 0.05": ranking.PatMat(0.05),
    "Pat&Mat, tau = 0.1": ranking.PatMat(0.1),
}
KERNELS: dict[str, tuple[float | None, ...]] = {"linear": (None,), "rbf": (0.01, 0.05)}
CS = (0.1, 1.0, 10.0)
TOL = 1e-4  # of max(|primal|, |dual|)
MAX_ITER = 300
# rows read of each part of Fashion-MNIST; a sixth of the training rows is for validation
FASHION_ROWS = {"standard": 2400, "full": None}
POINTS = 200


@dataclass(frozen=True)
class Part:
    """Rows X (n, d), and whether each is positive (n,)."""

    X: Any
    positive: np.ndarray


def source(name: str, preprocessing: str, size: str) -> DataName:
    """Return the data set of a size: digits if quick, a part of Fashion-MNIST if standard."""
    normalize = PREPROCESSING[preprocessing]
    if size == "quick":
        return DataName("digits", normalize, rows=180)
    rows = FASHION_ROWS[size] if name == FASHION else None
    return DataName(SETS[name], normalize, rows=rows)


def names(size: str) -> list[str]:
    return [DIGITS] if size == "quick" else list(SETS)


def parts(data: DataName) -> dict[str, Part]:
    """Return the training, validation and test part.

    If a set has no validation part, a sixth of its training rows is used, stratified, seed 0: 10
    000 of the 60 000 of Fashion-MNIST, as in M20.
    """
    whole = data.load()
    positive = POSITIVE.get(data.name, 1)
    scale = 255.0 if data.name == "fashion_mnist" and data.normalize is None else 1.0

    def part(X: Any, y: Any) -> Part:
        return Part(X / scale, y == positive)

    test = part(whole.X_test, whole.y_test)
    X, y = whole.X_train, whole.y_train
    if whole.X_valid is not None:
        return {"train": part(X, y), "valid": part(whole.X_valid, whole.y_valid), "test": test}
    valid = fold_of_row(y, 6, rng=0) == 0
    return {"train": part(X[~valid], y[~valid]), "valid": part(X[valid], y[valid]), "test": test}


def fit(
    data: DataName,
    objective: Any,
    kernel: str,
    sigma: float | None,
    C: float,
    tol: float,
    max_iter: int,
    curves: bool,
) -> dict[str, Any]:
    """Return a machine's certificate, and its precisions on the validation and the test part.

    With curves=True the result also has the curves of the test scores that Figures 1 and 2 draw.
    """
    found = parts(data)
    train = found["train"]
    result = ranking.solve(
        train.X,
        train.positive.astype(int),
        objective,
        C,
        kernel=kernel,
        sigma=sigma,
        tol=tol,
        max_iter=max_iter,
    )
    return judged(result, found, curves)


def fit_by_loops(
    data: DataName, objective: Any, kernel: str, sigma: float | None, C: float, loops: int
) -> dict[str, Any]:
    """Train by repeat loops of Algorithm 3.1, and return the entries of `fit`.

    The loops are rounded to whole iterations of n loops, at least one.
    """
    found = parts(data)
    base, y = found["train"].X, found["train"].positive.astype(int)
    if kernel == "linear" and len(y) <= MOST_STORED:
        found = {name: Part(part.X @ base.T, part.positive) for name, part in found.items()}
        kernel = "precomputed"
    passes = max(1, round(loops / len(y)))
    result = ranking.solve(
        found["train"].X,
        y,
        objective,
        C,
        kernel=kernel,
        sigma=sigma,
        tol=0,
        max_iter=passes,
        method="pairwise",
        check_every=passes,
    )
    return judged(result, found, curves=False)


def judged(result: ranking.Result, found: dict[str, Part], curves: bool) -> dict[str, Any]:
    """Return certificate and precisions of a machine, and with curves=True curves and densities."""
    scores = {name: result.decision_function(found[name].X) for name in ("valid", "test")}
    value = {
        "gap": result.gap / max(abs(result.primal), abs(result.dual)),
        "status": result.status.name,
        **{name: precisions(found[name].positive, scores[name]) for name in scores},
    }
    if curves:
        positive = found["test"].positive
        value["curve"] = curve(positive, scores["test"])
        value["density"] = densities(positive, scores["test"])
    return value


def precisions(positive: np.ndarray, scores: np.ndarray) -> list[float]:
    """Return the precisions in percent, at the recalls of Table 3."""
    return [100 * precision_at_recall(positive, scores, recall) for recall in RECALLS]


def curve(positive: np.ndarray, scores: np.ndarray) -> dict[str, Any]:
    """Return precision and recall with the positives' scores as thresholds, highest first."""
    thresholds = np.sort(scores[positive])[::-1]
    places = np.unique(np.linspace(0, len(thresholds) - 1, POINTS).round().astype(int))
    thresholds = thresholds[places]
    above = np.array([(scores >= t).sum() for t in thresholds])
    right = np.array([(scores[positive] >= t).sum() for t in thresholds])
    return {"recall": right / len(scores[positive]), "precision": right / above}


def densities(positive: np.ndarray, scores: np.ndarray) -> dict[str, Any]:
    """Return kernel density estimates of both classes, and the top 5% quantile of all scores.

    The kernel is Gaussian, its width follows Scott's rule. A class whose scores are all equal has
    no estimate.
    """
    margin = 0.08 * np.ptp(scores)
    grid = np.linspace(scores.min() - margin, scores.max() + margin, POINTS)
    found = {"score": grid, "top": float(np.quantile(scores, 0.95))}
    for name, own in (("positive", scores[positive]), ("negative", scores[~positive])):
        found[name] = gaussian_kde(own)(grid) if np.ptp(own) > 0 else np.zeros(POINTS)
    return found


def cells(name: str, size: str, sigmas: tuple[float, ...] | None = None) -> list[Cell]:
    """Return all fits on one data set; if None, the Gaussian kernel has all sigmas of the grid."""
    settings = {"tol": TOL, "max_iter": MAX_ITER, "curves": name in (FASHION, DIGITS)}
    return [
        cell
        for preprocessing in PREPROCESSING
        for cell in grid_cells(fit, name, preprocessing, preprocessing, size, settings, sigmas)
    ]


def loop_cells(name: str, size: str) -> list[Cell]:
    """Return all fits on the raw rows of one data set by the paper's number of repeat loops."""
    loops = {"loops": LOOPS if size != "quick" else LOOPS // 100}
    return grid_cells(fit_by_loops, name, "raw", BY_LOOPS, size, loops)


def grid_cells(
    function: Callable[..., Any],
    name: str,
    preprocessing: str,
    label: str,
    size: str,
    settings: dict[str, Any],
    sigmas: tuple[float, ...] | None = None,
) -> list[Cell]:
    """Return a cell for each entry of the grid; in its name `label` denotes the features."""
    data = source(name, preprocessing, size)
    found = []
    for machine, kernel, sigma, C in grid(size):
        if kernel == "rbf" and sigmas is not None and sigma not in sigmas:
            continue
        own = {"objective": MACHINES[machine], "kernel": kernel, "sigma": sigma, "C": C}
        cell = cell_name(name, label, machine, kernel, sigma, C)
        found.append(Cell(cell, function, {"data": data, **own, **settings}, cost=costs(name)))
    return found


def grid(size: str) -> list[tuple[str, str, float | None, float]]:
    """Return machine, kernel, sigma and C of every fit; the quick size has a single C."""
    Cs = CS[1:2] if size == "quick" else CS
    return [
        (machine, kernel, sigma, C)
        for machine in MACHINES
        for kernel, sigmas in KERNELS.items()
        for sigma in sigmas
        for C in Cs
    ]


def cell_name(
    name: str, preprocessing: str, machine: str, kernel: str, sigma: float | None, C: float
) -> str:
    shown = kernel if sigma is None else f"{kernel} {sigma:g}"
    return f"{name}|{preprocessing}|{machine}|{shown}|C {C:g}"


def costs(name: str) -> float:
    """Return the expected seconds of a fit, in the standard size."""
    return {"Ionosphere": 0.05, "RedWineQuality": 0.3, FASHION: 4.0}.get(name, 2.0)


def chosen(
    values: dict[str, Any],
    name: str,
    preprocessing: str,
    machine: str,
    kernel: str,
    size: str,
    sigmas: tuple[float, ...] | None = None,
) -> dict[str, Any]:
    """Return the fit with the largest mean validation precision over all recalls.

    At a tie it is the first one in the grid.
    """
    tried = [
        values[cell_name(name, preprocessing, m, k, sigma, C)]
        for m, k, sigma, C in grid(size)
        if (m, k) == (machine, kernel) and (sigmas is None or sigma is None or sigma in sigmas)
    ]
    return max(tried, key=lambda value: np.mean(value["valid"]))


def shown_settings(values: dict[str, Any], size: str) -> str:
    """Return a caption's description of the solver, certificates and grid of the fits."""
    solved = [value for name, value in values.items() if BY_LOOPS not in name]
    worst = max(value["gap"] for value in solved)
    capped = sum(value["status"] != "CONVERGED" for value in solved)
    text = (
        f"quadratic surrogate, theta = 1, C in {CS[1:2] if size == 'quick' else CS}; the default "
        f"method to a gap of {TOL:g} of the objective or {MAX_ITER} iterations, in place of the "
        f"paper's {LOOPS} repeat loops; {capped} of {len(solved)} fits met the cap, the largest "
        f"certified relative gap is {worst:.1e}; C (and sigma) by the mean validation precision "
        "over the six recalls (the paper does not state the criterion). Features raw "
        "(pixels in [0, 1]) "
        "and standardised, with means and deviations of the training part, side by side: the paper "
        "states no preprocessing."
    )
    if size == "standard":
        text += (
            f" Of {FASHION} the first {FASHION_ROWS[size]} rows of the training and of the test "
            "part, a sixth of the former for validation."
        )
    return text
