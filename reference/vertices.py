"""List all vertices of the negated effective domain, in exact fractions, for a few classes.

The domain is the convex hull of the finitely many slopes of the loss (reference.exact). A slope is
a vertex if it is not a convex combination of the others, which an exact LP decides. All classes
other than the true one are interchangeable, so a permutation of their entries maps vertices to
vertices. It is enough to test one slope of each such orbit.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import factorial, inf, prod

from reference.exact import conjugate_of_maximum, pieces
from reference.losses import Loss

Point = tuple[Fraction, ...]


def vertices(loss: Loss, m: int, y: int) -> list[Point]:
    """Return the vertices of -dom Phi*(.; y), sorted."""
    slopes = set(pieces(loss, m, y))
    orbits: dict[Point, list[Point]] = {}
    for slope in slopes:
        others = tuple(sorted(v for j, v in enumerate(slope) if j != y))
        orbits.setdefault(others, []).append(slope)
    found: list[Point] = []
    for others, orbit in orbits.items():
        if len(orbit) != orbit_size(others):
            raise ArithmeticError(f"{loss} treats some wrong class differently from the others")
        if is_extreme(orbit[0], slopes):
            found += orbit
    return sorted(tuple(-v for v in slope) for slope in found)


def is_extreme(point: Point, points: set[Point]) -> bool:
    """Return whether the point is not a convex combination of the other points."""
    others = dict.fromkeys(points - {point}, Fraction(0))
    return not others or conjugate_of_maximum(others, point) == inf


def orbit_size(entries: Point) -> int:
    """Return the number of distinct permutations of the entries."""
    return factorial(len(entries)) // prod(factorial(c) for c in Counter(entries).values())
