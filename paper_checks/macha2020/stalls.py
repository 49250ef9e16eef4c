"""M20 Algorithm 3.1: whether pairwise coordinate ascent reaches the optimum, and where it stalls.

A point that no pair step improves is judged by an optimal value from elsewhere.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from paper_checks.cases import Rng, changed
from paper_checks.ledger import Case, Condition, Outcome, claim, version
from paper_checks.macha2020.ascent import ascent
from paper_checks.macha2020.duality import dual_optimum
from paper_checks.macha2020.problems import (
    RULES,
    moved,
    patmat_dual,
    random_problem,
    rule_pairs,
    toppushk_dual,
)
from paper_checks.macha2020.steps_hinge import best_jointly, least_delta, with_best_delta
from paper_checks.outcomes import at_most, equal, truth

SMALL = 1e-4  # a certified relative gap, or an error of a value, below this counts as none
TINY = Fraction(1, 2**40)  # a dual is concave: if no step this small improves it, none does
LOOPS = 4000

KINDS = ("quadratic", "hinge")


def dual_value(case: Case) -> Fraction | float:
    """Of Pat&Mat with the hinge at the best delta; with the other surrogate delta is fixed, as the
    text does not optimise it jointly."""
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


# ---------------------------------------------------------------- starts


def at_zero(rng: Rng, deep: bool) -> Iterator[Case]:
    """The point 0 of every objective."""
    for surrogate in KINDS:
        for patmat in (False, True):
            for _ in range(40 if deep else 12):
                case = random_problem(rng, surrogate)
                case.kind = "Pat&Mat" if patmat else ("TopPush" if case.K == 1 else "TopPushK")
                zero = 0 * case.alpha, 0 * case.beta
                yield changed(case, alpha=zero[0], beta=zero[1], delta=Fraction(0), patmat=patmat)


def not_best(case: Case) -> bool:
    """The optimal value is above that of the case."""
    return dual_optimum(case, case.patmat) > float(dual_value(case)) + SMALL


@claim(
    "M20-zero-start",
    "Algorithm 3.1, step 1",
    "Any feasible start will do: at (alpha, beta, delta) = 0 some pair step improves the dual, "
    "unless 0 is optimal.",
    shapes="alpha: (n+,), beta: (n-,)",
    judged="Algorithm 3.1 asks of its start that it is feasible, and 0 is.",
    cases=at_zero,
    condition=Condition("the objective is TopPush (K = 1)", lambda case: case.kind == "TopPush"),
    planted=(version("no pair step improves the dual at 0", expected=False),),
)
def zero_will_do(case: Case, expected: bool = True) -> Outcome:
    return truth(some_pair_improves(case) == expected or not not_best(case))


# ---------------------------------------------------------------- TopPushK


def starts(rng: Rng, deep: bool) -> Iterator[Case]:
    """Random problems with random starts, and the smallest stall: K = 2 = n-, where every feasible
    beta has both entries at their bound."""
    zero, one = np.array([[Fraction(0)]], object), np.array([[Fraction(1)]], object)
    half = Fraction(1, 2)
    yield Case(
        kind="K > 1",
        surrogate="quadratic",
        positives=one,
        negatives=np.vstack([zero, zero]),
        C=Fraction(1),
        theta=Fraction(1),
        theta2=Fraction(1),
        K=2,
        budget=Fraction(1),
        alpha=np.array([half], object),
        beta=np.array([half / 2] * 2, object),
        patmat=False,
        seed=0,
    )
    for surrogate in KINDS:
        for _ in range(100 if deep else 25):
            case = random_problem(rng, surrogate)
            case.kind = "K = 1" if case.K == 1 else "K > 1"
            yield changed(case, seed=int(rng.integers(10**6)), patmat=False)


@claim(
    "M20-pair-stationary",
    "3, Algorithm 3.1",
    "A feasible point of (7) that no pair step improves is optimal.",
    shapes="alpha: (n+,), beta: (n-,)",
    judged="exactly, at points of (7) where K = n-, at random points, and at 0",
    cases=lambda rng, deep: (
        changed(case, alpha=factor * case.alpha, beta=factor * case.beta)
        for case in starts(rng, deep)
        for factor in (0, 1)
    ),
    condition=Condition("K = 1", lambda case: case.K == 1),
    planted=(version("a point is optimal if some pair step improves it", reverse=True),),
)
def stationary_is_optimal(case: Case, reverse: bool = False) -> Outcome:
    if some_pair_improves(case) != reverse:
        return truth(True)
    return truth(not not_best(case), dual=dual_value(case), optimum=dual_optimum(case, False))


@claim(
    "M20-alg-toppushk",
    "Algorithm 3.1, Figure 3",
    "Pairwise coordinate ascent solves the dual (7) of TopPushK to optimality, for every K.",
    shapes="alpha: (n+,), beta: (n-,)",
    judged="From any feasible start, by the certified gap after the steps give out. For K > 1 a "
    "beta at its bound cannot follow the sum of alpha alone.",
    cases=starts,
    condition=Condition("K = 1", lambda case: case.K == 1),
    planted=(version("it gains nothing", loops=0),),
)
def reaches_the_optimum(case: Case, loops: int = LOOPS) -> Outcome:
    run = ascent(case, patmat=False)
    if loops:
        run.run(np.random.default_rng(case.seed), loops)
    return at_most(run.relative_gap(), SMALL, allowed=0, dual=run.dual(), z=run.z)


# ---------------------------------------------------------------- Pat&Mat, quadratic surrogate


def patmat_starts(rng: Rng, deep: bool) -> Iterator[Case]:
    """delta > 0, also with alpha = beta = 0, and the point 0."""
    for number in range(200 if deep else 50):
        case = random_problem(rng, "quadratic")
        case.kind, case.delta = "delta > 0", Fraction(int(rng.integers(1, 7)), 3)
        if number % 3 == 0:
            case.alpha, case.beta = 0 * case.alpha, 0 * case.beta
        if number % 6 == 0:
            case.kind, case.delta = "delta = 0", Fraction(0)
        yield changed(case, seed=int(rng.integers(10**6)))


@claim(
    "M20-C1-alternation",
    "C.2",
    "With the quadratic surrogate it is enough to optimise a pair at fixed delta and delta after "
    "it: the ascent reaches the optimum of (30).",
    formula=r"\Delta^*=\arg\max_\Delta D(\ldots,\delta),\quad \delta^*=\arg\max_\delta D(\ldots)",
    shapes="alpha: (n+,), beta: (n-,)",
    judged="From any feasible start, delta by (32) after each pair. For delta > 0 the dual "
    "is differentiable and the constraints on delta stand apart from the others, so that a point "
    "that neither part improves is optimal.",
    cases=patmat_starts,
    condition=Condition("delta > 0 at the start", lambda case: case.delta > 0),
    planted=(
        version("with the increments of Theorem C.1 from any delta", increments=True),
        version("in ten loops", loops=10),
    ),
)
def alternation_is_enough(case: Case, increments: bool = False, loops: int = 10 * LOOPS) -> Outcome:
    run = ascent(case, patmat=True)
    run.run(np.random.default_rng(case.seed), loops, increments)
    return at_most(run.relative_gap(), SMALL, allowed=0, dual=run.dual(), delta=run.delta)


# ---------------------------------------------------------------- Pat&Mat, hinge


def hinge_starts(rng: Rng, deep: bool) -> Iterator[Case]:
    """A positive at 1, equal negatives at 0; and random problems on a line."""
    for negatives in (2, 3):
        case = random_problem(rng, "hinge")
        case.positives = np.array([[Fraction(1)]], object)
        case.negatives = np.zeros((negatives, 1), object) + Fraction(0)
        case.C, case.theta, case.theta2, case.K = Fraction(3), Fraction(1), Fraction(1), 1
        case.alpha = np.array([Fraction(0)], object)
        case.beta = np.zeros(negatives, object) + Fraction(0)
        case.kind, case.budget = "equal negatives", Fraction(negatives + 1, 2)
        yield changed(case, delta=Fraction(0), seed=negatives)
    for _ in range(12 if deep else 3):
        case = random_problem(rng, "hinge", most_negatives=3)
        yield changed(case, kind="random", delta=least_delta(case), seed=int(rng.integers(10**6)))


def ascend_exactly(case: Case, loops: int) -> Case:
    """Algorithm 3.1 on (34) in fractions, every step the exact joint maximum over Delta and delta,
    long fractions cut after 20 bits."""
    rng, size = np.random.default_rng(case.seed), len(case.alpha) + len(case.beta)
    pairs = [pair for rule in RULES for pair in rule_pairs(case, rule) if pair[0] != pair[1]]
    for _ in range(loops):
        k = int(rng.integers(size))
        tried = [(best_jointly(case, *pair), pair) for pair in pairs if k in pair]
        (step, value), pair = max(tried, key=lambda found: found[0][1])
        if step.denominator > 2**20:
            step = Fraction(int(step * 2**20), 2**20)
        if value > with_best_delta(case):
            case = moved(case, *pair, step)
            case.delta = least_delta(case)
    return case


@claim(
    "M20-alg-patmat-hinge",
    "Algorithm 3.1, Theorem D.2",
    "Pairwise coordinate ascent with the best joint delta solves the dual (34) of Pat&Mat with the "
    "hinge surrogate.",
    shapes="alpha: (n+,), beta: (n-,)",
    judged="With exact joint steps, better than the ones printed. Where several betas share the "
    "largest value, delta falls only if all of them fall, and a pair moves one.",
    cases=hinge_starts,
    planted=(version("in one loop", loops=1),),
)
def solves_the_hinge_dual(case: Case, loops: int = 40) -> Outcome:
    after = ascend_exactly(case, loops)
    value, best = with_best_delta(after), dual_optimum(case, patmat=True)
    return equal(float(value), best, allowed=SMALL, alpha=after.alpha, beta=after.beta)


def tied_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """alpha = 1 shared by m equal betas, with the data of hinge_starts."""
    for case in hinge_starts(rng, deep):
        if case.kind == "equal negatives":
            m, one = len(case.beta), Fraction(1)
            beta = np.array([one / m] * m, object)
            yield changed(case, alpha=np.array([one], object), beta=beta, delta=one / m)


@claim(
    "M20-hinge-pair-stationary",
    "3, Theorem D.2",
    "A feasible point of (34) that no pair step with the best delta improves is optimal.",
    formula=r"\alpha=1,\ \beta=(1/2,1/2),\ \delta=1/2,\ n\tau=3/2",
    shapes="alpha: (1,), beta: (m,), m equal negatives",
    judged="exactly; the better point is a multiple of (alpha, beta, delta)",
    cases=tied_points,
    planted=(version("if no step of two alphas improves it", rules=RULES[:1]),),
)
def hinge_stationary_is_optimal(case: Case, rules: tuple[str, ...] = RULES) -> Outcome:
    """Against the best of some points on the ray through the point, which are feasible."""
    here = with_best_delta(case)
    pairs = [pair for rule in rules for pair in rule_pairs(case, rule) if pair[0] != pair[1]]
    if any(best_jointly(case, *pair)[1] > here for pair in pairs):
        return truth(True)
    factors = [Fraction(i, 16) for i in range(33)]
    values = [
        with_best_delta(changed(case, alpha=f * case.alpha, beta=f * case.beta)) for f in factors
    ]
    return at_most(max(values), here, factor=factors[values.index(max(values))])
