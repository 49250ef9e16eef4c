"""M20 Theorem 3.1: the pair steps of TopPushK with the truncated quadratic surrogate."""

import math
from fractions import Fraction

from paper_checks.ledger import Case, Condition, Outcome, claim, version
from paper_checks.macha2020.pair_steps import (
    Step,
    largest_other,
    pair_kernel,
    pair_slope,
    points,
    steps_are_best,
)
from paper_checks.macha2020.problems import (
    rule_pairs,
    signed_scores,
)


@claim(
    "M20-thm3.1-case1",
    "Theorem 3.1",
    "The step of two alphas.",
    formula=r"\Delta\in[-\alpha_k,\alpha_l],\ \gamma=-\frac{s_k-s_l+"
    r"\frac{1}{2C\vartheta^2}(\alpha_k-\alpha_l)}"
    r"{K_{kk}+K_{ll}-K_{kl}-K_{lk}+\frac{1}{C\vartheta^2}}",
    shapes="alpha: (n+,)",
    cases=points,
    planted=(
        version("1/(2 C theta^2) in the denominator", bend=Fraction(1, 2)),
        version("1/(C theta^2) in the numerator", slope=1),
        version("the bounds exchanged", exchanged=True),
    ),
)
def two_alphas(
    case: Case,
    slope: Fraction | int = Fraction(1, 2),
    bend: Fraction | int = 1,
    exchanged: bool = False,
) -> Outcome:
    unit = 1 / (case.C * case.theta**2)

    def printed(case: Case, k: int, other: int) -> Step:
        a = case.alpha
        ends = (-a[other], a[k]) if exchanged else (-a[k], a[other])
        tilt = pair_slope(case, k, other) + slope * unit * (a[k] - a[other])
        return Step(*ends, tilt, pair_kernel(case, k, other) + bend * unit)

    return steps_are_best(case, "two alphas", printed, patmat=False)


@claim(
    "M20-thm3.1-case2",
    "Theorem 3.1",
    "The step of an alpha and a beta.",
    formula=r"\Delta\geq\max\{-\alpha_k,-\beta_l,K\beta_{\max}-\sum\alpha_i\},\ "
    r"\Delta\leq\frac{\sum\alpha_i-K\beta_l}{K-1},\ \gamma=-\frac{s_k+s_l-\frac{1}{\vartheta}"
    r"+\frac{\alpha_k}{2C\vartheta^2}}{K_{kk}+K_{ll}+K_{kl}+K_{lk}+\frac{1}{2C\vartheta^2}}",
    shapes="alpha: (n+,), beta: (n-,)",
    judged="for K = 1 the two bounds with K are left out, as printed",
    cases=points,
    planted=(
        version("1/K in the upper bound", fewer=0),
        version("without the bound by beta_max", with_largest=False),
        version("plus 1/theta", sign=1),
    ),
)
def alpha_and_beta(
    case: Case, fewer: int = 1, with_largest: bool = True, sign: int = -1
) -> Outcome:
    unit, total, K = 1 / (2 * case.C * case.theta**2), sum(case.alpha), case.K

    def printed(case: Case, k: int, other: int) -> Step:
        j = other - len(case.alpha)
        low, high = max(-case.alpha[k], -case.beta[j]), math.inf
        if K > 1:
            high = (total - K * case.beta[j]) / Fraction(K - fewer)
            low = max(low, K * largest_other(case, j) - total) if with_largest else low
        slope = pair_slope(case, k, other) + sign / case.theta + unit * case.alpha[k]
        return Step(low, high, slope, pair_kernel(case, k, other) + unit)

    return steps_are_best(case, "alpha and beta", printed, patmat=False)


def different_negatives(case: Case) -> bool:
    """No two negatives coincide, and no beta is paired with itself: there is but one."""
    pairs = rule_pairs(case, "two betas")
    return all(pair_kernel(case, k, other) > 0 for k, other in pairs if k != other)


@claim(
    "M20-thm3.1-case3",
    "Theorem 3.1",
    "The step of two betas.",
    formula=r"\Delta\geq\max\{-\beta_k,\beta_l-\frac{1}{K}\sum\alpha_i\},\ "
    r"\Delta\leq\min\{\beta_l,\frac{1}{K}\sum\alpha_i-\beta_k\},\ "
    r"\gamma=-\frac{s_k-s_l}{K_{kk}+K_{ll}-K_{kl}-K_{lk}}",
    shapes="beta: (n-,)",
    judged="k = l, which changes nothing, is left aside",
    cases=points,
    condition=Condition("no two negative samples coincide", different_negatives),
    corrected=version("with the step 0 where the quotient is 0/0", undefined=Fraction(0)),
    planted=(
        version("with the sum of the scores", plus=True, undefined=Fraction(0)),
        version("without the bounds by K", with_K=False, undefined=Fraction(0)),
    ),
)
def two_betas(
    case: Case, undefined: Fraction | None = None, plus: bool = False, with_K: bool = True
) -> Outcome:
    cap = sum(case.alpha) / Fraction(case.K)

    def printed(case: Case, k: int, other: int) -> Step:
        if k == other:
            return Step(0, 0, Fraction(1), Fraction(1))
        i, j = k - len(case.alpha), other - len(case.alpha)
        low, high = -case.beta[i], case.beta[j]
        if case.K > 1 and with_K:
            low, high = max(low, case.beta[j] - cap), min(high, cap - case.beta[i])
        slope = pair_slope(case, k, other)
        slope = slope + 2 * signed_scores(case)[other] if plus else slope
        return Step(low, high, slope, pair_kernel(case, k, other))

    return steps_are_best(case, "two betas", printed, patmat=False, undefined=undefined)
