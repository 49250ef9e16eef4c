"""Draw cases for many statements: sizes, weights, scores, labels and small data sets.

Half of the numbers are small integers or fractions with small denominators, where ties are common
and the exact reference decides; the others are normal random numbers.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from paper_checks.ledger import Case

Rng = np.random.Generator


def sizes(largest_m: int, smallest_k: int = 1) -> Iterator[tuple[int, int]]:
    """Yield all (m, k) with 2 <= m <= largest_m and smallest_k <= k <= m."""
    for m in range(2, largest_m + 1):
        for k in range(smallest_k, m + 1):
            yield m, k


def fractions(rng: Rng, size: int, largest: int = 3, denominator: int = 2) -> tuple[Fraction, ...]:
    """Return multiples of 1/denominator from -largest to largest; ties are common."""
    steps = rng.integers(-largest * denominator, largest * denominator + 1, size)
    return tuple(Fraction(int(step), denominator) for step in steps)


def decreasing_weights(rng: Rng, m: int) -> tuple[Fraction, ...]:
    """Return m admissible weights rho, not all 0; ties and zeros at the end are common."""
    steps = rng.integers(0, 3, m)
    steps[rng.integers(m)] += 1
    return tuple(Fraction(int(total), 4) for total in np.cumsum(steps[::-1])[::-1])


def scored_rows(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield cases of m, k, rho, y and a row of scores: exact ones with ties, and normal ones."""
    for m, k in sizes(6 if deep else 5):
        for _ in range(4 if deep else 2):
            y, rho = int(rng.integers(m)), decreasing_weights(rng, m)
            yield Case(kind="exact, ties", m=m, k=k, y=y, rho=rho, scores=fractions(rng, m))
            normal = 2 * rng.standard_normal(m)
            yield Case(kind="normal", m=m, k=k, y=y, rho=rho, scores=normal)


def labels(rng: Rng, n: int, m: int) -> np.ndarray:
    """Return n labels, with each of the m classes at least once if n >= m."""
    return rng.permutation(
        np.concatenate([np.arange(min(n, m)), rng.integers(0, m, max(0, n - m))])
    )


def changed(case: Case, **changes: Any) -> Case:
    """Return the case with some quantities changed or added."""
    return Case(**{**vars(case), **changes})
