"""Check L15 section 4.2: the number of sets U, M, L that the search of case 3 has to try."""

from collections.abc import Iterator
from fractions import Fraction

from paper_checks.arithmetic import ZERO
from paper_checks.cases import Rng
from paper_checks.lapin2015.kkt import (
    is_optimal,
    parts,
    sets_of,
    symbolic_projections,
)
from paper_checks.ledger import Case, Erratum, Outcome, WhereRight, claim, version
from paper_checks.outcomes import at_most, both, equal, truth
from paper_checks.proofs import BySolver
from reference.exact_projection import Point, project, topk_cone


def partition_cases(rng: Rng, deep: bool) -> Iterator[Case]:
    for d in range(2, 6 if deep else 5):
        for k in range(1, d + 1):
            for rho in (ZERO, Fraction(1)):
                yield Case(kind="exact", d=d, k=k, rho=rho)


def point_with(U: int, M: int, case: Case) -> Point:
    """Return a point whose projection has the given sizes of U and M.

    x is 1 on U and equal on M, so that x sums to k; each entry of U lies 1 above t + u.
    """
    s, k = Fraction(case.k), case.k
    t = case.rho * s - Fraction(U, k)
    middle = (Fraction(k - U, M),) * M
    return (*[t + 2] * U, *[t + x for x in middle], *[t - 1] * (case.d - U - M))


def partitions_that_occur(case: Case) -> set[tuple[int, int]]:
    """Return the pairs (|U|, |M|), M not empty, of the projections that the search must find."""
    found = set()
    for U in range(case.k):
        for M in range(1, case.d - U + 1):
            sets = parts(project(point_with(U, M, case), topk_cone(case.k), case.rho), case.k)
            if sets.M:
                found.add((len(sets.U), len(sets.M)))
    return found


def in_printed_ranges(case: Case) -> Outcome:
    """State that the correction gives the number of pairs with 0 <= |U| < k <= |U| + |M| <= d."""
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
    not_proved="The statement has no free real number: one point for each pair decides a size.",
    erratum=Erratum(
        "section 4.2, Projection",
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
    judged="The bound holds but is not attained; the relaxed form is the best possible.",
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
