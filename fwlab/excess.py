"""Decide when a run has shown how far a machine is from the optimum (fwlab.certification)."""

from dataclasses import dataclass, field
from enum import Enum
from math import fsum
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.certificate import certificate_of
from fwlab.operators.precision import precisions_of
from fwlab.operators.tensor_rows import tensor_rows
from fwlab.problem import Problem
from fwlab.result import Certificate, Result
from fwlab.solvers.solve import TrainingProgress
from fwlab.solvers.tensor_lbfgs import TensorState
from fwlab.solvers.tensor_point import TensorPoint
from fwlab.tensor_certificate import (
    MachineTerms,
    certificate_of_machines,
    machine_terms,
    terms_of_zero,
)

# of P(W): an excess below it is as good as none
NEGLIGIBLE = 1e-12
# of P(W): a larger excess counts, however large rounding errors are
SMALL = 1e-6
# the run judges a dual point that its last certificate may still move, and ends within this share
CLEAR = 0.9


class ExcessStatus(Enum):
    """Say how well the excess is known; the value is the sentence a user reads."""

    KNOWN = "The excess is known within the factor."
    NEGLIGIBLE = "The excess is too small to be told from 0: it is bounded from above alone."
    ROUNDING_FLOOR = "Rounding errors hide the excess within the factor; its bounds hold."
    OPEN = "The run ended before the excess was known within the factor; its bounds hold."
    INCONSISTENT = "Nothing is certified: what the run met contradicts what it was told."

    @property
    def is_settled(self) -> bool:
        """Whether a longer run is not asked for."""
        return self not in (ExcessStatus.OPEN, ExcessStatus.INCONSISTENT)


@dataclass(eq=False)
class ExcessTest:
    """The machine to certify, and the test that ends the run.

    Attributes
    ----------
    primal : float
        P(W), as computed.
    tried : float
        The gap of W+ at which the last test with rounding errors failed.
    """

    problem: Problem
    W: Floats
    primal: float
    factor: float
    tried: float = np.inf

    @property
    def start(self) -> Any:
        """The start of the run, as `solve` takes it."""
        return None

    @property
    def link(self) -> Floats | None:
        """The link of the gradients of the losses at W, if it is known."""
        return None

    def end_if_known(self, progress: TrainingProgress) -> None:
        """Raise StopIteration if the excess is known; rounding errors count as soon as it may."""
        high = self.primal - progress.dual
        if self.status(high, high - progress.gap, 0.0) is ExcessStatus.OPEN:
            return
        if progress.gap > self.tried / 2:
            return
        own, other = self.certificates(progress)
        high, low = self.bounds(own, other, progress.state.weights())
        if self.status(high, low, own.gap_error, CLEAR) is not ExcessStatus.OPEN:
            raise StopIteration
        self.tried = progress.gap

    def certificate(self, A: Floats, W: Floats | None) -> Certificate:
        """Return the certificate of a dual point and a machine."""
        return certificate_of(self.problem, np.asarray(A), W)

    def certificates(self, progress: TrainingProgress) -> tuple[Certificate, Certificate]:
        """Return the certificates of W and of the run's machine at the run's dual point."""
        # not the read-only views of the progress, for which numba would compile other versions
        A, W = progress.state.A, progress.state.weights()
        return self.certificate(A, self.W), self.certificate(A, W)

    def certificates_at_zero(self, W: Any) -> tuple[Certificate, Certificate]:
        """Return the certificates of the own machine and of W at the dual point 0."""
        zero = np.zeros((self.problem.n_samples, self.problem.n_classes))
        return self.certificate(zero, self.W), self.certificate(zero, W)

    def bounds(self, own: Certificate, other: Certificate | Result, W: Any) -> tuple[float, float]:
        """Return bounds of the excess from the certificates of the own machine and of W.

        D(0) = 0 has no rounding error for the losses of the library. Where rounding errors are most
        of what the bounds leave open, its bounds P(W) and P(W) - P(W+) count, too.
        """
        high, low = excess_bounds(own, other)
        problem = self.problem
        if other.gap > 2 * own.gap_error + other.gap_error:
            return high, low
        if not (problem.has_tensors or problem.has_entropy or problem.in_family):
            return high, low
        at_most, at_least = excess_bounds(*self.certificates_at_zero(W))
        return min(high, at_most), max(low, at_least)

    def outcome(self, result: Result) -> tuple[Certificate, Floats]:
        """Return the certificate of W at the end of the run, and the link of its dual point."""
        return self.certificate(result.A, self.W), self.problem.link(result.A)

    def status(
        self, high: float, low: float, error: float, share: float = 1.0, at_floor: bool = False
    ) -> ExcessStatus:
        """Return the status for the bounds of the excess; `error` is the one of P(W) - D(A).

        Only this share of the limits is allowed. at_floor says that rounding errors ended the run.
        """
        if high - low <= share * (self.factor - 1) * low:
            return ExcessStatus.KNOWN
        small = SMALL * abs(self.primal)
        if high <= share * max(NEGLIGIBLE * abs(self.primal), min(2 * error, small)):
            return ExcessStatus.NEGLIGIBLE
        return ExcessStatus.ROUNDING_FLOOR if at_floor and high <= small else ExcessStatus.OPEN


