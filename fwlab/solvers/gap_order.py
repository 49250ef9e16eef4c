"""Draw rows with probabilities that grow with their block gaps, the block order "gap".

The gap of a block is known from its last step and out of date afterwards. There are three remedies:
all gaps are computed anew every few passes, a share of the draws is uniform, and a row is drawn at
most once before the new gaps of its neighbours are used   (Osokin et al. 2016, for block-coordinate
Frank-Wolfe).
"""

from collections.abc import Iterator

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.primal_dual import PrimalDual

PASSES_BETWEEN_EXACT_GAPS = 5
UNIFORM_SHARE = 0.1
PARTS_OF_A_PASS = 10


def block_gaps(problem: PrimalDual, A: Floats, scores: Floats) -> Floats:
    """Return n times the share of each block in the augmented gap, (n,), at scores of W(A)."""
    shifted = problem.shifted_scores(A, scores)
    products = np.einsum("ij,ij->i", shifted, A) + problem.polytopes.cost_products(A)
    return np.asarray(products + problem.sample_weight * problem.polytopes.values(shifted))


def draw_by_gaps(gaps: Floats, rng: np.random.Generator) -> Iterator[Integers]:
    """Yield the n draws of a pass, one part at a time; `gaps` (n,) may change between the parts."""
    n = len(gaps)
    for part in np.array_split(np.arange(n), min(n, PARTS_OF_A_PASS)):
        yield rng.choice(n, len(part), replace=False, p=_probabilities(gaps))


def _probabilities(gaps: Floats) -> Floats:
    n = len(gaps)
    positive = np.maximum(gaps, 0.0)
    total = positive.sum()
    if total == 0.0:
        return np.full(n, 1.0 / n)
    shares: Floats = (1.0 - UNIFORM_SHARE) * (positive / total) + UNIFORM_SHARE / n
    return shares
