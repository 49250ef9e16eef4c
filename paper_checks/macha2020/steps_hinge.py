"""Check M20 Theorem D.1: the pair steps of TopPushK with the hinge surrogate."""

from collections.abc import Callable, Iterator
from functools import partial

from paper_checks.arithmetic import Real, divide, maximum, minimum
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Erratum, Outcome, WhereRight, claim, version
from paper_checks.macha2020.in_fwlab import library_of_pairs
from paper_checks.macha2020.pairs import (
    Join,
    Step,
    by_pairs,
    interval,
    is_pair,
    pair_of,
    points,
    steps_are_best,
)
from paper_checks.macha2020.problems import kernel, rule_pairs
from paper_checks.macha2020.steps_toppushk import (
    CHARITY,
    MIXED_PAIR,
    PAIR,
    SIDES,
    bounds_of_two_betas,
)
from paper_checks.outcomes import both, equal, true

Bounds = tuple[list[Real], list[Real]]
hinge_points = partial(points, kind="hinge")
EXCHANGED = (
    r"All of these bounds hold at once, so the lower end of the interval is the "
    r"largest of the lower bounds and the upper end is the least of the upper ones. "
)
PLANTED = (
    version("only the upper bound corrected", highs=minimum),
    version("only the lower bound corrected", lows=maximum),
)


def interval_allowed(rule: str, bounds: Callable[[Case], Bounds], case: Case) -> Outcome:
    """Check that (33) allows a pair exactly the steps of the corrected interval."""
    pairs = (
        [case]
        if is_pair(case)
        else [pair_of(case, rule, k, other) for k, other in rule_pairs(case, rule) if k != other]
    )
    outcomes = []
    for pair in pairs:
        lows, highs = bounds(pair)
        allowed = interval(pair, patmat=False)
        outcomes.append(equal((max(lows), min(highs)), allowed))
    return both(true(), *outcomes)


# ---------------------------------------------------------------- two alphas


def bounds_of_two_alphas(pair: Case) -> Bounds:
    """Return the numbers from which Theorem D.1 forms the two bounds of a step of two alphas."""
    a, b, top = pair.alpha_k, pair.alpha_l, pair.C * pair.theta
    return [-a, b - top], [top - a, b]


@claim(
    "M20-thmD1-case1",
    "Theorem D.1",
    "For TopPushK with the hinge the best step of two alphas is gamma, clipped to the interval.",
    formula=r"\Delta\geq\min\{-\alpha_k,\alpha_l-C\vartheta\},\ "
    r"\Delta\leq\max\{C\vartheta-\alpha_k,\alpha_l\},\ "
    r"\gamma=-\frac{s_k-s_l}{K_{kk}+K_{ll}-K_{kl}-K_{lk}}",
    shapes="alpha: (n+,); " + PAIR,
    judged=CHARITY,
    cases=hinge_points,
    sides=SIDES,
    derived=version(
        "max and min exchanged, as (33c) has it",
        formula=r"\Delta\geq\max\{-\alpha_k,\alpha_l-C\vartheta\},\ "
        r"\Delta\leq\min\{C\vartheta-\alpha_k,\alpha_l\}",
        lows=maximum,
        highs=minimum,
    ),
    where_right=WhereRight(
        "M20-eq18-30-33-34",
        partial(interval_allowed, "two alphas", bounds_of_two_alphas),
        at="(33c)",
    ),
    planted=PLANTED,
    proofs=(
        by_pairs(
            "two alphas",
            "hinge",
            "A bound that is wrong only if both alphas are near their limits.",
        ),
    ),
    library=library_of_pairs("hinge"),
    erratum=Erratum(
        page="Appendix D.1, Theorem D.1, first case",
        printed=r"\Delta_{lb}=\min\{-\alpha_k,\alpha_l-C\vartheta\},\ "
        r"\Delta_{ub}=\max\{C\vartheta-\alpha_k,\alpha_l\}",
        correct=r"\Delta_{lb}=\max\{-\alpha_k,\alpha_l-C\vartheta\},\ "
        r"\Delta_{ub}=\min\{C\vartheta-\alpha_k,\alpha_l\}",
        proof=r"By (33c) the new values satisfy $0\leq\alpha_k+\Delta\leq C\vartheta$ and "
        r"$0\leq\alpha_l-\Delta\leq C\vartheta$. " + EXCHANGED,
        breaks="Algorithm 3.1 with the hinge leaves the feasible set of (33): an alpha becomes "
        "negative or exceeds $C\\vartheta$, and the value is no lower bound of the primal.",
    ),
)
def two_alphas(case: Case, lows: Join = minimum, highs: Join = maximum) -> Outcome:
    def printed(pair: Case) -> Step:
        return Step(*bounds_of_two_alphas(pair), pair.scores, pair.curvature, lows, highs)

    return steps_are_best(case, "two alphas", printed)


