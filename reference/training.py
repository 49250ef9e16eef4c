"""Solve the training problem and its dual from their definitions, with certified optimal values.

    P(w) = lam/2 |w|^2 + (1/n) sum_i omega_i Phi_i(Psi_i w)                          T20 (2.1)
    D(A) = -lam/2 |w(A)|^2 - (1/n) sum_i omega_i Phi_i*(-a_i / omega_i)              T20 (2.3)
    w(A) = (1/(lam n)) sum_i Psi_i' a_i

Psi_i (m, D) holds the joint features psi(x_i, j) of sample i as rows. K19 (1) (2) is the case
Psi_i = I (x) x_i', where w is W (m, d) read row by row: joint_features builds it. omega_i = 0
forces a_i = 0. With smoothing, Phi_i is replaced by its Moreau envelope, Phi_i* by
Phi_i* + smoothing/2 |.|^2 (T20 (2.21)-(2.23), K19 (25)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike

from reference.arithmetic import fractions, inner
from reference.certificate import SOLVERS, Certified, by_all_solvers, found, proved, run
from reference.epigraph import epigraph
from reference.losses import Loss
from reference.lp import conjugate, conjugate_bound, nearest_in_domain
from reference.qp import exact_value, moreau


@dataclass(frozen=True, eq=False)
class Training:
    """features (n, m, D), y (n,), and omega (n,) in sample_weight (ones if None)."""

    features: np.ndarray
    y: np.ndarray
    loss: Loss
    lam: float
    smoothing: float = 0.0
    sample_weight: np.ndarray | None = None

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def omega(self) -> np.ndarray:
        return np.ones(self.n) if self.sample_weight is None else np.asarray(self.sample_weight)

    def scores(self, w: ArrayLike) -> np.ndarray:
        """Return Psi_i w, (n, m)."""
        return self.features @ np.asarray(w, dtype=float).ravel()

    def weights(self, A: ArrayLike) -> np.ndarray:
        """Return w(A) = (1/(lam n)) sum_i Psi_i' a_i, (D,)."""
        return np.einsum("nm,nmd->d", np.asarray(A, dtype=float), self.features) / (
            self.lam * self.n
        )

    def loss_value(self, i: int, scores: np.ndarray) -> float:
        """Return Phi_i(scores), or the certified upper value of its Moreau envelope."""
        loss, y = self.loss.for_sample(i), int(self.y[i])
        if self.smoothing == 0:
            return float(loss.value(scores, y))
        return moreau(loss, scores, y, self.smoothing).value_upper

    def primal(self, w: ArrayLike) -> float:
        """Return P(w); w (D,), or W (m, d) for joint_features."""
        w = np.asarray(w, dtype=float).ravel()
        losses = [
            omega * self.loss_value(i, s) if omega else 0.0
            for i, (omega, s) in enumerate(zip(self.omega, self.scores(w), strict=True))
        ]
        return self.lam / 2 * float(w @ w) + math.fsum(losses) / self.n

    def dual(self, A: ArrayLike) -> float:
        """Return D(A), A (n, m); -inf where a row lies outside omega_i times the negated domain."""
        A = np.asarray(A, dtype=float)
        w = self.weights(A)
        terms = [self.conjugate_term(i, a) for i, a in enumerate(A)]
        return -self.lam / 2 * float(w @ w) - sum(terms) / self.n

    def conjugate_term(self, i: int, a: np.ndarray) -> float:
        """Return omega_i (Phi_i*(-a/omega_i) + smoothing/2 |a/omega_i|^2)."""
        omega = float(self.omega[i])
        if omega == 0:
            return 0.0 if not np.any(a) else math.inf
        v = -a / omega
        value = conjugate(self.loss.for_sample(i), v, int(self.y[i]))
        return omega * (value + self.smoothing / 2 * float(v @ v))

    def optimum(self, solvers: Sequence[str] = tuple(SOLVERS)) -> Certified:
        """Return an interval that holds the optimal value, and a w (D,) at its upper end."""
        return by_all_solvers(self.solved_by, solvers)

    def solved_by(self, solver: str) -> Certified:
        """Minimise P by cvxpy, over w and scores z_i with Phi_i(z_i) <= t_i.

        Without smoothing z_i = Psi_i w; with smoothing there is a penalty |Psi_i w - z_i|^2 / (2
        smoothing). The multipliers mu_i of the epigraph rows give the dual point a_i = -n S_i'
        mu_i. `interval` moves it to a feasible point nearby, at which D is a lower bound by weak
        duality.
        """
        w, t = cp.Variable(self.features.shape[2]), cp.Variable(self.n)
        objective = self.lam / 2 * cp.sum_squares(w) + self.omega @ t / self.n
        forms, rows = [], []
        for i in range(self.n):
            s = self.features[i] @ w
            z = s if self.smoothing == 0 else cp.Variable(s.shape)
            if self.smoothing > 0:
                price = self.omega[i] / (2 * self.smoothing * self.n)
                objective += price * cp.sum_squares(s - z)
            form = epigraph(self.loss.for_sample(i), self.features.shape[1], int(self.y[i]))
            aux = cp.Variable(form.R.shape[1])
            forms.append(form)
            rows.append(form.S @ z + form.T * t[i] + form.R @ aux <= form.q)
        status = run(cp.Problem(cp.Minimize(objective), rows), solver)
        multipliers = [form.S.T @ row.dual_value for form, row in zip(forms, rows, strict=True)]
        return self.interval(found(w), -self.n * np.array(multipliers), status)

    def feasible(self, A: np.ndarray) -> np.ndarray:
        """Return a with each row moved to the nearest point of omega_i times the negated domain."""
        rows = []
        for i, (omega, a) in enumerate(zip(self.omega, A, strict=True)):
            if omega == 0:
                rows.append(np.zeros_like(a))
                continue
            v, _ = nearest_in_domain(self.loss.for_sample(i), -a / omega, int(self.y[i]))
            rows.append(-omega * v)
        return np.array(rows)

    def conjugate_bounds(self, A: np.ndarray) -> tuple[np.ndarray, Fraction]:
        """Return feasible rows (n, m) near the rows of A, and a bound on their conjugate terms.

        The bound is an upper bound of the sum of the terms, in Fractions.
        """
        rows, bounds = fractions(np.zeros(A.shape)), Fraction()
        for i, (omega, a) in enumerate(zip(fractions(self.omega), A, strict=True)):
            if omega > 0:
                label = int(self.y[i])
                v, bound = conjugate_bound(self.loss.for_sample(i), -a / float(omega), label)
                rows[i] = -omega * v
                bounds += omega * (bound + Fraction(self.smoothing) / 2 * inner(v, v))
        return rows, bounds

    def interval(self, w: np.ndarray, A: np.ndarray, solver: str) -> Certified:
        """Return the interval [D(A'), P(w)] for a feasible A' near A, in Fractions.

        w(A') replaces w if P is lower there.
        """
        rows, conjugates = self.conjugate_bounds(A)
        features, lam = fractions(self.features), Fraction(self.lam)
        columns = features.reshape(-1, features.shape[2]).T
        weights = np.array([inner(column, rows.ravel()) for column in columns]) / (lam * self.n)
        lower = -lam / 2 * inner(weights, weights) - conjugates / self.n
        ends = [(self.primal_bound(x, rows), x) for x in (fractions(w), weights)]
        upper, best = min(ends, key=lambda end: end[0])
        return proved(lower, upper, best, solver)

    def primal_bound(self, w: np.ndarray, A: np.ndarray) -> Fraction:
        """Return an upper bound of P(w), which equals it at the optimum.

        The inner variable of the envelope is z_i = s_i + smoothing a_i / omega_i instead of the
        best. The numbers are floats or Fractions.
        """
        w, A, smoothing = fractions(w), fractions(A), Fraction(self.smoothing)
        losses = Fraction()
        for i, (omega, rows) in enumerate(zip(fractions(self.omega), self.features, strict=True)):
            if omega > 0:
                scores = np.array([inner(row, w) for row in fractions(rows)])
                step = A[i] / omega
                loss, label = self.loss.for_sample(i), int(self.y[i])
                value = exact_value(loss, scores + smoothing * step, label)
                losses += omega * (value + smoothing / 2 * inner(step, step))
        return Fraction(self.lam) / 2 * inner(w, w) + losses / self.n


def joint_features(X: ArrayLike, m: int) -> np.ndarray:
    """Return Psi_i = I (x) x_i', (n, m, m d): one weight vector per class, scores W x_i."""
    X = np.asarray(X, dtype=float)
    return np.stack([np.kron(np.eye(m), x) for x in X])


def linear_training(
    X: ArrayLike,
    y: ArrayLike,
    loss: Loss,
    lam: float,
    smoothing: float = 0.0,
    sample_weight: ArrayLike | None = None,
    n_classes: int | None = None,
) -> Training:
    """Return the problem K19 (1) for X (n, d), where w is W (m, d) raveled.

    n_classes is the largest label + 1 by default.
    """
    labels = np.asarray(y, dtype=int)
    m = n_classes or int(labels.max()) + 1
    omega = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    return Training(joint_features(X, m), labels, loss, lam, smoothing, omega)
