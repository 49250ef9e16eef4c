"""Check M20 Theorem D.2: the pair steps of Pat&Mat with the hinge surrogate, and delta."""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from paper_checks.arithmetic import (
    ZERO,
    Real,
    Truth,
    all_of,
    any_of,
    divide,
    is_symbolic,
    maximum,
    minimum,
)
from paper_checks.cases import Rng, changed
from paper_checks.ledger import Case, Erratum, Outcome, WhereRight, claim, version
from paper_checks.macha2020.in_fwlab import library_of_pairs
from paper_checks.macha2020.joint import (
    best_delta,
    best_jointly,
    best_step,
    by_joint_pairs,
    is_jointly_best,
    least_delta,
)
from paper_checks.macha2020.pairs import (
    NAMES,
    Join,
    Step,
    interval,
    is_pair,
    pair_of,
)
from paper_checks.macha2020.problems import moved, patmat_dual, rule_pairs
from paper_checks.macha2020.steps_hinge import (
    EXCHANGED,
    PLANTED,
    bounds_of_two_alphas,
    hinge_points,
)
from paper_checks.macha2020.steps_toppushk import CHARITY, MIXED_PAIR, PAIR, SIDES
from paper_checks.outcomes import both, equal, true, truth

# Delta, the delta that goes with it, and whether the possibility's own condition is met
Possibility = tuple[Real, Real, Truth]
NAMED = "theta is theta_1, budget is n tau; "
PLACE = "Appendix D.2, Theorem D.2, "


def patmat_hinge_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield feasible points of (34) with the best delta for their beta; K is not used."""
    for case in hinge_points(rng, deep):
        case.delta = least_delta(case)
        yield case


def all_apart(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield points of problems whose pairs all have a curvature: no two samples are the same."""
    for case in patmat_hinge_points(rng, deep):
        rules = [(rule, k, j) for rule in NAMES for k, j in rule_pairs(case, rule) if k != j]
        if all(pair_of(case, *found).curvature > 0 for found in rules):
            yield case


