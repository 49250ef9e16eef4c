"""L15 sections 4 and 4.2: the biased projection onto the top-k cone.

The true projection is found by trying every face of the set, in exact fractions
(reference.exact_projection); it uses none of the conditions that are judged here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paper_checks.cases import Rng, changed, fractions
from paper_checks.ledger import Case, Condition, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, truth
from reference.exact_projection import Point, project, topk_cone, topk_simplex

BIASES = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3))
ZERO = Fraction(0)


def points(rng: Rng, deep: bool) -> Iterator[Case]:
    """d, k, rho and a point a; ties are common, and so are sums of the k largest near 0."""
    for d in range(1, 6 if deep else 5):
        for k in range(1, d + 1):
            for rho in BIASES:
                for largest, denominator in ((3, 1), (2, 2), (4, 1)):
                    a = fractions(rng, d, largest, denominator)
                    yield Case(kind="exact, ties", d=d, k=k, rho=rho, a=a)
                a = tuple(abs(x) for x in fractions(rng, d, 9, 1))
                yield Case(kind="exact, a >= 0", d=d, k=k, rho=rho, a=a)


def total(entries: Sequence[Fraction], chosen: Sequence[int]) -> Fraction:
    return sum((entries[i] for i in chosen), ZERO)


@dataclass(frozen=True)
class Parts:
    """The sets of Lemma 3: indices with x_i = s/k, strictly between, and x_i = 0."""

    U: list[int]
    M: list[int]
    L: list[int]


def parts(x: Point, k: int) -> Parts:
    top = sum(x) / k
    every = range(len(x))
    return Parts(
        [i for i in every if x[i] == top],
        [i for i in every if 0 < x[i] < top],
        [i for i in every if x[i] == 0],
    )


def projected(case: Case) -> Point:
    return project(case.a, topk_cone(case.k), case.rho)


def largest_first(a: Point) -> list[Fraction]:
    return sorted(a, reverse=True)


def biases(rng: Rng, deep: bool) -> Iterator[Case]:
    """Points with a radius r (None: the cone) and two biases, the second one larger."""
    for case in points(rng, deep):
        larger = case.rho + Fraction(int(rng.integers(1, 5)), 2)
        r = None if rng.integers(2) else Fraction(int(rng.integers(1, 5)), 2)
        kind = "cone" if r is None else "simplex"
        yield changed(case, kind=kind, r=r, larger=larger)


def along_bias(case: Case) -> tuple[Point, Point]:
    """The projections with the smaller and the larger bias."""
    region = topk_cone(case.k) if case.r is None else topk_simplex(case.k, case.r)
    return project(case.a, region, case.rho), project(case.a, region, case.larger)


@claim(
    "L15-bias",
    "section 4",
    "A positive rho biases the projection towards orthogonality to the vector of ones: its product "
    "with that vector falls as rho grows.",
    formula=r"\rho\leq\rho'\ \Rightarrow\ "
    r"\langle 1,x_\rho\rangle\geq\langle 1,x_{\rho'}\rangle\geq 0",
    shapes="x: (d,)",
    judged="Orthogonality is measured by <1, x>, the term that rho weighs; for the angle see "
    "L15-bias-angle.",
    cases=biases,
    planted=(version("the product grows", sign=-1),),
)
def bias_lowers_the_sum(case: Case, sign: int = 1) -> Outcome:
    x, z = along_bias(case)
    return both(at_most(sign * sum(z), sign * sum(x)), at_most(0, sum(z)))


@claim(
    "L15-bias-angle",
    "section 4",
    "A positive rho turns the projection towards orthogonality to the vector of ones: the angle "
    "between the two does not shrink as rho grows.",
    formula=r"\rho\leq\rho'\ \Rightarrow\ \frac{\langle 1,x_\rho\rangle}{\|x_\rho\|}\geq"
    r"\frac{\langle 1,x_{\rho'}\rangle}{\|x_{\rho'}\|}",
    shapes="x: (d,), not 0",
    judged="The other reading of L15-bias.",
    cases=lambda rng, deep: (c for c in biases(rng, deep) if any(along_bias(c)[1])),
    planted=(version("the angle does not grow", sign=-1),),
)
def bias_widens_the_angle(case: Case, sign: int = 1) -> Outcome:
    x, z = along_bias(case)
    before, after = (sum(p) ** 2 / sum(entry**2 for entry in p) for p in (x, z))
    return at_most(sign * after, sign * before, x=x, z=z)


@claim(
    "L15-lem3-case1",
    "Lemma 3, case 1",
    "If U and M are empty, the biased projection onto the top-k cone is 0.",
    formula=r"U=M=\emptyset\ \Rightarrow\ x^*=0",
    shapes="x: (d,)",
    judged="By the definition of U, x* = 0 puts every index in U, so the case never occurs and the "
    "implication is true of nothing.",
    cases=points,
    planted=(
        version("U empty is enough", needs_M=False),
        version("and x* = 0 only then", converse=True),
    ),
)
def nothing_positive(case: Case, needs_M: bool = True, converse: bool = False) -> Outcome:
    x = projected(case)
    sets = parts(x, case.k)
    empty = not sets.U and not (needs_M and sets.M)
    holds = (not any(x)) == empty if converse else not empty or not any(x)
    return truth(holds, x=x)


@claim(
    "L15-lem3-case2",
    "Lemma 3, case 2",
    "If U is not empty and M is, U is the set of the k largest entries, and x_i there is their sum "
    "divided by k + rho k^2.",
    formula=r"x_i^*=\frac{1}{k+\rho k^2}\sum_{i=1}^k a_{[i]},\quad i\in U=\{[1],\ldots,[k]\}",
    shapes="a, x: (d,)",
    judged="U as the lemma defines it: all indices if x* = 0.",
    cases=points,
    condition=Condition("x* is not 0", lambda case: any(projected(case))),
    planted=(version("k + rho k", power=1), version("the k - 1 largest", count=-1)),
)
def constant_projection(case: Case, power: int = 2, count: int = 0) -> Outcome:
    x, k = projected(case), case.k
    sets = parts(x, k)
    if not sets.U or sets.M:
        return truth(True)
    value = sum(largest_first(case.a)[: k + count], ZERO) / (k + case.rho * k**power)
    top = sorted((case.a[i] for i in sets.U), reverse=True)
    return both(
        equal(top, largest_first(case.a)[:k]), equal([x[i] for i in sets.U], [value] * len(sets.U))
    )


@claim(
    "L15-lem3-case3",
    "Lemma 3, case 3, (7) (8)",
    "If M is not empty, u and t' solve the system (7), t = t' + rho u k obeys the bounds (8), and "
    "x* is a - t cut off at 0 and u.",
    formula=r"Du=|M|\sum_U a_i+(k-|U|)\sum_M a_i,\quad D=(k-|U|)^2+(|U|+\rho k^2)|M|,\quad "
    r"x^*=\min\{\max\{0,a-t\},u\}",
    shapes="a, x: (d,)",
    cases=points,
    planted=(
        version("the sign between the terms of t'", sign=1),
        version("rho k in place of rho k^2 in D", power=1),
        version("t = t' without rho u k", shift=0),
    ),
)
def general_projection(case: Case, sign: int = -1, power: int = 2, shift: int = 1) -> Outcome:
    x, a, k, rho = projected(case), case.a, case.k, case.rho
    sets = parts(x, k)
    if not sets.M:
        return truth(True)
    u, t = thresholds(total(a, sets.U), total(a, sets.M), sets, k, rho, sign, power)
    t += shift * rho * u * k
    clipped = [min(max(ZERO, entry - t), u) for entry in a]
    bounds = [at_most(a[i], t) for i in sets.L]
    bounds += [both(at_most(t, a[i]), at_most(a[i], t + u)) for i in sets.M]
    bounds += [at_most(t + u, a[i]) for i in sets.U]
    return both(equal(clipped, x), equal(u, sum(x) / k), *bounds)


def thresholds(
    in_U: Fraction, in_M: Fraction, sets: Parts, k: int, rho: Fraction, sign: int, power: int
) -> tuple[Fraction, Fraction]:
    """u and t' of (7); in_U and in_M are the sums of a over the two sets."""
    U, M = len(sets.U), len(sets.M)
    D = (k - U) ** 2 + (U + rho * k**power) * M
    u = (M * in_U + (k - U) * in_M) / D
    return u, (U * (1 + rho * k) * in_M + sign * (k - U + rho * k * M) * in_U) / D


