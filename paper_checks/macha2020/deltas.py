"""Check M20 Theorem C.1 and its proof: how delta follows a pair step, quadratic surrogate."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from paper_checks.arithmetic import Real, Truth, all_of, divide, equals
from paper_checks.cases import Rng, changed
from paper_checks.ledger import (
    Case,
    Condition,
    Erratum,
    Library,
    Outcome,
    claim,
    version,
)
from paper_checks.macha2020.best_delta import (
    BEST_DELTA,
    best_deltas,
    best_squared,
    delta_of_fwlab,
    squared_delta,
)
from paper_checks.macha2020.pairs import best_along
from paper_checks.macha2020.problems import moved, rule_pairs
from paper_checks.outcomes import both, equal, true
from paper_checks.proofs import BySolver
from paper_checks.symbols import real

SIDES = ("square of delta as printed", "square of (32) after the step")
SOLVES = "delta solves (32) before the step, as the proof supposes"
PAIR = "rest: the sum of the squares of the other betas; budget: n tau"


# from (Delta, beta_k, beta_l) to the number added to the square of delta
Increment = Callable[[Real, Real, Real], Real]


def symbolic_step(*betas: str) -> Callable[[bool], Iterator[Case]]:
    """Return cases of one step with symbols for all numbers; rest >= 0 stands for all sizes."""

    def cases(deep: bool) -> Iterator[Case]:
        names = ("budget", "theta2", "rest", *betas, "step", "delta")
        yield Case(kind="symbols", **{name: real(name) for name in names})

    return cases


def feasible_step(case: Case) -> Truth:
    """Return whether the numbers of a step belong to feasible points before and after it."""
    limits = [getattr(case, name) > 0 for name in ("delta", "theta2", "budget")]
    limits += [case.rest >= 0, case.beta_l >= 0]
    if hasattr(case, "beta_k"):
        limits += [case.beta_k >= 0, case.beta_k + case.step >= 0, case.beta_l >= case.step]
    else:
        limits.append(case.beta_l + case.step >= 0)
    return all_of(*limits)


def solves_32(case: Case) -> Truth:
    """Return whether delta solves (32) before the step."""
    if not hasattr(case, "rest"):
        return case.delta**2 == best_squared(case)
    return equals(case.delta**2 * 4 * case.theta2**2 * case.budget, squares(case, 0))


def squares(case: Case, step: Real) -> Real:
    """Return the sum of the squares of beta after a step."""
    if hasattr(case, "beta_k"):
        return case.rest + (case.beta_k + step) ** 2 + (case.beta_l - step) ** 2
    return case.rest + (case.beta_l + step) ** 2


def by_step(catches: str, *betas: str, solved: bool = True) -> BySolver:
    """Return the proof for all real numbers of a step."""
    return BySolver(
        catches,
        symbolic_step(*betas),
        lambda case: all_of(feasible_step(case), solves_32(case) if solved else True),
        sized_by=(),
    )


def changed_delta(case: Case, rule: str, increment: Increment) -> Outcome:
    """Check that the square of delta after a step is the square by (32).

    The steps are the best step of each pair of a problem, or any step of one pair.
    """
    if hasattr(case, "rest"):
        change = increment(case.step, getattr(case, "beta_k", 0), case.beta_l)
        after = squared_delta(squares(case, case.step), case.theta2, case.budget)
        return equal(case.delta**2 + change, after)
    n, outcomes = len(case.alpha), []
    for k, other in rule_pairs(case, rule):
        if k == other:
            continue
        step = best_along(case, k, other, patmat=True)[0]
        change = increment(step, case.beta[k - n] if k >= n else Fraction(0), case.beta[other - n])
        after = best_squared(moved(case, k, other, step))
        outcomes.append(equal(case.delta**2 + change, after, k=k, l=other))
    return both(true(), *outcomes)


def of_alpha_and_beta(case: Case, power: int = 2, twice: int = 2, quarter: int = 4) -> Increment:
    factor = divide(1, quarter * case.theta2**power * case.budget)
    return lambda step, b, c: factor * (step**2 + twice * step * c)


def of_two_betas(case: Case, power: int = 2, half: int = 2) -> Increment:
    factor = divide(1, half * case.theta2**power * case.budget)
    return lambda step, b, c: factor * (step**2 + step * (b - c))


def library_of(rule: str, increments: Callable[[Case], Increment]) -> Library:
    """Return the form that compares fwlab's best delta after a small step with the increments."""

    def form(case: Case) -> Outcome:
        n, outcomes = len(case.alpha), []
        for k, other in rule_pairs(case, rule):
            if k != other and case.beta[other - n] > 0:
                step = -case.beta[other - n] / 2 if k < n else case.beta[other - n] / 2
                first = case.beta[k - n] if k >= n else Fraction(0)
                change = increments(case)(step, first, case.beta[other - n])
                after = moved(case, k, other, step).beta
                outcomes.append(delta_of_fwlab(case, after, case.delta**2 + change))
        return both(true(), *outcomes)

    return Library(BEST_DELTA, form)


SQUARE = (
    r"By (32) the square of $\delta^*$ changes by $\frac{1}{4\vartheta_2^2n\tau}$ times the change "
)


