"""Define the cross-entropy and its training problem in 60 digits, with certified optimal values.

    Phi(s; y)  = log sum_j exp(s_j - s_y)
    Phi*(v; y) = sum_j p_j log p_j    for p = v + e_y in the simplex, +inf elsewhere
    P(W) = lam/2 |W|^2 + (1/n) sum_i omega_i Phi(W x_i; y_i)
    D(A) = -lam/2 |W(A)|^2 - (1/n) sum_i omega_i Phi*(-a_i / omega_i; y_i),   W(A) = A^T X / (lam n)

Floats count as exact numbers. Sums and products are fractions; exp and log are those of the module
decimal, which rounds them correctly. The optimum comes from an interior-point method on exponential
cones (cvxpy), which need not be trusted: P at its solution and D at the gradients there are the
ends of the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike

from reference.arithmetic import fractions, inner
from reference.certificate import Certified, found, proved, run

Scores = ArrayLike | Sequence[Fraction]
DIGITS = 60
# relative, far above the errors of sums of DIGITS digits
SAFETY = Fraction(1, 10**45)
CONTEXT = Context(prec=DIGITS, Emax=999_999_999, Emin=-999_999_999)
# smaller arguments of exp, with values below 10^-1300, are replaced by this, as fractions with more
# digits are slow
LEAST_EXPONENT = Decimal(-3000)


def decimal(number: Fraction) -> Decimal:
    """Return a fraction in DIGITS digits."""
    return CONTEXT.divide(Decimal(number.numerator), Decimal(number.denominator))


def exponentials(scores: Sequence[Fraction], y: int) -> tuple[Fraction, list[Decimal]]:
    """Return the largest margin c = max_j s_j - s_y, and exp(s_j - s_y - c) of all classes."""
    margins = [s - scores[y] for s in scores]
    largest = max(margins)
    shifted = [max(LEAST_EXPONENT, decimal(z - largest)) for z in margins]
    return largest, [CONTEXT.exp(z) for z in shifted]


def value(scores: Scores, y: int) -> Fraction:
    """Return Phi(scores; y), accurate to 10^-39 of its size, or to 10^-1300."""
    largest, terms = exponentials([Fraction(s) for s in fractions(np.asarray(scores))], y)
    if largest == 0:
        rest = sum((Fraction(e) for j, e in enumerate(terms) if j != y), Fraction())
        return log_of_one_and(rest)
    return largest + log_of_one_and(sum(map(Fraction, terms), Fraction()) - 1)


def log_of_one_and(rest: Fraction) -> Fraction:
    """Return log(1 + rest) for rest >= 0; below 10^-20 by its series."""
    if rest < Fraction(1, 10**20):
        return rest - rest**2 / 2 + rest**3 / 3
    return Fraction(CONTEXT.ln(decimal(1 + rest)))


def softmax(scores: Scores) -> list[Fraction]:
    """Return the probabilities as fractions whose sum is 1."""
    exact = [Fraction(s) for s in fractions(np.asarray(scores))]
    terms = [Fraction(e) for e in exponentials(exact, 0)[1]]
    total = sum(terms, Fraction())
    return [e / total for e in terms]


def negated_entropy(p: Sequence[Fraction]) -> Fraction:
    """Return sum_j p_j log p_j."""
    total = Fraction()
    for share in p:
        if 0 < share <= Fraction(1, 2):
            total += share * Fraction(CONTEXT.ln(decimal(share)))
        elif share > 0:
            total -= share * log_of_one_and((1 - share) / share)
    return total


def conjugate(v: Sequence[Fraction], y: int) -> Fraction | float:
    """Return Phi*(v; y) for fractions v (m,), +inf unless v + e_y lies exactly in the simplex."""
    p = [Fraction(share) + (j == y) for j, share in enumerate(v)]
    if min(p) < 0 or sum(p) != 1:
        return float("inf")
    return negated_entropy(p)


@dataclass(frozen=True, eq=False)
class LogisticRegression:
    """The training problem of X (n, d) and y (n,) among m classes; no intercept."""

    X: np.ndarray
    y: np.ndarray
    m: int
    lam: float
    sample_weight: np.ndarray | None = None

    def loss(self, scores: Scores, y: int) -> Fraction:
        """Return Phi(scores; y)."""
        return value(scores, y)

    def conjugate(self, v: Sequence[Fraction], y: int) -> Fraction | float:
        """Return Phi*(v; y)."""
        return conjugate(v, y)

    def gradient(self, scores: Scores, y: int) -> list[Fraction]:
        """Return a point exactly in the domain, close to the gradient of Phi(.; y)."""
        return [p - (j == y) for j, p in enumerate(softmax(scores))]

    def modelled(self, scores: Any, y: int) -> Any:
        """Return Phi(scores; y) for an expression of cvxpy."""
        return cp.log_sum_exp(scores) - scores[y]

    @property
    def omega(self) -> list[Fraction]:
        weights = np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight
        return [Fraction(w) for w in fractions(weights)]

    def primal(self, W: ArrayLike) -> Fraction:
        """Return P(W), W (m, d)."""
        rows, X = fractions(np.asarray(W)), fractions(self.X)
        losses = sum(
            (
                omega * self.loss([inner(w, x) for w in rows], int(label))
                for omega, x, label in zip(self.omega, X, self.y, strict=True)
            ),
            Fraction(),
        )
        return Fraction(self.lam) / 2 * inner(rows.ravel(), rows.ravel()) + losses / len(self.y)

    def dual(self, A: np.ndarray) -> Fraction | float:
        """Return D(A) for fractions A (n, m), -inf outside the domain."""
        terms = Fraction()
        for omega, a, label in zip(self.omega, A, self.y, strict=True):
            if omega == 0 and any(a):
                return -float("inf")
            if omega > 0:
                term = self.conjugate([-share / omega for share in a], int(label))
                if isinstance(term, float):
                    return -term
                terms += omega * term
        V = self.link(A)
        return -Fraction(self.lam) / 2 * inner(V.ravel(), V.ravel()) - terms / len(self.y)

    def link(self, A: np.ndarray) -> np.ndarray:
        """Return W(A), (m, d), in fractions."""
        X, lam_n = fractions(self.X), Fraction(self.lam) * len(self.y)
        return np.array([[inner(a, x) / lam_n for x in X.T] for a in A.T])

    def at_gradients(self, W: ArrayLike) -> np.ndarray:
        """Return minus omega_i times the gradients of the losses at W x_i, (n, m), in fractions."""
        rows, X = fractions(np.asarray(W)), fractions(self.X)
        A = [
            [-omega * v for v in self.gradient([inner(w, x) for w in rows], int(label))]
            for omega, x, label in zip(self.omega, X, self.y, strict=True)
        ]
        return np.array(A)

    def optimum(self) -> Certified:
        """Return an interval that holds the optimal value, and a W (m, d) at its upper end."""
        W, n = cp.Variable((self.m, self.X.shape[1])), len(self.y)
        weights = [float(omega) for omega in self.omega]
        objective = self.lam / 2 * cp.sum_squares(W)
        for omega, x, label in zip(weights, self.X, self.y, strict=True):
            objective += omega / n * self.modelled(W @ x, int(label))
        status = run(cp.Problem(cp.Minimize(objective)), "CLARABEL")
        upper, lower = self.primal(found(W)), self.dual(self.at_gradients(found(W)))
        assert isinstance(lower, Fraction)
        slack = SAFETY * (1 + abs(upper) + abs(lower))
        return proved(lower - slack, upper + slack, found(W), status)
