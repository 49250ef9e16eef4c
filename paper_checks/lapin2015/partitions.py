"""L15 sections 4.2 and 4.3: the search for the sets of case 3, and the procedures with it.

Nothing is divided by 0 here: the search has |U| < k and M not empty, so that D >= 1 in (7). In (8)
the largest entry of an empty set is no bound, nor is the smallest.
"""

from collections.abc import Iterator
from fractions import Fraction

from paper_checks.arithmetic import ZERO
from paper_checks.cases import Rng
from paper_checks.lapin2015.cone import (
    CONE,
    clipped,
    points,
    thresholds,
)
from paper_checks.lapin2015.kkt import (
    Parts,
    is_optimal,
    parts,
    sets_of,
    symbolic_projections,
    total_over,
)
from paper_checks.lapin2015.simplex import SIMPLEX, bounded_points, multiplier, projected
from paper_checks.ledger import Case, Erratum, Outcome, WhereRight, claim, version
from paper_checks.outcomes import at_most, both, equal, truth
from paper_checks.proofs import BySolver
from reference.exact_projection import Point, knapsack_filled, project, topk_cone


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


def in_printed_ranges(case: Case) -> Outcome:
    """The pairs with 0 <= |U| < k <= |U| + |M| <= d are as many as the correction says."""
    ends = range(case.k, case.d + 1)
    pairs = [(U, end - U) for U in range(case.k) for end in ends]
    return equal(len(pairs), case.k * (case.d - case.k + 1))


@claim(
    "L15-partitions",
    "section 4.2",
    "The exhaustive search for the sets U, M, L of case 3 needs at most (k - 1)(d - k + 1) "
    "partitions.",
    formula=r"0\leq|U|<k\leq|U|+|M|\leq d\ \Rightarrow\ (k-1)(d-k+1)\ \mathrm{partitions}",
    shapes="1 <= k <= d",
    judged="The worst case is at least the number of pairs (|U|, |M|) that occur.",
    cases=partition_cases,
    derived=version(
        "k (d - k + 1): |U| takes the k values 0, .., k - 1",
        fewer=0,
        formula=r"k(d-k+1)\ \mathrm{partitions}",
    ),
    where_right=WhereRight("L15-partitions-exact", in_printed_ranges),
    planted=(version("(k - 1)(d - k)", shift=0),),
    sides=("pairs (|U|, |M|) that occur", "the bound"),
    not_proved="No real number is free: one point for each pair settles a size.",
    erratum=Erratum(
        "p. 7, section 4.2, Projection",
        r"(k-1)(d-k+1)\ \mathrm{iterations}",
        r"k(d-k+1)\ \mathrm{iterations}",
        r"The sentence gives the ranges $0\leq|U|<k$ and $k\leq|U|+|M|\leq d$: $k$ values times "
        r"$d-k+1$ values. For $k=1$, $d=2$ the printed bound is 0, but $a=(1,1)$ with $\rho=0$ is "
        r"its own projection $x=(1,1)$: $U=\emptyset$, $M=\{1,2\}$ is case 3. As $|U|+|M|=k$ never "
        r"occurs, $k(d-k)$ are enough.",
        "Nothing: the complexity $O(d\\log d+kd)$ is the same.",
    ),
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
    relaxed=version(
        "|U| + |M| > k, so that exactly k (d - k) partitions occur",
        tight=True,
        formula=r"k<|U|+|M|",
    ),
    planted=(version("|U| + |M| > k + 1", least=2),),
    proofs=(
        BySolver(
            "A point with |U| + |M| = k, which would make the search longer.",
            cases=lambda deep: symbolic_projections(deep, zero=False),
            assuming=is_optimal,
            sized_by=("d", "k", "rho"),
        ),
    ),
)
def smallest_support(case: Case, least: int = 0, tight: bool = False) -> Outcome:
    if hasattr(case, "_places"):  # one pair, which occurs if the multipliers exist
        sets = sets_of(case._places)
        return truth(not sets.M or case.k + least + tight <= len(sets.U) + len(sets.M))
    found = partitions_that_occur(case)
    smallest = min((U + M for U, M in found), default=case.d + 1)
    bound = at_most(case.k + least, smallest)
    if tight:
        return both(bound, equal(len(found), case.k * (case.d - case.k)))
    return bound


