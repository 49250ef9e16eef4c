"""Compute the certificate of a run with an entropy in ball arithmetic.

fwlab.balls does so for the losses of the other family, and has all products. The dual is taken at
the exact point A' next to A that fwlab.operators.simplices and fwlab.operators.capped_simplices
define, in fractions.
"""

from functools import reduce
from typing import Any

from fwlab.arrays import Floats
from fwlab.balls import Balls
from fwlab.operators.capped_simplices import CappedSimplices


class EntropyBalls(Balls):
    """The problem and the result in balls, for the cross-entropy and the top-k entropy loss."""

    def take_loss(self) -> None:
        """Take the number k of guesses."""
        polytopes = self.problem.polytopes
        self.k = polytopes.k if isinstance(polytopes, CappedSimplices) else 1

    def repaired(self, a: Floats, y: int, omega: Any) -> list[Any]:
        """Return the point a' of omega times the negated domain, (m,) fractions."""
        zero = self.fraction(0)
        if omega == 0:
            return [zero] * len(a)
        b = [max(zero, -self.exact(v)) if j != y else zero for j, v in enumerate(a)]
        total = sum(b, zero)
        if total > omega:
            b, total = [v * omega / total for v in b], omega
        if self.k > 1:
            level = min(self._levels(sorted(b)))
            b = [min(v, level) for v in b]
            total = sum(b, zero)
        row = [-v for v in b]
        row[y] = total
        return row

    def loss(self, scores: list[Any], i: int) -> Any:
        """Return the loss of sample i at scores (m,)."""
        y = int(self.problem.y[i])
        margins = [s - scores[y] for j, s in enumerate(scores) if j != y]
        # the loss moves no more than the largest of them
        moved = self.arb(0, reduce(self.arb.max, (z.rad() for z in margins)))
        middles = [z.mid() for z in margins]
        return moved + (self._capped_loss(middles) if self.k > 1 else self._loss(middles))

    def _loss(self, margins: list[Any]) -> Any:
        """Return log(1 + sum_j exp(z_j)) for exact margins z."""
        largest = reduce(self.arb.max, margins, self.arb(0))
        rest = sum(((z - largest).exp() for z in margins), self.arb(0))
        if largest == 0:
            return rest.log1p()
        return largest + (rest + (-largest).exp()).log()

    def _levels(self, ascending: list[Any]) -> list[Any]:
        """Return the sums without the c largest entries, divided by k - c, for all c < k."""
        rest = sum(ascending[: -self.k], 0 * ascending[0])
        levels = []
        for count, entry in enumerate(ascending[-self.k :], start=1):
            rest += entry
            levels.append(rest / count)
        return levels

    def _capped_loss(self, margins: list[Any]) -> Any:
        """Return log(1 + exp(B)) for exact margins, whose order is certain."""
        kth = sorted(margins)[-self.k]
        # the exponential of a number far above their count counts like another one
        most = self.arb(len(margins))
        terms = [h.exp() if (h := z - kth) < most else most.exp() for z in sorted(margins)]
        log_level = reduce(self.arb.min, self._levels(terms)).log()
        over = sum(((z - kth - log_level).max(self.arb(0)) for z in margins), self.arb(0))
        bound = kth + self.arb(self.k).log() + log_level + over / self.k
        return bound.max(self.arb(0)) + (-abs(bound)).exp().log1p()

    def conjugate_terms(self) -> Any:
        """Return (1/n) sum_i omega_i sum_j p_ij log p_ij."""
        problem, total = self.problem, self.arb(0)
        for i, row in enumerate(self.A):
            omega, label = self.exact(problem.sample_weight[i]), int(problem.y[i])
            if omega == 0:
                continue
            b = [self.arb(-v / omega) for j, v in enumerate(row) if j != label and v != 0]
            entropies = sum((p * p.log() for p in b), self.arb(0))
            t = row[label] / omega
            if t < 1:
                entropies += self.arb(1 - t) * self.arb(-t).log1p()
            total += self.arb(omega) * entropies
        return total / problem.n_samples
