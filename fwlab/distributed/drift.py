"""Compare the W that a method tracks with the W of its A.

Each step replaces a row a_i and adds (a'_i - a_i) x_i^T / (lam n) to W. No W of a dual point, and
no change of it, is larger than

    S = 4 / (lam n) sum_i omega_i R |x_i|,

with R the largest sum of a vertex without the true class. After T steps, and after a sum over n
rows, rounding explains a distance of 8 gamma_(T + n) S.
"""

import numpy as np

from fwlab.arrays import Floats
from fwlab.distributed.problem import ProblemInParts
from fwlab.operators.sums import gamma


class DriftError(RuntimeError):
    """W is not the W of A, and rounding does not explain the difference."""


def drift_bound(problem: ProblemInParts, steps: int) -> float:
    """Return the largest distance |W - A^T X / (lam n)| that rounding explains after some steps."""
    lam_n, reach = problem.lam_n, float(problem.polytopes.upper.sum())
    norms = np.sqrt(problem.curvatures * lam_n)
    size = 4.0 / lam_n * reach * float(problem.sample_weight @ norms)
    return 8.0 * float(gamma(steps + problem.n_samples)) * size


def require_no_drift(tracked: Floats, link: Floats, bound: float) -> None:
    """Raise DriftError if a tracked W is farther from the W of A than the bound."""
    distance = float(np.linalg.norm(tracked - link))
    if not distance <= bound:
        raise DriftError(
            f"W is {distance:.3g} away from A^T X / (lam n), and rounding explains no more than "
            f"{bound:.3g}: the memory or the file that held them is damaged."
        )
