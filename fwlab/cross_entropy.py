"""Define the cross-entropy, the loss of multinomial logistic regression, and its family.

The conjugate of a loss of this family is an entropy instead of a linear function on its domain. The
domains stand behind the protocol of fwlab.operators.domains, and no kernel knows of them.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_integer
from fwlab.losses import DOMAIN_TOLERANCE, LossOfRows
from fwlab.operators.simplices import LARGEST, Simplices


class EntropyLoss(LossOfRows):
    """A loss whose conjugate at v = p - e_y is sum_j p_j log p_j, on a convex set of shares p.

    Scores have shape (n, m), with labels y (n,), or (m,) with a scalar label; their entries are at
    most 1e300 in size.
    """

    @abstractmethod
    def polytopes(self, y: Integers, m: int) -> Simplices:
        """Return the domains of samples with labels y (n,) among m classes."""

    def gradient(self, scores: Any, y: Any) -> Any:
        """Return the gradient p - e_y at each row of scores, (n, m).

        The label's entry is minus the sum of the other shares, with all its digits.
        """
        rows, simplices, single = self._rows("scores", scores, y)
        gradients = 0.0 - simplices.losses_and_duals(rows)[1]
        return gradients[0] if single else gradients

    def subgradient(self, scores: Any, y: Any) -> Any:
        """Return the gradient, which is the only subgradient."""
        return self.gradient(scores, y)

    def lmo(self, gradient: Any, y: Any) -> Any:
        """Return the vertices u of the negated domain that minimise <gradient, u>, (n, m).

        Ties go to the lowest index.
        """
        rows, simplices, single = self._rows("gradient", gradient, y)
        vertices = simplices.lowest(rows)[0]
        return vertices[0] if single else vertices

    def conjugate(self, v: Any, y: Any) -> Any:
        """Return the conjugate, sum_j p_j log p_j at v = p - e_y, and +inf elsewhere, (n,)."""
        rows, simplices, single = self._rows("v", v, y)
        inside = simplices.contains(rows, DOMAIN_TOLERANCE)
        terms = simplices.conjugate_terms(0.0 - rows, np.ones(len(rows)))
        conjugates = np.where(inside, terms, np.inf)
        return conjugates[0] if single else conjugates

    def _rows(
        self, name: str, values: Any, y: Any, largest: float = LARGEST
    ) -> tuple[Floats, Any, bool]:
        return super()._rows(name, values, y, largest)


@dataclass(frozen=True)
class CrossEntropy(EntropyLoss):
    """The loss Phi(s; y) = log sum_j exp(s_j - s_y) of multinomial logistic regression.

    With the probabilities p = exp(s) / sum_j exp(s_j) its gradient is p - e_y, and its conjugate at
    p - e_y is sum_j p_j log p_j. Scores have shape (n, m), with labels y (n,), or (m,) with a
    scalar label; their entries are at most 1e300 in size.
    """

    def polytopes(self, y: Integers, m: int) -> Simplices:
        """Return the simplices of samples with labels y (n,) among m classes."""
        return Simplices(y, as_integer("m", m, low=2))

    def vertices(self, m: int, y: int) -> Floats:
        """Return all vertices of -dom Phi*(.; y) for m classes, (m, m): e_y - e_j in row j."""
        m = as_integer("m", m, low=2)
        vertices = -np.eye(m)
        vertices[:, as_integer("y", y, low=0, high=m - 1)] += 1.0
        return vertices + 0.0
