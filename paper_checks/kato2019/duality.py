"""Check K19 section 2: the training problem, its dual, and what their gap bounds."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import fwlab
import reference
from paper_checks.cases import Rng, labels
from paper_checks.kato2019.exact_problems import small_problems
from paper_checks.kato2019.in_fwlab import as_floats
from paper_checks.ledger import Case, Library, Outcome, claim, version
from paper_checks.outcomes import ROUNDING, at_most, both, equal
from reference.training import Training, linear_training


def losses(rng: Rng, m: int) -> Iterator[tuple[Any, Any]]:
    """Yield every loss with a linear conjugate, as the reference's and the library's object."""
    k = int(rng.integers(1, m + 1))
    rho = sorted(rng.random(m), reverse=True)
    yield reference.TopK(k), fwlab.TopK(k)
    yield reference.WeightedTopK(rho), fwlab.WeightedTopK(rho)
    yield reference.Usunier(k), fwlab.Usunier(k)
    yield reference.MaxHinge(), fwlab.MaxHinge()
    if k < m:
        yield reference.PseudoTopK(k), fwlab.PseudoTopK(k)


def solved_problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield small problems with a dual point A and the gap expected there."""
    for _ in range(20 if deep else 5):
        n, d, m = int(rng.integers(1, 9)), int(rng.integers(1, 5)), int(rng.integers(2, 6))
        X, y, lam = rng.standard_normal((n, d)), labels(rng, n, m), float(rng.uniform(0.02, 1))
        yield from solved(rng, X, y, lam, m)


def separated_problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield problems whose least risk is far below half of the risk at W = 0."""
    for m in (2, 3, 4):
        yield from solved(rng, 4.0 * np.eye(m), np.arange(m), 0.05, m)


def solved(rng: Rng, X: np.ndarray, y: np.ndarray, lam: float, m: int) -> Iterator[Case]:
    """Yield the problem with each loss, a dual point A, and the gap expected there."""
    for loss, same in losses(rng, m):
        problem = fwlab.Problem(X, y, same, lam, n_classes=m)
        found = fwlab.solve(problem, "ascent", tol=1e-10, max_iter=20_000)
        training = linear_training(X, y, loss, lam, n_classes=m)
        point = {"training": training, "A": found.A, "gap": found.gap}
        yield Case(kind=type(loss).__name__, n=len(X), m=m, d=X.shape[1], lam=lam, **point)


def link(training: Training, A: np.ndarray, factor: float) -> np.ndarray:
    return factor * training.weights(A)


@claim(
    "K19-duality",
    "(1) (2)",
    "The maximum of the dual function equals the minimum of the regularised risk, which is "
    "attained at W(A) = X A'/(lam n) for an optimal A.",
    formula=r"\max_AD(A)=\min_WP(W),\quad W(A)=\frac{1}{\lambda n}XA^\top",
    shapes="X: (d, n); A: (m, n); W: (d, m)",
    judged="P and D are evaluated by their definitions, D by linear programs, at an A whose "
    "gap was computed to be at most 1e-10; a wrong A could only make them differ. "
    "Weak duality is tried at "
    "other points, exactly.",
    cases=lambda rng, deep: [*solved_problems(rng, deep), *small_problems(rng, deep)],
    planted=(
        version("W(A) twice as large", factor=2),
        version("W(A) with a minus sign", factor=-1),
        version("D(A) is never below P(W)", sign=-1),
    ),
    assumed="every loss is convex and finite on all of R^m, as under (1), and lam > 0; a loss that "
    "is infinite somewhere may leave a gap or a maximum that is not attained. Tried for losses "
    "with bounded effective domains, as all of the paper's are",
    not_proved="strong duality is a theorem for problems of all sizes; the optima are found in "
    "floats",
    library=Library(
        ("fwlab.Problem.dual", "fwlab.Problem.primal", "fwlab.Problem.weights"),
        lambda case: objectives_in_the_library(case),
        small_problems,
    ),
)
def strong_duality(case: Case, factor: int = 1, sign: int = 1) -> Outcome:
    if case.kind == "exact":
        problem = case.problem
        primal = problem.primal(factor * problem.weights(case.B))
        return at_most(sign * problem.dual(case.A), sign * primal)
    dual = case.training.dual(case.A)
    primal = case.training.primal(link(case.training, case.A, factor))
    return equal(dual, primal, case.gap + ROUNDING)


@claim(
    "K19-gap-certificate",
    "2",
    "The gap P(W(A)) - D(A) is at least the error of P at W(A), and it is 0 at an optimum.",
    formula=r"P(W(A))-\min_WP(W)\ \leq\ P(W(A))-D(A)",
    shapes="A: (m, n); W: (d, m)",
    judged="the minimum is known to within the gap of an optimal point; the other points lie "
    "between it and random vertices.",
    cases=lambda rng, deep: [*solved_problems(rng, deep), *separated_problems(rng, deep)],
    planted=(
        version("half the gap is enough", share=0.5),
        version("P at minus W(A)", factor=-1),
    ),
    assumed="A lies in the domain of D, else the gap is infinite; and the gap vanishes at an "
    "optimal A, not at every A with an optimal W(A)",
    not_proved="weak duality for problems of all sizes; the minimum is found in floats",
    library=Library(("fwlab.Problem.gap",), lambda case: gap_in_the_library(case), small_problems),
)
def gap_bounds_the_error(case: Case, share: float = 1.0, factor: int = 1) -> Outcome:
    training = case.training
    optimal = training.dual(case.A)  # a lower bound of the minimum, by weak duality
    found = []
    for step in (0.0, 0.5, 0.99, 1.0):
        A = step * case.A
        primal, dual = training.primal(link(training, A, factor)), training.dual(A)
        allowed = case.gap + ROUNDING
        found.append(at_most(primal - optimal, share * (primal - dual), allowed, step=step))
    return both(*found, equal(primal, dual, allowed))


def library_problem(problem: Any) -> fwlab.Problem:
    """Return fwlab's problem, in floats, for an exact problem."""
    loss = problem.loss
    weighted = isinstance(loss, reference.WeightedTopK)
    same = fwlab.WeightedTopK(as_floats(loss.rho)) if weighted else fwlab.TopK(loss.k)
    X = problem.X.astype(float)
    return fwlab.Problem(
        X,
        np.array(problem.y),
        same,
        float(problem.lam),
        n_classes=problem.m,
        smoothing=float(problem.smoothing),
    )


def objectives_in_the_library(case: Case) -> Outcome:
    """Compare fwlab's link, P and D with the exact ones."""
    problem, ours = case.problem, library_problem(case.problem)
    A, W = case.A.astype(float), problem.weights(case.A)
    return both(
        equal(ours.weights(A), W.astype(float)),
        equal(ours.primal(W.astype(float)), float(problem.primal(W))),
        equal(ours.dual(A), float(problem.dual(case.A))),
    )


def gap_in_the_library(case: Case) -> Outcome:
    """Compare fwlab's gap at A with the exact one."""
    problem = case.problem
    gap = problem.primal(problem.weights(case.A)) - problem.dual(case.A)
    return equal(library_problem(problem).gap(case.A.astype(float)), float(gap))
