"""Define the second dual of the training problem, and fix its true-class entries.

With H_y = I - 1 e_y' and phi(s; y) the loss with margins delta + s, Phi(s; y) = phi(H_y s; y), so
phi with the joint features H_{y_i} Psi_i gives a second dual of the same problem, K19 (32):

    d(A) = -lam/2 |w(A)|^2 - (1/n) sum_i phi*(-a_i; y_i)
    w(A) = (1/(lam n)) sum_i (H_{y_i} Psi_i)' a_i

K19 Proposition 7: for the top-k hinge, maximising d with A[i, y_i] = 0 gives the pseudo top-k
problem, not the top-k problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike

from reference import rational
from reference.arithmetic import fractions, inner
from reference.certificate import SOLVERS, Certified, by_all_solvers, found, proved, run
from reference.epigraph import epigraph
from reference.losses import Loss
from reference.lp import conjugate
from reference.polytope import Polytope
from reference.training import joint_features


@dataclass(frozen=True, eq=False)
class OtherDual:
    """X (n, d), y (n,), m classes."""

    X: np.ndarray
    y: np.ndarray
    loss: Loss
    lam: float
    m: int

    @property
    def features(self) -> np.ndarray:
        """The joint features H_{y_i} Psi_i, (n, m, m d), which give the scores s - s_y 1."""
        Psi = joint_features(self.X, self.m)
        return np.stack([P - P[label] for P, label in zip(Psi, self.y, strict=True)])

    @property
    def delta(self) -> np.ndarray:
        """(n, m)."""
        rows = [self.loss.for_sample(i).delta(self.m, y) for i, y in enumerate(self.labels)]
        return np.array(rows, dtype=float)

    @property
    def labels(self) -> list[int]:
        return [int(label) for label in self.y]

    def weights(self, A: ArrayLike) -> np.ndarray:
        """Return w(A), (m d,): W (m, d) read row by row."""
        total = np.einsum("nm,nmd->d", np.asarray(A, dtype=float), self.features)
        return total / (self.lam * len(self.y))

    def value(self, A: ArrayLike) -> float:
        """Return d(A), A (n, m); -inf outside the effective domain."""
        A = np.asarray(A, dtype=float)
        w = self.weights(A)
        terms = [
            conjugate(self.loss.for_sample(i), -a, y, centred=False)
            for i, (a, y) in enumerate(zip(A, self.labels, strict=True))
        ]
        return -self.lam / 2 * float(w @ w) - sum(terms) / len(terms)

    def fixed_domains(self) -> list[Polytope]:
        """Return, per sample, the set of all a in -dom phi*(.; y) with a_y = 0."""
        forms = [
            epigraph(self.loss.for_sample(i), self.m, y, centred=False)
            for i, y in enumerate(self.labels)
        ]
        return [f.negated_domain.with_zeros((y,)) for f, y in zip(forms, self.labels, strict=True)]

    def fixed_optimum(self, solvers: Sequence[str] = tuple(SOLVERS)) -> Certified:
        """Return the largest d(A) subject to A[i, y_i] = 0; the point is A (n, m).

        phi is the support function of its domain, evaluated at delta + s. Hence phi*(-a) = <delta,
        a> on the domain, and the objective is quadratic.
        """

        def attempt(solver: str) -> Certified:
            n, Psi, sets = len(self.y), self.features, self.fixed_domains()
            A, w = cp.Variable((n, self.m)), cp.Variable(Psi.shape[2])
            rows = [self.lam * n * w == cp.sum([P.T @ A[i] for i, P in enumerate(Psi)])]
            for i, s in enumerate(sets):
                x = cp.Variable(s.M.shape[1], nonneg=True)
                rows += [A[i] == s.M @ x, s.A @ x == s.b]
            linear = cp.sum(cp.multiply(self.delta, A)) / n
            objective = -self.lam / 2 * cp.sum_squares(w) - linear
            status = run(cp.Problem(cp.Maximize(objective), rows), solver)
            weights = [
                rational.feasible(s, s.nearest_x(a)) for s, a in zip(sets, found(A), strict=True)
            ]
            feasible = [
                [inner(row, x) for row in fractions(s.M)]
                for s, x in zip(sets, weights, strict=True)
            ]
            return self.interval(np.array(feasible), sets, status)

        return by_all_solvers(attempt, solvers)

    def interval(self, A: np.ndarray, sets: Sequence[Polytope], solver: str) -> Certified:
        """Return the interval for the largest d that a feasible A proves, in Fractions.

        d(A) is the lower end. As d is concave, d(A) + max <grad d(A), U - A> over the feasible U,
        one LP per row, is the upper end.
        """
        n, lam, features = len(A), Fraction(self.lam), fractions(self.features)
        delta = fractions(self.delta)
        columns = features.reshape(-1, features.shape[2]).T
        w = np.array([inner(column, A.ravel()) for column in columns]) / (lam * n)
        scores = np.array([[inner(row, w) for row in rows] for rows in features])
        gradient = -(scores + delta) / n
        value = -lam / 2 * inner(w, w) - inner(delta.ravel(), A.ravel()) / n
        ascent = [
            inner(-g, a) - rational.least(s, -g) for s, g, a in zip(sets, gradient, A, strict=True)
        ]
        return proved(value, value + sum(ascent), A, solver)
