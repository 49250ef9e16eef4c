"""Decide which passes over float32 rows compute their scores in float32."""

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats
from fwlab.operators.features import SHORT_ROWS
from fwlab.primal_dual import PrimalDual

# Scores in float32 end once their rounding errors are this part of their changes in the last pass.
LARGEST_ERROR = 1 / 8
# Where steps zigzag their changes stay large while the gap does not fall, and the test by their
# size never ends; a run loses at most these passes then.
MOST_PASSES = 10
# powers of two between which scores and W neither overflow in float32 nor lose digits
SMALLEST, LARGEST = 2.0**-60, 2.0**60


def suits_float32(problem: PrimalDual, link: Floats, moves: Floats, passes: int) -> bool:
    """Return whether the next pass may compute its scores in float32.

    It may if X is dense and float32 with long rows, and if the rounding errors are small beside
    the changes of the scores in the last pass. The first pass is therefore in float64, and so is
    every pass near the optimum or after the first MOST_PASSES.

    Parameters
    ----------
    problem : Problem
    link : array (m, d)
        W.
    moves : array (n,)
        The size |change|_1 of the last step of each block of A.
    passes : int
        The number of passes of the run, with the next one.

    """
    X = problem.X
    if passes > MOST_PASSES:
        return False
    if scipy.sparse.issparse(X) or X.dtype != np.float32 or X.shape[1] < SHORT_ROWS:
        return False
    lengths = np.sqrt(problem.curvatures * problem.lam_n)
    longest, largest = lengths.max(), np.sqrt(np.einsum("ij,ij->i", link, link).max())
    if not (_in_range(largest) and _in_range(longest * largest)):
        return False
    error = np.finfo(np.float32).eps * largest * lengths.sum()
    return bool(error <= LARGEST_ERROR * (moves @ problem.curvatures))


def _in_range(size: float) -> bool:
    return bool(SMALLEST <= size <= LARGEST)
