"""Check L15 sections 4.2 and 4.3: the projections onto the top-k cone and simplex, by steps.

No quotient has the denominator 0: the search has |U| < k and M not empty, so that D >= 1 in (7). In
(8) neither the largest nor the smallest entry of an empty set is a bound.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from paper_checks.arithmetic import (
    ZERO,
    Real,
    Truth,
    all_of,
    any_of,
    equals,
    implies,
    negation,
    positive_part,
    total,
)
from paper_checks.cases import Rng
from paper_checks.definitions import Vector
from paper_checks.lapin2015.cone import CONE, clipped, points, thresholds
from paper_checks.lapin2015.kkt import Parts, parts, symbolic_sets, total_over
from paper_checks.lapin2015.simplex import SIMPLEX, bounded_points, multiplier, projected
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import equal, truth
from paper_checks.proofs import BySolver
from paper_checks.symbols import real, reals
from reference.exact_projection import Point, knapsack_filled, project, topk_cone


def zero_or_constant(case: Case, checks_sum: bool) -> Point | None:
    """Return 0 or the constant solution of case 2 of Lemma 3; None if neither fits.

    The constant is the sum of the k largest entries, shared among them.
    """
    a, k, ranked = case.a, case.k, sorted(case.a, reverse=True)
    top = sum(ranked[:k], ZERO)
    if top <= 0:
        return (ZERO,) * case.d
    u = top / (k + case.rho * k**2)
    fits = case.d == k or ranked[k] <= ranked[k - 1] - u
    if not fits or (checks_sum and k * u > case.r):
        return None
    return tuple(u if entry >= ranked[k - 1] else ZERO for entry in a)


def by_search(case: Case, first: int = 0, power: int = 2) -> Point:
    """Return the first partition of the sorted entries whose thresholds obey (8); 0 if none."""
    ranked = sorted(case.a, reverse=True)
    for U in range(first, case.k):
        for end in range(case.k, case.d + 1):
            t, u = by_equation_7(ranked, U, end, case, power)
            if obeys_bounds(ranked, U, end, t, u):
                return clipped(case.a, t, u)
    return (ZERO,) * case.d


def by_equation_7(ranked: Vector, U: int, end: int, case: Case, power: int) -> tuple[Real, Real]:
    """Return t and u for the first U sorted entries in U, and the next up to `end` in M."""
    sets = Parts(list(range(U)), list(range(U, end)), list(range(end, case.d)))
    in_U, in_M = total_over(ranked, sets.U), total_over(ranked, sets.M)
    u, t = thresholds(in_U, in_M, sets, case.k, case.rho, power=power)
    return t + case.rho * u * case.k, u


def obeys_bounds(ranked: Vector, U: int, end: int, t: Real, u: Real) -> Truth:
    """Return whether (8) holds with the first U sorted entries in U and the next up to end in M."""
    lower = True if end == len(ranked) else ranked[end] <= t
    upper = True if U == 0 else t + u <= ranked[U - 1]
    return all_of(lower, upper, t <= ranked[end - 1], ranked[U] <= t + u)


def solves_the_cone(case: Case, t: Real, u: Real) -> Truth:
    """Return whether a - t cut off at 0 and u has the multipliers of Lemma 3.

    nu is the part of a above t + u, s = k u is the sum, and t = rho s - <1, nu> / k.
    """
    nu, s = total(positive_part(entry - t - u) for entry in case.a), case.k * u
    is_sum = equals(total(clipped(case.a, t, u)), s)
    return all_of(u >= 0, is_sum, equals(t, case.rho * s - nu / Fraction(case.k)))


# ---------------------------------------------------------------- section 4.2


def searches_on_symbols(deep: bool) -> Iterator[Case]:
    """Yield any sorted point, with a partition that the search tries."""
    for d, k, rho in symbolic_sets(4, deep):
        for U in range(k):
            for end in range(k, d + 1):
                sets = {"_U": U, "_end": end}
                yield Case(kind="symbols", d=d, k=k, rho=rho, a=reals("a", d), **sets)


def is_sorted(case: Case) -> Truth:
    return all_of(*(x >= z for x, z in pairwise(case.a)))


@claim(
    "L15-cone-search",
    "section 4.2",
    "The projection onto the top-k cone is found by the checks for a zero and a constant one, then "
    "the search for a partition that obeys (7) and (8), with 0 if there is none.",
    shapes="a: (d,)",
    judged="The largest entry of an empty set is no bound in (8), nor is the smallest. No quotient "
    "0/0 occurs: D >= 1 in the range of the search. On symbols: each partition that fits gives the "
    "projection; that one fits is L15-lem3-case3.",
    cases=points,
    planted=(
        version("partitions with |U| >= 1 alone", first=1),
        version("rho k in place of rho k^2 in D", power=1),
    ),
    proofs=(
        BySolver(
            "A wrong partition that also satisfies (7) and (8) and is tried before the right one.",
            cases=searches_on_symbols,
            assuming=is_sorted,
            sized_by=("d", "k", "rho"),
        ),
    ),
    library=CONE,
)
def search_is_right(case: Case, first: int = 0, power: int = 2) -> Outcome:
    if hasattr(case, "_U"):
        t, u = by_equation_7(case.a, case._U, case._end, case, power)
        fits = obeys_bounds(case.a, case._U, case._end, t, u)
        return truth(implies(fits, solves_the_cone(case, t, u)))
    x = zero_or_constant(case, checks_sum=False)
    found = by_search(case, first, power) if x is None else x
    return equal(found, project(case.a, topk_cone(case.k), case.rho))


# ---------------------------------------------------------------- section 4.3


def below_the_bound(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the points with a radius, and one on which the knapsack is not the projection.

    Its knapsack has t > 0 while the projection has s < r.
    """
    yield from bounded_points(rng, deep)
    a = (Fraction(2), Fraction(3, 2))
    yield Case(kind="by hand", d=2, k=1, rho=Fraction(1), a=a, r=Fraction(2))


