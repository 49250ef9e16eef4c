"""Check whether pairwise coordinate ascent (M20 Algorithm 3.1) reaches the optimum or stalls.

A rational point is optimal if and only if its value equals the primal at its w, which fractions
decide.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from paper_checks.cases import Rng, changed
from paper_checks.ledger import Case, Condition, Library, Outcome, claim, version
from paper_checks.macha2020.ascent import ascent
from paper_checks.macha2020.in_fwlab import allowed, solved
from paper_checks.macha2020.joint import with_best_delta
from paper_checks.macha2020.pairs import best_along
from paper_checks.macha2020.problems import (
    RULES,
    excess,
    moved,
    patmat_dual,
    random_problem,
    rule_pairs,
    toppushk_dual,
    toppushk_primal,
    weights,
)
from paper_checks.outcomes import at_most, equal, same_optimum, true, truth

SMALL = 1e-4  # a certified relative gap, or a share of the optimal value, below this counts as 0
TINY = Fraction(1, 2**40)  # a dual is concave: if no step of this size improves it, none does
LOOPS = 4000
KINDS = ("quadratic", "hinge")
RUN = "A statement about runs of an algorithm in floating point, with certified gaps."


def dual_value(case: Case) -> Fraction | float:
    """Return the dual value; for Pat&Mat with the hinge, at the best delta.

    With the quadratic surrogate delta is fixed, as the text does not optimise it jointly.
    """
    if not case.patmat:
        return toppushk_dual(case)
    return with_best_delta(case) if case.surrogate == "hinge" else patmat_dual(case)


def some_pair_improves(case: Case) -> bool:
    here = dual_value(case)
    return any(
        dual_value(moved(case, k, other, step)) > here
        for rule in RULES
        for k, other in rule_pairs(case, rule)
        for step in (TINY, -TINY)
    )


def gap_of_toppushk(case: Case) -> Fraction:
    """Return the duality gap of a point of (7), in fractions."""
    gap: Fraction = toppushk_primal(case, weights(case)) - toppushk_dual(case)
    return gap


# ---------------------------------------------------------------- starts


def at_zero(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the point 0 of every objective."""
    for surrogate in KINDS:
        for patmat in (False, True):
            for _ in range(40 if deep else 12):
                case = random_problem(rng, surrogate)
                case.kind = "Pat&Mat" if patmat else ("TopPush" if case.K == 1 else "TopPushK")
                zero = 0 * case.alpha, 0 * case.beta
                yield changed(case, alpha=zero[0], beta=zero[1], delta=Fraction(0), patmat=patmat)


