"""Check M20 Theorem 3.1: the pair steps of TopPushK with the truncated quadratic surrogate."""

from fractions import Fraction
from functools import partial

from paper_checks.arithmetic import Real, divide
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.macha2020.in_fwlab import library_of_pairs
from paper_checks.macha2020.pairs import Printed, Step, by_pairs, points, steps_are_best

HALF = Fraction(1, 2)
ALONE = "The case k = l, which changes nothing, is skipped."
CHARITY = "0/0 is read as 0; it occurs where two samples coincide. " + ALONE
PAIR = "scores: s_k - s_l; curvature: K_kk + K_ll - K_kl - K_lk"
MIXED_PAIR = "scores: s_k + s_l; curvature: K_kk + K_ll + K_kl + K_lk"
SIDES = ("as printed", "by definition")


@claim(
    "M20-thm3.1-case1",
    "Theorem 3.1",
    "The step of two alphas.",
    formula=r"\Delta\in[-\alpha_k,\alpha_l],\ \gamma=-\frac{s_k-s_l+"
    r"\frac{1}{2C\vartheta^2}(\alpha_k-\alpha_l)}"
    r"{K_{kk}+K_{ll}-K_{kl}-K_{lk}+\frac{1}{C\vartheta^2}}",
    shapes="alpha: (n+,); " + PAIR,
    judged=ALONE,
    cases=points,
    sides=SIDES,
    planted=(
        version("1/(2 C theta^2) in the denominator", bend=HALF),
        version("1/(C theta^2) in the numerator", slope=1),
        version("the bounds exchanged", exchanged=True),
    ),
    proofs=(
        by_pairs(
            "two alphas",
            "quadratic",
            "A factor that is right only for C theta^2 = 1, and a bound that is rarely active.",
        ),
    ),
    library=library_of_pairs("quadratic"),
)
def two_alphas(case: Case, slope: Real = HALF, bend: Real = 1, exchanged: bool = False) -> Outcome:
    printed = partial(step_of_two_alphas, slope=slope, bend=bend, exchanged=exchanged)
    return steps_are_best(case, "two alphas", printed)


def step_of_two_alphas(
    pair: Case, slope: Real = HALF, bend: Real = 1, exchanged: bool = False
) -> Step:
    a, b, unit = pair.alpha_k, pair.alpha_l, divide(1, pair.C * pair.theta**2)
    low, high = (-b, a) if exchanged else (-a, b)
    tilt = pair.scores + slope * unit * (a - b)
    return Step([low], [high], tilt, pair.curvature + bend * unit)


@claim(
    "M20-thm3.1-case2",
    "Theorem 3.1",
    "The step of an alpha and a beta.",
    formula=r"\Delta\geq\max\{-\alpha_k,-\beta_l,K\beta_{\max}-\sum\alpha_i\},\ "
    r"\Delta\leq\frac{\sum\alpha_i-K\beta_l}{K-1},\ \gamma=-\frac{s_k+s_l-\frac{1}{\vartheta}"
    r"+\frac{\alpha_k}{2C\vartheta^2}}{K_{kk}+K_{ll}+K_{kl}+K_{lk}+\frac{1}{2C\vartheta^2}}",
    shapes="alpha: (n+,), beta: (n-,); " + MIXED_PAIR,
    judged="for K = 1 the two bounds with K are left out, as printed",
    cases=points,
    sides=SIDES,
    planted=(
        version("1/K in the upper bound", fewer=0),
        version("without the bound by beta_max", with_largest=False),
        version("plus 1/theta", sign=1),
    ),
    proofs=(
        by_pairs(
            "alpha and beta",
            "quadratic",
            "A bound with K that is rarely active at random points, as beta_l and "
            "sum(alpha) both change.",
        ),
    ),
    library=library_of_pairs("quadratic"),
)
def alpha_and_beta(
    case: Case, fewer: int = 1, with_largest: bool = True, sign: int = -1
) -> Outcome:
    printed = partial(step_of_alpha_and_beta, fewer=fewer, with_largest=with_largest, sign=sign)
    return steps_are_best(case, "alpha and beta", printed)


def step_of_alpha_and_beta(
    pair: Case, fewer: int = 1, with_largest: bool = True, sign: int = -1
) -> Step:
    a, b, K = pair.alpha_k, pair.beta_l, pair.K
    unit = divide(1, 2 * pair.C * pair.theta**2)
    lows, highs = [-a, -b], []
    if K > 1:
        highs.append(divide(pair.sum_alpha - K * b, K - fewer))
        lows += [K * pair.beta_max - pair.sum_alpha] if with_largest else []
    slope = pair.scores + sign * divide(1, pair.theta) + unit * a
    return Step(lows, highs, slope, pair.curvature + unit)


def bounds_of_two_betas(pair: Case, with_K: bool = True) -> tuple[list[Real], list[Real]]:
    """Return the numbers from which Theorem 3.1 forms the two bounds of a step of two betas."""
    b, c = pair.beta_k, pair.beta_l
    if pair.K == 1 or not with_K:
        return [-b], [c]
    cap = divide(pair.sum_alpha, pair.K)
    return [-b, c - cap], [c, cap - b]


@claim(
    "M20-thm3.1-case3",
    "Theorem 3.1",
    "The step of two betas.",
    formula=r"\Delta\geq\max\{-\beta_k,\beta_l-\frac{1}{K}\sum\alpha_i\},\ "
    r"\Delta\leq\min\{\beta_l,\frac{1}{K}\sum\alpha_i-\beta_k\},\ "
    r"\gamma=-\frac{s_k-s_l}{K_{kk}+K_{ll}-K_{kl}-K_{lk}}",
    shapes="beta: (n-,); " + PAIR,
    judged=CHARITY,
    cases=points,
    sides=SIDES,
    planted=(
        version("with s_l - s_k", sign=-1),
        version("without the bounds by K", with_K=False),
    ),
    proofs=(
        by_pairs(
            "two betas",
            "quadratic",
            "For K = 1 the two bounds by sum(alpha) are left out: that needs beta >= 0 and (18b).",
        ),
    ),
    library=library_of_pairs("quadratic"),
)
def two_betas(case: Case, sign: int = 1, with_K: bool = True) -> Outcome:
    printed = partial(step_of_two_betas, sign=sign, with_K=with_K)
    return steps_are_best(case, "two betas", printed)


def step_of_two_betas(pair: Case, sign: int = 1, with_K: bool = True) -> Step:
    lows, highs = bounds_of_two_betas(pair, with_K)
    return Step(lows, highs, sign * pair.scores, pair.curvature)


# by the rule of (17)
PRINTED: dict[str, Printed] = {
    "two alphas": step_of_two_alphas,
    "alpha and beta": step_of_alpha_and_beta,
    "two betas": step_of_two_betas,
}
