"""Check where the pair steps of M20 Algorithm 3.1 stall, for Pat&Mat with the hinge surrogate."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate

import numpy as np

from paper_checks.cases import Rng, changed
from paper_checks.ledger import Case, Condition, Erratum, Outcome, claim, version
from paper_checks.macha2020.duality import primal_optimum
from paper_checks.macha2020.joint import best_jointly, least_delta, with_best_delta
from paper_checks.macha2020.problems import (
    RULES,
    Number,
    moved,
    primal,
    random_problem,
    rule_pairs,
    weights,
)
from paper_checks.macha2020.stalls import RUN, SMALL
from paper_checks.outcomes import at_most, true, truth


def equal_negatives(rng: Rng) -> Iterator[Case]:
    """Yield a positive at 1 and two or three equal negatives at 0, at the point 0."""
    for negatives in (2, 3):
        zeros = np.zeros(negatives, object) + Fraction(0)
        case = random_problem(rng, "hinge")
        yield changed(
            case,
            kind="equal negatives",
            positives=np.array([[Fraction(1)]], object),
            negatives=zeros[:, None],
            C=Fraction(3),
            theta=Fraction(1),
            theta2=Fraction(1),
            K=1,
            alpha=zeros[:1],
            beta=zeros,
            budget=Fraction(negatives + 1, 2),
            delta=Fraction(0),
            seed=negatives,
        )


def hinge_starts(rng: Rng, deep: bool) -> Iterator[Case]:
    yield from equal_negatives(rng)
    for _ in range(12 if deep else 3):
        case = random_problem(rng, "hinge", most_negatives=3)
        yield changed(case, kind="random", delta=least_delta(case), seed=int(rng.integers(10**6)))


def one_negative(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield random problems with one negative sample."""
    for _ in range(24 if deep else 8):
        case = random_problem(rng, "hinge", most_negatives=1)
        yield changed(case, kind="random", delta=least_delta(case), seed=int(rng.integers(10**6)))


def ascend_exactly(case: Case, loops: int) -> Case:
    """Run Algorithm 3.1 on (34) in fractions.

    Every step is the exact joint maximum over Delta and delta. Long fractions are truncated to 20
    bits.
    """
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
    judged="An optimum counts as missed if the value is below a feasible primal value by "
    "more than one part in ten thousand. The steps are exact joint steps, which are "
    "better than the printed ones. Where several betas "
    "share the largest value, delta falls only if all of them fall, and a pair moves one.",
    cases=hinge_starts,
    sides=("primal value less its ten-thousandth", "value after the steps"),
    corrected=version("with one negative sample, where no betas tie", cases=one_negative),
    planted=(version("in one loop, with one negative sample", cases=one_negative, loops=1),),
    not_proved=RUN + " M20-hinge-pair-stationary gives the point at which it stops, in fractions.",
    erratum=Erratum(
        page="Section 3.3, Algorithm 3.1, with Theorem D.2",
        printed=r"\mathrm{update\ two\ coordinates\ and}\ \delta",
        correct=r"\mathrm{several}\ \beta_j=\delta\vartheta_2\ \mathrm{have\ to\ move\ together}",
        proof=r"Take $x^+=1$, $x_1^-=x_2^-=0$, $C=3$, $\vartheta_1=\vartheta_2=1$, "
        r"$n\tau=\frac{3}{2}$ and $\alpha=1$, $\beta=(\frac{1}{2},\frac{1}{2})$, "
        r"$\delta=\frac{1}{2}$. With the best $\delta$ the dual (34) is "
        r"$-\frac{\alpha^2}{2}+2\alpha-\frac{3}{2}\max\beta_j$; here it is $\frac{3}{4}$. After "
        r"every pair step one $\beta_j$ is still at least $\frac{1}{2}$, so that $\delta$ cannot "
        r"fall and no step improves the value. At $\alpha=\frac{5}{4}$, "
        r"$\beta=(\frac{5}{8},\frac{5}{8})$ it is $\frac{25}{32}$.",
        breaks="Algorithm 3.1 for Pat&Mat with the hinge rests at points that are not optimal.",
    ),
)
def solves_the_hinge_dual(case: Case, loops: int = 150) -> Outcome:
    after = ascend_exactly(case, loops)
    value, most = float(with_best_delta(after)), float(primal_optimum(case, patmat=True))
    reached = most - SMALL * max(1.0, abs(most))
    return at_most(reached, value, alpha=after.alpha, beta=after.beta)


