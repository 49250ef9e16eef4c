"""The rates of Frank-Wolfe as the ledger tries and proves them: forms, cases, theorems.

`guarantee` is T20 3.1's bound for fixed steps, tried in fractions. Its planted versions fail on
`slow_trainings`; it is proved for all t by `guaranteed_for_all_steps`, and for the first steps,
with the smaller constant of the worst case, by `guaranteed_for_first_steps`.

`linear_rate` tries K19 5's linear rate on the two duals of rate_lower_bounds.py, where it fails;
`linear_inside` proves it where the optimum is inside.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

import reference
from paper_checks import rate_lower_bounds, rate_recurrence
from paper_checks.cases import Rng
from paper_checks.kato2019.exact_problems import Exact, ExactProblem, array
from paper_checks.ledger import Case, Outcome
from paper_checks.outcomes import at_most, both, truth
from paper_checks.performance_estimation import open_loop_steps, prove_open_loop, solve
from paper_checks.rate_own_norm import DualPoint, OwnNorm, case_of, of_training
from paper_checks.tajima2020.programs import trainings
from paper_checks.worst_case_training import refute_open_loop
from reference import exact

Number = Fraction | int
FIRST_STEPS = 10  # of the semidefinite programs in a quick run: about a second
DEEP_STEPS = 20
# shares of the worst case that the constant of the guarantee is compared with
CONSTANTS = (Fraction(1), Fraction(3, 4))


# --- T20 3.1: fixed steps ------------------------------------------------------------------------


def guarantee(
    case: Case,
    numerator: Number = 2,
    offset: Number = 1,
    constant: Number = 2,
    shift: Number = 2,
) -> Outcome:
    """max D - D(A_t) <= constant C/(t + shift), t = 1 .. case.steps, for Frank-Wolfe with the steps
    numerator/(t + offset) from each sample's first vertex.

    Exact; but max D is the value at a rational point near the optimum, a little less.
    """
    dual = of_training(case)
    highest, bound = dual.dual(near_optimum(dual)), constant * dual.curvature()
    iterates, _ = dual.run(open_loop_steps(case.steps, numerator, offset))
    return both(
        *(
            at_most(highest - dual.dual(A), bound / (t + shift), t=t)
            for t, A in enumerate(iterates[1:], 1)
        )
    )


def near_optimum(dual: OwnNorm, denominator: int = 1000) -> DualPoint:
    """Return a feasible point near the maximum of D, from a solver's weights, rounded."""
    weights = [cp.Variable(len(row), nonneg=True) for row in dual.rows]
    pairs = [
        (part[j], vertex)
        for row, part in zip(dual.rows, weights, strict=True)
        for j, vertex in enumerate(row)
    ]
    size = np.sqrt(dual.metric.astype(float))
    vector = sum((x * (size * v.vector.astype(float)) for x, v in pairs), np.zeros(len(size)))
    offset = sum(x * float(v.offset) for x, v in pairs)
    objective = cp.Maximize(offset - cp.sum_squares(vector) / 2)
    solve(cp.Problem(objective, [cp.sum(part) == 1 for part in weights]))
    shares = []
    for part in weights:
        rounded = [Fraction(round(max(x, 0.0) * denominator)) for x in np.asarray(part.value)]
        shares.append([x / sum(rounded) for x in rounded])
    return dual.mixture(shares)


def slow_trainings(rng: Rng, deep: bool) -> Iterator[Case]:
    """Small training problems, and those on which the error is above C/(t + 2) or 3/4 of it."""
    for case in trainings(rng, deep):
        if len(case.y) <= 2 and len(case.features[0]) <= 3:
            yield Case(**{**vars(case), "kind": f"random, {case.kind}", "steps": 12})
    for constant, steps in zip(CONSTANTS, ((1, 2, 3), (5, 10)), strict=True):
        for t in steps:
            slow = refute_open_loop(t, constant=constant)
            if slow is not None:
                yield Case(**{**vars(case_of(slow)), "steps": t})


def guaranteed_for_all_steps(
    deep: bool,
    numerator: Number = 2,
    offset: Number = 1,
    constant: Number = 2,
    shift: Number = 2,
) -> bool:
    """Return whether the guarantee is proved for every data set, of every size, and all t."""
    return rate_recurrence.prove_for_all_steps(numerator, offset, constant, shift)


