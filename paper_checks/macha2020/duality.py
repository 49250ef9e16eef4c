"""M20 sections 2 and 3.2, appendix B: the dual problems, the scores and the pair updates."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

from paper_checks.cases import Rng, changed
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.macha2020.problems import (
    RULES,
    excess,
    kernel,
    moved,
    patmat_dual,
    primal,
    random_problem,
    rationals,
    rule_pairs,
    signed_scores,
    toppushk_dual,
    toppushk_primal,
    weights,
)
from paper_checks.outcomes import at_most, both, equal, truth
from reference.certificate import found, run

SOLVED = 1e-5  # relative error of a solver's optimal value
KINDS = ("quadratic", "hinge")


def problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Problems with a feasible dual point, and any w."""
    for kind in KINDS:
        for _ in range(60 if deep else 15):
            case = random_problem(rng, kind)
            case.w = rationals(rng, case.positives.shape[1])
            yield case


def patmat_problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """With a delta that lets beta into the domain; 0 is among them where beta = 0."""
    for case in problems(rng, deep):
        least = max(case.beta) / case.theta2
        case.delta = least + Fraction(int(rng.integers(0 if case.kind == "hinge" else 1, 4)), 3)
        if not any(case.beta):
            case.delta = Fraction(0)
        yield case


def primal_optimum(case: Case, patmat: bool) -> np.ndarray:
    """The w of the least primal value, and of Pat&Mat the threshold after it, by cvxpy."""
    positives, negatives = case.positives.astype(float), case.negatives.astype(float)
    w, t = cp.Variable(positives.shape[1]), cp.Variable()
    within = []

    def loss(theta: Fraction, z: Any) -> Any:
        cut = cp.pos(1 + float(theta) * z)
        return cp.sum_squares(cut) if case.surrogate == "quadratic" else cp.sum(cut)

    if patmat:
        within.append(loss(case.theta2, negatives @ w - t) <= float(case.budget))
    else:
        within.append(cp.sum_largest(negatives @ w, case.K) / case.K <= t)
    objective = cp.sum_squares(w) / 2 + float(case.C) * loss(case.theta, t - positives @ w)
    run(cp.Problem(cp.Minimize(objective), within), "CLARABEL")
    return np.append(found(w), found(t))


def dual_optimum(
    case: Case, patmat: bool, quadratic: float = 1, budget: float = 1, capped: bool = True
) -> float:
    """The largest value of (7) or (12) by cvxpy, with the conjugates put in; two of its terms can
    be multiplied by a number, and the bound of (7c) left out."""
    positives, negatives = case.positives.astype(float), case.negatives.astype(float)
    C, theta, theta2 = float(case.C), float(case.theta), float(case.theta2)
    a = cp.Variable(len(positives), nonneg=True)
    b = cp.Variable(len(negatives), nonneg=True)
    delta = cp.Variable(nonneg=True)
    w = positives.T @ a - negatives.T @ b
    value = cp.sum(a) / theta - quadratic * cp.sum_squares(w) / 2
    within = [cp.sum(a) == cp.sum(b)]
    if case.surrogate == "quadratic":
        value -= cp.sum_squares(a) / (4 * C * theta**2)
    else:
        within.append(a <= C * theta)
    if patmat:
        value += cp.sum(b) / theta2 - budget * delta * float(case.budget)
        if case.surrogate == "quadratic":
            value -= cp.quad_over_lin(b, delta) / (4 * theta2**2)
        else:
            within.append(b <= delta * theta2)
    elif capped:
        within.append(b <= cp.sum(a) / case.K)
    problem = cp.Problem(cp.Maximize(value), within)
    run(problem, "CLARABEL")
    return float(problem.value)