@claim(
    "L15-lem4",
    "Lemma 4",
    "The biased projection onto the top-k cone is 0 if the k largest entries sum to at most 0, and "
    "for rho = 0 only then.",
    formula=r"\sum_{i=1}^k a_{[i]}\leq 0\ \Rightarrow\ x^*=0;\quad "
    r"\Leftrightarrow\ \mathrm{if}\ \rho=0",
    shapes="a, x: (d,)",
    cases=points,
    relaxed=version("only then for every rho >= 0; no fallback is needed", always=True),
    planted=(
        version("the k + 1 largest", count=1),
        version("the k largest are at most 0", largest=True),
    ),
)
def zero_projection(
    case: Case, always: bool = False, count: int = 0, largest: bool = False
) -> Outcome:
    ranked = largest_first(case.a)
    says_zero = sum(ranked[: case.k + count]) <= 0
    if largest:
        says_zero = ranked[0] <= 0
    is_zero = not any(projected(case))
    both_ways = always or case.rho == 0
    return truth(is_zero == says_zero if both_ways else is_zero or not says_zero)


def partition_cases(rng: Rng, deep: bool) -> Iterator[Case]:
    for d in range(2, 6 if deep else 5):
        for k in range(1, d + 1):
            for rho in (ZERO, Fraction(1)):
                yield Case(kind="exact", d=d, k=k, rho=rho)