def guaranteed_for_first_steps(
    deep: bool,
    numerator: Number = 2,
    offset: Number = 1,
    constant: Number = 2,
    shift: Number = 2,
    functions: str = "quadratic",
) -> bool:
    """Return whether the guarantee is proved for every data set, of every size, and the first
    FIRST_STEPS steps (DEEP_STEPS if deep), by certificates.

    functions: "smooth" proves it for every smooth convex function over every set.
    """
    return all(
        prove_open_loop(t, numerator, offset, constant, shift, functions)
        for t in range(1, (DEEP_STEPS if deep else FIRST_STEPS) + 1)
    )


# --- K19 5, 6 and abstract: linear rates ---------------------------------------------------------


def duals_without_linear_rate() -> Iterator[Case]:
    """The duals of rate_lower_bounds.py, with and without smoothing: one sample x = 1, top-1."""
    for kind, m, curvature in (("interior", 2, Fraction(1)), ("boundary", 3, Fraction(2, 3))):
        for smoothing in (Fraction(0), curvature / 2):
            lam = 1 / (curvature - smoothing)
            yield Case(kind=f"exact, {kind}", m=m, lam=lam, smoothing=smoothing)


def linear_rate(case: Case, method: str = "fw", steps: int = 6) -> Outcome:
    """The error of Frank-Wolfe from A = 0 on one of these duals is at most c q^t, q < 1.

    method: "fw" with exact line search, or "fw-open-loop" with the steps 2/(t+1). It is false where
    a theorem of rate_lower_bounds.py says so, and the errors of the first steps, by K19's
    definition of D, are those of the theorem. It is true where an error is 0.
    """
    if method not in ("fw", "fw-open-loop"):
        raise ValueError(f"there is no theorem about {method!r} on these duals")
    problem = ExactProblem(array([[1]]), (0,), reference.TopK(1), case.m, case.lam, case.smoothing)
    highest = Fraction(1, 4) if case.m == 2 else Fraction(1, 2)
    errors = [highest - value for value in dual_values(problem, steps, method == "fw")]
    if method == "fw-open-loop":
        # from the third vertex the first step goes to the side that has the optimum, and stays
        share = Fraction(1) if case.m == 2 else Fraction(2, 3)
        proved = rate_lower_bounds.prove_fixed_steps_are_not_linear()
        known = [share * error for error in rate_lower_bounds.fixed_step_errors(steps)]
        least = f"{share}/(t(t+1))^2 for t = 1, 2, 5, 6, 9, 10, .."
    else:
        proved = rate_lower_bounds.prove_line_search_is_not_linear()
        known = list(rate_lower_bounds.line_search_errors(steps))
        least = "1/(96 t) for all t"
    if proved and errors == known:
        return truth(False, highest=highest, errors=tuple(errors), at_least=least)
    if min(errors) > 0:
        raise RuntimeError(f"no theorem says how these errors go on: {errors}")
    return truth(True, highest=highest, errors=tuple(errors))


def dual_values(problem: ExactProblem, steps: int, line_search: bool) -> Iterator[Fraction]:
    """Yield D(A_1), D(A_2), .. from A = 0 for one sample; ties go to the first vertex."""
    A = array([[0] * problem.m])
    slopes = sorted(exact.pieces(problem.loss, problem.m, problem.y[0]))
    vertices = [array([[-x for x in slope]]) for slope in slopes]
    for t in range(1, steps + 1):
        rises = [problem.slope(A, vertex - A) for vertex in vertices]
        rise = max(rises)
        direction = vertices[rises.index(rise)] - A
        step = best_step(problem, A, direction, rise) if line_search else Fraction(2, t + 1)
        A = A + step * direction
        yield Fraction(problem.dual(A))


def best_step(problem: ExactProblem, A: Exact, direction: Exact, rise: Fraction) -> Any:
    """Return the step in [0, 1] where D is largest; D(A + step direction) is a parabola."""
    bend = 2 * (problem.dual(A) + rise - problem.dual(A + direction))
    return min(Fraction(1), rise / bend) if bend else Fraction(int(rise > 0))


def linear_inside(deep: bool, method: str = "fw", **changes: Any) -> bool:
    """Return whether Frank-Wolfe is proved to converge linearly on every strongly concave dual
    whose optimum is inside: only with exact line search, the method "fw"."""
    return method == "fw" and not changes and rate_recurrence.prove_linear_inside()
