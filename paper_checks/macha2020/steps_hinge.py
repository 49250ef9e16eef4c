"""M20 Theorems D.1 and D.2: the pair steps with the hinge surrogate."""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from paper_checks.cases import Rng, changed
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.macha2020.pair_steps import (
    Step,
    largest_other,
    pair_kernel,
    pair_slope,
    points,
    steps_are_best,
)
from paper_checks.macha2020.problems import (
    Number,
    bounds_patmat,
    crossings,
    greatest,
    moved,
    patmat_dual,
    reach,
    rule_pairs,
)
from paper_checks.outcomes import both, equal, true, truth

Ends = Callable[..., Any]  # min or max
hinge_points = partial(points, kind="hinge")
ZERO = Fraction(0)
NO_STEP = Step(0, 0, Fraction(1), Fraction(1))
QUOTIENT = "A quotient 0/0 is read as 0; k = l, which changes nothing, is left aside."


# ---------------------------------------------------------------- Theorem D.1


def step_of_two_alphas(low: Ends, high: Ends, case: Case, k: int, other: int) -> Step:
    if k == other:
        return NO_STEP
    a, b, top = case.alpha[k], case.alpha[other], case.C * case.theta
    slope, bend = pair_slope(case, k, other), pair_kernel(case, k, other)
    return Step(low(-a, b - top), high(top - a, b), slope, bend)


@claim(
    "M20-thmD1-case1",
    "Theorem D.1",
    "The step of two alphas, hinge TopPushK.",
    formula=r"\Delta\geq\min\{-\alpha_k,\alpha_l-C\vartheta\},\ "
    r"\Delta\leq\max\{C\vartheta-\alpha_k,\alpha_l\},\ "
    r"\gamma=-\frac{s_k-s_l}{K_{kk}+K_{ll}-K_{kl}-K_{lk}}",
    shapes="alpha: (n+,)",
    judged=QUOTIENT,
    cases=hinge_points,
    derived=version("max and min exchanged, as (33c) and Theorem 3.1 have it", low=max, high=min),
    planted=(
        version("the upper bound alone corrected", high=min),
        version("the lower bound alone corrected", low=max),
    ),
)
def two_alphas(case: Case, low: Ends = min, high: Ends = max) -> Outcome:
    printed = partial(step_of_two_alphas, low, high)
    return steps_are_best(case, "two alphas", printed, patmat=False, undefined=ZERO)


@claim(
    "M20-thmD1-case2",
    "Theorem D.1",
    "The step of an alpha and a beta, hinge TopPushK.",
    formula=r"\Delta\geq\min\{-\alpha_k,-\beta_l,K\beta_{\max}-\sum\alpha_i\},\ \Delta\leq"
    r"\max\{C\vartheta-\alpha_k,\frac{\sum\alpha_i-K\beta_l}{K-1}\},\ "
    r"\gamma=-\frac{s_k+s_l-\frac{1}{\vartheta}}{K_{kk}+K_{ll}+K_{kl}+K_{lk}}",
    shapes="alpha: (n+,), beta: (n-,)",
    judged="for K = 1 the two bounds with K are left out, as printed; a quotient by 0 is infinite",
    cases=hinge_points,
    derived=version("max and min exchanged, as (33) and Theorem 3.1 have it", low=max, high=min),
    planted=(
        version("the upper bound alone corrected", high=min),
        version("the lower bound alone corrected", low=max),
        version("2/theta, the bounds corrected", low=max, high=min, gain=2),
    ),
)
def alpha_and_beta(case: Case, low: Ends = min, high: Ends = max, gain: int = 1) -> Outcome:
    total, K = sum(case.alpha), case.K

    def printed(case: Case, k: int, other: int) -> Step:
        j, a = other - len(case.alpha), case.alpha[k]
        b, room = case.beta[j], case.C * case.theta - a
        lows, highs = [-a, -b], [room]
        if K > 1:
            lows.append(K * largest_other(case, j) - total)
            highs.append((total - K * b) / Fraction(K - 1))
        slope = pair_slope(case, k, other) - gain / case.theta
        return Step(low(lows), high(highs), slope, pair_kernel(case, k, other))

    return steps_are_best(case, "alpha and beta", printed, patmat=False, undefined=ZERO)


