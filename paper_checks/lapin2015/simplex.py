"""Check L15 sections 4.1 and 4.3: the biased projection onto the top-k simplex.

In numbers the true projection comes from reference.exact_projection, in exact fractions; on symbols
from its multipliers (paper_checks.lapin2015.kkt).
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np

import fwlab
from paper_checks.arithmetic import ZERO, Real, Truth, equals, minimum, total
from paper_checks.cases import Rng, changed
from paper_checks.lapin2015.cone import clipped, points
from paper_checks.lapin2015.forms import given
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
from paper_checks.outcomes import at_most, both, equal, less, true, truth
from paper_checks.proofs import BySolver
from reference.exact_projection import Point, knapsack, knapsack_filled, project, topk_simplex


def bounded_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the points of section 4.2 with a radius r > 0; half of the sums are at the bound."""
    for case in points(rng, deep):
        r = Fraction(int(rng.integers(1, 9)), 2)
        yield changed(case, r=r)


def positive_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the points whose projection is not 0."""
    return (case for case in bounded_points(rng, deep) if any(projected(case)))


def projected(case: Case) -> Point:
    return project(case.a, topk_simplex(case.k, case.r), case.rho)


def projection_with_sets(case: Case) -> tuple[tuple[Real, ...], Parts]:
    """Return the projection onto the simplex, and its sets."""
    if on_symbols(case):
        return case._x, sets_of(case._places)
    x = projected(case)
    return x, parts(x, case.k)


def by_multipliers(catches: str) -> BySolver:
    """Return a proof over all points, by the sets and multipliers of their projections."""
    return BySolver(
        catches,
        cases=lambda deep: symbolic_projections(deep, zero=False, bounded=True),
        assuming=is_optimal,
        sized_by=("d", "k", "rho"),
    )


def library_simplex(case: Case) -> Outcome:
    """Compare fwlab's projection onto the top-k simplex against the exact one."""
    a = np.array([float(x) for x in case.a])
    found = fwlab.project_topk_simplex(a, case.k, float(case.r), float(case.rho))
    return equal(found, [float(x) for x in projected(case)], 1e-13)


SIMPLEX = Library(("fwlab.projections.project_topk_simplex",), library_simplex, bounded_points)


def library_knapsack(case: Case) -> Outcome:
    """Compare fwlab's knapsack with sum <= r, and with sum = r, against the exact ones."""
    a, upper = np.array([float(x) for x in case.a]), case.r / case.k
    exact = [project(case.a, make(upper, case.r)) for make in (knapsack, knapsack_filled)]
    found = [
        fwlab.project_knapsack(a, float(case.r), float(upper), equality=equality)
        for equality in (False, True)
    ]
    return equal(found, [[float(x) for x in row] for row in exact], 1e-13)


# ---------------------------------------------------------------- section 4.1


