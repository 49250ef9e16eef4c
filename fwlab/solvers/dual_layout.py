"""Describe the dual of a problem to the kernels."""

from fwlab.kernels.layouts import BlockDual
from fwlab.primal_dual import PrimalDual


def dual_of(problem: PrimalDual) -> BlockDual:
    """Return the layout of the dual of `problem`."""
    polytopes = problem.row_polytopes
    return BlockDual(
        polytopes.layout,
        polytopes.weights,
        problem.sample_weight,
        problem.curvatures,
        problem.smoothing,
        problem.lam_n,
    )