@claim(
    "M20-thmD1-case3",
    "Theorem D.1",
    "The step of two betas, hinge TopPushK.",
    formula=r"\Delta\geq\min\{-\beta_k,\beta_l-\frac{1}{K}\sum\alpha_i\},\ "
    r"\Delta\leq\max\{\frac{1}{K}\sum\alpha_i-\beta_k,\beta_l\},\ "
    r"\gamma=-\frac{s_k-s_l}{K_{kk}+K_{ll}-K_{kl}-K_{lk}}",
    shapes="beta: (n-,)",
    judged=QUOTIENT,
    cases=hinge_points,
    derived=version("max and min exchanged, as (33d) and Theorem 3.1 have it", low=max, high=min),
    planted=(
        version("the upper bound alone corrected", high=min),
        version("the lower bound alone corrected", low=max),
    ),
)
def two_betas(case: Case, low: Ends = min, high: Ends = max) -> Outcome:
    cap = sum(case.alpha) / Fraction(case.K)

    def printed(case: Case, k: int, other: int) -> Step:
        if k == other:
            return NO_STEP
        b, c = (case.beta[i - len(case.alpha)] for i in (k, other))
        slope, bend = pair_slope(case, k, other), pair_kernel(case, k, other)
        if case.K == 1:
            return Step(-b, c, slope, bend)
        return Step(low(-b, c - cap), high(cap - b, c), slope, bend)

    return steps_are_best(case, "two betas", printed, patmat=False, undefined=ZERO)


# ---------------------------------------------------------------- Theorem D.2


