"""Project exactly, with a bias on the sum, in fractions, for a few entries.

    minimise |a - x|^2 + rho <1, x>^2   over a Region of L15 sections 4 and 5

The minimiser lies inside exactly one face of the region, and minimises over the whole affine hull
of that face. So the answer is the best feasible one among the minimisers over the faces' hulls, and
no optimality condition is used. A face specifies which entries are at their upper bound, between
the bounds or at their lower bound, and whether the sum is at its bound: 2 * 3^d faces for d
entries. On a face the objective depends only on the sum s, and is a parabola in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product

Point = tuple[Fraction, ...]
Parabola = list[tuple[Fraction, Fraction, Fraction]]  # terms weight * (p - q s)^2 as (weight, p, q)


@dataclass(frozen=True)
class Region:
    """{x : lower <= x_i <= upper + share <1, x>, <1, x> <= total}; or <1, x> = total."""

    lower: Fraction = Fraction(0)
    upper: Fraction = Fraction(0)
    share: Fraction = Fraction(0)
    total: Fraction | None = None
    equality: bool = False

    def contains(self, x: Point) -> bool:
        s = sum(x)
        highest = self.upper + self.share * s
        if any(not self.lower <= entry <= highest for entry in x):
            return False
        return self.total is None or s == self.total or (s < self.total and not self.equality)


def topk_cone(k: int) -> Region:
    """Return {0 <= x_i <= <1, x>/k}."""
    return Region(share=Fraction(1, k))


def topk_simplex(k: int, r: Fraction) -> Region:
    """Return the top-k simplex of L15 Definition 1."""
    return Region(share=Fraction(1, k), total=r)


def knapsack(upper: Fraction, r: Fraction, lower: Fraction = Fraction(0)) -> Region:
    """Return {lower <= x_i <= upper, <1, x> <= r}."""
    return Region(lower, upper, total=r)


def knapsack_filled(upper: Fraction, r: Fraction) -> Region:
    """Return {0 <= x_i <= upper, <1, x> = r}."""
    return Region(upper=upper, total=r, equality=True)


@lru_cache(maxsize=4096)
def project(a: Point, region: Region, rho: Fraction = Fraction(0)) -> Point:
    """Return the minimiser, which is unique. Raises ValueError for an empty region."""
    feasible = [x for x in face_minimisers(a, region, rho) if region.contains(x)]
    if not feasible:
        raise ValueError(f"{region} has no point with {len(a)} entries")
    return min(feasible, key=lambda x: objective(a, x, rho))


def objective(a: Point, x: Point, rho: Fraction) -> Fraction:
    """Return |a - x|^2 + rho <1, x>^2."""
    return sum(((p - q) ** 2 for p, q in zip(a, x, strict=True)), Fraction()) + rho * sum(x) ** 2


def face_minimisers(a: Point, region: Region, rho: Fraction) -> Iterator[Point]:
    """Yield the minimiser over the affine hull of each face, feasible or not."""
    for places in product("UML", repeat=len(a)):
        for s in sums(a, places, region, rho):
            yield at_sum(a, places, region, s)


def sums(a: Point, places: Sequence[str], region: Region, rho: Fraction) -> Iterator[Fraction]:
    """Yield the candidate sums s on a face: the minimum of the parabola, and the bound."""
    U, M, L = (places.count(name) for name in "UML")
    fixed, slope = U * region.upper + L * region.lower, 1 - U * region.share
    if M == 0 and slope != 0:
        yield fixed / slope  # if no entry is free, s = fixed + U share s
        return
    if M == 0 and fixed != 0:
        return
    terms: Parabola = [
        (Fraction(1), x - region.upper, region.share)
        for x, place in zip(a, places, strict=True)
        if place == "U"
    ]
    terms.append((rho, Fraction(0), Fraction(1)))
    if M > 0:  # the free entries are a_i - t with the same t, and sum to slope s - fixed
        free = sum(x for x, place in zip(a, places, strict=True) if place == "M")
        terms.append((Fraction(1, M), free + fixed, slope))
    if not region.equality:
        curvature = sum(weight * q * q for weight, _, q in terms)
        yield sum((weight * p * q for weight, p, q in terms), Fraction()) / curvature
    if region.total is not None:
        yield region.total


def at_sum(a: Point, places: Sequence[str], region: Region, s: Fraction) -> Point:
    """Return the nearest point of the face's hull with the sum s."""
    U, M, L = (places.count(name) for name in "UML")
    upper = region.upper + region.share * s
    free = sum(x for x, place in zip(a, places, strict=True) if place == "M")
    t = (free + U * upper + L * region.lower - s) / M if M else Fraction(0)
    value = {"U": lambda x: upper, "M": lambda x: x - t, "L": lambda x: region.lower}
    return tuple(value[place](x) for x, place in zip(a, places, strict=True))
