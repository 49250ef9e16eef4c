"""Solve LP15's machine for differentiable losses of the margin: squared hinge and logistic loss.

With l(t) a loss of the margin t_i = <w_{y_i}, x_i> - max over y != y_i of <w_y, x_i>:

    R(w) + C sum_i l(t_i)                                           Problem 10; (8) at fixed beta
    -R*(alpha' x) - C sum_i l*(-alpha_{i y_i} / C)                  Problems 11 and 14
    alpha_ij <= 0 for j != y_i,  rows of alpha sum to 0

with R half the squared (2, p) norm, or sum_j |w_j|^2 / (2 beta_j). Primal and dual are solved
separately.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import cvxpy as cp
import numpy as np

from reference.certificate import found, run
from reference.lp_norm import SOLVER, block_norm, block_norm_expression, dual_exponent


class MarginLoss(Protocol):
    """A convex, decreasing loss with its conjugate, also as cvxpy expressions."""

    def value(self, t: np.ndarray) -> np.ndarray: ...

    def conjugate(self, s: np.ndarray) -> np.ndarray:
        """Return sup over t of s t - l(t); +inf where that is not finite."""

    def expression(self, t: cp.Expression) -> cp.Expression: ...

    def conjugate_expression(self, s: cp.Expression) -> cp.Expression: ...


@dataclass(frozen=True)
class SquaredHinge:
    """l(t) = max(0, 1 - t)^2,  l*(s) = s + s^2/4 for s <= 0."""

    def value(self, t: np.ndarray) -> np.ndarray:
        return np.maximum(0, 1 - t) ** 2

    def conjugate(self, s: np.ndarray) -> np.ndarray:
        return np.where(s <= 0, s + s**2 / 4, np.inf)

    def expression(self, t: cp.Expression) -> cp.Expression:
        return cp.square(cp.pos(1 - t))

    def conjugate_expression(self, s: cp.Expression) -> cp.Expression:
        return s + cp.square(s) / 4


@dataclass(frozen=True)
class Logistic:
    """l(t) = log(1 + exp(-t)),  l*(s) = -s log(-s) + (1 + s) log(1 + s) for -1 <= s <= 0."""

    def value(self, t: np.ndarray) -> np.ndarray:
        return np.logaddexp(0, -t)

    def conjugate(self, s: np.ndarray) -> np.ndarray:
        u = np.clip(-s, 0, 1)
        entropies = sum(x * np.log(np.where(x > 0, x, 1)) for x in (u, 1 - u))
        return np.where((s >= -1) & (s <= 0), entropies, np.inf)

    def expression(self, t: cp.Expression) -> cp.Expression:
        return cp.logistic(-t)

    def conjugate_expression(self, s: cp.Expression) -> cp.Expression:
        return -cp.entr(-s) - cp.entr(1 + s)


@dataclass(frozen=True, eq=False)
class MarginMachine:
    """x (n, d), y (n,) among c classes; the norm's p, or fixed class weights beta (c,)."""

    x: np.ndarray
    y: np.ndarray
    c: int
    C: float
    loss: MarginLoss
    p: float = 2.0
    beta: np.ndarray | None = None

    @property
    def chosen(self) -> np.ndarray:
        """The indicator of the true class, (n, c)."""
        return np.eye(self.c)[self.y]

    def primal(self, w: np.ndarray) -> float:
        """Return the objective of Problem 10, or of (8) at fixed weights; w (c, d)."""
        scores = self.x @ w.T
        others = np.where(self.chosen > 0, -np.inf, scores).max(axis=1)
        margins = (scores * self.chosen).sum(axis=1) - others
        return self._regulariser(w) + self.C * float(self.loss.value(margins).sum())

    def dual(self, alpha: np.ndarray) -> float:
        """Return the objective of Problem 11, or of 14 at fixed weights, for alpha (n, c).

        alpha is feasible, except possibly for the slopes of l.
        """
        u = alpha.T @ self.x
        if self.beta is None:
            conjugate = block_norm(u, dual_exponent(self.p)) ** 2 / 2
        else:
            conjugate = float(self.beta @ (u**2).sum(axis=1)) / 2
        slopes = -(alpha * self.chosen).sum(axis=1) / self.C
        return -conjugate - self.C * float(self.loss.conjugate(slopes).sum())

    def best_w(self) -> np.ndarray:
        """Return the minimiser of the primal, (c, d)."""
        w, t = cp.Variable((self.c, self.x.shape[1])), cp.Variable(len(self.y))
        scores = self.x @ w.T
        own = cp.sum(cp.multiply(self.chosen, scores), axis=1)
        rows = [
            t[i] <= own[i] - scores[i, j]
            for i, y in enumerate(self.y)
            for j in range(self.c)
            if j != y
        ]
        objective = self._expression(w) + self.C * cp.sum(self.loss.expression(t))
        run(cp.Problem(cp.Minimize(objective), rows), SOLVER)
        return np.asarray(w.value)

    def best_alpha(self) -> np.ndarray:
        """Return the maximiser of the dual, (n, c).

        The variables are the entries of the other classes.
        """
        others = cp.Variable((len(self.y), self.c), nonneg=True)
        mass = cp.sum(cp.multiply(1 - self.chosen, others), axis=1)
        alpha = cp.multiply(self.chosen, mass[:, None]) - cp.multiply(1 - self.chosen, others)
        u = alpha.T @ self.x
        conjugates = cp.sum(self.loss.conjugate_expression(-mass / self.C))
        objective = -self._conjugate_expression(u) - self.C * conjugates
        run(cp.Problem(cp.Maximize(objective)), SOLVER)
        entries = np.maximum(found(others), 0) * (1 - self.chosen)
        return self.chosen * entries.sum(axis=1, keepdims=True) - entries

    def _regulariser(self, w: np.ndarray) -> float:
        if self.beta is None:
            return block_norm(w, self.p) ** 2 / 2
        return float(((w**2).sum(axis=1) / self.beta).sum()) / 2

    def _expression(self, w: cp.Expression) -> cp.Expression:
        if self.beta is None:
            return cp.square(block_norm_expression(w, self.p)) / 2
        return cp.sum_squares(cp.multiply(1 / np.sqrt(self.beta)[:, None], w)) / 2

    def _conjugate_expression(self, u: cp.Expression) -> cp.Expression:
        if self.beta is None:
            return cp.square(block_norm_expression(u, dual_exponent(self.p))) / 2
        return cp.sum_squares(cp.multiply(np.sqrt(self.beta)[:, None], u)) / 2
