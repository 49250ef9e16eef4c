"""Solve the ranking machines of M20 from their definitions, with certified optimal values.

    P(w) = 1/2 |w|^2 + C sum over positives of l(t - <w, phi_i>)                       M20 (4)
    t    = mean of the K largest scores of counted rows (5), or the root of
           sum over counted rows of l2(<w, phi_j> - t) = budget (10)

The counted rows are the negatives, as M20 prints, or all rows, positives too, as in the authors'
program.

l is max(0, 1 + theta s)^p with p = 1 or 2. The features phi are rows of F with F F^T the kernel
matrix. Lower ends come from weak duality: the multipliers alpha of y_i = t - s_i, beta of the rows
that hold the scores of counted rows, and delta of the budget give the least of the Lagrangian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.optimize import brentq

from reference.certificate import SOLVERS, Certified, by_all_solvers, certified, found, run

FIRST = ("CLARABEL",)  # OSQP often finds no solution here, and cannot handle a quadratic budget


def features_of(K: np.ndarray) -> np.ndarray:
    """Return F with F F^T = K to rounding, for a positive semidefinite K (n, n)."""
    values, vectors = np.linalg.eigh(K)
    seen = values > len(K) * np.finfo(float).eps * values[-1]
    return vectors[:, seen] * np.sqrt(values[seen])


@dataclass(frozen=True, eq=False)
class Ranking:
    """Features of the positives (p, d) and counted rows (q, d); K, or else budget and theta2."""

    positives: np.ndarray
    counted: np.ndarray
    C: float
    power: int
    theta: float
    K: int | None = None
    budget: float = 0.0
    theta2: float = 1.0

    def surrogate(self, s: np.ndarray, theta: float) -> np.ndarray:
        return np.maximum(0.0, 1 + theta * s) ** self.power

    def threshold(self, scores: np.ndarray) -> float:
        """Return the threshold t of the counted rows' scores."""
        if self.K is not None:
            return float(np.sort(scores)[::-1][: self.K].mean())

        def excess(t: float) -> float:
            return float(self.surrogate(scores - t, self.theta2).sum()) - self.budget

        low = high = float(scores.max())
        while excess(low) < 0:
            low -= 1 / self.theta2
        while excess(high) > 0:
            high += 1 / self.theta2
        return low if low == high else float(brentq(excess, low, high, xtol=1e-15, rtol=1e-15))

    def primal(self, w: np.ndarray) -> float:
        """Return P(w)."""
        t = self.threshold(self.counted @ w)
        losses = self.surrogate(t - self.positives @ w, self.theta)
        return float(w @ w) / 2 + self.C * float(losses.sum())

    def lagrangian(self, alpha: np.ndarray, beta: np.ndarray, delta: float) -> float:
        """Return the least value of the Lagrangian at feasible multipliers, a lower bound of P."""
        w = self.positives.T @ alpha - self.counted.T @ beta
        value = -float(w @ w) / 2 + self.least(alpha, self.C, self.theta)
        if self.K is not None:
            return value
        return value + self.least(beta, delta, self.theta2) - delta * self.budget

    def least(self, slopes: np.ndarray, weight: float, theta: float) -> float:
        """Return the sum over the slopes v of min over s of weight l(s) - v s.

        The result is finite only if 0 <= v, and for p = 1 also v <= weight theta.
        """
        value = float(slopes.sum()) / theta
        if self.power == 2 and slopes.any():
            value -= float(slopes @ slopes) / (4 * weight * theta**2)
        return value

    def feasible(
        self, alpha: np.ndarray, beta: np.ndarray, delta: float
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Return multipliers near the given ones that meet all constraints."""
        alpha, beta = np.maximum(alpha, 0.0), np.maximum(beta, 0.0)
        if self.power == 1:
            alpha = np.minimum(alpha, self.C * self.theta)
        total = float(alpha.sum())
        beta = beta * (total / beta.sum()) if beta.any() else np.full(len(beta), total / len(beta))
        if self.K is not None:
            beta = np.minimum(beta, total / self.K)
            room = total / self.K - beta
            missing = total - float(beta.sum())
            return alpha, beta + missing * room / room.sum() if room.any() else beta, 0.0
        if self.power == 1:
            return alpha, beta, max(delta, float(beta.max()) / self.theta2)
        return alpha, beta, float(np.sqrt(beta @ beta / (4 * self.theta2**2 * self.budget)))

    def optimum(self) -> Certified:
        """Return an interval that contains the optimal value, and a w at its upper end."""
        try:
            return by_all_solvers(self.solved_by, FIRST)
        except ArithmeticError:  # an interval that is too wide
            return by_all_solvers(self.solved_by, tuple(SOLVERS))

    def solved_by(self, solver: str) -> Certified:
        """Minimise P by cvxpy and prove the interval from its point and multipliers."""
        w, t = cp.Variable(self.positives.shape[1]), cp.Variable()
        y, z = cp.Variable(len(self.positives)), cp.Variable(len(self.counted))
        over: Any = self.counted @ w - t <= z
        budget: Any = None
        if self.K is not None:
            # Kt + sum of max(0, s_j - t) is least where it is the sum of the K largest
            level = t + cp.sum(cp.pos(z)) / self.K
        else:
            level = t
            budget = self.total(z, self.theta2) <= self.budget
        below: Any = level - self.positives @ w <= y
        objective = cp.sum_squares(w) / 2 + self.C * self.total(y, self.theta)
        rows = [over, below] if budget is None else [over, below, budget]
        status = run(cp.Problem(cp.Minimize(objective), rows), solver)
        delta = 0.0 if budget is None else max(0.0, float(np.sum(budget.dual_value)))
        multipliers = self.feasible(below.dual_value, over.dual_value, delta)
        point = found(w)
        upper = self.primal(point)
        return certified(self.lagrangian(*multipliers), upper, abs(upper), point, status)

    def total(self, s: cp.Variable, theta: float) -> cp.Expression:
        """Return the sum of l(s) as a cvxpy expression."""
        inside = cp.pos(1 + theta * s)
        return cp.sum(inside) if self.power == 1 else cp.sum_squares(inside)
