"""M20 Theorem C.1: the pair steps of Pat&Mat with the truncated quadratic surrogate, and delta."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

from paper_checks.cases import Rng
from paper_checks.ledger import Case, Condition, Outcome, claim, version
from paper_checks.macha2020.pair_steps import (
    Step,
    best_along,
    pair_kernel,
    pair_slope,
    points,
    steps_are_best,
)
from paper_checks.macha2020.problems import (
    moved,
    patmat_dual,
    rule_pairs,
)
from paper_checks.outcomes import both, equal, truth


def patmat_points(rng: Rng, deep: bool, zero: bool = True) -> Iterator[Case]:
    """Feasible points of (30); delta is 0 in some where beta is."""
    for case in points(rng, deep):
        case.delta = Fraction(int(rng.integers(1, 7)), 3)
        if zero and int(rng.integers(4)) == 0:
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
    shapes="alpha: (n+,), beta: (n-,)",
    judged="(30) allows delta = 0, where the fractions with delta are undefined",
    cases=patmat_points,
    condition=Condition("delta > 0", lambda case: case.delta > 0),
    corrected=version("with the step 0 where beta changes and delta = 0", at_zero=True),
    planted=(
        version("theta_2 in the place of its square", power=1, at_zero=True),
        version("1/delta with two betas in the numerator", double=2, at_zero=True),
        version("without 1/theta_2", second=0, at_zero=True),
    ),
)
def patmat_steps(
    case: Case, power: int = 2, double: int = 1, second: int = 1, at_zero: bool = False
) -> Outcome:
    if case.delta == 0 and not at_zero:
        return truth(False, step="undefined: a division by delta")
    n, unit = len(case.alpha), 1 / (2 * case.C * case.theta**2)
    weight = 0 if case.delta == 0 else 1 / (2 * case.delta * case.theta2**power)

    def printed(rule: str, case: Case, k: int, other: int) -> Step:
        slope, bend = pair_slope(case, k, other), pair_kernel(case, k, other)
        if rule == "two alphas":
            a = case.alpha
            slope += unit * (a[k] - a[other])
            return Step(-a[k], a[other], slope, bend + 2 * unit)
        if case.delta == 0:
            return Step(0, 0, Fraction(1), Fraction(1))
        b = case.beta[other - n]
        if rule == "two betas":
            first = case.beta[k - n]
            slope += double * weight * (first - b)
            return Step(-first, b, slope, bend + 2 * weight)
        slope += unit * case.alpha[k] + weight * b - 1 / case.theta - second / case.theta2
        return Step(max(-case.alpha[k], -b), math.inf, slope, bend + unit + weight)

    return both(
        *(
            steps_are_best(case, rule, partial(printed, rule), patmat=True)
            for rule in ("two alphas", "alpha and beta", "two betas")
        )
    )


@claim(
    "M20-C1-proof-case3",
    "proof of Theorem C.1",
    "The quadratic in Delta of the step of two betas, and the delta after it.",
    formula=r"-\frac{1}{2}[K_{kk}+K_{ll}-K_{kl}-K_{lk}+\frac{1}{2\delta\vartheta_2^2}]\Delta^2"
    r"-[s_k-s_l+\frac{\beta_k-\beta_l}{\delta\vartheta_2^2}]\Delta+c,\quad "
    r"\delta^*=\sqrt{\delta+\frac{\Delta^2+\Delta(\beta_k-\beta_l)}{2\vartheta_2^2n\tau}}",
    shapes="beta: (n-,)",
    judged="the theorem itself has other factors; delta solves (32) before the step",
    cases=lambda rng, deep: best_deltas(rng, deep),
    derived=version(
        "1/(delta theta_2^2) by Delta^2, 1/(2 delta theta_2^2) by Delta, and delta^2 in the root",
        bend=1,
        slope=Fraction(1, 2),
        power=2,
    ),
    planted=(
        version("the factor of Delta as printed, the others right", bend=1, slope=1, power=2),
        version(
            "the factor of Delta^2 as printed, the others right",
            bend=Fraction(1, 2),
            slope=Fraction(1, 2),
            power=2,
        ),
        version("delta in the root, the others right", bend=1, slope=Fraction(1, 2), power=1),
    ),
)
def quadratic_of_two_betas(
    case: Case, bend: Fraction | int = Fraction(1, 2), slope: Fraction | int = 1, power: int = 1
) -> Outcome:
    """Differences of (12) at a feasible step, and the square of delta against (32)."""
    n, weight, outcomes = len(case.alpha), 1 / (case.delta * case.theta2**2), []
    for k, other in rule_pairs(case, "two betas"):
        b, c = case.beta[k - n], case.beta[other - n]
        if k == other or b + c == 0:
            continue
        step = c / 2 if c > 0 else -b / 2
        after = moved(case, k, other, step)
        quadratic = pair_kernel(case, k, other) + bend * weight
        linear = pair_slope(case, k, other) + slope * weight * (b - c)
        outcomes.append(
            equal(-quadratic * step**2 / 2 - linear * step, patmat_dual(after) - patmat_dual(case))
        )
        change = (step**2 + step * (b - c)) / (2 * case.theta2**2 * case.budget)
        outcomes.append(equal(case.delta**power + change, squared_delta(after)))
    return both(*outcomes)


def squared_delta(case: Case) -> Fraction:
    """The square of (32), whose sum is over the entries of beta (M20-eq32)."""
    return sum(case.beta**2) / (4 * case.theta2**2 * case.budget)


def best_deltas(rng: Rng, deep: bool) -> Iterator[Case]:
    """Points with at least two negatives and beta not 0, whose rational delta solves (32): the
    budget n tau is chosen for it."""
    for case in points(rng, deep):
        if len(case.beta) < 2 or not any(case.beta):
            continue
        case.delta = Fraction(int(rng.integers(1, 7)), 3)
        n = len(case.alpha) + len(case.beta)
        while squared_delta(case) * case.budget >= n * case.delta**2:  # tau < 1
            case.delta *= 2
        case.budget = squared_delta(case) * case.budget / case.delta**2
        yield case


@claim(
    "M20-eq32",
    "(32)",
    "The optimal delta for fixed beta.",
    formula=r"\delta^*=\sqrt{\frac{1}{4\vartheta_2^2n\tau}\sum_{j=1}^{n}\beta_j^2}",
    shapes="beta: (n-,)",
    judged="The sum is printed up to n, where beta has n- entries.",
    cases=best_deltas,
    derived=version("the sum up to n-, as in (30)", extra=0),
    planted=(
        version("2 in the place of 4", extra=0, factor=2),
        version("theta_2 in the place of its square", extra=0, power=1),
    ),
)
def optimal_delta(case: Case, extra: int | None = None, factor: int = 4, power: int = 2) -> Outcome:
    """(12) is concave in delta: a delta that none of its near neighbours beats is the best up to
    their distance, and delta itself is known to be rational."""
    more = len(case.alpha) if extra is None else extra
    if more:
        return truth(False, asked_for=f"beta_{len(case.beta) + more}", entries=len(case.beta))
    squared = sum(case.beta**2) / (factor * case.theta2**power * case.budget)
    best = patmat_dual(case)
    for share in (Fraction(999, 1000), Fraction(1001, 1000)):
        near = Case(**{**vars(case), "delta": case.delta * share})
        if patmat_dual(near) >= best:
            return truth(False, seen="the case's delta is not the best")
    return equal(squared, case.delta**2)


def changed_delta(
    case: Case, rule: str, printed: Callable[[Fraction, Fraction, Fraction], Fraction]
) -> Outcome:
    """delta*^2 after the best step of each pair, against (32) there. printed takes Delta and the
    betas of k and l."""
    n, outcomes = len(case.alpha), []
    for k, other in rule_pairs(case, rule):
        if k == other:
            continue
        step = best_along(case, k, other, patmat=True)[0]
        change = printed(step, case.beta[k - n] if k >= n else Fraction(0), case.beta[other - n])
        outcomes.append(
            equal(case.delta**2 + change, squared_delta(moved(case, k, other, step)), k=k, l=other)
        )
    return both(*outcomes)


@claim(
    "M20-thmC1-delta-case2",
    "Theorem C.1",
    "The delta after a step of an alpha and a beta.",
    formula=r"\delta^*=\sqrt{\delta^2+\frac{1}{4\vartheta_2n\tau}(\Delta^2+2\Delta\beta_l)}",
    shapes="beta: (n-,)",
    judged="delta solves (32) before the step, as the proof supposes; the proof has theta_2^2",
    cases=best_deltas,
    derived=version("theta_2^2 in the place of theta_2, as in the proof", power=2),
    planted=(version("Delta beta in the place of 2 Delta beta", power=2, twice=1),),
)
def delta_after_alpha_and_beta(case: Case, power: int = 1, twice: int = 2) -> Outcome:
    factor = 1 / (4 * case.theta2**power * case.budget)
    return changed_delta(
        case, "alpha and beta", lambda step, b, c: factor * (step**2 + twice * step * c)
    )


@claim(
    "M20-thmC1-delta-case3",
    "Theorem C.1",
    "The delta after a step of two betas.",
    formula=r"\delta^*=\sqrt{\delta^2+\frac{1}{2\vartheta_2n\tau}"
    r"(\Delta^2+\Delta(\beta_k-\beta_l))}",
    shapes="beta: (n-,)",
    judged="delta solves (32) before the step, as the proof supposes; the proof has theta_2^2",
    cases=best_deltas,
    derived=version("theta_2^2 in the place of theta_2, as in the proof", power=2),
    planted=(version("1/4 in the place of 1/2", power=2, half=4),),
)
def delta_after_two_betas(case: Case, power: int = 1, half: int = 2) -> Outcome:
    factor = 1 / (half * case.theta2**power * case.budget)
    return changed_delta(case, "two betas", lambda step, b, c: factor * (step**2 + step * (b - c)))


def any_deltas(rng: Rng, deep: bool) -> Iterator[Case]:
    """delta that solves (32), and delta that does not."""
    for case in best_deltas(rng, deep):
        case.kind = "delta solves (32)"
        yield case
        yield Case(**{**vars(case), "kind": "other delta", "delta": 2 * case.delta})


@claim(
    "M20-thmC1-delta-start",
    "Theorem C.1, Alg. 3.1",
    "From any feasible point the updates of delta, with theta_2^2, give the optimal delta for the "
    "new beta.",
    formula=r"\delta^{*2}=\delta^2+\frac{1}{4\vartheta_2^2n\tau}(\Delta^2+2\Delta\beta_l)",
    shapes="beta: (n-,)",
    judged="Algorithm 3.1 may start at any feasible point, and (32) is no constraint.",
    cases=any_deltas,
    condition=Condition(
        "delta solves (32) before the step", lambda case: case.kind != "other delta"
    ),
    planted=(version("1/2 in the place of 1/4", quarter=2),),
)
def delta_from_any_start(case: Case, quarter: int = 4) -> Outcome:
    factor = 1 / (quarter * case.theta2**2 * case.budget)
    return changed_delta(
        case, "alpha and beta", lambda step, b, c: factor * (step**2 + 2 * step * c)
    )