# ---------------------------------------------------------------- an alpha and a beta


def apart(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield points of problems in which no positive sample is also a negative one."""
    for case in hinge_points(rng, deep):
        K, n = kernel(case), len(case.alpha)
        mixed = rule_pairs(case, "alpha and beta")
        if all(K[k, k] + K[j, j] + 2 * K[k, j] > 0 for k, j in mixed if k < n <= j):
            yield case


def bounds_of_alpha_and_beta(pair: Case) -> Bounds:
    """Return the numbers in the bounds of Theorem D.1 for a step of an alpha and a beta."""
    a, b, K = pair.alpha_k, pair.beta_l, pair.K
    lows, highs = [-a, -b], [pair.C * pair.theta - a]
    if K > 1:
        lows.append(K * pair.beta_max - pair.sum_alpha)
        highs.append(divide(pair.sum_alpha - K * b, K - 1))
    return lows, highs


@claim(
    "M20-thmD1-case2",
    "Theorem D.1",
    "For TopPushK with the hinge the best step of an alpha and a beta is gamma, clipped to the "
    "interval.",
    formula=r"\Delta\geq\min\{-\alpha_k,-\beta_l,K\beta_{\max}-\sum\alpha_i\},\ \Delta\leq"
    r"\max\{C\vartheta-\alpha_k,\frac{\sum\alpha_i-K\beta_l}{K-1}\},\ "
    r"\gamma=-\frac{s_k+s_l-\frac{1}{\vartheta}}{K_{kk}+K_{ll}+K_{kl}+K_{lk}}",
    shapes="alpha: (n+,), beta: (n-,); " + MIXED_PAIR,
    judged="for K = 1 the two bounds with K are left out, as printed",
    assumed="no positive sample is also a negative one, where gamma is -1/theta divided by 0",
    cases=apart,
    sides=SIDES,
    derived=version(
        "max and min exchanged, as (33) and Theorem 3.1 have it",
        formula=r"\Delta\geq\max\{-\alpha_k,-\beta_l,K\beta_{\max}-\sum\alpha_i\},\ \Delta\leq"
        r"\min\{C\vartheta-\alpha_k,\frac{\sum\alpha_i-K\beta_l}{K-1}\}",
        lows=maximum,
        highs=minimum,
    ),
    where_right=WhereRight(
        "M20-eq18-30-33-34",
        partial(interval_allowed, "alpha and beta", bounds_of_alpha_and_beta),
        at="(33c) and (33d)",
    ),
    planted=(
        *PLANTED,
        version("2/theta, the bounds corrected", lows=maximum, highs=minimum, gain=2),
    ),
    proofs=(
        by_pairs(
            "alpha and beta",
            "hinge",
            "An error in one of five bounds, which the others hide at most points.",
            assuming=lambda pair: pair.curvature > 0,
        ),
    ),
    library=library_of_pairs("hinge"),
    erratum=Erratum(
        page="Appendix D.1, Theorem D.1, second case",
        printed=r"K=1:\ \Delta_{lb}=\min\{-\alpha_k,-\beta_l\};\quad K\geq 2:\ "
        r"\Delta_{lb}=\min\{-\alpha_k,-\beta_l,K\beta_{\max}-\sum\alpha_i\},\ "
        r"\Delta_{ub}=\max\{C\vartheta-\alpha_k,\frac{\sum\alpha_i-K\beta_l}{K-1}\}",
        correct=r"K=1:\ \Delta_{lb}=\max\{-\alpha_k,-\beta_l\};\quad K\geq 2:\ "
        r"\Delta_{lb}=\max\{-\alpha_k,-\beta_l,K\beta_{\max}-\sum\alpha_i\},\ "
        r"\Delta_{ub}=\min\{C\vartheta-\alpha_k,\frac{\sum\alpha_i-K\beta_l}{K-1}\}",
        proof=r"By (33c) and (33d), $\Delta\geq-\alpha_k$, $\Delta\geq-\beta_l$, "
        r"$\Delta\leq C\vartheta-\alpha_k$, $K\beta_{\max}\leq\sum\alpha_i+\Delta$ and "
        r"$K(\beta_l+\Delta)\leq\sum\alpha_i+\Delta$. "
        + EXCHANGED
        + "Theorem 3.1 has max and min in their places.",
        breaks="Algorithm 3.1 with the hinge makes alpha or beta negative, or alpha larger than "
        "$C\\vartheta$.",
    ),
)
def alpha_and_beta(
    case: Case, lows: Join = minimum, highs: Join = maximum, gain: int = 1
) -> Outcome:
    def printed(pair: Case) -> Step:
        slope = pair.scores - divide(gain, pair.theta)
        return Step(*bounds_of_alpha_and_beta(pair), slope, pair.curvature, lows, highs)

    return steps_are_best(case, "alpha and beta", printed)


# ---------------------------------------------------------------- two betas


@claim(
    "M20-thmD1-case3",
    "Theorem D.1",
    "For TopPushK with the hinge the best step of two betas is gamma, clipped to the interval.",
    formula=r"\Delta\geq\min\{-\beta_k,\beta_l-\frac{1}{K}\sum\alpha_i\},\ "
    r"\Delta\leq\max\{\frac{1}{K}\sum\alpha_i-\beta_k,\beta_l\},\ "
    r"\gamma=-\frac{s_k-s_l}{K_{kk}+K_{ll}-K_{kl}-K_{lk}}",
    shapes="beta: (n-,); " + PAIR,
    judged=CHARITY,
    cases=hinge_points,
    sides=SIDES,
    derived=version(
        "max and min exchanged, as (33d) and Theorem 3.1 have it",
        formula=r"\Delta\geq\max\{-\beta_k,\beta_l-\frac{1}{K}\sum\alpha_i\},\ "
        r"\Delta\leq\min\{\frac{1}{K}\sum\alpha_i-\beta_k,\beta_l\}",
        lows=maximum,
        highs=minimum,
    ),
    where_right=WhereRight(
        "M20-thm3.1-case3", partial(interval_allowed, "two betas", bounds_of_two_betas)
    ),
    planted=PLANTED,
    proofs=(
        by_pairs(
            "two betas",
            "hinge",
            "An end of the interval that is reached only if K beta = sum(alpha).",
        ),
    ),
    library=library_of_pairs("hinge"),
    erratum=Erratum(
        page="Appendix D.1, Theorem D.1, third case",
        printed=r"\Delta_{lb}=\min\{-\beta_k,\beta_l-\frac{1}{K}\sum\alpha_i\},\ "
        r"\Delta_{ub}=\max\{\frac{1}{K}\sum\alpha_i-\beta_k,\beta_l\}",
        correct=r"\Delta_{lb}=\max\{-\beta_k,\beta_l-\frac{1}{K}\sum\alpha_i\},\ "
        r"\Delta_{ub}=\min\{\frac{1}{K}\sum\alpha_i-\beta_k,\beta_l\}",
        proof=r"By (33d), $0\leq\beta_k+\Delta\leq\frac{1}{K}\sum\alpha_i$ and "
        r"$0\leq\beta_l-\Delta\leq\frac{1}{K}\sum\alpha_i$. "
        + EXCHANGED
        + "Theorem 3.1 has the same case with max and min in their places.",
        breaks="Algorithm 3.1 with the hinge makes a beta negative or larger than its bound.",
    ),
)
def two_betas(case: Case, lows: Join = minimum, highs: Join = maximum) -> Outcome:
    def printed(pair: Case) -> Step:
        return Step(*bounds_of_two_betas(pair), pair.scores, pair.curvature, lows, highs)

    return steps_are_best(case, "two betas", printed)
