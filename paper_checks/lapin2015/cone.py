"""Check L15 sections 4 and 4.2: the biased projection onto the top-k cone, Lemmas 3 and 4.

In numbers the true projection is found by trying every face of the set, in exact fractions
(reference.exact_projection); this uses none of the conditions judged here. On symbols it is
described by its multipliers (paper_checks.lapin2015.kkt).
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import fwlab
from paper_checks.arithmetic import (
    ZERO,
    Real,
    Truth,
    all_of,
    divide,
    equals,
    implies,
    largest_sum,
    maximum,
    minimum,
    negation,
)
from paper_checks.cases import Rng, fractions
from paper_checks.lapin2015.forms import iff
from paper_checks.lapin2015.kkt import (
    Parts,
    is_optimal,
    on_symbols,
    parts,
    sets_of,
    symbolic_projections,
    total_over,
)
from paper_checks.ledger import Case, Condition, Erratum, Library, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, truth
from paper_checks.proofs import BySolver
from reference.exact_projection import project, topk_cone

BIASES = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3))


def points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield d, k, rho and a point a; ties are common, and so are sums of the k largest near 0."""
    for d in range(1, 6 if deep else 5):
        for k in range(1, d + 1):
            for rho in BIASES:
                for largest, denominator in ((3, 1), (2, 2), (4, 1)):
                    a = fractions(rng, d, largest, denominator)
                    yield Case(kind="exact, ties", d=d, k=k, rho=rho, a=a)
                a = tuple(abs(x) for x in fractions(rng, d, 9, 1))
                yield Case(kind="exact, a >= 0", d=d, k=k, rho=rho, a=a)


def projection_with_sets(case: Case) -> tuple[tuple[Real, ...], Parts]:
    """Return the projection onto the cone, and its sets."""
    if on_symbols(case):
        return case._x, sets_of(case._places)
    x = project(case.a, topk_cone(case.k), case.rho)
    return x, parts(x, case.k)


def is_zero(x: tuple[Real, ...]) -> Truth:
    return all_of(*(equals(entry, 0) for entry in x))


def clipped(a: tuple[Real, ...], t: Real, u: Real) -> tuple[Real, ...]:
    """Return min(max(0, a - t), u)."""
    return tuple(minimum(maximum(ZERO, entry - t), u) for entry in a)


def by_multipliers(catches: str, zero: bool = True) -> BySolver:
    """Return a proof over all points, by the sets and multipliers of their projections."""
    return BySolver(
        catches,
        cases=lambda deep: symbolic_projections(deep, zero),
        assuming=is_optimal,
        sized_by=("d", "k", "rho"),
    )


def library_cone(case: Case) -> Outcome:
    """Compare fwlab's projection onto the top-k cone against the exact one."""
    a = np.array([float(x) for x in case.a])
    x = project(case.a, topk_cone(case.k), case.rho)
    found = fwlab.project_topk_cone(a, case.k, bias=float(case.rho))
    return equal(found, [float(entry) for entry in x], 1e-13)


CONE = Library(("fwlab.projections.project_topk_cone",), library_cone, points)


def no_index(sets: Parts) -> bool:
    """Return whether U and M are empty."""
    return not sets.U and not sets.M


@claim(
    "L15-lem3-case1",
    "Lemma 3, case 1",
    "If U and M are empty, the biased projection onto the top-k cone is 0.",
    formula=r"U=M=\emptyset\ \Rightarrow\ x^*=0",
    shapes="x: (d,)",
    judged="By the definition of U, x* = 0 puts every index in U, so that the premise is met in no "
    "case. Case 1 is meant for x* = 0, which falls under case 2 instead, L15-lem3-case2.",
    cases=points,
    premise=Condition("U and M are empty", lambda case: no_index(projection_with_sets(case)[1])),
    planted=(
        version("U empty is enough", needs_M=False),
        version("and x* = 0 only then", converse=True),
    ),
    proofs=(by_multipliers("A reading of the case as `x* = 0 only then`, which is never true."),),
    library=CONE,
)
def nothing_positive(case: Case, needs_M: bool = True, converse: bool = False) -> Outcome:
    x, sets = projection_with_sets(case)
    empty = no_index(sets) if needs_M else not sets.U
    holds = iff(is_zero(x), empty) if converse else implies(empty, is_zero(x))
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
    condition=Condition(
        "x* is not 0", lambda case: negation(is_zero(projection_with_sets(case)[0]))
    ),
    main=Condition(
        "x* is not 0: section 4.2 first tests for 0, by Lemma 4",
        lambda case: not is_zero(projection_with_sets(case)[0]),
    ),
    planted=(version("k + rho k", power=1), version("the k - 1 largest", count=-1)),
    sides=("x on U as printed", "the projection on U"),
    proofs=(
        by_multipliers("An entry outside U that ties with one inside, so that U is not unique."),
    ),
    library=CONE,
    erratum=Erratum(
        "Lemma 3, cases 1 and 2",
        r"U\neq\emptyset,\ M=\emptyset\ \Rightarrow\ U=\{[1],\ldots,[k]\},\ "
        r"x_i^*=\frac{1}{k+\rho k^2}\sum_{i=1}^k a_{[i]}",
        r"x^*\neq 0,\ M=\emptyset\ \Rightarrow\ U=\{[1],\ldots,[k]\},\ "
        r"x_i^*=\frac{1}{k+\rho k^2}\sum_{i=1}^k a_{[i]}",
        r"For $x^*=0$ every index has $x_i^*=\frac{1}{k}\langle 1,x^*\rangle=0$, so $U$ is the "
        r"set of all indices: case 1 never occurs, and case 2 takes its place. For $d=k=1$, "
        r"$\rho=0$, $a=-1$ the projection is 0, and case 2 says -1. For $x^*\neq 0$ the case is "
        "right.",
        "Nothing: the projection checks for 0 by Lemma 4 first.",
    ),
)
def constant_projection(case: Case, power: int = 2, count: int = 0) -> Outcome:
    (x, sets), k, a = projection_with_sets(case), case.k, case.a
    if not sets.U or sets.M:
        return truth(True)
    value = largest_sum(a, k + count) / (k + case.rho * k**power)
    least = minimum(*(a[i] for i in sets.U))
    largest = all_of(len(sets.U) == k, *(a[i] <= least for i in (*sets.M, *sets.L)))
    return both(truth(largest), equal((value,) * len(sets.U), tuple(x[i] for i in sets.U)))


