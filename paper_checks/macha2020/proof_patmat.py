"""Check M20's proof of Theorem C.1: the quadratic of a step of two betas."""

from collections.abc import Iterator
from fractions import Fraction

from paper_checks.arithmetic import Real, all_of, divide
from paper_checks.ledger import Case, Erratum, Outcome, WhereRight, claim, version
from paper_checks.macha2020.best_delta import best_deltas, squared_delta
from paper_checks.macha2020.deltas import (
    PAIR,
    changed_delta,
    feasible_step,
    of_two_betas,
    solves_32,
    squares,
)
from paper_checks.macha2020.pairs import pair_of
from paper_checks.macha2020.problems import moved, patmat_dual, rule_pairs
from paper_checks.macha2020.steps_patmat import printed_step
from paper_checks.outcomes import both, equal, true
from paper_checks.proofs import BySolver
from paper_checks.symbols import real

HALF = Fraction(1, 2)


def symbolic_quadratic(deep: bool) -> Iterator[Case]:
    names = ("beta_k", "beta_l", "step", "rest", "scores", "curvature", "delta", "theta2", "budget")
    yield Case(kind="symbols", **{name: real(name) for name in names})


def as_in_the_theorem(case: Case) -> Outcome:
    """Check that the corrected quadratic has Theorem C.1's numerator and denominator.

    (32) of the new beta, which the proof has before its last step, must be the corrected square of
    delta.
    """
    outcomes = []
    for k, other in rule_pairs(case, "two betas"):
        if k != other:
            pair = pair_of(case, "two betas", k, other)
            step, weight = printed_step(pair), divide(1, case.delta * case.theta2**2)
            gap = pair.beta_k - pair.beta_l
            outcomes.append(equal(step.bend, pair.curvature + weight))
            outcomes.append(equal(step.slope, pair.scores + weight * gap / 2))
    return both(changed_delta(case, "two betas", of_two_betas(case)), *outcomes)


