"""L15 section 5: the biased projection onto a box with a bound on the sum (the Usunier version)."""

from collections.abc import Iterator
from fractions import Fraction

from paper_checks.cases import Rng, changed, fractions
from paper_checks.lapin2015.cone import BIASES, ZERO
from paper_checks.lapin2015.kkt import Parts
from paper_checks.lapin2015.kkt import total_over as total
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import equal
from reference.exact_projection import Point, knapsack, project


def boxed_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """d, a point a, bounds l < u of its entries and r of their sum, and rho."""
    for d in range(1, 6 if deep else 5):
        for rho in BIASES:
            for _ in range(6):
                lower, upper = ZERO, Fraction(int(rng.integers(1, 7)), 4)
                if rng.integers(2):
                    lower = upper - Fraction(int(rng.integers(1, 9)), 4)
                r = d * lower + Fraction(int(rng.integers(1, 9)), 4)
                box = {"lower": lower, "upper": upper, "r": r}
                yield Case(kind="exact, ties", d=d, rho=rho, a=fractions(rng, d), **box)


def with_bias(rng: Rng, deep: bool) -> Iterator[Case]:
    """rho > 0 and l = 0, as in the set of Proposition 5."""
    for case in boxed_points(rng, deep):
        if case.rho > 0:
            r = case.r - case.d * case.lower
            yield changed(case, lower=ZERO, upper=case.upper - case.lower, r=r)


def without_bias(rng: Rng, deep: bool) -> Iterator[Case]:
    """Those with rho = 0 too."""
    return (case for case in boxed_points(rng, deep) if sum(projected(case)) < case.r)


def slack(rng: Rng, deep: bool) -> Iterator[Case]:
    """rho > 0, and the sum of the projection is below r."""
    return (case for case in without_bias(rng, deep) if case.rho > 0)


def projected(case: Case) -> Point:
    return project(case.a, knapsack(case.upper, case.r, case.lower), case.rho)


def parts(x: Point, lower: Fraction, upper: Fraction) -> Parts:
    every = range(len(x))
    return Parts(
        [i for i in every if x[i] == upper],
        [i for i in every if lower < x[i] < upper],
        [i for i in every if x[i] == lower],
    )


def clipped(entries: Point, t: Fraction, case: Case) -> list[Fraction]:
    return [min(max(case.lower, x - t), case.upper) for x in entries]


def threshold(case: Case, U: int, M: int, in_M: Fraction, sign: int = 1) -> Fraction:
    """t of (10), multiplied out by rho so that rho = 0 is no exception."""
    fixed = case.lower * (case.d - U - M) + sign * case.upper * U
    return case.rho * (fixed + in_M) / (1 + case.rho * M)


@claim(
    "L15-eq10",
    "section 5, (10)",
    "If the sum is below its bound, x is a - t cut off at l and u, with t from (10), for rho > 0.",
    formula=r"t=\left(l|L|+u|U|+\sum_M a_i\right)/\left(\frac{1}{\rho}+|M|\right)",
    shapes="a, x: (d,)",
    judged="For any bounds l < u, as the problem above (10) is stated.",
    cases=slack,
    relaxed=version("for rho = 0 too, where the limit is t = 0", cases=without_bias),
    planted=(
        version("-u |U|", sign=-1),
        version("the sum over M left out", without_M=True),
    ),
)
def threshold_of_the_box(case: Case, sign: int = 1, without_M: bool = False) -> Outcome:
    x = projected(case)
    sets = parts(x, case.lower, case.upper)
    in_M = ZERO if without_M else total(case.a, sets.M)
    t = threshold(case, len(sets.U), len(sets.M), in_M, sign)
    return equal(clipped(case.a, t, case), x)


@claim(
    "L15-box-clip",
    "section 5",
    "The minimiser x is x - t cut off at l and u.",
    formula=r"x=\min\{\max\{l,x-t\},u\}",
    shapes="a, x: (d,)",
    judged="The x on the right stands twice in the text.",
    cases=slack,
    derived=version("a - t, by the line before it and by Lemma 3", of_x=False),
    planted=(version("a + t", of_x=False, sign=-1),),
)
def minimiser_is_clipped(case: Case, of_x: bool = True, sign: int = 1) -> Outcome:
    """t = rho s, as lambda = t - rho s = 0 below the bound."""
    x = projected(case)
    return equal(clipped(x if of_x else case.a, sign * case.rho * sum(x), case), x)


@claim(
    "L15-usunier-decision",
    "section 5",
    "The projection is found by the knapsack, kept if its t is above rho r, and else by a search "
    "for sets U, M, L that fit t from (10).",
    formula=r"t>\rho r\ ?\ \mathrm{knapsack}:(10)",
    shapes="a: (d,); rho > 0",
    judged="For l = 0, with the knapsack with an inequality of section 4.1; where more than one t "
    "serves, both ends of their range.",
    cases=with_bias,
    planted=(
        version("t > r", times_rho=False),
        version("t >= 0", always=True),
        version("t of (10) with -u |U|", sign=-1),
    ),
)
def decision_is_right(
    case: Case, times_rho: bool = True, always: bool = False, sign: int = 1
) -> Outcome:
    x = project(case.a, knapsack(case.upper, case.r, case.lower))
    bound = (case.rho if times_rho else 1) * case.r
    found = [
        x if t > bound or always else by_search(case, sign) for t in knapsack_thresholds(case, x)
    ]
    return equal(found, [projected(case)] * 2)


def knapsack_thresholds(case: Case, x: Point) -> tuple[Fraction, Fraction]:
    """The least and the largest t >= 0 with x = a - t cut off; (0, 0) below the sum's bound."""
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
    """The first partition of the sorted entries that fits its t; None if there is none."""
    ranked = sorted(case.a, reverse=True)
    for U in range(case.d + 1):
        for end in range(U, case.d + 1):
            t = threshold(case, U, end - U, sum(ranked[U:end], ZERO), sign)
            upper_fits = all(entry - t >= case.upper for entry in ranked[:U])
            middle_fits = all(case.lower <= e - t <= case.upper for e in ranked[U:end])
            if upper_fits and middle_fits and all(e - t <= case.lower for e in ranked[end:]):
                return tuple(clipped(case.a, t, case))
    return None