@claim(
    "M20-thm2.1",
    "Theorem 2.1",
    "(7) is the dual of TopPushK: no feasible point of it is above the primal, and the two optimal "
    "values are the same.",
    formula=r"\max\ -\frac{1}{2}z^\top Kz-C\sum_i l^*(\alpha_i/C),\quad "
    r"\sum\alpha_i=\sum\beta_j,\ 0\leq\beta_j\leq\frac{1}{K}\sum_i\alpha_i",
    shapes="z = (alpha, beta): (n,)",
    cases=problems,
    planted=(
        version("without the factor 1/2", quadratic=2),
        version("half of the quadratic term", quadratic=0.5),
        version("without the upper bound on beta", capped=False),
    ),
)
def toppushk_duality(case: Case, quadratic: float = 1, capped: bool = True) -> Outcome:
    """Weak duality in fractions at a random pair of points; the optimal values by two solves."""
    extra = Fraction(quadratic) - 1
    own = weights(case)
    value = toppushk_dual(case) - extra * (own @ own) / 2
    weak = [at_most(value, toppushk_primal(case, w)) for w in (case.w, own)]
    found = primal_optimum(case, patmat=False)
    best = toppushk_primal(floats(case), found[:-1])
    largest = dual_optimum(case, False, quadratic, capped=capped)
    return both(*weak, equal(best, largest, allowed=SOLVED))


def floats(case: Case) -> Case:
    return changed(
        case, positives=case.positives.astype(float), negatives=case.negatives.astype(float)
    )


@claim(
    "M20-thm2.2",
    "Theorem 2.2",
    "(12) is the dual of Pat&Mat: no feasible point of it is above a feasible point of the primal, "
    "and the two optimal values are the same.",
    formula=r"\max\ -\frac{1}{2}z^\top Kz-C\sum_i l_1^*(\alpha_i/C)"
    r"-\delta\sum_j l_2^*(\beta_j/\delta)-\delta n\tau,\quad "
    r"\sum\alpha_i=\sum\beta_j,\ \delta\geq 0",
    shapes="z = (alpha, beta): (n,)",
    judged="At delta = 0 the term of l_2 is 0 for beta = 0 and infinite otherwise.",
    cases=patmat_problems,
    planted=(
        version("without the factor 1/2", quadratic=2),
        version("plus delta n tau / 2", budget=-0.5),
        version("minus 2 delta n tau", budget=2),
    ),
)
def patmat_duality(case: Case, quadratic: float = 1, budget: float = 1) -> Outcome:
    """As for TopPushK; a threshold high enough makes any w feasible."""
    own = weights(case)
    value = patmat_dual(case) - (Fraction(quadratic) - 1) * (own @ own) / 2
    value -= (Fraction(budget) - 1) * case.delta * case.budget
    weak = []
    for w in (case.w, own):
        scores = case.negatives @ w
        t = max(scores) - 1 / case.theta2
        while excess(case, scores, t) > 0:
            t += Fraction(1, 8)
        weak.append(at_most(value, primal(case, w, t)))
    found = primal_optimum(case, patmat=True)
    best = primal(floats(case), found[:-1], found[-1])
    return both(*weak, equal(best, try_dual(case, quadratic, budget), allowed=SOLVED))


def try_dual(case: Case, quadratic: float, budget: float) -> float:
    """The largest value of (12); infinite where a wrong sign of the budget leaves no bound."""
    return math.inf if budget < 0 else dual_optimum(case, True, quadratic, budget)


@claim(
    "M20-footnote3",
    "footnote 3",
    "The quadratic form of the signed kernel matrix is that of the plain one with beta negated.",
    formula=r"z^\top Kz=(\alpha;-\beta)^\top G(\alpha;-\beta)",
    shapes="G: (n, n), the plain kernel matrix",
    cases=problems,
    planted=(version("with beta as it is", sign=1),),
)
def signed_kernel(case: Case, sign: int = -1) -> Outcome:
    rows = np.vstack([case.positives, case.negatives])
    z, turned = (np.concatenate([case.alpha, s * case.beta]) for s in (1, sign))
    return equal(z @ kernel(case) @ z, turned @ (rows @ rows.T) @ turned)


@claim(
    "M20-eq16",
    "(16)",
    "The vector s holds the scores of all samples, as 2.1 defines them and Figure 2 draws them.",
    formula=r"s=K(\alpha;\beta),\quad s_i=w^\top x_i",
    shapes="s: (n,)",
    judged="The update rules use s as (16) computes it, so only the name is wrong.",
    cases=problems,
    corrected=version("of the positives the scores, of the negatives minus the scores", sign=-1),
    planted=(version("half of them", factor=Fraction(1, 2)),),
)
def vector_of_scores(case: Case, sign: int = 1, factor: Fraction | int = 1) -> Outcome:
    w = weights(case)
    scores = np.concatenate([case.positives @ w, sign * (case.negatives @ w)])
    return equal(factor * signed_scores(case), scores)


