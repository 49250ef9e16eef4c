"""Check L15 section 5: the biased projection onto a box with a bound on the sum (Usunier).

In numbers the true projection comes from reference.exact_projection. On symbols x is the projection
of a if and only if, with s = <1, x>,

    x = min(max(l, a - t), u),  t = rho s + lambda,  lambda >= 0,  lambda (s - r) = 0.
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
    maximum,
    minimum,
    total,
)
from paper_checks.cases import Rng, changed, fractions
from paper_checks.lapin2015.cone import BIASES
from paper_checks.lapin2015.kkt import Parts, on_symbols, patterns, sets_of, total_over
from paper_checks.ledger import Case, Erratum, Library, Outcome, WhereRight, claim, version
from paper_checks.outcomes import equal
from paper_checks.proofs import BySolver
from paper_checks.symbols import real, reals
from reference.exact_projection import Point, knapsack, project


def boxed_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield d, a point a, bounds l < u of its entries and r of their sum, and rho."""
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
    """Yield the points with rho > 0 and l = 0, as in the set of Proposition 5."""
    for case in boxed_points(rng, deep):
        if case.rho > 0:
            r = case.r - case.d * case.lower
            yield changed(case, lower=ZERO, upper=case.upper - case.lower, r=r)


def without_bias(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield also points with rho = 0, where the sum of the projection is below r."""
    return (case for case in boxed_points(rng, deep) if sum(projected(case)) < case.r)


def slack(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the points with rho > 0 whose projection has a sum below r."""
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


def projection_with_sets(case: Case) -> tuple[tuple[Real, ...], Parts]:
    if on_symbols(case):
        return case._x, sets_of(case._places)
    x = projected(case)
    return x, parts(x, case.lower, case.upper)


def clipped(entries: tuple[Real, ...], t: Real, case: Case) -> tuple[Real, ...]:
    """Return min(max(l, entries - t), u)."""
    return tuple(minimum(maximum(case.lower, x - t), case.upper) for x in entries)


def threshold(case: Case, U: int, M: int, in_M: Real, sign: int = 1) -> Real:
    """Return t of (10), multiplied by rho so that rho = 0 needs no special case."""
    fixed = case.lower * Fraction(case.d - U - M) + sign * case.upper * Fraction(U)
    return divide(case.rho * (fixed + in_M), 1 + case.rho * M)


# ---------------------------------------------------------------- below the bound of the sum


def slack_on_symbols(deep: bool, lower: Real | None = None) -> Iterator[Case]:
    """Yield points a whose projection has these sets and a sum below r.

    By symmetry the indices of U come first, then the indices of M, then the indices of L.
    """
    for d in range(1, 5):
        for rho in (Fraction(1, 2), Fraction(1), Fraction(3)) if deep else (Fraction(1),):
            for bias in (ZERO, rho):
                for places in patterns(d):
                    yield pattern_case(d, bias, places, real("l") if lower is None else lower)


def pattern_case(d: int, rho: Fraction, places: str, lower: Real) -> Case:
    upper, own = real("u"), reals("z", d)
    x = tuple({"U": upper, "M": own[i], "L": lower}[place] for i, place in enumerate(places))
    t = rho * total(x)
    beyond = {"U": 1, "M": 0, "L": -1}
    shifts = (Fraction(beyond[place]) * own[i] for i, place in enumerate(places))
    a = tuple(p + t + shift for p, shift in zip(x, shifts, strict=True))
    bounds = {"lower": lower, "upper": upper, "r": real("r")}
    helpers = {"_x": x, "_places": places, "_own": own}
    return Case(kind="symbols", d=d, rho=rho, a=a, **bounds, **helpers)


def has_these_sets(case: Case) -> Truth:
    signs = [
        all_of(case.lower < z, z < case.upper) if place == "M" else z >= 0
        for place, z in zip(case._places, case._own, strict=True)
    ]
    return all_of(case.lower < case.upper, total(case._x) < case.r, *signs)


def with_positive_bias(deep: bool) -> Iterator[Case]:
    """Yield the points with rho > 0 and l = 0, as in the set of Proposition 5."""
    return (case for case in slack_on_symbols(deep, ZERO) if case.rho > 0)


def library_box(case: Case) -> Outcome:
    """Compare fwlab's projection with l = 0 against the exact one."""
    a = np.array([float(x) for x in case.a])
    found = fwlab.project_knapsack(a, float(case.r), float(case.upper), bias=float(case.rho))
    return equal(found, [float(x) for x in projected(case)], 1e-13)


BOX = Library(("fwlab.projections.project_knapsack",), library_box, with_bias)


@claim(
    "L15-eq10",
    "section 5, (10)",
    "If the sum is below its bound, x is a - t cut off at l and u, with t from (10), for rho > 0.",
    formula=r"t=\left(l|L|+u|U|+\sum_M a_i\right)/\left(\frac{1}{\rho}+|M|\right)",
    shapes="a, x: (d,)",
    judged="For any bounds l < u, as the problem above (10) is stated. (10) is multiplied out by "
    "rho: the same for rho > 0, and 0 for rho = 0.",
    cases=slack,
    relaxed=version("also for rho = 0, with the limit t = 0", cases=without_bias),
    planted=(
        version("-u |U|", sign=-1),
        version("the sum over M left out", without_M=True),
    ),
    proofs=(
        BySolver(
            "Negative bounds l, and sets that occur at few integer points.",
            cases=slack_on_symbols,
            assuming=has_these_sets,
            sized_by=("d", "rho"),
        ),
    ),
    library=BOX,
)
def threshold_of_the_box(case: Case, sign: int = 1, without_M: bool = False) -> Outcome:
    x, sets = projection_with_sets(case)
    in_M = ZERO if without_M else total_over(case.a, sets.M)
    t = threshold(case, len(sets.U), len(sets.M), in_M, sign)
    return equal(clipped(case.a, t, case), x)


def by_equation_10(case: Case) -> Outcome:
    """State that a - t cut off, with t from (10), equals the correction, a - rho s cut off."""
    x = projected(case)
    sets = parts(x, case.lower, case.upper)
    t = threshold(case, len(sets.U), len(sets.M), total_over(case.a, sets.M))
    return equal(clipped(case.a, t, case), clipped(case.a, case.rho * sum(x), case))


@claim(
    "L15-box-clip",
    "section 5",
    "The minimiser x is x - t cut off at l and u.",
    formula=r"x=\min\{\max\{l,x-t\},u\}",
    shapes="a, x: (d,)",
    judged="Below the bound of the sum, where t = rho s.",
    cases=slack,
    derived=version(
        "a - t, by the line before it and by Lemma 3",
        of_x=False,
        formula=r"x=\min\{\max\{l,a-t\},u\}",
    ),
    where_right=WhereRight("L15-eq10", by_equation_10),
    planted=(version("a + t", of_x=False, sign=-1),),
    sides=("x as printed", "the projection"),
    proofs=(
        BySolver(
            "Points where clipping at l or u hides the difference of a and x.",
            cases=with_positive_bias,
            assuming=has_these_sets,
            sized_by=("d", "rho"),
        ),
    ),
    library=BOX,
    erratum=Erratum(
        "section 5, above (10)",
        r"x=a-t1+\mu-\nu=\min\{\max\{l,x-t\},u\}",
        r"x=a-t1+\mu-\nu=\min\{\max\{l,a-t\},u\}",
        r"The multipliers $\mu,\nu\geq 0$ are positive only at the bounds, so $a-t1+\mu-\nu$ is "
        r"$a-t$ cut off, as the display above (10) has it on $M$. For $d=1$, $\rho=1$, $l=0$, "
        r"$u=r=1$, $a=1$ the minimiser is $x=\frac{1}{2}$ with $t=\rho s=\frac{1}{2}$, and "
        r"$x-t=0$.",
        "Nothing: (10) and the projection use a - t.",
    ),
)
def minimiser_is_clipped(case: Case, of_x: bool = True, sign: int = 1) -> Outcome:
    """Compare with t = rho s, as lambda = t - rho s = 0 below the bound."""
    x, _ = projection_with_sets(case)
    return equal(clipped(x if of_x else case.a, sign * case.rho * total(x), case), x)
