"""Train with a block norm (LP15), from its definitions, with certified optimal values.

    P(W) = lam/2 |W|_{2,p}^2 + (1/n) sum_i Phi_i(W x_i)
    D(A) = -lam/2 |V|_{2,q}^2 - (1/n) sum_i Phi_i*(-a_i),   V = A'X/(lam n),   1/p + 1/q = 1

cvxpy minimises P with power cones. The lower end of the interval is D at its multipliers, moved to
the nearest feasible point: for two dual norms D(A) <= P(W) is Hoelder's inequality.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from reference.certificate import Certified, certified, found, run
from reference.epigraph import epigraph
from reference.losses import Loss
from reference.training import Training, linear_training

SOLVER = "CLARABEL"


def dual_exponent(p: float) -> float:
    """Return q with 1/p + 1/q = 1."""
    return math.inf if p == 1 else p / (p - 1)


def block_norm(W: np.ndarray, p: float) -> float:
    """Return |W|_{2,p}: the p-norm of the Euclidean norms of the rows."""
    return float(np.linalg.norm(np.linalg.norm(W, axis=1), p))


def block_norm_expression(W: cp.Expression, p: Any) -> cp.Expression:
    """Return |W|_{2,p} for cvxpy; p = infinity is the largest row norm."""
    return cp.pnorm(cp.norm(W, 2, axis=1), p, approx=False)


@dataclass(frozen=True, eq=False)
class BlockNormTraining:
    """X (n, d), y (n,) among m classes, p >= 1."""

    X: np.ndarray
    y: np.ndarray
    loss: Loss
    lam: float
    p: float
    m: int

    @property
    def plain(self) -> Training:
        """The problem with |W|^2: losses, conjugates and domains do not depend on the norm."""
        return linear_training(self.X, self.y, self.loss, self.lam, n_classes=self.m)

    def primal(self, W: np.ndarray) -> float:
        """Return P(W), W (m, d)."""
        losses = [self.plain.loss_value(i, W @ x) for i, x in enumerate(self.X)]
        return self.lam / 2 * block_norm(W, self.p) ** 2 + math.fsum(losses) / len(self.y)

    def dual(self, A: np.ndarray) -> float:
        """Return D(A), A (n, m); -inf where a row is infeasible."""
        V = A.T @ self.X / (self.lam * len(self.y))
        terms = [self.plain.conjugate_term(i, a) for i, a in enumerate(A)]
        return -self.lam / 2 * block_norm(V, dual_exponent(self.p)) ** 2 - sum(terms) / len(self.y)

    def optimum(self) -> Certified:
        """Return an interval that holds the optimal value, and a W (m, d) at its upper end."""
        n, t, rows, forms = len(self.y), cp.Variable(len(self.y)), [], []
        W = cp.Variable((self.m, self.X.shape[1]))
        objective = self.lam / 2 * cp.square(block_norm_expression(W, self.p)) + cp.sum(t) / n
        for i, x in enumerate(self.X):
            form = epigraph(self.loss.for_sample(i), self.m, int(self.y[i]))
            aux = cp.Variable(form.R.shape[1])
            forms.append(form)
            rows.append(form.S @ (W @ x) + form.T * t[i] + form.R @ aux <= form.q)
        status = run(cp.Problem(cp.Minimize(objective), rows), SOLVER)
        multipliers = [form.S.T @ row.dual_value for form, row in zip(forms, rows, strict=True)]
        rows_of_A, conjugates = self.plain.conjugate_bounds(-n * np.array(multipliers))
        V = rows_of_A.astype(float).T @ self.X / (self.lam * n)
        norm = block_norm(V, dual_exponent(self.p))
        lower = -self.lam / 2 * norm**2 - float(conjugates) / n
        upper = self.primal(found(W))
        return certified(lower, upper, abs(lower) + abs(upper), found(W), status)
