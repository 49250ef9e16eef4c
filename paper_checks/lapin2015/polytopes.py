"""Describe the polytopes of L15 by inequalities, with their vertices in exact fractions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

from paper_checks.arithmetic import Truth, all_of, inner
from reference.simplex import minimise

Point = tuple[Fraction, ...]
ONE, ZERO = Fraction(1), Fraction(0)


@dataclass(frozen=True)
class Polytope:
    """Hold {x : <row, x> <= bound for each (row, bound)}; the first m say that x >= 0."""

    bounds: tuple[tuple[Point, Fraction], ...]

    def contains(self, x: Sequence[Fraction]) -> Truth:
        return all_of(*(inner(row, x) <= bound for row, bound in self.bounds))

    @property
    def normals(self) -> list[Point]:
        return [row for row, _ in self.bounds]


def unit(m: int, i: int) -> Point:
    return tuple(Fraction(int(i == j)) for j in range(m))


def orthant(m: int) -> list[tuple[Point, Fraction]]:
    return [(tuple(-x for x in unit(m, i)), ZERO) for i in range(m)]


def topk_simplex(m: int, k: int) -> Polytope:
    """Return Definition 1 with r = 1: k x_i <= <1, x> <= 1."""
    shares = [(tuple(k * x - 1 for x in unit(m, i)), ZERO) for i in range(m)]
    return Polytope((*orthant(m), *shares, ((ONE,) * m, ONE)))


def capped_simplex(m: int, cap: Fraction, r: Fraction = ONE) -> Polytope:
    """Return {0 <= x_i <= cap, <1, x> <= r}: the set of (9) with cap = 1/k."""
    caps = [(unit(m, i), cap) for i in range(m)]
    return Polytope((*orthant(m), *caps, ((ONE,) * m, r)))


@lru_cache(maxsize=256)
def vertices(polytope: Polytope) -> frozenset[Point]:
    """Return the points of a polytope at which m independent bounds are attained."""
    m = len(polytope.bounds[0][0])
    found = set()
    for chosen in combinations(polytope.bounds, m):
        x = solution([row for row, _ in chosen], [bound for _, bound in chosen])
        if x is not None and polytope.contains(x):
            found.add(x)
    return frozenset(found)


def solution(rows: Sequence[Point], right: Sequence[Fraction]) -> Point | None:
    """Return the solution of a square linear system; None if it has none or many."""
    table = [[*row, b] for row, b in zip(rows, right, strict=True)]
    for j in range(len(rows)):
        pivot = next((i for i in range(j, len(rows)) if table[i][j] != 0), None)
        if pivot is None:
            return None
        table[j], table[pivot] = table[pivot], table[j]
        table[j] = [x / table[j][j] for x in table[j]]
        for i, row in enumerate(table):
            if i != j and row[j] != 0:
                table[i] = [x - row[j] * z for x, z in zip(row, table[j], strict=True)]
    return tuple(row[-1] for row in table)


def largest_over(polytope: Polytope, h: Sequence[Fraction]) -> Fraction:
    """Return the largest <h, x> over a polytope with 0, by the exact simplex method."""
    bounds = polytope.bounds[len(h) :]
    slack = [[Fraction(int(i == j)) for j in range(len(bounds))] for i in range(len(bounds))]
    equations = [[*row, *extra] for (row, _), extra in zip(bounds, slack, strict=True)]
    least = minimise([-x for x in h] + [ZERO] * len(bounds), equations, [b for _, b in bounds])
    if least is None:
        raise ArithmeticError("the set is empty, though 0 is in it")
    return -least
