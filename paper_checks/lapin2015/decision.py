"""Check L15 section 5: the choice between the knapsack and the search for the projection."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

from paper_checks.arithmetic import ZERO, Truth, all_of, any_of, equals, total, where
from paper_checks.cases import Rng
from paper_checks.lapin2015.box import BOX, clipped, parts, projected, threshold, with_bias
from paper_checks.lapin2015.kkt import on_symbols
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import equal
from paper_checks.proofs import BySolver
from paper_checks.symbols import real, reals
from reference.exact_projection import Point, knapsack, project


def between_the_bounds(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the points with a bias, and two special ones. One has rho r < t = r.

    In the other, a = (2, 4) is clipped to (1, 1), and the largest possible t is 1, which is at most
    rho r.
    """
    yield from with_bias(rng, deep)
    box = {"lower": ZERO, "upper": Fraction(2), "r": Fraction(1)}
    yield Case(kind="by hand", d=1, rho=Fraction(1, 2), a=(Fraction(2),), **box)
    box = {"lower": ZERO, "upper": Fraction(1), "r": Fraction(2)}
    yield Case(kind="by hand", d=2, rho=Fraction(1), a=(Fraction(2), Fraction(4)), **box)


def decisions_on_symbols(deep: bool) -> Iterator[Case]:
    """Yield any point a, with the t of its projection, of its knapsack and of the search.

    By symmetry the entries of a do not increase.
    """
    for d in range(1, 5):
        for rho in (Fraction(1, 2), Fraction(3)) if deep else (Fraction(1, 2),):
            bounds: dict[str, Any] = {"lower": ZERO, "upper": real("u"), "r": real("r")}
            helpers = {"_t": real("t"), "_knapsack": real("k"), "_search": real("w")}
            yield Case(kind="symbols", d=d, rho=rho, a=reals("a", d), **bounds, **helpers)


def has_these_thresholds(case: Case) -> Truth:
    """Return whether the three thresholds are right.

    They are t of the projection, with lambda = t - rho s; t of the knapsack, which is 0 below the
    bound; and a t = rho s that satisfies (10) with its sets.
    """
    projection, knap, search = (
        total(clipped(case.a, t, case)) for t in (case._t, case._knapsack, case._search)
    )
    return all_of(
        case.upper > 0,
        case.r > 0,
        projection <= case.r,
        case._t >= case.rho * projection,
        any_of(equals(case._t, case.rho * projection), equals(projection, case.r)),
        case._knapsack >= 0,
        knap <= case.r,
        any_of(equals(case._knapsack, 0), equals(knap, case.r)),
        equals(case._search, case.rho * search),
        *(x >= z for x, z in pairwise(case.a)),
    )


@claim(
    "L15-usunier-decision",
    "section 5",
    "The projection is found by the knapsack, kept if its t is above rho r, and else by a search "
    "for sets U, M, L that fit t from (10).",
    formula=r"t>\rho r\ ?\ \mathrm{knapsack}:(10)",
    shapes="a: (d,); rho > 0",
    judged="For l = 0, with the knapsack with an inequality of section 4.1; where more than one t "
    "serves, both ends of their range; on symbols every one.",
    cases=between_the_bounds,
    planted=(
        version("t > r", times_rho=False),
        version("t >= 0", always=True),
        version("t of (10) with -u |U|", sign=-1),
    ),
    proofs=(
        BySolver(
            "A t inside its range, if the knapsack's M is empty and t is not unique.",
            cases=decisions_on_symbols,
            assuming=has_these_thresholds,
            sized_by=("d", "rho"),
        ),
    ),
    library=BOX,
)
def decision_is_right(
    case: Case, times_rho: bool = True, always: bool = False, sign: int = 1
) -> Outcome:
    bound = (case.rho if times_rho else 1) * case.r
    if on_symbols(case):
        kept = True if always else case._knapsack > bound
        projection, knap, search = (
            clipped(case.a, t, case) for t in (case._t, case._knapsack, case._search)
        )
        return equal(
            tuple(where(kept, x, z) for x, z in zip(knap, search, strict=True)), projection
        )
    x = project(case.a, knapsack(case.upper, case.r, case.lower))
    found = [
        x if t > bound or always else by_search(case, sign) for t in knapsack_thresholds(case, x)
    ]
    return equal(found, [projected(case)] * 2)


def knapsack_thresholds(case: Case, x: Point) -> tuple[Fraction, Fraction]:
    """Return the least and the largest t >= 0 with x = a - t cut off.

    They are (0, 0) below the bound of the sum.
    """
    if sum(x) < case.r:
        return ZERO, ZERO
    sets = parts(x, case.lower, case.upper)
    if sets.M:
        t = case.a[sets.M[0]] - x[sets.M[0]]
        return t, t
    least = max((case.a[i] - case.lower for i in sets.L), default=ZERO)
    largest = min((case.a[i] - case.upper for i in sets.U), default=least)
    return max(least, ZERO), max(largest, least, ZERO)


def by_search(case: Case, sign: int) -> Point | None:
    """Return the first partition of the sorted entries that fits its t; None if there is none."""
    ranked = sorted(case.a, reverse=True)
    for U in range(case.d + 1):
        for end in range(U, case.d + 1):
            t = threshold(case, U, end - U, sum(ranked[U:end], ZERO), sign)
            upper_fits = all(entry - t >= case.upper for entry in ranked[:U])
            middle_fits = all(case.lower <= e - t <= case.upper for e in ranked[U:end])
            if upper_fits and middle_fits and all(e - t <= case.lower for e in ranked[end:]):
                return tuple(clipped(case.a, t, case))
    return None
