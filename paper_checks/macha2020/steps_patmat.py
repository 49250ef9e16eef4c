"""Check M20 Theorem C.1: the pair steps of Pat&Mat with the truncated quadratic surrogate."""

from collections.abc import Iterator
from fractions import Fraction

from paper_checks.arithmetic import ZERO, Real, divide
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Condition, Erratum, Outcome, claim, version
from paper_checks.macha2020.in_fwlab import library_of_pairs
from paper_checks.macha2020.pairs import (
    Step,
    at_zero_delta,
    by_pairs,
    is_pair,
    points,
    rule_of,
    steps_are_best,
)
from paper_checks.macha2020.problems import RULES
from paper_checks.outcomes import both

NO_STEP = Step([ZERO], [ZERO], ZERO, Fraction(1))


def patmat_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield feasible points of (30); delta is 0 in some where beta is."""
    for number, case in enumerate(points(rng, deep)):
        case.delta = Fraction(int(rng.integers(1, 7)), 3)
        if number % 4 == 0:
            case.alpha, case.beta, case.delta = 0 * case.alpha, 0 * case.beta, Fraction(0)
        yield case


@claim(
    "M20-thmC1-step",
    "Theorem C.1",
    "The three pair steps of Pat&Mat at fixed delta.",
    formula=r"\gamma=-\frac{s_k+s_l-\frac{1}{\vartheta_1}-\frac{1}{\vartheta_2}"
    r"+\frac{\alpha_k}{2C\vartheta_1^2}+\frac{\beta_l}{2\delta\vartheta_2^2}}"
    r"{K_{kk}+K_{ll}+K_{kl}+K_{lk}+\frac{1}{2C\vartheta_1^2}+\frac{1}{2\delta\vartheta_2^2}},"
    r"\ \ldots",
    shapes="alpha: (n+,), beta: (n-,); theta is theta_1; scores: s_k -+ s_l; "
    "curvature: K_kk + K_ll -+ K_kl -+ K_lk, plus for an alpha with a beta",
    judged="(30) allows delta = 0, where the fractions with delta are undefined. The case k "
    "= l, which changes nothing, is skipped.",
    cases=patmat_points,
    sides=("as printed", "by definition"),
    condition=Condition("delta > 0", lambda case: case.delta > 0),
    corrected=version("with the step 0 where beta changes and delta = 0", at_zero=True),
    planted=(
        version("theta_2 in the place of its square", power=1, at_zero=True),
        version("1/delta with two betas in the numerator", double=2, at_zero=True),
        version("without 1/theta_2", second=0, at_zero=True),
        version("2 alpha_k - alpha_l with two alphas", first=2, at_zero=True),
    ),
    proofs=(
        by_pairs(
            RULES,
            "quadratic",
            "A wrong power of theta_1, theta_2 or delta in one of the three steps.",
            patmat=True,
        ),
    ),
    library=library_of_pairs("quadratic", patmat=True),
    erratum=Erratum(
        page="Appendix C.2, (30e) and Theorem C.1",
        printed=r"\delta\geq 0",
        correct=r"\delta>0,\ \mathrm{or}\ \delta=0\ \mathrm{and}\ \beta=0",
        proof=r"The objective (30a) divides by $\delta$, and so do the steps of Theorem C.1. "
        r"The perspective $\delta l_2^*(\beta_j/\delta)$ has the limit $+\infty$ as "
        r"$\delta\to 0$ if $\beta_j>0$, and 0 if $\beta_j=0$. At $\delta=0$ no $\beta_j$ can "
        r"leave 0, so that a step of two $\beta$, or of an $\alpha$ and a $\beta$, is 0.",
        breaks="Algorithm 3.1 divides by 0 if it starts at the feasible point "
        "$\\alpha=\\beta=0,\\delta=0$.",
    ),
)
def patmat_steps(
    case: Case,
    power: int = 2,
    double: int = 1,
    second: int = 1,
    first: int = 1,
    at_zero: bool = False,
) -> Outcome:
    def printed(pair: Case) -> Step:
        if at_zero and at_zero_delta(pair):
            return NO_STEP
        return printed_step(pair, power, double, second, first)

    rules = [rule_of(case)] if is_pair(case) else RULES
    return both(*(steps_are_best(case, rule, printed, patmat=True) for rule in rules))


def printed_step(
    pair: Case, power: int = 2, double: int = 1, second: int = 1, first: int = 1
) -> Step:
    """Return the step of Theorem C.1."""
    slope, bend, rule = pair.scores, pair.curvature, rule_of(pair)
    if rule == "two betas":
        b, c, weight = pair.beta_k, pair.beta_l, weight_of_beta(pair, power)
        return Step([-b], [c], slope + double * weight * (b - c), bend + 2 * weight)
    a, unit = pair.alpha_k, divide(1, 2 * pair.C * pair.theta**2)
    if rule == "two alphas":
        b = pair.alpha_l
        return Step([-a], [b], slope + unit * (first * a - b), bend + 2 * unit)
    b, weight = pair.beta_l, weight_of_beta(pair, power)
    slope = slope - divide(1, pair.theta) - divide(second, pair.theta2) + unit * a + weight * b
    return Step([-a, -b], [], slope, bend + unit + weight)


def weight_of_beta(pair: Case, power: int = 2) -> Real:
    return divide(1, 2 * pair.delta * pair.theta2**power)
