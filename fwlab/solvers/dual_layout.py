"""Describe the dual of a problem to the kernels."""

from fwlab.kernels.layouts import BlockDual, EntropyDual
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


def entropy_dual_of(problem: PrimalDual) -> EntropyDual:
    """Return the layout of the dual of `problem`, whose loss is the cross-entropy."""
    return EntropyDual(problem.y, problem.sample_weight, problem.curvatures, problem.lam_n)
