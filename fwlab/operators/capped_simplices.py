"""Describe the domains of the top-k entropy loss's dual variable: capped simplices with an entropy.

With b_j = -a_j / omega for the classes j != y and t their sum, a row a lies in the domain if

    0 <= b_j <= t / k,    t <= 1,    a_y = omega t,

which is the domain of the pseudo top-k hinge, and there the conjugate is the one of the
cross-entropy, sum_j b_j log b_j + (1 - t) log(1 - t). fwlab.operators.capped_softmax derives both.

Rounding. A certificate belongs to the exact point A' with b' = min(q, K), where q is the row of
fwlab.operators.simplices, whose sum is at most 1, and K = min over c < k of the sum of the q_j
without the c largest ones, divided by k - c: the largest K with k K <= sum_j min(q_j, K). Let D be
the sum of max(0, b_j - K). Then A' is at most 2 omega D further away. As

    |x log x - z log z| <= |x - z| (1 + log(1 / max(x, |x - z|)))    for 0 <= x <= z <= 1,

and fewer than k entries change, the entropies change by at most

    D (1 + log(k / max(K, D)))          the entries at the bound
    D (1 + log(1 / max(1 - t, D)))      the label.

K is a quotient of a sum of non-negative terms, right to gamma_{m+2}; b is right to 2 u.

At scores that are right to e, let M = 2 (max_j |s_j| + e), which no difference of scores exceeds.
B changes by no more than the largest change of a margin, and by no more than log K changes. Its
error is at most

    2 e + gamma_{k+7} M                 the margins, those less the k-th, the mean and the sums
    gamma_{m+k+18}                      K: exp, the sums and a quotient
    19 u (log k + log m)                the logarithms and their sums

and the loss has an error of d t_max + 34 u loss + (m + 2) 2^-1021, with d the error of B and
t_max <= min(1, loss + d), because the derivative t by B is at most the loss, -log(1 - t).
"""

from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers, namespace_of, with_entries
from fwlab.operators.capped_softmax import (
    cap_level,
    largest_and_sum_of_others,
    topk_entropies,
)
from fwlab.operators.domains import RowPolytopes
from fwlab.operators.simplices import LIBRARY_UNITS, VANISHED, Simplices
from fwlab.operators.sums import MARGIN, UNDERFLOW, UNIT, gamma


@dataclass(frozen=True, eq=False)
class CappedSimplices(Simplices):
    """One capped simplex per sample, 1 < k < n_classes; its costs delta are 0."""

    k: int

    @cached_property
    def _polytopes(self) -> RowPolytopes:
        """Polytopes with two weight vectors, which are these domains."""
        weights = np.zeros(self.n_classes - 1)
        weights[: self.k] = 1.0 / self.k
        costs, rows = np.zeros((1, self.n_classes)), np.zeros(len(self.y), dtype=np.int64)
        return RowPolytopes(self.y, weights, weights, costs, rows, self.scale)

    def take(self, rows: Integers | slice) -> "CappedSimplices":
        """Return the capped simplices of the given samples."""
        return CappedSimplices(self.y[rows], self.n_classes, self.k)

    def losses_and_duals(self, scores: Any) -> tuple[Any, Any]:
        """Return the losses (n,) and minus their gradients (n, m), points of the negated domain.

        The scores may be a tensor, if the labels y are one on its device.
        """
        return topk_entropies(scores, self.y, self.k)

    def lowest(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the vertices U (n, m) that minimise <scores, U>, and minus the minima."""
        return self._polytopes.lowest(scores)

    def contains(self, v: Floats, slack: float) -> np.ndarray:
        """Return whether rows of v lie in the domains up to `slack`, (n,)."""
        b, t = v.copy(), -v[self._labels]
        b[self._labels] = 0.0
        inside = (b.min(axis=1) >= -slack) & (b.max(axis=1) <= t / self.k + slack)
        return np.asarray(inside & (t <= 1.0 + slack) & (np.abs(v.sum(axis=1)) <= slack))

    def project(self, points: Floats) -> Floats:
        """Return the nearest points of the negated domains, (n, m)."""
        return self._polytopes.project(points)

    def distances_of_rows(self, points: Any, omega: Any) -> Any:
        """Return `distances`, of all rows at once; points may be a tensor."""
        rest = with_entries(namespace_of(points).clip(-points, 0.0, None), self.y, 0.0)
        return super().distances_of_rows(points, omega) + 2 * MARGIN * self._excess(rest)[0]

    def _excess(self, rest: Any) -> tuple[Any, Any]:
        """Return a bound of D and one from below of K, (n,), for entries (n, m) right to 2 u."""
        xp, (top, others) = namespace_of(rest), largest_and_sum_of_others(rest, self.k)
        low = (1.0 - gamma(self.n_classes + 8)) * cap_level(others, top) - 2 * UNDERFLOW
        excess = MARGIN * xp.sum(xp.clip(rest - low[:, None], 0.0, None), axis=1)
        return xp.clip(excess, VANISHED, None), low

    def loss_errors_at(self, largest: Floats, e: Floats, values: Floats) -> Floats:
        """Return bounds of the errors of losses, from the sizes of the largest scores, (n,)."""
        m, k = self.n_classes, self.k
        d = 2 * e + gamma(k + 7) * 2 * (largest + e)
        d += gamma(m + k + LIBRARY_UNITS + 2) + m * VANISHED
        d += gamma((LIBRARY_UNITS + 3) * (np.log(k) + np.log(m)))
        errors = d * np.minimum(1.0, values + d) + (2 * LIBRARY_UNITS + 2) * UNIT * values
        return np.asarray(MARGIN * (errors + 2 * VANISHED))

    def entropies_with_errors(self, points: Any, omega: Any, n: int) -> tuple[Any, Any]:
        """Return `entropies` of rows, and bounds of the errors of conjugate_terms among n, (n,)."""
        entropies, errors = super().entropies_with_errors(points, omega, n)
        return entropies, errors + omega * self._entropies_moved(points, omega)

    def _entropies_moved(self, points: Any, omega: Any) -> Any:
        """Return bounds of the changes of the entropies from the rows q to b', (n,)."""
        xp, (rest, t) = namespace_of(points), self._rest(points, omega)
        excess, low = self._excess(rest)
        label = xp.maximum(excess, 1.0 - t - gamma(self.n_classes + 4) * t)
        logs = log(self.k) - xp.log(xp.maximum(excess, low)) - xp.log(label)
        return excess * (2.0 + logs)
