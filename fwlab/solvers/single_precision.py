"""Decide which passes over float32 rows compute their scores in float32.

Let q_i be the curvature of block i, e_i the error of its scores (the errors of classes that the
block does not hold move nothing) and d_i the change that its step makes. The step maximises the
dual at the wrong scores, a concave quadratic of curvature q_i, so n times the dual rises by at
least q_i |d_i|^2 / 2 - |e_i| |d_i|. Over a pass, with S the sum of q_i |d_i|^2 and E the sum of
|e_i|^2 / q_i, it rises by S / 2 - sqrt(E S) or more. Half of S / 2, the guarantee of exact scores,
is left if E <= S / 16. And an exact step from the same A gains at most |e_i|^2 / (2 q_i) more. A
and W stay float64 throughout, and W follows A.
"""

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats
from fwlab.operators.features import SHORT_ROWS
from fwlab.primal_dual import PrimalDual

# E may be this part of S
LARGEST_PART = 1 / 16
# Up to this length the rounding errors of a sum, a random walk in each lane of a vector, stay below
# eps |x_i| |w_j|; beyond they grow with the root of the length.
LENGTH = 1024
# powers of two between which scores and W neither overflow in float32 nor lose digits
SMALLEST, LARGEST = 2.0**-60, 2.0**60


def suits_float32(problem: PrimalDual, link: Floats, moves: Floats) -> bool:
    """Return whether the next pass may compute its scores in float32.

    It may if X is dense and float32 with long rows, and W is 0, whose scores are exact, or E is
    small beside S of the last pass. A run from another start therefore begins in float64. A block
    is taken to hold one class more than its loss has weights, as it does at a vertex.

    Parameters
    ----------
    problem : Problem
    link : array (m, d)
        W.
    moves : array (n,)
        The size |d_i|_1 of the last step of each block of A; |d_i| is half of it or more if the
        entries of all wrong classes rise or all fall.

    """
    X = problem.X
    if scipy.sparse.issparse(X) or X.dtype != np.float32 or X.shape[1] < SHORT_ROWS:
        return False
    lam_n, longest = problem.lam_n, np.sqrt(problem.curvatures.max() * problem.lam_n)
    largest = np.sqrt(np.einsum("ij,ij->i", link, link).max())
    if largest == 0.0:
        return _stays_in_range(problem, longest)
    if not (_in_range(largest) and _in_range(longest * largest)):
        return False
    held = problem.row_polytopes.support + 1
    square = held * max(1.0, X.shape[1] / LENGTH) * (np.finfo(np.float32).eps * largest) ** 2
    return bool(len(X) * lam_n * square <= LARGEST_PART * (problem.curvatures @ moves**2) / 4)


def _stays_in_range(problem: PrimalDual, longest: float) -> bool:
    """Return whether float32 holds W and the scores of a pass from W = 0, whatever its steps."""
    lengths = np.sqrt(problem.curvatures * problem.lam_n)
    reach = problem.polytopes.scale * problem.sample_weight / problem.lam_n
    one, all_of_them = (reach * lengths).max(), reach @ lengths
    return all(map(_in_range, (one, all_of_them, one * longest, all_of_them * longest)))


def _in_range(size: float) -> bool:
    return bool(SMALLEST <= size <= LARGEST)
