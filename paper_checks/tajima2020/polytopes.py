"""Define the sets of T20 section 2.2 and compute maxima of linear functions over them.

A set without lambda is given by its inequalities; its maximum is the largest value at its vertices,
which are enumerated in fractions, so the objective may be symbolic. The sets (2.13) and (2.14) are
linear programs on numbers. On symbols three facts give their maxima: the maximum over a sum of sets
is the sum of the maxima; the maximum over {0 <= beta <= lambda} at h is that of lambda at the
positive part of h; and the level sets are multiples of (2.11) on its face sum = 1, and of (2.12).
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

from paper_checks.arithmetic import (
    ZERO,
    Real,
    inner,
    is_symbolic,
    largest_sum,
    maximum,
    positive_part,
    total,
)
from paper_checks.tajima2020.levels import greatest, levels
from reference.derived_polytopes import topk_simplex_bounds
from reference.derived_polytopes import total as total_of

Row = tuple[Fraction, ...]
Inequalities = tuple[tuple[Row, Fraction], ...]  # <row, beta> <= bound


def unit(m: int, j: int, scale: Any = 1) -> Row:
    return tuple(Fraction(scale * int(i == j)) for i in range(m))


def simplex(m: int, r: Any = 1) -> Inequalities:
    """Return (2.10): beta >= 0 with sum at most r."""
    signs = [(unit(m, j, -1), ZERO) for j in range(m)]
    return (*signs, ((Fraction(1),) * m, Fraction(r)))


def topk_simplex(m: int, k: int) -> Inequalities:
    """Return (2.11) with r = 1: and no entry above 1/k of the sum."""
    caps = [(tuple(k * x - 1 for x in unit(m, j)), ZERO) for j in range(m)]
    return (*simplex(m), *caps)


def usunier_simplex(m: int, cap: Any, r: Any = 1) -> Inequalities:
    """Return (2.12): and no entry above the cap."""
    return (*simplex(m, r), *((unit(m, j), Fraction(cap)) for j in range(m)))


def over(inequalities: Inequalities, h: Sequence[Real]) -> Real:
    """Return max <beta, h> over a bounded set of inequalities."""
    return maximum(*(inner(vertex, h) for vertex in vertices(inequalities)))


@lru_cache(maxsize=256)
def vertices(inequalities: Inequalities) -> tuple[Row, ...]:
    """Return the vertices: the feasible points at which m independent inequalities are tight."""
    found: dict[Row, None] = {}
    for chosen in combinations(inequalities, len(inequalities[0][0])):
        point = solution([[*row, bound] for row, bound in chosen])
        if point and all(inner(row, point) <= bound for row, bound in inequalities):
            found[point] = None
    return tuple(found)


def solution(table: list[list[Fraction]]) -> Row | None:
    """Solve a square linear system, its right-hand side last in each row; None if singular."""
    size = len(table)
    for column in range(size):
        pivot = next((r for r in range(column, size) if table[r][column]), None)
        if pivot is None:
            return None
        table[column], table[pivot] = table[pivot], table[column]
        head = [x / table[column][column] for x in table[column]]
        table = [
            head if r == column else [x - row[column] * p for x, p in zip(row, head, strict=True)]
            for r, row in enumerate(table)
        ]
    return tuple(row[-1] for row in table)


def over_weighted_topk(h: Sequence[Real], rho: Sequence[Real], differences: bool = True) -> Real:
    """Return max <beta, h> over (2.13)."""
    if is_symbolic(list(h), list(rho)):
        return positive_part(total(s * largest_sum(h, k) for k, s in levels(rho, differences)))
    below, filled, objective = [], [], {}
    for k, step in levels(rho, differences):
        level = [(k, j) for j in range(len(h))]
        below += topk_simplex_bounds(level, k, k * step)
        filled.append(({**total_of(level), "zeta": -k * step}, 0))
        objective.update(dict(zip(level, h, strict=True)))
    return greatest(objective, below, filled)


def over_weighted_usunier(
    h: Sequence[Real],
    rho: Sequence[Real],
    differences: bool = True,
    capped: bool = True,
    equality: bool = False,
) -> Real:
    """Return max <beta, h> over (2.14): beta at most the sum of the lambda_l, or equal to it."""
    steps = levels(rho, differences)
    if is_symbolic(list(h), list(rho)):
        parts = [positive_part(x) for x in h]
        sums = ((k, s, largest_sum(parts, k) if capped else k * maximum(*parts)) for k, s in steps)
        return total(step * largest for _, step, largest in sums)
    below, m = [], range(len(h))
    for k, step in steps:
        level = [(k, j) for j in m]
        below.append((total_of(level), k * step))
        below += [({x: 1}, step) for x in level] if capped else []
    bounds = [({j: 1, **total_of(((k, j) for k, _ in steps), -1)}, 0) for j in m]
    objective = dict(enumerate(h))
    return greatest(objective, below, bounds) if equality else greatest(objective, below + bounds)
