"""Define the top-k entropy loss, a cross-entropy that is lenient with k guesses."""

from dataclasses import dataclass

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_integer
from fwlab.cross_entropy import CrossEntropy, EntropyLoss
from fwlab.losses import PseudoTopK
from fwlab.operators.capped_simplices import CappedSimplices
from fwlab.operators.simplices import Simplices


@dataclass(frozen=True)
class TopKEntropy(EntropyLoss):
    """The loss log(1 + exp(B)), B the maximum of <h, z> + H(z) with z_j <= 1/k (Lapin et al. 2016).

    h are the margins s_j - s_y of the other classes, z runs over the simplex of these classes, and
    H is the entropy -sum_j z_j log z_j. The conjugate at v = p - e_y is sum_j p_j log p_j on

        p_j >= 0,  sum_j p_j = 1,  p_j <= (1 - p_y) / k  for j != y.

    p is the share of each class that the gradient p - e_y holds. For k > 1 it depends on the label,
    so that the loss estimates no probabilities; for k = 1 the loss is CrossEntropy().

    Parameters
    ----------
    k : int
        From 1 to m - 1 with m classes. Entries of scores are at most 1e300 in size, as for
        CrossEntropy.
    """

    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", as_integer("k", self.k, low=1))

    def polytopes(self, y: Integers, m: int) -> Simplices:
        """Return the domains of samples with labels y (n,). Raises ValueError if k >= m."""
        m = as_integer("m", m, low=2)
        k = as_integer("k", self.k, low=1, high=m - 1)
        return Simplices(y, m) if k == 1 else CappedSimplices(y, m, k)

    def vertices(self, m: int, y: int) -> Floats:
        """Return all vertices of -dom Phi*(.; y) for m classes, (v, m).

        Raises ValueError if there are more than 10^5 vertices.
        """
        return (CrossEntropy() if self.k == 1 else PseudoTopK(self.k)).vertices(m, y)
