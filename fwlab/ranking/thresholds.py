"""Define the decision threshold t, a convex function of the counted rows' scores, and its dual.

The counted rows are the negatives, or all rows for PatMat(over="all"). Both thresholds are a
supremum over weights q >= 0 with sum 1 and a number r,

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
from fwlab.operators.sums import UNDERFLOW, UNIT, gamma
from fwlab.ranking.surrogates import Surrogate

WIDENINGS = 600  # a width times 4^600 leaves the floats


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
        """Return t of the counted rows' scores (n_counted,)."""

    def bracket(self, low: Floats, high: Floats) -> tuple[float, float]:
        """Return a lower bound of the exact t for `low` and an upper bound of the t for `high`."""

    def level(self, scores: Floats) -> float:
        """Return the score above which one more counted row would raise the threshold."""

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

    def bracket(self, low: Floats, high: Floats) -> tuple[float, float]:
        return self.value(low) - self._rounding(low), self.value(high) + self._rounding(high)

    def _rounding(self, scores: Floats) -> float:
        """Return a bound of the error of `value`, and of one more addition."""
        largest = np.abs(np.partition(scores, -self.K)[-self.K :])
        return float(gamma(self.K + 4) * largest.mean()) + UNDERFLOW

    def level(self, scores: Floats) -> float:
        return float(np.partition(scores, -self.K)[-self.K])

    def attained(self, scores: Floats, t: float) -> tuple[Floats, float]:
        q = np.zeros(len(scores))
        q[np.argpartition(scores, -self.K)[-self.K :]] = 1 / self.K
        return q, 1.0


@dataclass(frozen=True)
class SurrogateQuantile:
    """The t with sum_j l(s_j - t) = budget, 0 < budget <= n_counted.

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

    def bracket(self, low: Floats, high: Floats) -> tuple[float, float]:
        return self._certain(low, -1.0), self._certain(high, 1.0)

    def _certain(self, scores: Floats, side: float) -> float:
        """Return a number on one side of the exact root, at which the equation's sign is certain.

        It is the computed root, moved by a width that grows until the sign is certain.
        """
        root = self.value(scores)
        width = UNIT * (abs(root) + 1 / self.surrogate.theta)
        for _ in range(WIDENINGS):
            t = root + side * width
            excess, error = self._excess(scores, t)
            if side * excess < -error:
                return t
            width *= 4
        return side * np.inf

    def _excess(self, scores: Floats, t: float) -> tuple[float, float]:
        """Return the sum at t minus the budget, and a bound of its error."""
        s, theta, square = scores - t, self.surrogate.theta, self.surrogate.power == 2
        v = 1 + theta * s
        f = 4 * UNIT * (1 + theta * np.abs(s)) + UNDERFLOW
        inside = np.maximum(0.0, v)
        errors = f * (2 * inside + f) + 3 * UNIT * inside * inside if square else f
        total = float((inside * inside if square else inside).sum())
        error = float(errors[v + f > 0].sum()) + gamma(len(s) + 4) * total
        return total - self.budget, 1.01 * error + 4 * UNIT * (total + self.budget)

    def level(self, scores: Floats) -> float:
        return self.value(scores) - 1 / self.surrogate.theta

    def attained(self, scores: Floats, t: float) -> tuple[Floats, float]:
        slopes = self.surrogate.slope(scores - t)
        total = slopes.sum()
        return slopes / total, 1 / float(total)