def two_beta_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield a pair whose best step is only the third possibility, and points of problems."""
    one, zero = Fraction(1), Fraction(0)
    yield Case(
        kind="a pair",
        surrogate="hinge",
        beta_k=zero,
        beta_l=2 * one,
        scores=one / 2,
        curvature=one,
        beta_max=zero,
        theta2=one,
        budget=one,
    )
    yield from all_apart(rng, deep)


# ---------------------------------------------------------------- the possibilities


def listed_are_best(
    case: Case, rule: str, listed: Callable[[Case], Iterable[Possibility]]
) -> Outcome:
    """Check that no step with any delta gains more than the best allowed possibility.

    A possibility is allowed if its condition is met. A problem is checked by its dual values, a
    pair by the slopes of the dual.
    """
    if is_pair(case):
        return one_is_best(case, list(listed(case)))
    outcomes = []
    for k, other in rule_pairs(case, rule):
        if k == other:
            continue
        found = listed(pair_of(case, rule, k, other))
        met = [(step, delta) for step, delta, meets in found if meets]
        best = best_jointly(case, k, other)
        if not met:
            return truth(False, k=k, l=other, best=best[0], seen="no condition is met")
        values = [patmat_dual(changed(moved(case, k, other, t), delta=delta)) for t, delta in met]
        outcomes.append(equal(max(values), best[1], k=k, l=other))
    return both(true(), *outcomes)  # true: there may be no pair of different coordinates


def one_is_best(pair: Case, found: list[Possibility]) -> Outcome:
    """Check that one possibility whose condition is met is the best step with the best delta."""
    best = any_of(
        *(all_of(meets, is_jointly_best(pair, step, delta)) for step, delta, meets in found)
    )
    if is_symbolic(best):
        return truth(best)
    steps = [(step, delta, "met" if meets else "not met") for step, delta, meets in found]
    return truth(best, step_delta_condition=steps, best_step=best_step(pair))


# ---------------------------------------------------------------- the three cases


def interval_allowed(case: Case) -> Outcome:
    """Check that (34c) allows two alphas exactly the steps of the corrected interval."""
    outcomes = []
    for k, other in rule_pairs(case, "two alphas"):
        if k != other:
            pair = pair_of(case, "two alphas", k, other)
            lows, highs = bounds_of_two_alphas(pair)
            outcomes.append(equal((max(lows), min(highs)), interval(pair, patmat=True)))
    return both(true(), *outcomes)


@claim(
    "M20-thmD2-case1",
    "Theorem D.2",
    "For Pat&Mat with the hinge the best step of two alphas is gamma, clipped to the "
    "interval, and delta does not change.",
    formula=r"\Delta\geq\min\{-\alpha_k,\alpha_l-C\vartheta_1\},\ "
    r"\Delta\leq\max\{C\vartheta_1-\alpha_k,\alpha_l\},\ \delta^*=\delta",
    shapes="alpha: (n+,); " + NAMED + PAIR,
    judged=CHARITY + " delta is the best for beta before the step.",
    cases=patmat_hinge_points,
    sides=SIDES,
    derived=version(
        "max and min exchanged, as (34c) has it",
        formula=r"\Delta\geq\max\{-\alpha_k,\alpha_l-C\vartheta_1\},\ "
        r"\Delta\leq\min\{C\vartheta_1-\alpha_k,\alpha_l\}",
        lows=maximum,
        highs=minimum,
    ),
    where_right=WhereRight("M20-eq18-30-33-34", interval_allowed, at="(34c)"),
    planted=(
        PLANTED[0],
        version("delta doubled, the bounds corrected", lows=maximum, highs=minimum, factor=2),
    ),
    proofs=(
        by_joint_pairs(
            "two alphas", "A delta that could decrease although no beta changes.", apart=False
        ),
    ),
    library=library_of_pairs("hinge", patmat=True),
    erratum=Erratum(
        page=PLACE + "first case",
        printed=r"\Delta_{lb}=\min\{-\alpha_k,\alpha_l-C\vartheta_1\},\ "
        r"\Delta_{ub}=\max\{C\vartheta_1-\alpha_k,\alpha_l\}",
        correct=r"\Delta_{lb}=\max\{-\alpha_k,\alpha_l-C\vartheta_1\},\ "
        r"\Delta_{ub}=\min\{C\vartheta_1-\alpha_k,\alpha_l\}",
        proof=r"By (34c), $0\leq\alpha_k+\Delta\leq C\vartheta_1$ and "
        r"$0\leq\alpha_l-\Delta\leq C\vartheta_1$. " + EXCHANGED,
        breaks="Algorithm 3.1 for Pat&Mat with the hinge makes an alpha negative or larger than "
        "$C\\vartheta_1$.",
    ),
)
def two_alphas(case: Case, lows: Join = minimum, highs: Join = maximum, factor: int = 1) -> Outcome:
    def listed(pair: Case) -> Iterator[Possibility]:
        bounds = bounds_of_two_alphas(pair)
        step = Step(*bounds, pair.scores, pair.curvature, lows, highs).length
        before = best_delta(pair, ZERO) if is_pair(case) else case.delta
        yield step, factor * before, True

    return listed_are_best(case, "two alphas", listed)


@claim(
    "M20-thmD2-case2",
    "Theorem D.2",
    "The best step of an alpha and a beta with the best delta is one of two possibilities: beta_l "
    "stays below the largest other beta, or it is not below it.",
    formula=r"\gamma_1=-\frac{s_k+s_l-\frac{1}{\vartheta_1}-\frac{1}{\vartheta_2}}{\ldots}\ "
    r"\mathrm{if}\ \beta_l+\Delta\leq\beta_{\max},\quad \gamma_2=-\frac{s_k+s_l"
    r"-\frac{1}{\vartheta_1}-\frac{1-n\tau}{\vartheta_2}}{\ldots}\ "
    r"\mathrm{if}\ \beta_l+\Delta\geq\beta_{\max}",
    shapes="alpha: (n+,), beta: (n-,); " + NAMED + MIXED_PAIR,
    judged="As printed, with the clip bounds max(-alpha_k, -beta_l) and C theta_1 - alpha_k; "
    "beta_max is 0 if there is no other beta. l up to n+ and j up to n are read as up to n and n-.",
    assumed="no positive sample is also a negative one, where the quotients are divided by 0",
    cases=all_apart,
    sides=SIDES,
    corrected=version(
        "with a third possibility: the Delta with beta_l + Delta = beta_max",
        formula=r"\gamma_1,\ \gamma_2,\ \Delta=\beta_{\max}-\beta_l\ "
        r"\mathrm{with}\ \delta^*=\frac{\beta_{\max}}{\vartheta_2}",
        kink=True,
    ),
    planted=(
        version("n tau left out of the second", kink=True, charge=0),
        version("the second possibility left out", kink=True, second=False),
    ),
    proofs=(
        by_joint_pairs(
            "alpha and beta",
            "A fourth possibility that is best only in cases that were not sampled.",
        ),
    ),
    library=library_of_pairs("hinge", patmat=True),
    erratum=Erratum(
        page=PLACE + "second case",
        printed=r"\gamma_1\ \mathrm{if}\ \beta_l+\Delta^*\leq\beta_{\max},\ \mathrm{or}\ "
        r"\gamma_2\ \mathrm{if}\ \beta_l+\Delta^*\geq\beta_{\max}",
        correct=r"\mathrm{a\ third\ possibility:}\ \Delta=\beta_{\max}-\beta_l,\ "
        r"\delta^*=\frac{\beta_{\max}}{\vartheta_2}",
        proof=r"With the best $\delta$ the objective is concave, and quadratic on either side of "
        r"$\Delta_0=\beta_{\max}-\beta_l$, where its slope falls by $n\tau/\vartheta_2$. If it "
        r"rises up to $\Delta_0$ and falls after it, then $\gamma_1>\Delta_0>\gamma_2$: neither "
        r"condition is met, and $\Delta_0$ is the maximum.",
        breaks="Step 5 of Algorithm 3.1 finds no step for such a pair, though one may improve the "
        "objective.",
    ),
)
def alpha_and_beta(case: Case, kink: bool = False, charge: int = 1, second: bool = True) -> Outcome:
    def listed(pair: Case) -> Iterator[Possibility]:
        a, b, most = pair.alpha_k, pair.beta_l, pair.beta_max
        lows, highs = [-a, -b], [pair.C * pair.theta - a]
        slope = pair.scores - divide(1, pair.theta)
        step = Step(lows, highs, slope - divide(1, pair.theta2), pair.curvature).length
        yield step, divide(most, pair.theta2), b + step <= most
        if second:
            rest = divide(1 - charge * pair.budget, pair.theta2)
            step = Step(lows, highs, slope - rest, pair.curvature).length
            yield step, divide(b + step, pair.theta2), b + step >= most
        if kink:
            meets = all_of(maximum(*lows) <= most - b, most - b <= highs[0])
            yield most - b, divide(most, pair.theta2), meets

    return listed_are_best(case, "alpha and beta", listed)


@claim(
    "M20-thmD2-case3",
    "Theorem D.2",
    "The best step of two betas with the best delta is one of three possibilities: "
    "the largest beta is the k-th, the l-th or a different one.",
    formula=r"\gamma=-\frac{s_k-s_l+c}{K_{kk}+K_{ll}-K_{kl}-K_{lk}},\ (c,\delta^*)="
    r"(0,\frac{\beta_{\max}}{\vartheta_2}),\ (\frac{n\tau}{\vartheta_2},"
    r"\frac{\beta_k+\Delta}{\vartheta_2}),\ (-\frac{n\tau}{\vartheta_2},"
    r"\frac{\beta_k-\Delta}{\vartheta_2})",
    shapes="beta: (n-,); " + NAMED + PAIR,
    judged="beta_max is the largest beta except the k-th and the l-th, 0 if there is none. "
    "The case k = l, which changes nothing, is skipped.",
    assumed="no two negative samples coincide, where n tau is divided by 0",
    cases=two_beta_points,
    sides=SIDES,
    corrected=version(
        "with beta_l - Delta in the third delta, and the three Delta at which two of "
        "beta_max, beta_k + Delta, beta_l - Delta are equal as further possibilities",
        formula=r"\delta_3^*=\frac{\beta_l-\Delta}{\vartheta_2};\ \Delta=\beta_{\max}-\beta_k,\ "
        r"\beta_l-\beta_{\max},\ \frac{\beta_l-\beta_k}{2}",
        kinks=True,
        right_delta=True,
    ),
    planted=(
        version("the third delta corrected, without further possibilities", right_delta=True),
        version("further possibilities, the third delta as printed", kinks=True),
        version("n tau of the wrong sign", kinks=True, right_delta=True, sign=-1),
    ),
    proofs=(by_joint_pairs("two betas", "A piece between kinks whose best step is not listed."),),
    library=library_of_pairs("hinge", patmat=True),
    erratum=Erratum(
        page=PLACE + "third case",
        printed=r"\mathrm{three\ possibilities},\ "
        r"\delta_3^*=\frac{\beta_k-\Delta^*}{\vartheta_2}",
        correct=r"\delta_3^*=\frac{\beta_l-\Delta}{\vartheta_2};\ \mathrm{also}\ "
        r"\Delta=\beta_{\max}-\beta_k,\ \beta_l-\beta_{\max},\ \frac{\beta_l-\beta_k}{2}",
        proof=r"The best delta after the step is "
        r"$\max\{\beta_{\max},\beta_k+\Delta,\beta_l-\Delta\}/\vartheta_2$; where the third is "
        r"the largest it is $(\beta_l-\Delta)/\vartheta_2$. The objective is concave and "
        r"quadratic between the kinks of this maximum. Where its slope changes sign at a kink, "
        r"the vertex of neither piece lies in its piece, so no condition is met.",
        breaks="Step 5 of Algorithm 3.1 finds no step for such a pair, though one may improve the "
        "objective. The third possibility as printed is infeasible or not the best.",
    ),
)
def two_betas(case: Case, kinks: bool = False, right_delta: bool = False, sign: int = 1) -> Outcome:
    def listed(pair: Case) -> Iterator[Possibility]:
        b, c, most = pair.beta_k, pair.beta_l, pair.beta_max
        price = sign * divide(pair.budget, pair.theta2)
        first, second, third = (
            Step([-b], [c], pair.scores + p, pair.curvature).length for p in (0, price, -price)
        )
        yield first, divide(most, pair.theta2), most >= maximum(b + first, c - first)
        larger = b + second >= maximum(most, c - second)
        yield second, divide(b + second, pair.theta2), larger
        delta = divide((c if right_delta else b) - third, pair.theta2)
        yield third, delta, c - third >= maximum(most, b + third)
        for step in (most - b, c - most, (c - b) / 2) if kinks else ():
            after = maximum(most, b + step, c - step)
            yield step, divide(after, pair.theta2), all_of(-b <= step, step <= c)

    return listed_are_best(case, "two betas", listed)
