"""Compute the certificate of a run with the cross-entropy in ball arithmetic.

fwlab.balls does so for the losses of the other family, and has all products. The dual is taken at
the exact point A' next to A that fwlab.operators.simplices defines, in fractions.
"""

from typing import Any

from fwlab.arrays import Floats
from fwlab.balls import Balls


class EntropyBalls(Balls):
    """The problem and the result in balls, for the cross-entropy."""

    def take_loss(self) -> None:
        """Do nothing: the loss has no parameters."""

    def repaired(self, a: Floats, y: int, omega: Any) -> list[Any]:
        """Return the point a' of omega times the negated domain, (m,) fractions."""
        zero = self.fraction(0)
        if omega == 0:
            return [zero] * len(a)
        b = [max(zero, -self.exact(v)) if j != y else zero for j, v in enumerate(a)]
        total = sum(b, zero)
        if total > omega:
            b, total = [v * omega / total for v in b], omega
        row = [-v for v in b]
        row[y] = total
        return row

    def loss(self, scores: list[Any], i: int) -> Any:
        """Return the loss of sample i at scores (m,)."""
        y = int(self.problem.y[i])
        margins = [s - scores[y] for j, s in enumerate(scores) if j != y]
        largest = self.arb(max(0.0, max(float(z) for z in margins)))
        rest = sum(((z - largest).exp() for z in margins), self.arb(0))
        if largest == 0:
            return rest.log1p()
        return largest + (rest + (-largest).exp()).log()

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
