"""The decision threshold t as a convex function of the scores of the negatives, and its dual.

Both thresholds are a supremum over weights q >= 0 with sum 1 and a number r,

    t(s) = sup <q, s> + slope sum q - curvature/2 sum q_j^2 / r - price r,    q_j <= cap r,

where r is the sum of q for the mean of the K largest scores (M20 (5)) and free for the root of the
surrogate quantile equation (M20 (10)). Scaled by sum(alpha), q is beta and r is delta: that gives
all four duals (18), (30), (33), (34) of M20 in one form. At r = 0 the quadratic term is 0 if all
q are 0, else +inf.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fwlab.arrays import Floats
from fwlab.ranking.surrogates import Surrogate


class Threshold(Protocol):
    """A threshold and the constants of its supremum; cap = inf means no bound."""

    @property
    def slope(self) -> float: ...

    @property
    def curvature(self) -> float: ...

    @property
    def price(self) -> float: ...

    @property
    def cap(self) -> float: ...

    @property
    def free(self) -> bool:
        """Whether r is a variable, M20's delta, instead of the sum of beta."""

    def value(self, scores: Floats) -> float:
        """Return t of the negatives' scores (n_negative,)."""

    def level(self, scores: Floats) -> float:
        """Return the score above which one more negative would raise the threshold."""

    def attained(self, scores: Floats, t: float) -> tuple[Floats, float]:
        """Return the q and r that attain the supremum at t = value(scores)."""


@dataclass(frozen=True)
class MeanOfLargest:
    """The mean of the K largest scores."""

    K: int
    slope: float = 0.0
    curvature: float = 0.0
    price: float = 0.0
    free: bool = False

    @property
    def cap(self) -> float:
        """1/K; no bound with K = 1, where q_j <= sum q always holds."""
        return np.inf if self.K == 1 else 1 / self.K

    def value(self, scores: Floats) -> float:
        return float(np.partition(scores, -self.K)[-self.K :].mean())

    def level(self, scores: Floats) -> float:
        return float(np.partition(scores, -self.K)[-self.K])

    def attained(self, scores: Floats, t: float) -> tuple[Floats, float]:
        q = np.zeros(len(scores))
        q[np.argpartition(scores, -self.K)[-self.K :]] = 1 / self.K
        return q, 1.0


@dataclass(frozen=True)
class SurrogateQuantile:
    """The t with sum_j l(s_j - t) = budget, 0 < budget <= n_negative.

    The sum is strictly decreasing in t where it is positive.
    """

    surrogate: Surrogate
    budget: float
    free: bool = True

    @property
    def slope(self) -> float:
        return 1 / self.surrogate.theta

    @property
    def curvature(self) -> float:
        return self.surrogate.curvature

    @property
    def price(self) -> float:
        return self.budget

    @property
    def cap(self) -> float:
        return self.surrogate.largest

    def value(self, scores: Floats) -> float:
        """Return the root of the equation, from sorted scores.

        With u_j = theta (s_j - max s), in decreasing order, and T = theta (t - max s) - 1, it is

            sum_j (u_j - T)_+^p = budget.

        Entry j is above T if the sum at T = u_j is below the budget.
        """
        theta, largest = self.surrogate.theta, float(scores.max())
        u = np.sort(theta * (scores - largest))[::-1]
        count, total = np.arange(1, len(u) + 1), np.cumsum(u)
        if self.surrogate.power == 1:
            at_entries = total - count * u
        else:
            at_entries = np.cumsum(u**2) - 2 * u * total + count * u**2
        above = u[: max(1, int((at_entries < self.budget).sum()))]
        share = self.budget / len(above)
        if self.surrogate.power == 2:
            share = np.sqrt(max(0.0, share - above.var()))
        return float(largest + (1 + above.mean() - share) / theta)

    def level(self, scores: Floats) -> float:
        return self.value(scores) - 1 / self.surrogate.theta

    def attained(self, scores: Floats, t: float) -> tuple[Floats, float]:
        slopes = self.surrogate.slope(scores - t)
        total = slopes.sum()
        return slopes / total, 1 / float(total)