@claim(
    "M20-thmC1-delta-case2",
    "Theorem C.1",
    "After a step of an alpha and a beta the best delta is the root given.",
    formula=r"\delta^*=\sqrt{\delta^2+\frac{1}{4\vartheta_2n\tau}(\Delta^2+2\Delta\beta_l)}",
    shapes="beta: (n-,); " + PAIR,
    judged=SOLVES + ". As read, both formulas of delta in the theorem lack the square of theta_2, "
    "which their proof has.",
    cases=best_deltas,
    sides=SIDES,
    reading=version(
        "theta_2^2 in the place of theta_2, as in the proof and in (32)",
        formula=r"\delta^*=\sqrt{\delta^2+\frac{1}{4\vartheta_2^2n\tau}(\Delta^2+2\Delta\beta_l)}",
        power=2,
    ),
    planted=(version("Delta beta in the place of 2 Delta beta", power=2, twice=1),),
    proofs=(by_step("A factor that is right only for theta_2 = 1.", "beta_l"),),
    library=library_of("alpha and beta", of_alpha_and_beta),
    erratum=Erratum(
        page="Appendix C.2, Theorem C.1, second case",
        printed=r"\delta^*=\sqrt{\delta^2+\frac{1}{4\vartheta_2n\tau}(\Delta^{*2}"
        r"+2\Delta^*\beta_l)}",
        correct=r"\delta^*=\sqrt{\delta^2+\frac{1}{4\vartheta_2^2n\tau}(\Delta^{*2}"
        r"+2\Delta^*\beta_l)}",
        proof=SQUARE + r"of $\sum\beta_j^2$, which is "
        r"$(\beta_l+\Delta)^2-\beta_l^2=\Delta^2+2\Delta\beta_l$. The proof of the theorem has "
        r"$\vartheta_2^2$, too.",
        breaks="As read, Algorithm 3.1 follows a delta that is not the best one, unless "
        "$\\vartheta_2=1$ as in the experiments. Read otherwise, nothing.",
    ),
)
def delta_after_alpha_and_beta(case: Case, power: int = 1, twice: int = 2) -> Outcome:
    return changed_delta(case, "alpha and beta", of_alpha_and_beta(case, power, twice))


@claim(
    "M20-thmC1-delta-case3",
    "Theorem C.1",
    "After a step of two betas the best delta is the root given.",
    formula=r"\delta^*=\sqrt{\delta^2+\frac{1}{2\vartheta_2n\tau}"
    r"(\Delta^2+\Delta(\beta_k-\beta_l))}",
    shapes="beta: (n-,); " + PAIR,
    judged=SOLVES + ". As read, both formulas of delta in the theorem lack the square of theta_2, "
    "which their proof has.",
    cases=best_deltas,
    sides=SIDES,
    reading=version(
        "theta_2^2 in the place of theta_2, as in the proof and in (32)",
        formula=r"\delta^*=\sqrt{\delta^2+\frac{1}{2\vartheta_2^2n\tau}"
        r"(\Delta^2+\Delta(\beta_k-\beta_l))}",
        power=2,
    ),
    planted=(version("1/4 in the place of 1/2", power=2, half=4),),
    proofs=(by_step("A factor that is right only for theta_2 = 1.", "beta_k", "beta_l"),),
    library=library_of("two betas", of_two_betas),
    erratum=Erratum(
        page="Appendix C.2, Theorem C.1, third case",
        printed=r"\delta^*=\sqrt{\delta^2+\frac{1}{2\vartheta_2n\tau}"
        r"(\Delta^{*2}+\Delta^*(\beta_k-\beta_l))}",
        correct=r"\delta^*=\sqrt{\delta^2+\frac{1}{2\vartheta_2^2n\tau}"
        r"(\Delta^{*2}+\Delta^*(\beta_k-\beta_l))}",
        proof=SQUARE + r"of $\sum\beta_j^2$, which is $(\beta_k+\Delta)^2+(\beta_l-\Delta)^2"
        r"-\beta_k^2-\beta_l^2=2(\Delta^2+\Delta(\beta_k-\beta_l))$. The proof of the theorem has "
        r"$\vartheta_2^2$, too.",
        breaks="As read, Algorithm 3.1 follows a delta that is not the best one, unless "
        "$\\vartheta_2=1$ as in the experiments. Read otherwise, nothing.",
    ),
)
def delta_after_two_betas(case: Case, power: int = 1, half: int = 2) -> Outcome:
    return changed_delta(case, "two betas", of_two_betas(case, power, half))


def any_deltas(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield delta that solves (32), and delta that does not."""
    for case in best_deltas(rng, deep):
        case.kind = "delta solves (32)"
        yield case
        yield changed(case, kind="other delta", delta=2 * case.delta)


@claim(
    "M20-thmC1-delta-start",
    "Theorem C.1, Alg. 3.1",
    "From any feasible point the updates of delta, with theta_2^2, give the optimal delta for the "
    "new beta.",
    formula=r"\delta^{*2}=\delta^2+\frac{1}{4\vartheta_2^2n\tau}(\Delta^2+2\Delta\beta_l)",
    shapes="beta: (n-,); " + PAIR,
    judged="Algorithm 3.1 may start at any feasible point, and (32) is no constraint. From a delta "
    "below (32) the square can even become negative.",
    cases=any_deltas,
    sides=SIDES,
    condition=Condition("delta solves (32) before the step", solves_32),
    planted=(
        version(
            "1/2 in the place of 1/4, from a delta that solves (32)", cases=best_deltas, quarter=2
        ),
        version("1/2 in the place of 1/4", quarter=2),
    ),
    proofs=(
        by_step(
            "A start that violates (32), after which a step happens to restore it.",
            "beta_l",
            solved=False,
        ),
    ),
    library=replace(library_of("alpha and beta", of_alpha_and_beta), cases=best_deltas),
)
def delta_from_any_start(case: Case, quarter: int = 4) -> Outcome:
    increment = of_alpha_and_beta(case, quarter=quarter)
    return changed_delta(case, "alpha and beta", increment)