@dataclass(eq=False)
class TensorExcessTest(ExcessTest):
    """The test of a machine whose problem has tensors.

    The run starts from the machine if that is better than W = 0.

    Attributes
    ----------
    terms : MachineTerms
        The terms of W.
    state : TensorState or None
        The state of the run, which the first checkpoint brings.
    """

    terms: MachineTerms = field(kw_only=True)
    state: TensorState | None = None

    @property
    def start(self) -> Any:
        features, n_m = tensor_rows(self.problem.features), (self.problem.n_samples, len(self.W))
        zero = features.here(np.zeros(self.W.shape))
        at_zero = TensorPoint.at(self.problem, zero, precisions_of(zero.device)[0]).primal
        # a square machine would be taken for a dual point
        return self.W if self.primal < at_zero and self.W.shape != n_m else None

    @property
    def link(self) -> Floats:
        return self.terms.V

    def end_if_known(self, progress: TrainingProgress) -> None:
        self.state = progress.state
        super().end_if_known(progress)

    def certificates(self, progress: TrainingProgress) -> tuple[Certificate, Certificate]:
        other = progress.state.certify()
        return self._own(progress.state), other

    def certificates_at_zero(self, W: Any) -> tuple[Certificate, Certificate]:
        zero, terms = terms_of_zero(self.problem), (self.terms, machine_terms(self.problem, W))
        own, other = (certificate_of_machines(self.problem, each, zero) for each in terms)
        return own, other

    def outcome(self, result: Result) -> tuple[Certificate, Floats]:
        assert self.state is not None
        return self._own(self.state), self.state.dual_terms.V

    def _own(self, state: TensorState) -> Certificate:
        return certificate_of_machines(self.problem, self.terms, state.dual_terms)


def excess_test(problem: Problem, W: Floats, factor: float) -> ExcessTest:
    """Return the test of a machine W (m, d)."""
    if not problem.has_tensors:
        return ExcessTest(problem, W, problem.primal(W), factor)
    terms = machine_terms(problem, W)
    primal = certificate_of_machines(problem, terms, terms).primal
    return TensorExcessTest(problem, W, primal, factor, terms=terms)


def excess_bounds(own: Certificate, other: Certificate | Result) -> tuple[float, float]:
    """Return the bounds of P(W) - P* from the certificates of W and of W+ at one dual point."""
    high = fsum((own.gap, own.gap_error))
    low = fsum((own.gap, -own.gap_error, -other.gap, -other.gap_error))
    return float(np.nextafter(high, np.inf)), max(0.0, float(np.nextafter(low, -np.inf)))