def patmat_at_zero(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the point 0 of Pat&Mat with the hinge, where n tau < 1 + theta_2/theta.

    Setting an alpha and a beta to t, and delta to t/theta_2, changes the dual by t (1/theta +
    1/theta_2 - n tau/theta_2) plus a term of order t^2.
    """
    for case in at_zero(rng, deep):
        if case.patmat and case.surrogate == "hinge":
            yield changed(case, budget=min(case.budget, case.theta2 / case.theta))


def zero_is_optimal(case: Case) -> bool:
    """Return whether w = 0 has no loss.

    For TopPushK its threshold is 0, where l(0) = 1. For Pat&Mat (10) has to allow the threshold
    -1/theta.
    """
    if not case.patmat:
        return False
    return bool(excess(case, [Fraction(0)] * len(case.beta), -1 / case.theta) <= 0)


@claim(
    "M20-zero-start",
    "Algorithm 3.1, step 1",
    "Any feasible start is possible: at (alpha, beta, delta) = 0 some pair step "
    "improves the dual, unless 0 is optimal.",
    shapes="alpha: (n+,), beta: (n-,)",
    judged="Algorithm 3.1 requires only a feasible start, and 0 is feasible.",
    cases=at_zero,
    condition=Condition("the objective is TopPush (K = 1)", lambda case: case.kind == "TopPush"),
    planted=(
        version("no pair step improves the dual at 0", expected=False),
        version(
            "no pair step improves the dual of Pat&Mat at 0", cases=patmat_at_zero, expected=False
        ),
    ),
    not_proved="It follows from the bounds in the theorems on steps, which are proved: for K > "
    "1, and for delta = 0, they are 0 at this point.",
)
def zero_will_do(case: Case, expected: bool = True) -> Outcome:
    return truth(some_pair_improves(case) == expected or zero_is_optimal(case))


# ---------------------------------------------------------------- TopPushK


def smallest_stall() -> Case:
    """Return the smallest stall: K = 2 = n-.

    Every feasible beta has both entries at their bound.
    """
    zero, one, half = Fraction(0), Fraction(1), Fraction(1, 2)
    return Case(
        kind="K > 1",
        surrogate="quadratic",
        positives=np.array([[one]], object),
        negatives=np.array([[zero], [zero]], object),
        C=one,
        theta=one,
        theta2=one,
        K=2,
        budget=one,
        alpha=np.array([half], object),
        beta=np.array([half / 2] * 2, object),
        patmat=False,
        seed=0,
    )


def starts(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield random problems with random starts, and the smallest stall."""
    yield smallest_stall()
    for surrogate in KINDS:
        for _ in range(100 if deep else 25):
            case = random_problem(rng, surrogate)
            case.kind = "K = 1" if case.K == 1 else "K > 1"
            yield changed(case, seed=int(rng.integers(10**6)), patmat=False)


def starts_of_toppush(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in starts(rng, deep) if case.K == 1)


def points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield random points of (7), 0, and the best points of one positive with one negative."""
    for case in starts(rng, deep):
        for factor in (0, 1):
            yield changed(case, alpha=factor * case.alpha, beta=factor * case.beta)
        if len(case.alpha) == len(case.beta) == 1:
            yield moved(case, 0, 1, best_along(case, 0, 1, patmat=False)[0])


@claim(
    "M20-pair-stationary",
    "3, Algorithm 3.1",
    "A feasible point of (7) that no pair step improves is optimal.",
    shapes="alpha: (n+,), beta: (n-,)",
    judged="exactly, at random points of (7), at 0, and at best points of single pairs; optimal "
    "means that the duality gap is 0",
    cases=points,
    condition=Condition("K = 1", lambda case: case.K == 1),
    planted=(version("a point is optimal if some pair step improves it", reverse=True),),
    not_proved="For K = 1 it follows from the Karush-Kuhn-Tucker conditions with one linear "
    "constraint, for every dimension; for K > 1 it is refuted in fractions.",
)
def stationary_is_optimal(case: Case, reverse: bool = False) -> Outcome:
    if some_pair_improves(case) != reverse:
        return true()
    gap = gap_of_toppushk(case)
    return truth(gap == 0, dual=toppushk_dual(case), primal=toppushk_primal(case, weights(case)))


def solved_by_pairs(case: Case, patmat: bool) -> Outcome:
    """Check that fwlab's pairwise ascent finds the same optimal value as the one here."""
    if patmat and not allowed(case):
        return true()
    run = ascent(case, patmat)
    run.run(np.random.default_rng(case.seed), 10 * LOOPS)
    start = (
        case.alpha.astype(float),
        case.beta.astype(float),
        float(case.delta) if patmat else None,
    )
    found = solved(case, patmat, method="pairwise", start=start, max_iter=2000)
    return same_optimum((found.dual, found.primal), (run.dual(), run.primal()))


def few_starts_of_toppush(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for number, case in enumerate(starts_of_toppush(rng, deep)) if number < 8)


@claim(
    "M20-alg-toppushk",
    "Algorithm 3.1, Figure 3",
    "Pairwise coordinate ascent solves the dual (7) of TopPushK to optimality, for every K.",
    shapes="alpha: (n+,), beta: (n-,)",
    judged="From any feasible start, by the certified relative gap when no step improves any more; "
    f"it counts as 0 below {SMALL:g}. For K > 1 a beta at its bound cannot absorb a change "
    f"of the sum of alpha on its own.",
    cases=starts,
    condition=Condition("K = 1", lambda case: case.K == 1),
    planted=(version("it gains nothing, for K = 1", cases=starts_of_toppush, loops=0),),
    not_proved=RUN,
    library=Library(
        ("fwlab.ranking.solve",),
        lambda case: solved_by_pairs(case, patmat=False),
        few_starts_of_toppush,
    ),
)
def reaches_the_optimum(case: Case, loops: int = LOOPS) -> Outcome:
    size = len(case.beta)
    even = np.array([sum(case.alpha) / Fraction(size)] * size, object)
    for point in (case, changed(case, beta=even)):
        compare_gains(point)
    run = ascent(case, patmat=False)
    if loops:
        run.run(np.random.default_rng(case.seed), loops)
    return at_most(run.relative_gap(), SMALL, allowed=0, dual=run.dual(), z=run.z)


def compare_gains(case: Case) -> None:
    """Raise ArithmeticError unless a first step gains as much as the best one in fractions."""
    run, here = ascent(case, patmat=False), toppushk_dual(case)
    for rule in RULES:
        for k, other in rule_pairs(case, rule):
            if k == other:
                continue
            best = best_along(case, k, other, patmat=False)[1] - here
            gains = [run.steps(k)[1][other], run.steps(other)[1][k]]
            if not equal(gains, [float(best)] * 2).holds:
                raise ArithmeticError(f"the step of the pair ({k}, {other}) is not the best one")


# ---------------------------------------------------------------- Pat&Mat, quadratic surrogate


def patmat_starts(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield starts with delta > 0, also with alpha = beta = 0, and the point 0."""
    for number in range(200 if deep else 24):
        case = random_problem(rng, "quadratic")
        case.kind, case.delta = "delta > 0", Fraction(int(rng.integers(1, 7)), 3)
        if number % 3 == 0:
            case.alpha, case.beta = 0 * case.alpha, 0 * case.beta
        if number % 6 == 0:
            case.kind, case.delta = "delta = 0", Fraction(0)
        yield changed(case, seed=int(rng.integers(10**6)))


def few_starts_of_patmat(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield points other than 0; fwlab does not start from 0."""
    found = (case for case in patmat_starts(rng, deep) if any(case.beta) and allowed(case))
    return (case for number, case in enumerate(found) if number < 5)


def positive_starts(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in patmat_starts(rng, deep) if case.delta > 0)


@claim(
    "M20-C1-alternation",
    "C.2",
    "With the quadratic surrogate it is enough to optimise a pair at fixed delta and "
    "then delta: the ascent reaches the optimum of (30).",
    formula=r"\Delta^*=\operatorname{argmax}_\Delta D(\ldots,\delta),\quad "
    r"\delta^*=\operatorname{argmax}_\delta D(\ldots)",
    shapes="alpha: (n+,), beta: (n-,)",
    judged="From any feasible start, with delta by (32) after each pair; a certified "
    "relative gap below "
    f"{SMALL:g} counts as 0. For delta > 0 the dual is differentiable and the "
    f"constraints on delta are separate from the others, so a point that neither part "
    f"improves is optimal.",
    cases=patmat_starts,
    condition=Condition("delta > 0 at the start", lambda case: case.delta > 0),
    planted=(
        version(
            "with the increments of Theorem C.1 from any delta > 0",
            cases=positive_starts,
            increments=True,
        ),
        version("in ten loops, from delta > 0", cases=positive_starts, loops=10),
    ),
    not_proved=RUN,
    library=Library(
        ("fwlab.ranking.solve",),
        lambda case: solved_by_pairs(case, patmat=True),
        few_starts_of_patmat,
    ),
)
def alternation_is_enough(case: Case, increments: bool = False, loops: int = 10 * LOOPS) -> Outcome:
    run = ascent(case, patmat=True)
    run.run(np.random.default_rng(case.seed), loops, increments)
    return at_most(run.relative_gap(), SMALL, allowed=0, dual=run.dual(), delta=run.delta)
