"""Rows of real and synthetic data sets for the K19 claims on training, and P and D on them.

Objectives are evaluated from the paper's formulas in plain numpy: (1) with (3) or (31), (2) with
(6) and the domains (7) or (30).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

import fwlab
from paper_checks.data_sets import data_set

# the largest allowed distance of a row from its domain
INSIDE = 1e-9


@dataclass(frozen=True, eq=False)
class Rows:
    """X (n, d), y (n,), m classes."""

    X: np.ndarray
    y: np.ndarray
    m: int


def sample(name: str, n: int, seed: int) -> Rows:
    """Return n rows of a data set (all if there are fewer), in random order."""
    data = data_set(name)
    chosen = np.random.default_rng(seed).permutation(len(data.y_train))[:n]
    return Rows(data.X_train[chosen], data.y_train[chosen], data.n_classes)


def problem_on(rows: Rows, loss: Any, C: float = 1.0, smoothing: float = 0.0) -> fwlab.Problem:
    """Return the problem with lam = 1/(C n).

    If d > n it uses the Gram matrix, which changes no result.
    """
    n, d = rows.X.shape
    kernel = "linear" if d > n else None
    return fwlab.Problem(
        rows.X, rows.y, loss, 1 / (C * n), smoothing=smoothing, kernel=kernel, n_classes=rows.m
    )


@dataclass(frozen=True)
class Values:
    """P of the top-k and the pseudo top-k problem at W(A), and D(A), -inf for an infeasible A."""

    true_primal: float
    pseudo_primal: float
    dual: float


def values_at(rows: Rows, A: np.ndarray, k: int, C: float, pseudo: bool) -> Values:
    """Return the values at A. D has the domain (30) if `pseudo`, else (7)."""
    n, lam = len(rows.y), 1 / (C * len(rows.y))
    W = A.T @ rows.X / (lam * n)
    regulariser = lam / 2 * float(np.vdot(W, W))
    scores = rows.X @ W.T
    primals = [
        regulariser + float(np.mean(topk_losses(scores, rows.y, k, p))) for p in (False, True)
    ]
    dual = float(np.mean(A[np.arange(n), rows.y])) - regulariser
    return Values(primals[0], primals[1], dual if is_inside(A, rows.y, k, pseudo) else -np.inf)


def topk_losses(scores: np.ndarray, y: np.ndarray, k: int, pseudo: bool) -> np.ndarray:
    """Return the losses (3), or (31), which leaves out the true class."""
    places = np.arange(len(y))
    margins = 1 + scores - scores[places, y][:, None]
    margins[places, y] = -np.inf if pseudo else 0.0
    return np.maximum(0.0, np.sort(margins, axis=1)[:, -k:].sum(axis=1) / k)


def is_inside(A: np.ndarray, y: np.ndarray, k: int, pseudo: bool) -> bool:
    """Return whether the negated rows lie in (30), or in (7) after changing the y-th entry."""
    others = -A.copy()
    others[np.arange(len(y)), y] = 0.0
    total, largest = others.sum(axis=1), others.max(axis=1)
    entry = np.zeros(len(y)) if pseudo else np.maximum(0.0, k * largest - total)
    total = total + entry
    slack = np.concatenate(
        [
            others.ravel(),
            1 - total,
            total - k * np.maximum(largest, entry),
            -np.abs(A.sum(axis=1)),
        ]
    )
    return bool(slack.min() >= -INSIDE)
