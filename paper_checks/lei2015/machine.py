"""Solve the lp-norm machine on a small problem: both sides from their definitions, by cvxpy.

A regulariser has a value and a conjugate, also as expressions of cvxpy. w and u are (c, d), alpha
is (n, c).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cvxpy as cp
import numpy as np

import fwlab
from paper_checks.cases import Rng, labels
from paper_checks.lei2015.norms import block_norm, dual_exponent
from paper_checks.lei2015.scalar_losses import HINGE, PowerHinge, ScalarLoss
from paper_checks.outcomes import Interval
from reference.certificate import certified, found, run


@dataclass(frozen=True)
class HalfSquaredNorm:
    """(1/2)|w|_{2,p}^2."""

    p: float

    def value(self, w: np.ndarray) -> float:
        return block_norm(w, self.p) ** 2 / 2

    def conjugate(self, u: np.ndarray) -> float:
        return block_norm(u, dual_exponent(self.p)) ** 2 / 2

    def reachable(self, w: np.ndarray) -> np.ndarray:
        """Return w itself: every w has a finite value."""
        return w

    def expression(self, w: cp.Expression) -> cp.Expression:
        return half_square(w, self.p)

    def conjugate_expression(self, u: cp.Expression) -> cp.Expression:
        return half_square(u, dual_exponent(self.p))


@dataclass(frozen=True)
class ClassWeights:
    """sum_j |w_j|^2/(2 beta_j), with w_j = 0 where beta_j = 0."""

    beta: np.ndarray

    def value(self, w: np.ndarray) -> float:
        used = self.beta > 0
        if w[~used].any():
            return np.inf
        return float(((w[used] ** 2).sum(axis=1) / self.beta[used]).sum() / 2)

    def conjugate(self, u: np.ndarray) -> float:
        return float(self.beta @ (u**2).sum(axis=1)) / 2

    def mapped(self, u: np.ndarray) -> np.ndarray:
        """Map u by (10)."""
        return self.beta[:, None] * u

    def reachable(self, w: np.ndarray) -> np.ndarray:
        """Return w with 0 where the class weight is 0."""
        return w * (self.beta > 0)[:, None]

    def expression(self, w: cp.Expression) -> cp.Expression:
        used = np.flatnonzero(self.beta)
        return cp.sum_squares(w[used] / np.sqrt(self.beta[used])[:, None]) / 2

    def conjugate_expression(self, u: cp.Expression) -> cp.Expression:
        return cp.sum_squares(cp.multiply(np.sqrt(self.beta)[:, None], u)) / 2


Regulariser = HalfSquaredNorm | ClassWeights


@dataclass(frozen=True)
class Machine:
    """Inputs x (n, d), labels y (n,), c classes, the weight C of the losses, and the loss."""

    x: np.ndarray
    y: np.ndarray
    c: int
    C: float
    loss: ScalarLoss = HINGE

    @cached_property
    def chosen(self) -> np.ndarray:
        """Return 1 at the true class, (n, c)."""
        return np.eye(self.c)[self.y]

    def primal(self, w: np.ndarray, regulariser: Regulariser) -> float:
        scores = self.x @ w.T
        others = (scores - 1e300 * self.chosen).max(axis=1)
        margins = (scores * self.chosen).sum(axis=1) - others
        return regulariser.value(w) + self.C * sum(float(self.loss.value(t)) for t in margins)

    def dual(self, alpha: np.ndarray, regulariser: Regulariser) -> float:
        """Return the objective of Problem 11 or 14 at a feasible alpha."""
        most = float(self.loss.lipschitz)  # exceeded only by rounding
        slopes = np.clip(-(alpha * self.chosen).sum(axis=1) / self.C, -most, 0)
        conjugates = sum(float(self.loss.conjugate(s)) for s in slopes)
        return -regulariser.conjugate(alpha.T @ self.x) - self.C * conjugates

    def feasible(self, alpha: np.ndarray) -> np.ndarray:
        """Return alpha made feasible: other classes <= 0, zero row sums, slopes of the loss."""
        others = np.minimum(alpha, 0) * (1 - self.chosen)
        total = -others.sum(axis=1, keepdims=True)
        most = float(self.loss.lipschitz) * self.C
        others *= np.minimum(1, most / np.maximum(total, 1e-300))
        return others - others.sum(axis=1, keepdims=True) * self.chosen

    def optimum(self, regulariser: Regulariser) -> Interval:
        """Return an interval that holds the minimum of (P).

        Its lower end is the dual value at the solver's multipliers, by weak duality.
        """
        w: cp.Expression = cp.Variable((self.c, self.x.shape[1]))
        if isinstance(regulariser, ClassWeights):
            w = cp.multiply((regulariser.beta > 0).astype(float)[:, None], w)
        t = cp.Variable(len(self.y))
        scores = self.x @ w.T
        own = cp.sum(cp.multiply(self.chosen, scores), axis=1)
        rows = t[:, None] <= (own[:, None] - scores) + 1e4 * self.chosen
        objective = regulariser.expression(w) + self.C * cp.sum(loss_expression(self.loss, t))
        run(cp.Problem(cp.Minimize(objective), [rows]), "CLARABEL")
        return self.between(np.asarray(w.value), self.feasible(-rows.dual_value), regulariser)

    def dual_optimum(self, regulariser: Regulariser) -> tuple[Interval, np.ndarray]:
        """Return an interval that holds the maximum of Problem 11 or 14, and a feasible alpha.

        The dual value at alpha is the lower end.

        The upper end is the primal value at the multipliers of the sums u, by weak duality.
        """
        alpha, u = cp.Variable((len(self.y), self.c)), cp.Variable((self.c, self.x.shape[1]))
        own = cp.sum(cp.multiply(self.chosen, alpha), axis=1)
        sums = u == alpha.T @ self.x
        rows = [
            cp.multiply(alpha, 1 - self.chosen) <= 0,
            cp.sum(alpha, axis=1) == 0,
            own <= float(self.loss.lipschitz) * self.C,
        ]
        conjugates = cp.sum(conjugate_expression(self.loss, -own / self.C))
        objective = -regulariser.conjugate_expression(u) - self.C * conjugates
        run(cp.Problem(cp.Maximize(objective), [sums, *rows]), "CLARABEL")
        w, near = regulariser.reachable(-sums.dual_value), self.feasible(found(alpha))
        return self.between(w, near, regulariser), near

    def between(self, w: np.ndarray, alpha: np.ndarray, regulariser: Regulariser) -> Interval:
        """Return the interval from the dual value at a feasible alpha to (P) at w.

        It is widened by the rounding error of the sums.
        """
        low, high = self.dual(alpha, regulariser), self.primal(w, regulariser)
        found = certified(low, high, abs(high), w, "")
        return found.value_lower, found.value_upper


def as_problem(machine: Machine, p: float) -> fwlab.Problem:
    """Return the fwlab problem for which C n times the objective is (P), and C A is alpha."""
    lam = 1 / (machine.C * len(machine.y))
    regularizer = fwlab.LpNorm(p)
    return fwlab.Problem(
        machine.x, machine.y, fwlab.MaxHinge(), lam, n_classes=machine.c, regularizer=regularizer
    )


def half_square(w: cp.Expression, p: Any) -> cp.Expression:
    return cp.square(cp.pnorm(cp.norm(w, 2, axis=1), p, approx=False)) / 2


def loss_expression(loss: ScalarLoss, t: cp.Expression) -> cp.Expression:
    if isinstance(loss, PowerHinge):  # the smooth hinge
        return cp.huber(cp.pos(2 - t), 2) / 4
    return -float(loss.left) * cp.pos(float(loss.zero) - t)


def conjugate_expression(loss: ScalarLoss, s: cp.Expression) -> cp.Expression:
    """Return the conjugate on the loss's slopes: 2 s + s^2 (smooth hinge), or s times the kink."""
    return 2 * s + cp.square(s) if isinstance(loss, PowerHinge) else float(loss.zero) * s


def machines(rng: Rng, number: int, c: int = 3) -> Iterator[Machine]:
    """Yield small problems; in every third problem the last class has no samples."""
    for i in range(number):
        n = int(rng.integers(4, 8))
        y = labels(rng, n, c - 1 if i % 3 == 2 else c)
        x = rng.standard_normal((n, 2)) + np.eye(c, 2)[y]
        yield Machine(x, y, c, float(rng.choice([0.1, 0.5, 2.0])))
