"""The dual of a problem as the kernels take it."""

from fwlab.kernels.layouts import Dual
from fwlab.problem import Problem


def dual_of(problem: Problem) -> Dual:
    """Return the layout of the dual of `problem`."""
    return Dual(
        problem.polytopes.layout,
        problem.sample_weight,
        problem.curvatures,
        problem.smoothing,
        problem.lam_n,
    )