def patmat_hinge_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Feasible points of (34) with the best delta for their beta; K plays no part."""
    for case in hinge_points(rng, deep):
        case.delta = least_delta(case)
        yield case


def least_delta(case: Case) -> Fraction:
    """The best delta: the least that (34d) allows, as delta costs n tau each."""
    return max(case.beta) / case.theta2


def with_best_delta(case: Case) -> Number:
    """(34) at the best delta."""
    return patmat_dual(changed(case, delta=least_delta(case)))


def best_jointly(case: Case, k: int, other: int) -> tuple[Fraction, Number]:
    """(Delta, value): the largest value of (34) along a pair and over delta; kinks are where two
    betas cross."""
    ends = reach(lambda t: bounds_patmat(moved(case, k, other, t)))
    kinks = crossings(lambda t: moved(case, k, other, t).beta)
    return greatest(lambda t: with_best_delta(moved(case, k, other, t)), *ends, kinks)


# Delta, the delta that goes with it, and whether the possibility's own condition is met
Possibility = tuple[Fraction, Fraction, bool]


def listed_possibilities_are_best(
    case: Case, rule: str, listed: Callable[[Case, int, int], Iterable[Possibility]]
) -> Outcome:
    """The best of the possibilities whose condition is met, against the best of all."""
    outcomes = []
    for k, other in rule_pairs(case, rule):
        if k == other:
            continue
        met = [(step, delta) for step, delta, meets in listed(case, k, other) if meets]
        if not met:
            return truth(False, k=k, l=other, seen="no possibility's condition is met")
        values = [patmat_dual(changed(moved(case, k, other, t), delta=delta)) for t, delta in met]
        outcomes.append(equal(max(values), best_jointly(case, k, other)[1], k=k, l=other))
    return both(true(), *outcomes)  # true: there may be no pair of different coordinates


@claim(
    "M20-thmD2-case1",
    "Theorem D.2",
    "The step of two alphas, hinge Pat&Mat, and the delta after it.",
    formula=r"\Delta\geq\min\{-\alpha_k,\alpha_l-C\vartheta_1\},\ "
    r"\Delta\leq\max\{C\vartheta_1-\alpha_k,\alpha_l\},\ \delta^*=\delta",
    shapes="alpha: (n+,)",
    judged=QUOTIENT + " delta is the best for beta before the step.",
    cases=patmat_hinge_points,
    derived=version("max and min exchanged, as (34c) has it", low=max, high=min),
    planted=(
        version("the upper bound alone corrected", high=min),
        version("delta doubled, the bounds corrected", low=max, high=min, factor=2),
    ),
)
def patmat_two_alphas(case: Case, low: Ends = min, high: Ends = max, factor: int = 1) -> Outcome:
    def listed(case: Case, k: int, other: int) -> list[Possibility]:
        length = step_of_two_alphas(low, high, case, k, other).length
        return [(ZERO if length is None else length, factor * case.delta, True)]

    return listed_possibilities_are_best(case, "two alphas", listed)


def clipped(low: Fraction, high: Fraction, slope: Fraction, bend: Fraction) -> Fraction:
    length = Step(low, high, slope, bend).length
    return ZERO if length is None else length


@claim(
    "M20-thmD2-case2",
    "Theorem D.2",
    "The best step of an alpha and a beta with the best delta is one of two possibilities: beta_l "
    "stays below the largest other beta, or it is not below it.",
    formula=r"\gamma_1=-\frac{s_k+s_l-\frac{1}{\vartheta_1}-\frac{1}{\vartheta_2}}{\ldots}\ "
    r"\mathrm{if}\ \beta_l+\Delta\leq\beta_{\max},\quad \gamma_2=-\frac{s_k+s_l"
    r"-\frac{1}{\vartheta_1}-\frac{1-n\tau}{\vartheta_2}}{\ldots}\ "
    r"\mathrm{if}\ \beta_l+\Delta\geq\beta_{\max}",
    shapes="alpha: (n+,), beta: (n-,)",
    judged="As printed, with the clip bounds max(-alpha_k, -beta_l) and C theta_1 - alpha_k; "
    "beta_max is 0 if there is no other beta.",
    cases=patmat_hinge_points,
    corrected=version(
        "with a third possibility: the Delta with beta_l + Delta = beta_max", kink=True
    ),
    planted=(
        version("n tau left out of the second", kink=True, budget=0),
        version("the second possibility left out", kink=True, second=False),
    ),
)
def patmat_alpha_and_beta(
    case: Case, kink: bool = False, budget: int = 1, second: bool = True
) -> Outcome:
    def listed(case: Case, k: int, other: int) -> Iterator[Possibility]:
        a, j = case.alpha[k], other - len(case.alpha)
        b, most = case.beta[j], largest_other(case, j)
        low, high = max(-a, -b), case.C * case.theta - a
        slope, bend = pair_slope(case, k, other) - 1 / case.theta, pair_kernel(case, k, other)
        step = clipped(low, high, slope - 1 / case.theta2, bend)
        yield step, most / case.theta2, b + step <= most
        if second:
            rest = (1 - budget * case.budget) / case.theta2
            step = clipped(low, high, slope - rest, bend)
            yield step, (b + step) / case.theta2, b + step >= most
        if kink:
            yield most - b, most / case.theta2, low <= most - b <= high

    return listed_possibilities_are_best(case, "alpha and beta", listed)


@claim(
    "M20-thmD2-case3",
    "Theorem D.2",
    "The best step of two betas with the best delta is one of three possibilities: the largest "
    "beta is another one, the k-th or the l-th.",
    formula=r"\gamma=-\frac{s_k-s_l+c}{K_{kk}+K_{ll}-K_{kl}-K_{lk}},\ (c,\delta^*)="
    r"(0,\frac{\beta_{\max}}{\vartheta_2}),\ (\frac{n\tau}{\vartheta_2},"
    r"\frac{\beta_k+\Delta}{\vartheta_2}),\ (-\frac{n\tau}{\vartheta_2},"
    r"\frac{\beta_k-\Delta}{\vartheta_2})",
    shapes="beta: (n-,)",
    judged="beta_max is the largest beta but for the k-th and the l-th, 0 if there is none. "
    + QUOTIENT,
    cases=patmat_hinge_points,
    corrected=version(
        "with beta_l - Delta in the third delta, and the three Delta at which two of "
        "beta_max, beta_k + Delta, beta_l - Delta are equal as further possibilities",
        kinks=True,
        right_delta=True,
    ),
    planted=(
        version("the third delta corrected, without further possibilities", right_delta=True),
        version("further possibilities, the third delta as printed", kinks=True),
        version("n tau of the wrong sign", kinks=True, right_delta=True, sign=-1),
    ),
)
def patmat_two_betas(
    case: Case, kinks: bool = False, right_delta: bool = False, sign: int = 1
) -> Outcome:
    def listed(case: Case, k: int, other: int) -> Iterator[Possibility]:
        i, j = k - len(case.alpha), other - len(case.alpha)
        b, c, most = case.beta[i], case.beta[j], largest_other(case, i, j)
        slope, bend = pair_slope(case, k, other), pair_kernel(case, k, other)
        price = sign * case.budget / case.theta2
        first, second, third = (clipped(-b, c, slope + p, bend) for p in (0, price, -price))
        yield first, most / case.theta2, most >= max(b + first, c - first)
        yield second, (b + second) / case.theta2, b + second >= max(most, c - second)
        delta = ((c if right_delta else b) - third) / case.theta2
        yield third, delta, c - third >= max(most, b + third)
        for step in (most - b, c - most, (c - b) / 2) if kinks else ():
            yield step, max(most, b + step, c - step) / case.theta2, -b <= step <= c

    return listed_possibilities_are_best(case, "two betas", listed)