# ---------------------------------------------------------------- the point where it rests


def tied_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield alpha = 1 shared by m equal betas, with equal negatives."""
    for case in equal_negatives(rng):
        m, one = len(case.beta), Fraction(1)
        beta = np.array([one / m] * m, object)
        yield changed(case, alpha=np.array([one], object), beta=beta, delta=one / m)


def points_of_one_negative(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield points with one positive and one negative: an arbitrary point and the best one."""
    for case in one_negative(rng, deep):
        if len(case.alpha) == 1:
            yield case
            best = moved(case, 0, 1, best_jointly(case, 0, 1)[0])
            yield changed(best, delta=least_delta(best))
    case = next(iter(equal_negatives(rng)))
    one = np.array([Fraction(1)], object)
    yield changed(case, negatives=case.negatives[:1], alpha=one, beta=one, delta=Fraction(1))


def tied_and_single_points(rng: Rng, deep: bool) -> Iterator[Case]:
    yield from tied_points(rng, deep)
    yield from points_of_one_negative(rng, deep)


def least_threshold(case: Case, scores: np.ndarray) -> Fraction:
    """Return the least t of (10), hinge surrogate.

    The sum of (10) is the largest of k + theta_2 (the sum of the k largest scores - k t) over k.
    """
    sums = accumulate(sorted(scores, reverse=True))
    return max(
        (k + case.theta2 * total - case.budget) / (case.theta2 * k)
        for k, total in enumerate(sums, start=1)
    )


def gap(case: Case) -> Number:
    """Return the duality gap of a point of (34) with the best delta, in fractions."""
    w = weights(case)
    t = least_threshold(case, case.negatives @ w)
    return primal(case, w, t) - with_best_delta(case)


@claim(
    "M20-hinge-pair-stationary",
    "3, Theorem D.2",
    "A feasible point of (34) that no pair step with the best delta improves is optimal.",
    formula=r"\alpha=1,\ \beta=(1/2,1/2),\ \delta=1/2,\ n\tau=3/2",
    shapes="alpha: (1,), beta: (m,), m equal negatives",
    judged="not a sentence of the paper, but Algorithm 3.1 needs it to solve (34), as "
    "section 3 says. Optimal means that the duality gap is exactly 0; the better "
    "point is a multiple of (alpha, "
    "beta, delta).",
    cases=tied_and_single_points,
    condition=Condition("there is one negative sample", lambda case: len(case.beta) == 1),
    planted=(
        version(
            "if no step of two alphas improves it, with one negative sample",
            cases=points_of_one_negative,
            rules=RULES[:1],
        ),
    ),
    not_proved="It fails at a rational point, which proves that it is false.",
)
def hinge_stationary_is_optimal(case: Case, rules: tuple[str, ...] = RULES) -> Outcome:
    """Check optimality by the duality gap.

    It is compared with the best of some points on the ray through the point.
    """
    here = with_best_delta(case)
    pairs = [pair for rule in rules for pair in rule_pairs(case, rule) if pair[0] != pair[1]]
    if any(best_jointly(case, *pair)[1] > here for pair in pairs):
        return true()
    factors = [Fraction(i, 4) for i in range(9)]
    values = [
        with_best_delta(changed(case, alpha=f * case.alpha, beta=f * case.beta)) for f in factors
    ]
    better = factors[values.index(max(values))]
    return truth(gap(case) == 0, value=here, value_of_multiple=max(values), multiple=better)
