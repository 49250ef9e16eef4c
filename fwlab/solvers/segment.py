"""Move along a direction of the dual variable; search a line on the full dual of an LpNorm."""

import numpy as np

from fwlab.arrays import Floats
from fwlab.primal_dual import PrimalDual

HALVINGS = 60


def best_share(problem: PrimalDual, A: Floats, link: Floats, D: Floats, D_link: Floats) -> float:
    """Return the t in [0, 1] that maximises the dual at A + t D, never beyond it.

    The dual is concave along the segment, so the sign of its slope is enough.

    Parameters
    ----------
    problem : Problem
        The problem.
    A, link : array (n, m), (m, d)
        The dual point and its link.
    D, D_link : array (n, m), (m, d)
        The direction and its link.

    """
    start, own = problem.square_norms(link, A), problem.square_norms(D_link, D)
    cross = problem.features.class_products(link, D_link, D, problem.lam_n)
    ridge = problem.ridge()[:, 0] / problem.n_samples
    linear = float(np.mean(problem.polytopes.cost_products(D)))
    linear += float(np.einsum("i,ij,ij", ridge, A, D))
    curvature = float(np.einsum("i,ij,ij", ridge, D, D))

    def falls(t: float) -> bool:
        """Return whether the dual falls at t; curvature is the part of the smoothing."""
        squares = np.maximum(start + 2 * t * cross + t * t * own, 0.0)
        slope = problem.regularizer.class_weights(squares) @ (cross + t * own)
        return bool(problem.lam * slope + linear + t * curvature > 0)

    if not falls(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if falls(middle) else (middle, high)
    return low


def move(A: Floats, link: Floats, D: Floats, D_link: Floats, share: float) -> None:
    """Move a dual point by a share of a direction, in place.

    Parameters
    ----------
    A, link : array (n, m), (m, d)
        The dual point and its link.
    D, D_link : array (n, m), (m, d)
        The direction and its link; they become the changes.
    share : float
        The step.

    """
    D *= share
    D_link *= share
    A += D
    link += D_link