@claim(
    "L15-lem3-case3",
    "Lemma 3, case 3, (7) (8)",
    "If M is not empty, u and t' solve the system (7), t = t' + rho u k obeys the bounds (8), and "
    "x* is a - t cut off at 0 and u.",
    formula=r"Du=|M|\sum_U a_i+(k-|U|)\sum_M a_i,\quad D=(k-|U|)^2+(|U|+\rho k^2)|M|,\quad "
    r"x^*=\min\{\max\{0,a-t\},u\}",
    shapes="a, x: (d,)",
    judged="The largest entry of an empty set is no bound in (8), nor is the smallest.",
    cases=points,
    planted=(
        version("the sign between the terms of t'", sign=1),
        version("rho k in place of rho k^2 in D", power=1),
        version("t = t' without rho u k", shift=0),
    ),
    proofs=(
        by_multipliers("Sets U, M and L that are rare at integer points, such as |U| = k - 1."),
    ),
    library=CONE,
)
def general_projection(case: Case, sign: int = -1, power: int = 2, shift: int = 1) -> Outcome:
    (x, sets), a, k, rho = projection_with_sets(case), case.a, case.k, case.rho
    if not sets.M:
        return truth(True)
    in_U, in_M = total_over(a, sets.U), total_over(a, sets.M)
    u, t = thresholds(in_U, in_M, sets, k, rho, sign, power)
    t += shift * rho * u * k
    bounds = [at_most(a[i], t) for i in sets.L]
    bounds += [both(at_most(t, a[i]), at_most(a[i], t + u)) for i in sets.M]
    bounds += [at_most(t + u, a[i]) for i in sets.U]
    share = total_over(x, list(range(case.d))) / Fraction(k)
    return both(equal(clipped(a, t, u), x), equal(u, share), *bounds)


def thresholds(
    in_U: Real, in_M: Real, sets: Parts, k: int, rho: Fraction, sign: int = -1, power: int = 2
) -> tuple[Real, Real]:
    """Return u and t' of (7); in_U and in_M are the sums of a over the two sets."""
    U, M = len(sets.U), len(sets.M)
    D = (k - U) ** 2 + (U + rho * k**power) * M
    u = divide(M * in_U + (k - U) * in_M, D)
    return u, divide(U * (1 + rho * k) * in_M + sign * (k - U + rho * k * M) * in_U, D)


@claim(
    "L15-lem4",
    "Lemma 4",
    "The biased projection onto the top-k cone is 0 if the k largest entries sum to at most 0, and "
    "for rho = 0 only then.",
    formula=r"\sum_{i=1}^k a_{[i]}\leq 0\ \Rightarrow\ x^*=0;\quad "
    r"\Leftrightarrow\ \mathrm{if}\ \rho=0",
    shapes="a, x: (d,)",
    cases=points,
    relaxed=version(
        "only then for every rho >= 0; no fallback is needed",
        always=True,
        formula=r"\sum_{i=1}^k a_{[i]}\leq 0\ \Leftrightarrow\ x^*=0",
    ),
    planted=(
        version("the k + 1 largest", count=1),
        version("the k largest are at most 0", largest=True),
    ),
    proofs=(by_multipliers("A sum of the k largest entries just above 0 with a large bias."),),
    library=CONE,
)
def zero_projection(
    case: Case, always: bool = False, count: int = 0, largest: bool = False
) -> Outcome:
    x, _ = projection_with_sets(case)
    says_zero = largest_sum(case.a, min(case.k + count, case.d)) <= 0
    if largest:
        says_zero = all_of(*(entry <= 0 for entry in case.a))
    both_ways = always or case.rho == 0
    return truth(iff(is_zero(x), says_zero) if both_ways else implies(says_zero, is_zero(x)))
