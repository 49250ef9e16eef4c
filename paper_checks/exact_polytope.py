"""Solve linear programs over a reference Polytope in exact fractions, for dyadic data.

reference.derived_polytopes builds its sets in float64. If k is an integer and the weights are
multiples of 1/4, these floats carry no rounding error, so all results here are exact.
"""

from collections.abc import Collection, Sequence
from fractions import Fraction

import numpy as np

from reference.polytope import Polytope
from reference.simplex import minimise

Rows = list[list[Fraction]]


def largest(polytope: Polytope, x: Sequence[Fraction]) -> Fraction:
    """Return the maximum of <x, point> over the points of a polytope that is not empty."""
    images = as_fractions(polytope.M)
    columns = range(polytope.M.shape[1])
    cost = [-sum(x_j * row[c] for x_j, row in zip(x, images, strict=True)) for c in columns]
    least = minimise(cost, as_fractions(polytope.A), [Fraction(b) for b in polytope.b])
    if least is None:
        raise ArithmeticError("the polytope is empty")
    return -least


def contains(polytope: Polytope, v: Sequence[Fraction], free: Collection[int] = ()) -> bool:
    """Return whether some point of the polytope equals v in all entries except the free ones."""
    held = [j for j in range(len(v)) if j not in free]
    images = as_fractions(polytope.M)
    A = [*as_fractions(polytope.A), *[images[j] for j in held]]
    b = [*[Fraction(x) for x in polytope.b], *[Fraction(v[j]) for j in held]]
    return minimise([0] * polytope.M.shape[1], A, b) is not None


def as_fractions(matrix: np.ndarray) -> Rows:
    return [[Fraction(float(x)) for x in row] for row in matrix]
