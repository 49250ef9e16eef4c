"""Define the top-k entropy loss and its training problem in 60 digits, with certified values.

    Phi*(v; y) = sum_j b_j log b_j + (1 - t) log(1 - t),    b_j = v_j for j != y,  t = sum_j b_j,

if 0 <= b_j <= t/k, t <= 1 and v_y = -t, and +inf elsewhere; Phi(s; y) is the maximum of
<s, v> - Phi*(v; y). With b = t z and the margins h_j = s_j - s_y it is log(1 + exp(B)), where

    B = max <h, z> - sum_j z_j log z_j    over    sum_j z_j = 1,  0 <= z_j <= 1/k.

For every tau, the sum of the maxima over each z_j bounds B from above:

    B <= tau + sum_j max over 0 <= z <= 1/k of z (h_j - tau) - z log z.

Both ends are computed, the lower one at an exact point of the set, and must agree. With multipliers
mu for the bounds b_j <= t/k, the loss is also

    Phi(s; y) = min over mu >= 0 of log(1 + sum_j exp(h_j - mu_j + sum_i mu_i / k)),

the form that cvxpy is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

from reference.arithmetic import fractions
from reference.cross_entropy import (
    CONTEXT,
    LEAST_EXPONENT,
    LogisticRegression,
    Scores,
    decimal,
    log_of_one_and,
    negated_entropy,
)

# relative, between the two ends
AGREE = Fraction(1, 10**40)
# the exponential of a larger argument is far above the number of classes
LARGE = Fraction(200)


def log(number: Fraction) -> Fraction:
    """Return the logarithm in the digits of the context."""
    return Fraction(CONTEXT.ln(decimal(number)))


def exp(number: Fraction) -> Fraction:
    """Return the exponential in the digits of the context; it is positive."""
    return Fraction(CONTEXT.exp(max(LEAST_EXPONENT, decimal(number))))


def shares(h: Sequence[Fraction], k: int) -> tuple[list[Fraction], Fraction]:
    """Return exact z (m - 1,) with z_j = min(1/k, f exp(h_j - h_[k])) and sum 1, and f.

    The sum grows with f, and is linear between the numbers at which an entry reaches 1/k.
    """
    kth = sorted(h, reverse=True)[k - 1]
    terms = [exp(min(v - kth, LARGE)) for v in h]
    cap, low = Fraction(1, k), Fraction()
    for high in sorted(cap / e for e in terms):
        if sum(min(cap, high * e) for e in terms) >= 1:
            break
        low = high
    slope = sum((e for e in terms if low * e < cap), Fraction())
    f = low + (1 - sum(min(cap, low * e) for e in terms)) / slope
    return [min(cap, f * e) for e in terms], f


def bound(h: Sequence[Fraction], k: int) -> Fraction:
    """Return B. Raises ArithmeticError unless its upper and lower bounds agree."""
    kth = sorted(h, reverse=True)[k - 1]
    g, (z, f) = [v - kth for v in h], shares(h, k)
    below = sum((share * v for share, v in zip(z, g, strict=True)), Fraction())
    below -= sum((share * log(share) for share in z), Fraction())
    # at this tau the maximum of z (g_j - tau) - z log z is taken at f exp(g_j), and equals it
    tau, cap = -log(f) - 1, Fraction(1, k)
    above = tau
    for share, v in zip(z, g, strict=True):
        above += share if share < cap else cap * (v - tau + log(Fraction(k)))
    if not abs(above - below) <= AGREE * (1 + max(map(abs, g))):
        raise ArithmeticError(f"the ends of B disagree: {float(below)} and {float(above)}.")
    return kth + below


def _margins(scores: Scores, y: int) -> list[Fraction]:
    exact = [Fraction(s) for s in fractions(np.asarray(scores))]
    return [s - exact[y] for j, s in enumerate(exact) if j != y]


def value(scores: Scores, y: int, k: int) -> Fraction:
    """Return Phi(scores; y), accurate to 10^-38 of the largest score, or to 10^-1300."""
    B = bound(_margins(scores, y), k)
    return max(B, Fraction()) + log_of_one_and(exp(-abs(B)))


def gradient(scores: Scores, y: int, k: int) -> list[Fraction]:
    """Return a point exactly in the domain, close to the gradient of Phi(.; y)."""
    h = _margins(scores, y)
    small = exp(-abs(B := bound(h, k)))
    t = (1 if B > 0 else small) / (1 + small)
    b = [t * share for share in shares(h, k)[0]]
    return [*b[:y], -t, *b[y:]]


def conjugate(v: Sequence[Fraction], y: int, k: int) -> Fraction | float:
    """Return Phi*(v; y) for fractions v (m,), +inf unless v lies exactly in the domain."""
    exact = [Fraction(entry) for entry in v]
    b, t = exact[:y] + exact[y + 1 :], -exact[y]
    if min(b) < 0 or max(b) * k > t or t > 1 or sum(exact) != 0:
        return float("inf")
    return negated_entropy([*b, 1 - t])


@dataclass(frozen=True, eq=False)
class TopKLogistic(LogisticRegression):
    """The training problem with the top-k entropy loss."""

    k: int = 2

    def loss(self, scores: Scores, y: int) -> Fraction:
        """Return Phi(scores; y)."""
        return value(scores, y, self.k)

    def conjugate(self, v: Sequence[Fraction], y: int) -> Fraction | float:
        """Return Phi*(v; y)."""
        return conjugate(v, y, self.k)

    def gradient(self, scores: Scores, y: int) -> list[Fraction]:
        """Return a point exactly in the domain, close to the gradient of Phi(.; y)."""
        return gradient(scores, y, self.k)

    def modelled(self, scores: Any, y: int) -> Any:
        """Return Phi(scores; y) for an expression of cvxpy."""
        mu = cp.Variable(self.m, nonneg=True)
        others = [j for j in range(self.m) if j != y]
        moved = scores - scores[y] - mu + cp.sum(mu[others]) / self.k
        return cp.log_sum_exp(cp.hstack([0.0, moved[others]]))
