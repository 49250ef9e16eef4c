"""Run the published SDCA methods for the top-k SVM: exact block steps on the pseudo top-k domain.

This domain (L15 Algorithm 1 with Proposition 4, K19 (30)) is the domain of PseudoTopK (K19 (31))
and a part of TopK's domain. So a point is feasible for either loss and the dual has the same value,
but on a TopK problem with k > 1 the maximum that these methods reach may be less than the dual's
maximum: the gap of the problem stays positive while their own gap, the gap of the PseudoTopK
problem, goes to 0 (K19 section 8).
"""

from dataclasses import dataclass, replace
from typing import Any

from fwlab.kernels.steps.pseudo import BIASED_PROJECTION, SEMISMOOTH_NEWTON, VARIABLE_FIXING
from fwlab.losses import PseudoTopK, TopK
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.blocks import BlockMethod
from fwlab.solvers.method import Needs

SENTENCES = {
    BIASED_PROJECTION: "SDCA on the pseudo top-k domain, its block step by a biased projection.",
    SEMISMOOTH_NEWTON: "The same SDCA, its block step by a semismooth Newton iteration.",
    VARIABLE_FIXING: "The same SDCA, its block step by Newton's iteration or by variable fixing.",
}


@dataclass(frozen=True)
class Sdca(BlockMethod):
    """A pass of n block steps on the dual of PseudoTopK; it takes the options of BlockMethod."""

    @property
    def sentence(self) -> str:
        return SENTENCES[self.rule]

    @property
    def monotone(self) -> bool:
        """Whether the dual never falls: it may fall from a start outside the pseudo domain."""
        return False

    def refuses(self, problem: PrimalDual) -> str | None:
        loss, m = problem.loss, problem.n_classes
        if not isinstance(loss, TopK | PseudoTopK):
            return f"its loss must be TopK or PseudoTopK; got {type(loss).__name__}."
        if problem.smoothing > 0:
            return f"its smoothing must be 0; got {problem.smoothing}."
        if loss.k >= m:
            return f"its k must be at most m - 1 = {m - 1}; got {loss.k}."
        return None

    def needs(self, problem: PrimalDual) -> Needs:
        loss: Any = problem.loss  # TopK or PseudoTopK, see refuses
        own_loss = PseudoTopK(loss.k) if isinstance(loss, TopK) else loss
        return replace(super().needs(problem), own_loss=own_loss)
