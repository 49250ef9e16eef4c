"""Say how far W may drift from the link of A, which every certificate out of core compares.

The W that a method tracks is compared with the W of its A. A step that replaces a row a_i by b_i
adds (b_i - a_i) x_i^T / (lam n) to W. The norm of W, and the norm of each change of W, is at most

    S = 4 / (lam n) sum_i omega_i R |x_i|,

where R is the largest sum of the entries of a vertex without the label's. After T steps and a sum
over n rows, rounding errors explain a distance of 8 gamma_(T + n) S. This bound also covers the
entries of A that `packed.significant` drops: a round makes at least one step, and the entries that
it drops change W by less than 2^-54 S.
"""

import numpy as np

from fwlab.arrays import Floats
from fwlab.distributed.problem import ProblemInParts
from fwlab.operators.sums import gamma


class DriftError(RuntimeError):
    """W is not the W of A, or the gap is negative, and rounding errors do not explain it.

    X, W or A changed during the run, in memory or in a checkpoint. A file or an iterable that
    changed is named before that: each read of X is compared with the first one.
    """


def drift_bound(problem: ProblemInParts, steps: int) -> float:
    """Return the largest distance |W - A^T X / (lam n)| that rounding errors explain."""
    lam_n, reach = problem.lam_n, float(problem.polytopes.upper.sum())
    norms = np.sqrt(problem.curvatures * lam_n)
    size = 4.0 / lam_n * reach * float(problem.sample_weight @ norms)
    return 8.0 * float(gamma(steps + problem.n_samples)) * size


def require_no_drift(tracked: Floats, link: Floats, bound: float) -> None:
    """Raise DriftError if the tracked W is farther from the W of A than the bound."""
    distance = float(np.linalg.norm(tracked - link))
    if not distance <= bound:
        raise DriftError(
            f"W is {distance:.3g} away from A^T X / (lam n), and rounding explains no more than "
            f"{bound:.3g}: X, W or A changed in memory or in a checkpoint while the run used it."
        )