def point_with(U: int, M: int, case: Case) -> Point:
    """A point whose projection has the given sizes of U and M: x is 1 on U and equal on M, so that
    x sums to k; each entry of U lies 1 above t + u."""
    s, k = Fraction(case.k), case.k
    t = case.rho * s - Fraction(U, k)
    middle = (Fraction(k - U, M),) * M
    return (*[t + 2] * U, *[t + x for x in middle], *[t - 1] * (case.d - U - M))


def partitions_that_occur(case: Case) -> set[tuple[int, int]]:
    """The pairs (|U|, |M|) with M not empty of projections that the search has to find."""
    found = set()
    for U in range(case.k):
        for M in range(1, case.d - U + 1):
            sets = parts(project(point_with(U, M, case), topk_cone(case.k), case.rho), case.k)
            if sets.M:
                found.add((len(sets.U), len(sets.M)))
    return found


@claim(
    "L15-partitions",
    "section 4.2",
    "The exhaustive search for the sets U, M, L of case 3 needs at most (k - 1)(d - k + 1) "
    "partitions.",
    formula=r"0\leq|U|<k\leq|U|+|M|\leq d\ \Rightarrow\ (k-1)(d-k+1)\ \mathrm{partitions}",
    shapes="1 <= k <= d",
    judged="The worst case is at least the number of pairs (|U|, |M|) that occur.",
    cases=partition_cases,
    derived=version("k (d - k + 1): |U| takes the k values 0, .., k - 1", fewer=0),
    planted=(version("(k - 1)(d - k)", shift=0),),
)
def partitions_suffice(case: Case, fewer: int = 1, shift: int = 1) -> Outcome:
    found = partitions_that_occur(case)
    return at_most(len(found), (case.k - fewer) * (case.d - case.k + shift))


@claim(
    "L15-partitions-exact",
    "section 4.2",
    "The partitions of case 3 obey |U| + |M| >= k.",
    formula=r"k\leq|U|+|M|",
    shapes="1 <= k <= d",
    judged="A bound that is attained would be as good as stated; the relaxed form is the best one.",
    cases=partition_cases,
    relaxed=version("|U| + |M| > k, so that exactly k (d - k) partitions occur", tight=True),
    planted=(version("|U| + |M| > k + 1", least=2),),
)
def smallest_support(case: Case, least: int = 0, tight: bool = False) -> Outcome:
    found = partitions_that_occur(case)
    smallest = min((U + M for U, M in found), default=case.d + 1)
    bound = at_most(case.k + least, smallest)
    if tight:
        return both(bound, equal(len(found), case.k * (case.d - case.k)))
    return bound
