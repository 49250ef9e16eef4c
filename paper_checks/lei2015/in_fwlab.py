"""Compare fwlab with LP15: norms, dual values, gaps, and the repaired Algorithm 1."""

import math
from collections.abc import Iterator

import numpy as np

import fwlab
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Outcome
from paper_checks.lei2015.machine import HalfSquaredNorm, Machine, as_problem, machines
from paper_checks.lei2015.norms import dual_exponent
from paper_checks.outcomes import at_most, both, equal, same_optimum


def dual(case: Case) -> Outcome:
    """Compare fwlab's dual value, norms and optimal machines with the conic program."""
    machine: Machine = case.machine
    norm, scale = HalfSquaredNorm(case.p), machine.C * len(machine.y)
    problem = as_problem(machine, case.p)
    most, alpha = machine.dual_optimum(norm)
    found = solved(problem)
    ends = scale * problem.dual(found.A), scale * problem.primal(found.W)
    return both(
        equal(scale * problem.dual(alpha / machine.C), machine.dual(alpha, norm)),
        same_optimum(ends, most),
        same_optimum((scale * found.dual, scale * found.primal), most),
    )


def small_machines(rng: Rng, deep: bool) -> Iterator[Case]:
    for p in (1.0, 1.2, 2.0, 3.0):
        for machine in machines(rng, 2):
            yield Case(kind=f"p = {p:g}", p=p, machine=machine)


def representer(case: Case) -> Outcome:
    """Compare fwlab's map and norms, against the Lagrangian by definition."""
    regularizer, norm, u = fwlab.LpNorm(case.p), HalfSquaredNorm(case.p), case.u
    w = regularizer.representer(u)
    least = -norm.conjugate(u)
    return both(
        equal(norm.value(w) - float((w * u).sum()), least),
        equal(regularizer.value(u), norm.value(u)),
        equal(-regularizer.conjugate(u), least),
    )


def runs(ps: tuple[float, ...], more: list[Machine], rng: Rng) -> Iterator[Case]:
    """Yield small problems, with an interval that holds the minimum of (P)."""
    for p in ps:
        for machine in [*machines(rng, 2), *more]:
            least = machine.optimum(HalfSquaredNorm(p))
            yield Case(kind=f"p = {p:g}", p=p, machine=machine, least=least)


def alternation(case: Case) -> Outcome:
    """Check that the repaired Algorithm 1 of fwlab reaches the minimum of (P)."""
    machine: Machine = case.machine
    found = solved(as_problem(machine, case.p))
    W, alpha = np.asarray(found.W), machine.feasible(machine.C * np.asarray(found.A))
    ends = machine.between(W, alpha, HalfSquaredNorm(case.p))
    return both(same_optimum(ends, case.least), class_weights(case, W))


def solved(problem: fwlab.Problem) -> fwlab.Result:
    """Return the result of fwlab's Algorithm 1, whose passes solve (11) approximately."""
    return fwlab.solve(problem, "alternate", tol=1e-8, relative=True, max_iter=3000)


def class_weights(case: Case, W: np.ndarray) -> Outcome:
    """Compare the class weights of fwlab with (14) for p < 2, with Theorem 12 from p = 2 on."""
    regularizer, squares = fwlab.LpNorm(case.p), (W * W).sum(axis=1) + 1e-3
    if case.p >= 2:
        s = dual_exponent(case.p)
        stated = squares ** (s / 2 - 1) * (squares ** (s / 2)).sum() ** (2 / s - 1)
        return equal(regularizer.class_weights(squares), stated)
    sums = (squares ** (case.p / 2)).sum()
    stated = squares ** (1 - case.p / 2) * sums ** ((case.p - 2) / case.p)
    return equal(regularizer.optimal_class_weights(squares, 0.0), stated)


def gap(case: Case) -> Outcome:
    """Check that fwlab's gap after two passes, times C n, is the gap of (P) and (7).

    It must also be at least the excess.
    """
    machine, norm = case.machine, HalfSquaredNorm(case.p)
    problem = as_problem(machine, case.p)
    found = fwlab.solve(problem, "alternate", tol=0.0, max_iter=2)
    W = np.asarray(found.W)
    scale = machine.C * len(machine.y)
    ours = scale * (problem.primal(W) - problem.dual(found.A))
    stated = machine.primal(W, norm) - machine.dual(machine.C * found.A, norm)
    excess = machine.primal(W, norm) - case.least[1]
    return both(equal(ours, stated), at_most(excess, stated))


DELTA = 0.5


def last_term(n: int, delta: float = DELTA) -> float:
    """Return 3 sqrt(log(2/delta)/(2n)), for losses of at most 1."""
    return 3 * math.sqrt(math.log(2 / delta) / (2 * n))


def theorem_5(case: Case) -> Outcome:
    """Compare fwlab's bound with the terms of Theorem 5, at each sample's complexity E sup / n."""
    n, L, delta = case.n, case.L, case.delta
    bounds = [fwlab.bounds.theorem_5(0.0, n * x, n, delta, L) for x in case.samples[:, 2]]
    terms = 2 * math.sqrt(2 * math.pi) * L * case.samples[:, 2] + last_term(n, delta)
    return equal(np.array(bounds), terms)


def theorem_7(case: Case) -> Outcome:
    """Compare fwlab's bound against the term of Theorem 7, with Lambda = 1/2 and n = 1."""
    stated = fwlab.bounds.theorem_7(0.0, case.squares, 0.5, case.beta, 1, DELTA)
    return equal(stated, 4 * math.sqrt(math.pi / 2 * case.squares / case.beta) + last_term(1))


def earlier_bound(case: Case) -> Outcome:
    """Check that fwlab's bound of Remark 6 covers the cases that it must cover."""
    n, complexity = case.n, float(case.complexity)
    stated = fwlab.bounds.earlier_rademacher_bound(0.0, complexity, case.c, n, DELTA)
    term = stated - last_term(n)
    return both(at_most(float(case.needed), term), equal(term, 4 * case.c * complexity))


def class_size_independent(case: Case) -> Outcome:
    """Compare fwlab's bound (6), where the least regularised loss is 1."""
    stated = fwlab.bounds.class_size_independent_bound(1.0, 4.0, float(case.lam), case.n)
    return equal(stated, 1 + 8 / (float(case.lam) * case.n))
