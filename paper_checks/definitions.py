"""Define the losses and the polytopes of the papers, for numbers and for symbols.

Losses are functions of the margins h = 1 - e_y + s - s_y 1 (K19 (3), L15 section 2, T20 (2.2)); a
test compares each with the reference. The weights rho are non-increasing and >= 0.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from paper_checks.arithmetic import (
    Real,
    Truth,
    all_of,
    descending,
    inner,
    largest_sum,
    maximum,
    positive_part,
    total,
)

Vector = Sequence[Real]
ONE = Fraction(1)


def margins(scores: Vector, y: int) -> tuple[Real, ...]:
    """Return 1 - e_y + s - s_y 1."""
    return tuple(s - scores[y] + Fraction(int(j != y)) for j, s in enumerate(scores))


def max_hinge(h: Vector) -> Real:
    """Return the largest margin, or 0."""
    return maximum(Fraction(0), *h)


def top_k(h: Vector, k: int) -> Real:
    """Return the positive part of the mean of the k largest margins (L15's phi_k)."""
    return positive_part(Fraction(1, k) * largest_sum(h, k))


def pseudo_top_k(h: Vector, y: int, k: int) -> Real:
    """Return the top-k hinge without the true class's margin, k < m."""
    return top_k([x for j, x in enumerate(h) if j != y], k)


def usunier(h: Vector, k: int) -> Real:
    """Return the mean of the k largest positive parts of the margins."""
    return Fraction(1, k) * largest_sum([positive_part(x) for x in h], k)


def weighted_top_k(h: Vector, rho: Vector) -> Real:
    """Return the positive part of the sum of the sorted margins, weighted by rho."""
    return positive_part(inner(rho, descending(h)))


def weighted_usunier(h: Vector, rho: Vector) -> Real:
    """Return the sum of the sorted positive parts of the margins, weighted by rho."""
    return inner(rho, [positive_part(x) for x in descending(h)])


def admissible(rho: Vector) -> Truth:
    """Return whether weights are non-increasing and >= 0."""
    steps = [a >= b for a, b in pairwise(rho)]
    return all_of(*steps, rho[-1] >= 0)


def in_simplex(b: Vector, r: Real = ONE) -> Truth:
    """Return whether b >= 0 sums to at most r."""
    return all_of(*(x >= 0 for x in b), total(b) <= r)


def in_topk_simplex(b: Vector, k: int, r: Real = ONE) -> Truth:
    """Return whether b is in the simplex and no entry is above sum(b) / k (L15 Definition 1)."""
    return all_of(in_simplex(b, r), *(k * x <= total(b) for x in b))


def in_usunier_simplex(b: Vector, k: int, r: Real = ONE) -> Truth:
    """Return whether b is in the simplex and no entry is above r / k (L15 (9))."""
    return all_of(in_simplex(b, r), *(k * x <= r for x in b))
