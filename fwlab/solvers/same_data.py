"""Notice that X is not what it was when the problem was made.

A problem keeps a user's float64 array, without a copy, and numbers that belong to it: |x_i|^2, and
with kernel="linear" the Gram matrix. Steps are wrong if X changes. A row whose length is another
one shows this; computing the lengths again takes 3 ms for 32 MB, a fifth of a pass over 10 classes.
"""

import numpy as np

from fwlab.operators.features import features_of
from fwlab.operators.sums import UNDERFLOW, gamma
from fwlab.primal_dual import PrimalDual


def changed_row(problem: PrimalDual) -> str:
    """Return a sentence that names a row of X with another length than before, or "".

    Another rounding error of the same length, as on another processor, is no change.
    """
    precomputed = problem.kernel == "precomputed"
    found = features_of(problem.X, "precomputed" if precomputed else None).square_norms()
    known = problem.curvatures * problem.lam_n
    error = 4 * gamma(problem.n_features + 4) * known
    error += (problem.n_features + problem.lam_n) * 4 * UNDERFLOW
    changed = np.flatnonzero(~(np.abs(found - known) <= error))
    if not len(changed):
        return ""
    return f"X must not change while a problem uses it; row {changed[0]} has another length now."


def require_same_data(problem: PrimalDual) -> None:
    """Raise ValueError if a row of X has another length than when the problem was made."""
    if found := changed_row(problem):
        raise ValueError(found)
