"""Describe the projections of L15 sections 4 and 5 on symbols, by optimality conditions.

The problems are convex with linear bounds, so that x is the projection of a if and only if there
are multipliers. For the top-k cone and simplex, with s = <1, x> (Lemmas 3 and 5):

    a = x + t - mu + nu,  t = rho s + lambda - <1, nu> / k,  mu, nu, lambda >= 0,
    mu_i x_i = 0,  nu_i (x_i - s/k) = 0,  lambda (s - r) = 0;  lambda = 0 for the cone.

A case fixes the sets U, M and L. Then all conditions are linear, and x, mu, nu, lambda are any
numbers with the right signs. Permuting the entries of a permutes its projection, so that the
indices of U may come first, then the indices of M, then the indices of L.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paper_checks.arithmetic import ZERO, Real, Truth, all_of, equals, is_symbolic, total
from paper_checks.ledger import Case
from paper_checks.symbols import real, reals
from reference.exact_projection import Point


@dataclass(frozen=True)
class Parts:
    """Hold the sets of Lemma 3: indices with x_i = s/k, strictly between, and x_i = 0."""

    U: list[int]
    M: list[int]
    L: list[int]


def sets_of(places: str) -> Parts:
    found = ([i for i, place in enumerate(places) if place == name] for name in "UML")
    return Parts(*found)


def patterns(d: int) -> Iterator[str]:
    """Yield the sets in order: the names of d places."""
    for U in range(d + 1):
        for M in range(d - U + 1):
            yield "U" * U + "M" * M + "L" * (d - U - M)


def symbolic_sets(largest: int, deep: bool) -> Iterator[tuple[int, int, Fraction]]:
    """Yield d, k and rho."""
    for d in range(1, largest + 1):
        for k in range(1, d + 1):
            for rho in (ZERO, Fraction(1, 2), Fraction(1), Fraction(3)) if deep else (ZERO, 1):
                yield d, k, Fraction(rho)


def symbolic_projections(deep: bool, zero: bool = True, bounded: bool = False) -> Iterator[Case]:
    """Yield points a with their projections x onto the top-k cone.

    With `bounded`, x is the projection onto the top-k simplex of radius r, and the sum of x is at
    its bound or below.
    """
    largest = 3 if bounded and not deep else 4
    for d, k, rho in symbolic_sets(largest, deep):
        case = {"kind": "symbols", "d": d, "k": k, "rho": rho}
        for tight in (False, True) if bounded else (None,):
            if zero and not tight:
                yield zero_case(case, bounded)
            for places in patterns(d):
                if "U" in places or "M" in places:
                    yield pattern_case(case, places, tight)


def zero_case(case: dict[str, Any], bounded: bool) -> Case:
    """Return a point whose projection is 0: all indices are in U."""
    d, k = case["d"], case["k"]
    mu, nu = reals("mu", d), reals("nu", d)
    t = -total(nu) / Fraction(k)
    a = tuple(t - m + n for m, n in zip(mu, nu, strict=True))
    radius = {"r": real("r")} if bounded else {}
    helpers = {"_x": (ZERO,) * d, "_places": "U" * d, "_u": ZERO, "_mu": mu, "_nu": nu}
    return Case(**case, a=a, **radius, **helpers, _lambda=ZERO, _tight=False)


def pattern_case(case: dict[str, Any], places: str, tight: bool | None) -> Case:
    """Return a point whose projection is not 0, with these sets.

    `tight` says whether the sum is at its bound; it is None for the cone.
    """
    k = Fraction(case["k"])
    u, multiplier = real("u"), real("lambda") if tight else ZERO
    own = dict(enumerate(reals("z", len(places))))
    x = tuple({"U": u, "M": own[i], "L": ZERO}[place] for i, place in enumerate(places))
    nu = tuple(own[i] if place == "U" else ZERO for i, place in enumerate(places))
    mu = tuple(own[i] if place == "L" else ZERO for i, place in enumerate(places))
    t = case["rho"] * k * u + multiplier - total(nu) / k
    a = tuple(p + t - m + n for p, m, n in zip(x, mu, nu, strict=True))
    radius = {} if tight is None else {"r": k * u if tight else real("r")}
    helpers = {"_x": x, "_places": places, "_u": u, "_mu": mu, "_nu": nu}
    return Case(**case, a=a, **radius, **helpers, _lambda=multiplier, _tight=bool(tight))


def is_optimal(case: Case) -> Truth:
    """Return whether the multipliers have their signs, and x the sets of the case."""
    u, x, places = case._u, case._x, case._places
    signs = [value >= 0 for value in (*case._mu, *case._nu, case._lambda)]
    shape = [all_of(0 < x[i], x[i] < u) for i, place in enumerate(places) if place == "M"]
    shape.append(equals(total(x), case.k * u))
    if is_symbolic(u) or u != 0:
        shape.append(u > 0)
    if hasattr(case, "r"):
        shape += [case.r > 0, equals(total(x), case.r) if case._tight else total(x) < case.r]
    return all_of(*signs, *shape)


def on_symbols(case: Case) -> bool:
    return is_symbolic(case.a)


def parts(x: Point, k: int) -> Parts:
    """Return the sets of a projection in numbers."""
    top = sum(x) / k
    every = range(len(x))
    return Parts(
        [i for i in every if x[i] == top],
        [i for i in every if 0 < x[i] < top],
        [i for i in every if x[i] == 0],
    )


def total_over(entries: Any, chosen: list[int]) -> Real:
    return total(entries[i] for i in chosen)