def families(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield d, k, rho, r with all points of entries 1 and -1; their projections sum to < r."""
    for d in range(1, 5 if deep else 4):
        signs = tuple(product((Fraction(-1), Fraction(1)), repeat=d))
        for k in range(1, d + 1):
            for rho in (ZERO, Fraction(1)):
                case = {"d": d, "k": k, "rho": rho, "r": Fraction(d + 1)}
                yield Case(kind="exact", **case, points=signs)


@claim(
    "L15-only-knapsack",
    "section 4.1",
    "The projection is a continuous quadratic knapsack problem, with the upper bound r/k, only "
    "where the sum of the projection is r.",
    formula=r"\langle 1,x^*\rangle<r\ \Rightarrow\ x^*\neq\mathrm{argmin}\{\|a-x\|^2\,|\,"
    r"\langle 1,x\rangle\leq r,\ 0\leq x_i\leq r/k\}\ \mathrm{for\ some}\ a",
    shapes="a, x: (d,)",
    judged="As a statement about the problem: below the bound there have to be points at which the "
    "two solutions differ. At single points they may agree, as at every a in the set.",
    cases=families,
    condition=Condition("k >= 2 or rho > 0", lambda case: case.k >= 2 or case.rho > 0),
    planted=(version("with the bound s/k in place of r/k", own_sum=True),),
    not_proved="Some point settles each size; for k = 1, rho = 0 the two sets are one, as x >= 0 "
    "gives x_i <= <1, x>.",
    library=Library(("fwlab.projections.project_knapsack",), library_knapsack, bounded_points),
    erratum=Erratum(
        "section 4.1",
        r"\mathrm{a\ knapsack\ problem\ only\ if}\ \langle 1,x^*\rangle=r",
        r"\mathrm{a\ knapsack\ problem\ only\ if}\ \langle 1,x^*\rangle=r\ \mathrm{or}\ "
        r"(k=1\ \mathrm{and}\ \rho=0)",
        r"For $k=1$ the bound $x_i\leq\langle 1,x\rangle$ follows from $x\geq 0$, so $\Delta_1(r)$ "
        r"is the simplex, which section 4.1 itself calls a knapsack problem. For $d=1$, $a=1$, "
        r"$r=2$ the projection is 1, and its sum is below $r$.",
        "Nothing: the procedure of section 4.3 is right for k = 1, too.",
    ),
)
def knapsack_only_at_the_bound(case: Case, own_sum: bool = False) -> Outcome:
    """Look for a point at which the two differ.

    With `own_sum`, the upper bound comes from the projection itself, which obeys it for rho = 0.
    """
    for a in case.points:
        x = project(a, topk_simplex(case.k, case.r), case.rho)
        upper = sum(x) / case.k if own_sum else case.r / case.k
        if sum(x) < case.r and x != project(a, knapsack(upper, case.r)):
            return true()
    return truth(False, differ="nowhere")


@claim(
    "L15-knapsack-at-bound",
    "section 4.1",
    "Where the sum of the projection is r, the projection is that of the knapsack problem with the "
    "upper bound r/k; the bias is a constant there and has no effect.",
    formula=r"\langle 1,x^*\rangle=r\ \Rightarrow\ x^*=\mathrm{argmin}\{\|a-x\|^2\,|\,"
    r"\langle 1,x\rangle=r,\ 0\leq x_i\leq r/k\}",
    shapes="a, x: (d,); x not 0",
    judged="The knapsack with sum = r: with sum <= r the bias has an effect.",
    cases=positive_points,
    planted=(
        version("the knapsack with sum <= r", filled=False),
        version("the upper bound r", share=False),
    ),
    proofs=(by_multipliers("Points with every M empty, where the threshold t is not unique."),),
    library=SIMPLEX,
)
def knapsack_at_the_bound(case: Case, filled: bool = True, share: bool = True) -> Outcome:
    """State that a point with the sum r, cut off at 0 and u, solves the knapsack.

    With t >= 0 it also solves the knapsack with sum <= r.
    """
    x, sets = projection_with_sets(case)
    upper = case.r / Fraction(case.k) if share else case.r
    t = threshold(case.a, x, sets, total(x) / Fraction(case.k))
    solved = both(equal(clipped(case.a, t, upper), x), truth(filled or t >= 0))
    if not on_symbols(case):
        region = knapsack_filled(upper, case.r) if filled else knapsack(upper, case.r)
        solved = equal(project(case.a, region), x)
    return given(equals(total(x), case.r), solved)


# ---------------------------------------------------------------- Lemma 5


def threshold(a: Point, x: Point, sets: Parts, u: Real) -> Real:
    """Return a t with x = min(max(0, a - t), u).

    It is the only one if M is not empty, else the largest.
    """
    return a[sets.M[0]] - x[sets.M[0]] if sets.M else minimum(*(a[i] for i in sets.U)) - u


def multiplier(
    case: Case, x: Point, sets: Parts, bound: Real, sign: int = 1, bias: int = 1
) -> Real:
    """Return lambda = t + p/k - rho * bound of Lemma 5."""
    k = Fraction(case.k)
    u = total(x) / k
    t = threshold(case.a, x, sets, u)
    p = total_over(case.a, sets.U) - len(sets.U) * (t + u)
    return t + sign * p / k - bias * case.rho * bound


def at_the_bound(case: Case) -> Truth:
    x, _ = projection_with_sets(case)
    return case.rho == 0 or equals(total(x), case.r)


@claim(
    "L15-lem5",
    "Lemma 5",
    "At the projection onto the top-k simplex lambda = t + p/k - rho r is at least 0.",
    formula=r"\lambda=t+\frac{p}{k}-\rho r\geq 0,\quad p=\sum_{i\in U}a_i-|U|(t+u)",
    shapes="a: (d,); x not 0",
    judged="For a projection other than 0; at 0 the lemma's U is all indices and t is arbitrary.",
    cases=positive_points,
    condition=Condition("the sum of the projection is r, or rho = 0", at_the_bound),
    corrected=version(
        "with the sum s of the projection in place of r",
        at_sum=True,
        formula=r"\lambda=t+\frac{p}{k}-\rho s\geq 0,\quad s=\langle 1,x^*\rangle",
    ),
    planted=(
        version("the sign of p, and s for r", at_sum=True, sign=-1),
        version("lambda is positive, and s for r", at_sum=True, strictly=True),
    ),
    sides=("0", "lambda"),
    proofs=(by_multipliers("A projection with the sum exactly r and lambda = 0."),),
    library=SIMPLEX,
    erratum=Erratum(
        "Lemma 5",
        r"\lambda=t+\frac{p}{k}-\rho r\geq 0",
        r"\lambda=t+\frac{p}{k}-\rho s\geq 0,\ s=\langle 1,x^*\rangle;\quad "
        r"\lambda=0\ \mathrm{if}\ s<r",
        r"The optimality condition in the proof is $\rho s-t+\lambda-\frac{p}{k}=0$, which gives "
        r"$\rho r$ only if $s=r$; the lemma leaves this out. For $d=k=1$, $\rho=1$, $a=1$, $r=1$: "
        r"$x^*=\frac{1}{2}$ minimises $(1-x)^2+x^2$, so $u=t=\frac{1}{2}$, $p=0$ and "
        r"$t+\frac{p}{k}-\rho r=-\frac{1}{2}$.",
        "Nothing: section 4.3 takes lambda at the knapsack's thresholds, where s = r.",
    ),
)
def multiplier_is_not_negative(
    case: Case, at_sum: bool = False, sign: int = 1, strictly: bool = False
) -> Outcome:
    x, sets = projection_with_sets(case)
    found = multiplier(case, x, sets, total(x) if at_sum else case.r, sign)
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
    proofs=(by_multipliers("Sets U with |U| = k, where neither p nor t is unique."),),
    library=SIMPLEX,
)
def multiplier_vanishes(case: Case, at_sum: bool = True, always: bool = False) -> Outcome:
    x, sets = projection_with_sets(case)
    found = multiplier(case, x, sets, total(x) if at_sum else case.r)
    return given(True if always else total(x) < case.r, equal(found, ZERO))
