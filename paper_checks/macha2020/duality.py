"""Check M20 section 2 and appendix B: the dual problems of TopPushK and Pat&Mat."""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np

from paper_checks.cases import Rng, changed
from paper_checks.ledger import Case, Library, Outcome, claim, version
from paper_checks.macha2020.in_fwlab import allowed, solved
from paper_checks.macha2020.problems import (
    excess,
    patmat_dual,
    patmat_objective,
    primal,
    random_problem,
    rationals,
    toppushk_dual,
    toppushk_objective,
    toppushk_primal,
    weights,
)
from paper_checks.outcomes import at_most, both, equal, same_optimum, true
from reference.certificate import found, run
from reference.rational import fractions

# relative gap of the feasible points near the solvers' points
SOLVED = 1e-6
# at a degenerate optimum one solver stays 1e-5 away; OSQP cannot take a budget
SOLVERS = {False: ("CLARABEL", "OSQP"), True: ("CLARABEL",)}
KINDS = ("quadratic", "hinge")


def problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield problems with a feasible dual point, and any w."""
    for kind in KINDS:
        for _ in range(60 if deep else 10):
            case = random_problem(rng, kind)
            case.w = rationals(rng, case.positives.shape[1])
            yield case


def patmat_problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield problems with a delta that lets beta into the domain; delta may be 0 if beta = 0."""
    for case in problems(rng, deep):
        least = max(case.beta) / case.theta2
        case.delta = least + Fraction(int(rng.integers(0 if case.kind == "hinge" else 1, 4)), 3)
        if not any(case.beta):
            case.delta = Fraction(0)
        yield case


def primal_optimum(case: Case, patmat: bool) -> Fraction:
    """Return the least primal value, in fractions, at the points that the solvers find."""
    return min(primal_value(case, patmat, solver) for solver in SOLVERS[patmat])


def primal_value(case: Case, patmat: bool, solver: str) -> Fraction:
    """Return the primal value in fractions at the w that a solver finds best.

    For Pat&Mat the threshold is one near the solver's that satisfies (10).
    """
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
    run(cp.Problem(cp.Minimize(objective), within), solver)
    best = fractions(found(w))
    if not patmat:
        return Fraction(toppushk_primal(case, best))
    scores, threshold, step = case.negatives @ best, Fraction(float(found(t))), Fraction(1, 10**12)
    while excess(case, scores, threshold) > 0:
        threshold, step = threshold + step, 2 * step
    return Fraction(primal(case, best, threshold))


def dual_optimum(
    case: Case, patmat: bool, quadratic: float = 1, budget: float = 1, capped: bool = True
) -> Fraction:
    """Return the largest value of (7) or (12), in fractions, at feasible points near the solvers'.

    Two of its terms can be multiplied by a number, and the bound of (7c) can be left out.
    """
    terms = quadratic, budget, capped
    return max(dual_value(case, patmat, solver, *terms) for solver in SOLVERS[patmat])


def dual_value(
    case: Case, patmat: bool, solver: str, quadratic: float, budget: float, capped: bool
) -> Fraction:
    """Return the value at the feasible point near the one that a solver finds best."""
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
    run(cp.Problem(cp.Maximize(value), within), solver)
    near = moved_inside(case, fractions(found(a)), fractions(found(b)), capped and not patmat)
    own = weights(near)
    excess_quadratic = (Fraction(quadratic) - 1) * (own @ own) / 2
    if not patmat:
        return Fraction(toppushk_objective(near) - excess_quadratic)
    near.delta = best_delta(near, Fraction(budget) * case.budget)
    excess_budget = (Fraction(budget) - 1) * near.delta * case.budget
    return Fraction(patmat_objective(near) - excess_quadratic - excess_budget)


def best_delta(case: Case, price: Fraction) -> Fraction:
    """Return the best delta of (12) for beta, at this price per unit of delta.

    It is rounded for the quadratic surrogate, as it is a root.
    """
    if case.surrogate == "hinge":
        return Fraction(max(case.beta) / case.theta2)
    return Fraction(math.sqrt((case.beta @ case.beta) / (4 * case.theta2**2 * price)))


def moved_inside(case: Case, alpha: np.ndarray, beta: np.ndarray, capped: bool) -> Case:
    """Return the case at a point of (7), or without the bound of (7c) unless capped."""
    alpha, beta = np.maximum(alpha, 0), np.maximum(beta, 0)
    if case.surrogate == "hinge":
        alpha = np.minimum(alpha, case.C * case.theta)
    if capped:
        bound = alpha.sum() / case.K
        beta = np.minimum(beta, bound)
        if beta.sum() < alpha.sum():
            beta = beta + (bound - beta) * (alpha.sum() - beta.sum()) / (bound - beta).sum()
    both_sums = min(alpha.sum(), beta.sum())
    alpha, beta = (z * (both_sums / z.sum()) if both_sums else 0 * z for z in (alpha, beta))
    return changed(case, alpha=alpha, beta=beta)


TWO_SOLVES = (
    "Weak duality is tried in fractions. For the equality of the optimal values, two "
    "solvers' points are made feasible."
)


def optimum_of_fwlab(case: Case, patmat: bool) -> Outcome:
    """Check that the optimal value lies between the values of fwlab's two feasible points."""
    if patmat and not allowed(case):
        return true()
    found = solved(case, patmat)
    ends = float(dual_optimum(case, patmat)), float(primal_optimum(case, patmat))
    return same_optimum(ends, (found.dual, found.primal))


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
    not_proved=TWO_SOLVES,
    library=Library(("fwlab.ranking.solve",), partial(optimum_of_fwlab, patmat=False)),
)
def toppushk_duality(case: Case, quadratic: float = 1, capped: bool = True) -> Outcome:
    """Check weak duality in fractions at a random pair of points.

    Two solves compare the optimal values.
    """
    extra = Fraction(quadratic) - 1
    own = weights(case)
    value = toppushk_dual(case) - extra * (own @ own) / 2
    weak = [at_most(value, toppushk_primal(case, w)) for w in (case.w, own)]
    largest = dual_optimum(case, False, quadratic, capped=capped)
    return both(*weak, agree(primal_optimum(case, patmat=False), largest))


def agree(primal_value: Fraction, dual_value: Fraction | float) -> Outcome:
    """Compare the two values of feasible points, between which both optimal values lie."""
    return equal(float(primal_value), float(dual_value), allowed=SOLVED)


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
    not_proved=TWO_SOLVES,
    library=Library(("fwlab.ranking.solve",), partial(optimum_of_fwlab, patmat=True)),
)
def patmat_duality(case: Case, quadratic: float = 1, budget: float = 1) -> Outcome:
    """Check weak duality as for TopPushK; a sufficiently high threshold makes any w feasible."""
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
    largest = try_dual(case, quadratic, budget)
    return both(*weak, agree(primal_optimum(case, patmat=True), largest))


def try_dual(case: Case, quadratic: float, budget: float) -> Fraction | float:
    """Return the largest value of (12), infinite if a wrong sign of the budget allows it."""
    return math.inf if budget < 0 else dual_optimum(case, True, quadratic, budget)
