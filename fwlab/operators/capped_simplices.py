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

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.operators.capped_softmax import cap_level, largest_entries, topk_entropies
from fwlab.operators.domains import RowPolytopes
from fwlab.operators.scores import row_slices
from fwlab.operators.simplices import LIBRARY_UNITS, VANISHED, Simplices
from fwlab.operators.sizes import row_maxima
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

    def losses_and_duals(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the losses (n,) and minus their gradients (n, m), points of the negated domain."""
        losses, duals = topk_entropies(scores, self.y, self.k)
        return losses, duals

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

    def _distances(self, points: Floats, omega: Floats) -> Floats:
        rest = np.maximum(-points, 0.0)
        rest[self._labels] = 0.0
        return np.asarray(super()._distances(points, omega) + 2 * MARGIN * self._excess(rest)[0])

    def _excess(self, rest: Floats) -> tuple[Floats, Floats]:
        """Return a bound of D and one from below of K, (n,), for entries (n, m) right to 2 u."""
        top = largest_entries(rest, self.k)
        others = np.partition(rest, self.n_classes - self.k, axis=1)[:, : -self.k].sum(axis=1)
        low = (1.0 - gamma(self.n_classes + 8)) * cap_level(others, top) - 2 * UNDERFLOW
        excess = MARGIN * np.maximum(0.0, rest - low[:, None]).sum(axis=1)
        return np.maximum(excess, VANISHED), low

    def loss_errors(self, scores: Floats, e: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Return bounds of the errors of the losses at scores with the errors e, and their sizes.

        All arrays but the scores are (n,).
        """
        m, k = self.n_classes, self.k
        d = 2 * e + gamma(k + 7) * 2 * (row_maxima(scores) + e)
        d += gamma(m + k + LIBRARY_UNITS + 2) + m * VANISHED
        d += gamma((LIBRARY_UNITS + 3) * (np.log(k) + np.log(m)))
        errors = d * np.minimum(1.0, values + d) + (2 * LIBRARY_UNITS + 2) * UNIT * values
        return MARGIN * (errors + 2 * VANISHED), values

    def conjugate_error(self, points: Floats, omega: Floats) -> float:
        """Return a bound of the error of the mean of conjugate_terms, at points next to A'."""
        moved = np.empty(len(points))
        for rows in row_slices(*points.shape):
            moved[rows] = self.take(rows)._entropies_moved(points[rows], omega[rows])
        return super().conjugate_error(points, omega) + MARGIN * float(np.mean(omega * moved))

    def _entropies_moved(self, points: Floats, omega: Floats) -> Floats:
        """Return bounds of the changes of the entropies from the rows q to b', (n,)."""
        rest, t = self._rest(points, omega)
        excess, low = self._excess(rest)
        label = np.maximum(excess, 1.0 - t - gamma(self.n_classes + 4) * t)
        logs = np.log(self.k) - np.log(np.maximum(excess, low)) - np.log(label)
        return np.asarray(excess * (2.0 + logs))
