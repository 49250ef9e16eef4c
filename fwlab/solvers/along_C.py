"""The start of a run after a run of the same problem with another C = 1 / (lam n)."""

from fwlab.arrays import Floats
from fwlab.primal_dual import PrimalDual


def start_after(problem: PrimalDual, A: Floats, growth: float) -> Floats:
    """Return a start, given the last A of a run whose C was the C of `problem` / growth.

    For polytopes it is A. For an entropy it is A / growth where C grew, so that

        W(A) = C A^T X

    stays. With A itself, W would grow with C, and L-BFGS takes more iterations than from A = 0. Its
    domain is convex and holds 0, so that the start is feasible.
    """
    return A / growth if problem.has_entropy and growth > 1.0 else A