# ---------------------------------------------------------------- the procedures


def zero_or_constant(case: Case, checks_sum: bool) -> Point | None:
    """Return 0, or the sum of the k largest entries shared among them where case 2 of Lemma 3 fits;
    None if neither fits."""
    a, k, ranked = case.a, case.k, sorted(case.a, reverse=True)
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
    ranked = sorted(case.a, reverse=True)
    for U in range(first, case.k):
        for end in range(case.k, case.d + 1):
            sets = Parts(list(range(U)), list(range(U, end)), list(range(end, case.d)))
            in_U, in_M = total_over(ranked, sets.U), total_over(ranked, sets.M)
            u, t = thresholds(in_U, in_M, sets, case.k, case.rho)
            t += case.rho * u * case.k
            if obeys_bounds(ranked, U, end, t, u):
                return clipped(case.a, t, u)
    return (ZERO,) * case.d


def obeys_bounds(ranked: list[Fraction], U: int, end: int, t: Fraction, u: Fraction) -> bool:
    """Whether (8) holds for the sorted entries: the first U in U, those from U to end in M."""
    lower = end == len(ranked) or ranked[end] <= t
    upper = U == 0 or t + u <= ranked[U - 1]
    return lower and upper and t <= ranked[end - 1] and ranked[U] <= t + u


def below_the_bound(rng: Rng, deep: bool) -> Iterator[Case]:
    """The points with a radius, and one whose knapsack has t > 0, but a projection with s < r."""
    yield from bounded_points(rng, deep)
    a = (Fraction(2), Fraction(3, 2))
    yield Case(kind="by hand", d=2, k=1, rho=Fraction(1), a=a, r=Fraction(2))


PROCEDURE = "An algorithm with a search; its tests are L15-lem3-case3, L15-lem4 and L15-lem5."


@claim(
    "L15-cone-search",
    "section 4.2",
    "The projection onto the top-k cone is found by the checks for a zero and a constant one, then "
    "the search for a partition that obeys (7) and (8), with 0 if there is none.",
    shapes="a: (d,)",
    judged="The largest entry of an empty set is no bound in (8), nor is the smallest. No quotient "
    "0/0 occurs: D >= 1 in the range of the search.",
    cases=points,
    planted=(version("partitions with |U| >= 1 alone", first=1),),
    not_proved=PROCEDURE,
    library=CONE,
)
def search_is_right(case: Case, first: int = 0) -> Outcome:
    x = zero_or_constant(case, checks_sum=False)
    found = by_search(case, first) if x is None else x
    return equal(found, project(case.a, topk_cone(case.k), case.rho))


@claim(
    "L15-lem5-procedure",
    "section 4.3",
    "The projection is found by the checks for a zero and a constant one, then the knapsack, kept "
    "if lambda >= 0, and else case 3 of Lemma 3.",
    formula=r"\lambda=t+\frac{p}{k}-\rho r\geq 0\ ?\ \mathrm{knapsack}:\mathrm{cone}",
    shapes="a: (d,); r > 0",
    judged="The bounds (8) as in L15-cone-search.",
    assumed="A constant projection onto the cone is kept only if its sum is at most r; the text "
    "does not say so.",
    cases=below_the_bound,
    planted=(
        version("lambda <= 0 keeps the knapsack", keep=-1),
        version("lambda without rho r", bias=0),
        version("lambda with -p/k", sign=-1),
        version("a constant projection onto the cone is kept anyway", checks_sum=False),
    ),
    not_proved=PROCEDURE,
    library=SIMPLEX,
)
def procedure_is_right(
    case: Case, keep: int = 1, bias: int = 1, sign: int = 1, checks_sum: bool = True
) -> Outcome:
    x = zero_or_constant(case, checks_sum)
    if x is None:
        x = project(case.a, knapsack_filled(case.r / case.k, case.r))
        found = parts(x, case.k)
        if keep * multiplier(case, x, found, case.r, sign, bias) < 0:
            x = by_search(case)
    return equal(x, projected(case))