@claim(
    "M20-C1-proof-case3",
    "proof of Theorem C.1",
    "A step of two betas changes the objective by the quadratic given; the best delta after it is "
    "the root given.",
    formula=r"-\frac{1}{2}[K_{kk}+K_{ll}-K_{kl}-K_{lk}+\frac{1}{2\delta\vartheta_2^2}]\Delta^2"
    r"-[s_k-s_l+\frac{\beta_k-\beta_l}{\delta\vartheta_2^2}]\Delta+c,\quad "
    r"\delta^*=\sqrt{\delta+\frac{\Delta^2+\Delta(\beta_k-\beta_l)}{2\vartheta_2^2n\tau}}",
    shapes="beta: (n-,); scores: s_k - s_l; curvature: K_kk + K_ll - K_kl - K_lk; " + PAIR,
    judged="the theorem itself has other factors; delta solves (32) before the step. A "
    "superscript lost in machine reading would explain delta in place of its square, "
    "but neither factor.",
    cases=best_deltas,
    sides=("gain, square of delta as printed", "by (30) and (32)"),
    derived=version(
        "1/(delta theta_2^2) by Delta^2, 1/(2 delta theta_2^2) by Delta, and delta^2 in the root",
        formula=r"-\frac{1}{2}[K_{kk}+K_{ll}-K_{kl}-K_{lk}+\frac{1}{\delta\vartheta_2^2}]\Delta^2"
        r"-[s_k-s_l+\frac{\beta_k-\beta_l}{2\delta\vartheta_2^2}]\Delta+c,\quad \delta^*="
        r"\sqrt{\delta^2+\frac{\Delta^2+\Delta(\beta_k-\beta_l)}{2\vartheta_2^2n\tau}}",
        bend=1,
        slope=HALF,
        power=2,
    ),
    where_right=WhereRight("M20-thmC1-step", as_in_the_theorem),
    reading=version("delta^2 in the root, everything else as printed", power=2),
    planted=(
        version("the factor of Delta as printed, the others right", bend=1, slope=1, power=2),
        version(
            "the factor of Delta^2 as printed, the others right", bend=HALF, slope=HALF, power=2
        ),
        version("delta in the root, the others right", bend=1, slope=HALF, power=1),
    ),
    proofs=(
        BySolver(
            "Wrong factors that have no effect where beta_k = beta_l or delta = 1.",
            symbolic_quadratic,
            lambda case: all_of(feasible_step(case), solves_32(case), case.curvature >= 0),
            sized_by=(),
        ),
    ),
    erratum=Erratum(
        page="Appendix C.2, proof of Theorem C.1, last item",
        printed=r"-\frac{1}{2}[\ldots+\frac{1}{2\delta\vartheta_2^2}]\Delta^2-[s_k-s_l"
        r"+\frac{\beta_k-\beta_l}{\delta\vartheta_2^2}]\Delta,\quad "
        r"\sqrt{\delta+\ldots}",
        correct=r"-\frac{1}{2}[\ldots+\frac{1}{\delta\vartheta_2^2}]\Delta^2-[s_k-s_l"
        r"+\frac{\beta_k-\beta_l}{2\delta\vartheta_2^2}]\Delta,\quad "
        r"\sqrt{\delta^2+\ldots}",
        proof=r"$(\beta_k+\Delta)^2+(\beta_l-\Delta)^2-\beta_k^2-\beta_l^2=2\Delta^2"
        r"+2\Delta(\beta_k-\beta_l)$, and (30a) has $-\frac{1}{4\delta\vartheta_2^2}$ before the "
        r"squares. So $\Delta^2$ gets $-\frac{1}{2\delta\vartheta_2^2}$ and $\Delta$ gets "
        r"$-\frac{\beta_k-\beta_l}{2\delta\vartheta_2^2}$. In the root, (32) gives the square of "
        r"the old $\delta$.",
        breaks="Nothing: Theorem C.1 has the right factors in gamma, and $\\delta^2$ in the root.",
    ),
)
def quadratic_of_two_betas(
    case: Case, bend: Real = HALF, slope: Real = 1, power: int = 1
) -> Outcome:
    """Compare (12) at a feasible step with the quadratic, and the square of delta with (32)."""
    if hasattr(case, "rest"):
        betas = squares(case, case.step) - squares(case, 0)
        quadratic = case.curvature * case.step**2 / 2 + case.scores * case.step
        gained = -quadratic - divide(betas, 4 * case.delta * case.theta2**2)
        return both(
            equal(printed_gain(case, case.step, bend, slope), gained),
            delta_follows(case, case.step, power, squares(case, case.step)),
        )
    outcomes = []
    for k, other in rule_pairs(case, "two betas"):
        pair = pair_of(case, "two betas", k, other)
        b, c = pair.beta_k, pair.beta_l
        if k == other or b + c == 0:
            continue
        step = c / 2 if c > 0 else -b / 2
        after = moved(case, k, other, step)
        gained = patmat_dual(after) - patmat_dual(case)
        outcomes.append(equal(printed_gain(pair, step, bend, slope), gained))
        outcomes.append(delta_follows(pair, step, power, sum(after.beta**2)))
    return both(true(), *outcomes)


def printed_gain(pair: Case, step: Real, bend: Real, slope: Real) -> Real:
    weight = divide(1, pair.delta * pair.theta2**2)
    linear = pair.scores + slope * weight * (pair.beta_k - pair.beta_l)
    return -(pair.curvature + bend * weight) * step**2 / 2 - linear * step


def delta_follows(pair: Case, step: Real, power: int, after: Real) -> Outcome:
    """Check that delta to a power, with the printed change, is (32) squared after the step."""
    change = of_two_betas(pair)(step, pair.beta_k, pair.beta_l)
    return equal(pair.delta**power + change, squared_delta(after, pair.theta2, pair.budget))