@claim(
    "M20-eq17",
    "(17)",
    "Each of the three pair updates keeps the equality constraint and turns s into the vector (16) "
    "of the new point.",
    formula=r"\alpha_k+\Delta,\alpha_l-\Delta;\quad \alpha_k+\Delta,\beta_l+\Delta;\quad "
    r"\beta_k+\Delta,\beta_l-\Delta",
    shapes="s: (n,)",
    cases=problems,
    planted=(
        version("alpha and beta move apart", opposite=True),
        version("the columns are added for two betas, too", sign=1),
    ),
)
def pair_updates(case: Case, opposite: bool = False, sign: int = -1) -> Outcome:
    K, s, step = kernel(case), signed_scores(case), Fraction(1, 3)
    outcomes = []
    for rule in RULES:
        mixed = rule == "alpha and beta"
        for i, j in rule_pairs(case, rule):
            after = moved(case, i, j, step)
            if mixed and opposite:
                after.beta = 2 * case.beta - after.beta
            second = 1 if mixed else (sign if rule == "two betas" else -1)
            updated = s + (K[:, i] + second * K[:, j]) * step
            outcomes.append(equal(list(updated), list(signed_scores(after))))
            outcomes.append(equal(sum(after.alpha), sum(after.beta)))
    return both(*outcomes)


# ---------------------------------------------------------------- the conjugates put in


def printed_value(case: Case, last: int, quarter: Fraction, patmat: bool) -> Fraction:
    """The objectives of (18), (33), (30) and (34); the sums over beta run up to `last`."""
    w = weights(case)
    value = -(w @ w) / 2 + sum(case.alpha) / case.theta
    if case.surrogate == "quadratic":
        value -= quarter * sum(case.alpha**2) / (case.C * case.theta**2)
    if patmat:
        beta = [case.beta[j] for j in range(last)]
        value += sum(beta) / case.theta2 - case.delta * case.budget
        if case.surrogate == "quadratic" and case.delta > 0:
            value -= quarter * sum(b**2 for b in beta) / (case.delta * case.theta2**2)
    return value


@claim(
    "M20-eq18-30-33-34",
    "(18) (30) (33) (34)",
    "The dual objectives with the conjugates put in.",
    formula=r"(34):\ -\frac{1}{2}z^\top Kz+\frac{1}{\vartheta_1}\sum_{i=1}^{n^+}\alpha_i"
    r"+\frac{1}{\vartheta_2}\sum_{j=1}^{n}\beta_j-\delta n\tau",
    shapes="alpha: (n+,), beta: (n-,), n = n+ + n-",
    judged="(34) sums beta up to n, where beta has n- entries; the others sum up to n-.",
    cases=patmat_problems,
    derived=version("all sums over beta up to n-, as (12) has them", extra=False),
    planted=(version("1/2 in the place of 1/4", extra=False, quarter=Fraction(1, 2)),),
)
def conjugates_put_in(
    case: Case, extra: bool = True, quarter: Fraction = Fraction(1, 4)
) -> Outcome:
    """Against the duals with the conjugates as functions."""
    last = len(case.beta) + (len(case.alpha) if extra and case.kind == "hinge" else 0)
    if last > len(case.beta):
        return truth(False, asked_for=f"beta_{last}", entries=len(case.beta))
    return both(
        equal(printed_value(case, last, quarter, False), toppushk_dual(case)),
        equal(printed_value(case, last, quarter, True), patmat_dual(case)),
    )


@claim(
    "M20-K1",
    "3.4",
    "For K = 1 the upper bound on beta follows from the equality constraint and beta >= 0.",
    formula=r"\sum_i\alpha_i=\sum_j\beta_j,\ \beta\geq 0\ \Rightarrow\ \beta_j\leq\sum_i\alpha_i",
    shapes="beta: (n-,)",
    cases=lambda rng, deep: (
        Case(kind="exact", beta=tuple(Fraction(int(b), 2) for b in rng.integers(0, 4, size)))
        for size in (1, 2, 3, 4, 5)
        for _ in range(6)
    ),
    planted=(version("for K = 2", K=2),),
)
def bound_follows(case: Case, K: int = 1) -> Outcome:
    return at_most(max(case.beta), sum(case.beta) / Fraction(K))
