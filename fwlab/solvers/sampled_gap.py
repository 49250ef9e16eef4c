"""Estimate the gap of a training run from some of its samples, to plan when it is judged.

The gap is a mean over samples of terms that are not negative (`block_gaps`), so that the mean over
a random part estimates it well even where it is small beside the objective. No certificate rests
on it.
"""

from typing import Any

import numpy as np

from fwlab.primal_dual import PrimalDual
from fwlab.solvers.certificate_time import some_samples
from fwlab.solvers.gap_order import block_gaps

# samples that are drawn, and the least number of samples per drawn one that makes it worth while
DRAWN, ONE_OF = 1024, 8


def sampled_gap(state: Any) -> float | None:
    """Return about the gap of a training state, augmented by its smoothing; the state stays.

    None with few samples, and where the gap has other terms or is known for less: Gram matrices,
    norms other than the Euclidean one, losses of visitors, entropies, and methods that keep scores,
    a primal point or values of their own.
    """
    problem: PrimalDual = state.problem
    n, needs = problem.n_samples, state.needs
    tracked = needs.scores or needs.best_primal or needs.own_values
    other = needs.coefficients or needs.own_loss is not None or problem.has_entropy
    plain = problem.kernel is None and problem.regularizer.plain and problem.polytopes.trusted
    if n < DRAWN * ONE_OF or tracked or other or not plain:
        return None
    # a generator of its own: the draws of the method stay as they are
    rows = np.sort(np.random.default_rng(n).choice(n, DRAWN, replace=False))
    part = some_samples(problem, rows)
    return float(block_gaps(part, state.A[rows], part.features.scores(state.link)).mean())
