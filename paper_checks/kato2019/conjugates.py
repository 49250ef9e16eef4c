"""Prove conjugates by certificates: finite and attained on the domain, infinite outside.

A statement "Phi*(v) = c on a set" holds at v if

    v inside:   <v, s> - Phi(s) <= c for all s, with equality at one s;
    v outside:  <v, d> > Phi'(d) for one d of a finite list, Phi' the recession function of Phi,
                so that <v, td> - Phi(td) grows without bound in t.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from paper_checks.arithmetic import (
    Real,
    Truth,
    all_of,
    any_of,
    equals,
    implies,
    inner,
    maximum,
    total,
)
from paper_checks.definitions import in_topk_simplex
from paper_checks.ledger import Case
from paper_checks.proofs import symbolic_sizes
from paper_checks.symbols import reals

Vector = Sequence[Real]
Function = Callable[[Vector], Real]


@dataclass(frozen=True)
class Stated:
    """A stated conjugate at v: its value, and whether v is in its domain.

    At `point`, a score vector, the supremum is attained; `directions` show that a supremum is
    infinite.
    """

    inside: Truth
    value: Real
    point: Vector
    directions: Iterable[Vector]


def is_conjugate(
    v: Vector, s: Vector, stated: Stated, loss: Function, recession: Function
) -> Truth:
    """Return whether a stated conjugate at v is correct, as far as the score vector s can tell.

    It must bound <v, s> - Phi(s), be attained at its point, and be infinite where that is stated.
    """
    attained = inner(v, stated.point) - loss(stated.point)
    grows = [inner(v, d) > recession(d) for d in stated.directions]
    return all_of(
        implies(stated.inside, inner(v, s) - loss(s) <= stated.value),
        implies(stated.inside, equals(attained, stated.value)),
        any_of(stated.inside, *grows),
    )


def unit(m: int, *places: int, size: int = 1) -> tuple[int, ...]:
    """Return a vector with `size` at the given places and 0 elsewhere."""
    return tuple(size * (j in places) for j in range(m))


def others_of(v: Vector, y: int) -> list[Real]:
    """Return the entries except the y-th."""
    return [x for j, x in enumerate(v) if j != y]


def put(v: Vector, y: int, entry: Real) -> list[Real]:
    """Return v with its y-th entry replaced."""
    return [entry if j == y else x for j, x in enumerate(v)]


def least_entry(v: Vector, y: int, k: int) -> Real:
    """Return the smallest y-th entry >= 0 for which no other entry exceeds 1/k of the sum."""
    others = others_of(v, y)
    return maximum(0, k * maximum(*others) - total(others))


def in_topk_domain(v: Vector, y: int, k: int) -> Truth:
    """Return whether (7) holds. If any y-th entry meets it, the smallest one does."""
    completed = put(v, y, least_entry(v, y, k))
    return all_of(equals(total(v), 0), in_topk_simplex(completed, k))


def centred_directions(m: int, y: int, k: int) -> Iterator[tuple[int, ...]]:
    """Yield the directions that bound the domains of centred losses, in sums, signs and sizes."""
    wrong = [j for j in range(m) if j != y]
    yield (1,) * m
    yield (-1,) * m
    yield unit(m, *wrong)
    for j in wrong:
        yield unit(m, j)
        yield unit(m, j, size=-1)
        yield tuple(k * (i == j) - (i in wrong) for i in range(m))
        yield tuple((k - 1) * (i == j) - (i in wrong and i != j) for i in range(m))
        yield tuple((k - 1) * (i == j) - (i in wrong) for i in range(m))


def uncentred_directions(m: int, k: int) -> Iterator[tuple[int, ...]]:
    """Yield the directions that bound the top-k simplex, in its sum, signs and sizes."""
    yield (1,) * m
    for j in range(m):
        yield unit(m, j, size=-1)
        yield tuple(k * (i == j) - 1 for i in range(m))


def symbolic_rows(largest_m: int, smaller_k: int = 0, smallest_m: int = 2) -> Iterator[Case]:
    """Yield v and scores as symbols for each m and k <= m - smaller_k.

    Y is the last class, and the others are in the order of their scores (see `ordered`).
    """
    for m, k in symbolic_sizes(largest_m, smallest_m):
        if k <= m - smaller_k:
            yield Case(kind="symbols", m=m, k=k, y=m - 1, v=reals("v", m), scores=reals("s", m))


def ordered(case: Case) -> Truth:
    """Return whether the wrong classes are in the order of their scores; no generality is lost."""
    return all_of(*(a >= b for a, b in pairwise(others_of(case.scores, case.y))))
