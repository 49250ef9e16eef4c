"""Compare fwlab.ranking on the small exact problems of M20: dual values, pairs and delta."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import fwlab
from fwlab.kernels.steps import ranking_pairs
from fwlab.ranking import pairwise
from fwlab.ranking.problem import Point
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Form, Library, Outcome
from paper_checks.macha2020.joint import best_jointly, least_delta, with_best_delta
from paper_checks.macha2020.pairs import best_along, derivative, pair_of
from paper_checks.macha2020.problems import (
    RULES,
    kernel,
    patmat_dual,
    random_problem,
    rule_pairs,
    toppushk_dual,
)
from paper_checks.outcomes import both, equal, false, true

FEW = 8  # problems, of a few pairs each, on which a theorem's steps are compared


def objective(case: Case, patmat: bool) -> fwlab.ranking.TopPushK | fwlab.ranking.PatMat:
    """Return the objective of a problem. Raises ValueError if its budget is not allowed."""
    theta = float(case.theta)
    if not patmat:
        return fwlab.ranking.TopPushK(case.K, case.surrogate, theta)
    tau = float(case.budget / (len(case.positives) + len(case.negatives)))
    return fwlab.ranking.PatMat(tau, case.surrogate, theta, float(case.theta2))


def allowed(case: Case) -> bool:
    """Return whether fwlab accepts the budget, which must be at most the number of negatives."""
    return bool(case.budget <= len(case.negatives))


def problem_of(case: Case, patmat: bool) -> fwlab.ranking.Problem:
    X = np.vstack([case.positives, case.negatives]).astype(float)
    y = np.repeat([1, 0], [len(case.positives), len(case.negatives)])
    return fwlab.ranking.Problem(X, y, objective(case, patmat), float(case.C))


def solved(case: Case, patmat: bool, **options: Any) -> fwlab.ranking.Result:
    """Return fwlab's solution of a problem."""
    X = np.vstack([case.positives, case.negatives]).astype(float)
    y = np.repeat([1, 0], [len(case.positives), len(case.negatives)])
    options = {"tol": 1e-8, **options}
    return fwlab.ranking.solve(X, y, objective(case, patmat), float(case.C), **options)


def point_of(case: Case, patmat: bool) -> Point:
    alpha, beta = (np.asarray(z, float) for z in (case.alpha, case.beta))
    return Point(alpha, beta, float(case.delta) if patmat else None)


# ---------------------------------------------------------------- pairs


def problems(surrogate: str, patmat: bool, rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield problems that fwlab accepts, at feasible points with delta > 0."""
    left = 4 * FEW if deep else FEW
    while left:
        case = random_problem(rng, surrogate)
        case.delta = least_delta(case) if surrogate == "hinge" else Fraction(1, 3)
        if allowed(case) and any(case.beta):
            left -= 1
            yield case


def best_pairs(case: Case, patmat: bool) -> Outcome:
    """Check that fwlab's best pair of each coordinate has the gain of the exact best one."""
    point, K, p = point_of(case, patmat), kernel(case).astype(float), len(case.alpha)
    dual = pairwise.dual_at(problem_of(case, patmat), point)
    z = np.concatenate([point.alpha, point.beta])
    exact, outcomes = exact_gains(case, patmat), []
    for k in range(len(z)):
        column, total = np.ascontiguousarray(K[k]), float(point.alpha.sum())
        found = ranking_pairs.best_pair(k, column, np.diag(K).copy(), K @ z, z, p, dual, total)
        partner, step, gain = found
        outcomes.append(equal(gain, exact[k], k=k))
        if not -1 <= partner < len(z):
            return false(k=k, partner=partner)
        if partner >= 0 and not joint(case, patmat):
            i, j = min(k, partner), max(k, partner)
            pair = pair_of(case, RULES[(i >= p) + (j >= p)], i, j)
            mean = (derivative(pair, 0, patmat) + derivative(pair, Fraction(step), patmat)) / 2
            outcomes.append(equal(float(mean) * step, exact[k], k=k, partner=partner))
    return both(*outcomes)


def joint(case: Case, patmat: bool) -> bool:
    """Return whether delta moves with a pair, as in Theorem D.2."""
    return patmat and case.surrogate == "hinge"


def exact_gains(case: Case, patmat: bool) -> list[float]:
    """Return the largest gain of the pairs with each coordinate."""
    gains = [Fraction(0)] * (len(case.alpha) + len(case.beta))
    moves_delta = joint(case, patmat)
    dual = with_best_delta if moves_delta else (patmat_dual if patmat else toppushk_dual)
    along = best_jointly if moves_delta else partial(best_along, patmat=patmat)
    here = dual(case)
    for rule in RULES:
        for k, other in rule_pairs(case, rule):
            if k < other:
                gain = along(case, k, other)[1] - here
                gains[k], gains[other] = max(gains[k], gain), max(gains[other], gain)
    return [float(gain) for gain in gains]


def library_of_pairs(surrogate: str, patmat: bool = False) -> Library:
    """Return the form that compares fwlab's pair steps with the exact ones."""
    names = ("fwlab.kernels.steps.ranking_pairs.best_pair", "fwlab.ranking.pairwise.dual_at")
    form: Form = partial(best_pairs, patmat=patmat)
    return Library(names, form, partial(problems, surrogate, patmat))


# ---------------------------------------------------------------- dual values


def dual_of_fwlab(case: Case, duals: Callable[[Case], dict[bool, Fraction]]) -> Outcome:
    """Check that fwlab's dual values are the exact ones.

    `duals` gives the exact values for TopPushK and Pat&Mat.
    """
    outcomes = []
    for patmat, value in duals(case).items():
        if patmat and not allowed(case):
            continue
        found = problem_of(case, patmat).dual(point_of(case, patmat))
        outcomes.append(equal(found, float(value)))
    return both(true(), *outcomes)