def decisions_on_symbols(deep: bool) -> Iterator[Case]:
    """Yield any sorted point, with t of the knapsack, and t and u of its projection, not 0."""
    for d, k, rho in symbolic_sets(4 if deep else 3, deep):
        helpers = {"_knapsack": real("q"), "_t": real("t"), "_u": real("u")}
        yield Case(kind="symbols", d=d, k=k, rho=rho, a=reals("a", d), r=real("r"), **helpers)


def above(case: Case, t: Real, u: Real) -> Real:
    """Return p of Lemma 5, the sum of the parts above t + u."""
    return total(positive_part(entry - t - u) for entry in case.a)


def has_these_thresholds(case: Case) -> Truth:
    """Return whether the knapsack's sum is r, and x obeys the conditions of Lemma 5."""
    t, u, k = case._t, case._u, Fraction(case.k)
    s, p = k * u, above(case, t, u)
    slack = equals(t + p / k, case.rho * s)
    return all_of(
        case.r > 0,
        is_sorted(case),
        equals(total(clipped(case.a, case._knapsack, case.r / k)), case.r),
        u > 0,
        equals(total(clipped(case.a, t, u)), s),
        s <= case.r,
        t + p / k >= case.rho * s,
        any_of(slack, equals(s, case.r)),
    )


@claim(
    "L15-lem5-procedure",
    "section 4.3",
    "The projection is found by the checks for a zero and a constant one, then the knapsack, kept "
    "if lambda >= 0, and else case 3 of Lemma 3.",
    formula=r"\lambda=t+\frac{p}{k}-\rho r\geq 0\ ?\ \mathrm{knapsack}:\mathrm{cone}",
    shapes="a: (d,); r > 0",
    judged="The bounds (8) as in L15-cone-search. On symbols: the sign of lambda gives the "
    "right decision for every t of the knapsack; the search is L15-cone-search.",
    assumed="A constant projection onto the cone is kept only if its sum is at most r; the text "
    "does not say so.",
    cases=below_the_bound,
    planted=(
        version("lambda <= 0 keeps the knapsack", keep=-1),
        version("lambda without rho r", bias=0),
        version("lambda with -p/k", sign=-1),
        version("a constant projection onto the cone is kept anyway", checks_sum=False),
    ),
    proofs=(
        BySolver(
            "A knapsack with M empty, whose t is not unique: lambda must have the "
            "same sign for every t.",
            cases=decisions_on_symbols,
            assuming=has_these_thresholds,
            sized_by=("d", "k", "rho"),
        ),
    ),
    library=SIMPLEX,
)
def procedure_is_right(
    case: Case, keep: int = 1, bias: int = 1, sign: int = 1, checks_sum: bool = True
) -> Outcome:
    if hasattr(case, "_knapsack"):
        return sign_decides(case, keep, bias, sign)
    x = zero_or_constant(case, checks_sum)
    if x is None:
        x = project(case.a, knapsack_filled(case.r / case.k, case.r))
        found = parts(x, case.k)
        if keep * multiplier(case, x, found, case.r, sign, bias) < 0:
            x = by_search(case)
    return equal(x, projected(case))


def sign_decides(case: Case, keep: int, bias: int, sign: int) -> Outcome:
    """State that the sign of lambda decides.

    If lambda >= 0 the knapsack is the projection; otherwise the projection's sum is below r.
    """
    k, t = Fraction(case.k), case._knapsack
    u = case.r / k
    kept = keep * (t + sign * above(case, t, u) / k - bias * case.rho * case.r) >= 0
    pairs = zip(clipped(case.a, t, u), clipped(case.a, case._t, case._u), strict=True)
    same = all_of(*(equals(x, z) for x, z in pairs))
    return truth(all_of(implies(kept, same), implies(negation(kept), k * case._u < case.r)))
