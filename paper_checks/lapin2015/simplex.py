"""L15 sections 4.1 and 4.3: the biased projection onto the top-k simplex, a knapsack or not.

The true projection comes from reference.exact_projection, in exact fractions.
"""

from collections.abc import Iterator
from fractions import Fraction

from paper_checks.cases import Rng, changed
from paper_checks.lapin2015.cone import ZERO, Parts, largest_first, parts, points, thresholds, total
from paper_checks.ledger import Case, Condition, Outcome, claim, version
from paper_checks.outcomes import at_most, equal, less, truth
from reference.exact_projection import (
    Point,
    knapsack,
    knapsack_filled,
    project,
    topk_cone,
    topk_simplex,
)


def bounded_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """The points of section 4.2 with a radius r > 0; the sum is at its bound in about half."""
    for case in points(rng, deep):
        r = Fraction(int(rng.integers(1, 9)), 2)
        yield changed(case, r=r)


def positive_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Those whose projection is not 0, where u and t are determined as far as they matter."""
    return (case for case in bounded_points(rng, deep) if any(projected(case)))


def projected(case: Case) -> Point:
    return project(case.a, topk_simplex(case.k, case.r), case.rho)


@claim(
    "L15-only-knapsack",
    "section 4.1",
    "The projection is a continuous quadratic knapsack problem, with the upper bound r/k, only "
    "where the sum of the projection is r.",
    formula=r"x^*=\mathrm{argmin}\{\|a-x\|^2\,|\,\langle 1,x\rangle\leq r,\ 0\leq x_i\leq r/k\}"
    r"\ \Rightarrow\ \langle 1,x^*\rangle=r",
    shapes="a, x: (d,); x not 0",
    judged="The knapsack with an inequality, as section 4.1 defines it. For k = 1 and rho = 0 the "
    "two problems are the same one.",
    cases=positive_points,
    corrected=version(
        "where the sum is r, for every rho, the projection is the knapsack's with sum = r",
        given_sum=True,
    ),
    planted=(
        version("where the sum is r, the knapsack with sum <= r", given_sum=True, filled=False),
        version("where the sum is r, the upper bound r", given_sum=True, share=False),
    ),
)
def knapsack_only_at_the_bound(
    case: Case, given_sum: bool = False, filled: bool = True, share: bool = True
) -> Outcome:
    x, upper = projected(case), case.r / case.k if share else case.r
    if not given_sum:
        same = x == project(case.a, knapsack(upper, case.r))
        return truth(not same or sum(x) == case.r, x=x)
    if sum(x) < case.r:
        return truth(True)
    region = knapsack_filled(upper, case.r) if filled else knapsack(upper, case.r)
    return equal(project(case.a, region), x)


def threshold(a: Point, x: Point, sets: Parts, u: Fraction) -> Fraction:
    """A t with x = min(max(0, a - t), u): the only one if M is not empty, else the largest."""
    return a[sets.M[0]] - x[sets.M[0]] if sets.M else min(a[i] for i in sets.U) - u


def multiplier(case: Case, x: Point, bound: Fraction, sign: int = 1, bias: int = 1) -> Fraction:
    """lambda = t + p/k - rho * bound of Lemma 5."""
    sets, u = parts(x, case.k), sum(x) / case.k
    t = threshold(case.a, x, sets, u)
    p = total(case.a, sets.U) - len(sets.U) * (t + u)
    return t + sign * p / case.k - bias * case.rho * bound


@claim(
    "L15-lem5",
    "Lemma 5",
    "At the projection onto the top-k simplex lambda = t + p/k - rho r is at least 0.",
    formula=r"\lambda=t+\frac{p}{k}-\rho r\geq 0,\quad p=\sum_{i\in U}a_i-|U|(t+u)",
    shapes="a: (d,); x not 0",
    judged="For a projection other than 0; at 0 the lemma's U is all indices and t is arbitrary.",
    cases=positive_points,
    condition=Condition(
        "the sum of the projection is r, or rho = 0",
        lambda case: case.rho == 0 or sum(projected(case)) == case.r,
    ),
    corrected=version("with the sum s of the projection in place of r", at_sum=True),
    planted=(
        version("the sign of p, and s for r", at_sum=True, sign=-1),
        version("lambda is positive, and s for r", at_sum=True, strictly=True),
    ),
)
def multiplier_is_not_negative(
    case: Case, at_sum: bool = False, sign: int = 1, strictly: bool = False
) -> Outcome:
    x = projected(case)
    found = multiplier(case, x, sum(x, ZERO) if at_sum else case.r, sign)
    return less(ZERO, found, x=x) if strictly else at_most(0, found, x=x)


@claim(
    "L15-lem5-slack",
    "Lemma 5, proof",
    "If the sum s of the projection is below r, lambda = t + p/k - rho s is 0.",
    formula=r"s<r\ \Rightarrow\ \lambda=t+\frac{p}{k}-\rho s=0",
    shapes="a: (d,); x not 0",
    cases=positive_points,
    planted=(
        version("rho r in place of rho s", at_sum=False),
        version("for s = r too", always=True),
    ),
)
def multiplier_vanishes(case: Case, at_sum: bool = True, always: bool = False) -> Outcome:
    x = projected(case)
    if sum(x) == case.r and not always:
        return truth(True)
    return equal(multiplier(case, x, sum(x, ZERO) if at_sum else case.r), ZERO)


@claim(
    "L15-lem5-procedure",
    "section 4.3",
    "The projection is found by the checks for a zero and a constant one, then the knapsack, kept "
    "if lambda >= 0, and else case 3 of Lemma 3.",
    formula=r"\lambda=t+\frac{p}{k}-\rho r\geq 0\ ?\ \mathrm{knapsack}:\mathrm{cone}",
    shapes="a: (d,); r > 0",
    judged="A constant projection onto the cone is kept only if its sum is at most r.",
    cases=bounded_points,
    planted=(
        version("lambda <= 0 keeps the knapsack", keep=-1),
        version("lambda without rho r", bias=0),
        version("lambda with -p/k", sign=-1),
        version("a constant projection onto the cone is kept anyway", checks_sum=False),
    ),
)
def procedure_is_right(
    case: Case, keep: int = 1, bias: int = 1, sign: int = 1, checks_sum: bool = True
) -> Outcome:
    x = zero_or_constant(case, checks_sum)
    if x is None:
        x = project(case.a, knapsack_filled(case.r / case.k, case.r))
        if keep * multiplier(case, x, case.r, sign, bias) < 0:
            x = by_search(case)
    return equal(x, projected(case))


def zero_or_constant(case: Case, checks_sum: bool) -> Point | None:
    """0, or the sum of the k largest entries shared among them where case 2 of Lemma 3 fits."""
    a, k, ranked = case.a, case.k, largest_first(case.a)
    top = sum(ranked[:k], ZERO)
    if top <= 0:
        return (ZERO,) * case.d
    u = top / (k + case.rho * k**2)
    fits = case.d == k or ranked[k] <= ranked[k - 1] - u
    if not fits or (checks_sum and k * u > case.r):
        return None
    return tuple(u if entry >= ranked[k - 1] else ZERO for entry in a)


def by_search(case: Case, first: int = 0) -> Point:
    """Case 3: the first partition of the sorted entries whose thresholds obey (8); 0 if none."""
    ranked = largest_first(case.a)
    for U in range(first, case.k):
        for end in range(case.k, case.d + 1):
            sets = Parts(list(range(U)), list(range(U, end)), list(range(end, case.d)))
            in_U, in_M = total(ranked, sets.U), total(ranked, sets.M)
            u, t = thresholds(in_U, in_M, sets, case.k, case.rho, sign=-1, power=2)
            t += case.rho * u * case.k
            if obeys_bounds(ranked, U, end, t, u):
                return tuple(min(max(ZERO, entry - t), u) for entry in case.a)
    return (ZERO,) * case.d


def obeys_bounds(ranked: list[Fraction], U: int, end: int, t: Fraction, u: Fraction) -> bool:
    """(8) for the sorted entries: the first U in U, those from U to end in M."""
    lower = end == len(ranked) or ranked[end] <= t
    upper = U == 0 or t + u <= ranked[U - 1]
    return lower and upper and t <= ranked[end - 1] and ranked[U] <= t + u


@claim(
    "L15-cone-search",
    "section 4.2",
    "The projection onto the top-k cone is found by the checks for a zero and a constant one, then "
    "the search for a partition that obeys (7) and (8), with 0 if there is none.",
    shapes="a: (d,)",
    cases=points,
    planted=(version("partitions with |U| >= 1 alone", first=1),),
)
def search_is_right(case: Case, first: int = 0) -> Outcome:
    x = zero_or_constant(case, checks_sum=False)
    found = by_search(case, first) if x is None else x
    return equal(found, project(case.a, topk_cone(case.k), case.rho))
