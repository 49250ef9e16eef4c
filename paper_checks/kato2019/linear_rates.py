"""Check the linear rate of Frank-Wolfe (K19 5, 6, abstract) on duals where it fails for all t.

`linear_rate` tries it on the two duals of paper_checks/rate_lower_bounds.py; `linear_inside` proves
it where the optimum is inside.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import reference
from figures.exact import rate_recurrence
from paper_checks import rate_lower_bounds
from paper_checks.kato2019.exact_problems import Exact, ExactProblem, array
from paper_checks.ledger import Case, Outcome
from paper_checks.outcomes import at_most, both, truth
from reference import exact


def duals_without_linear_rate() -> Iterator[Case]:
    """Yield the duals of rate_lower_bounds.py, smoothed or not: one sample x = 1, top-1."""
    for kind, m, curvature in (("interior", 2, Fraction(1)), ("boundary", 3, Fraction(2, 3))):
        for smoothing in (Fraction(0), curvature / 2):
            lam = 1 / (curvature - smoothing)
            yield Case(kind=f"exact, {kind}", m=m, lam=lam, smoothing=smoothing)


def linear_rate(case: Case, method: str = "fw", steps: int = 6) -> Outcome:
    """State that the error of Frank-Wolfe from A = 0 on one of these duals is at most c q^t, q < 1.

    method: "fw" with exact line search, or "fw-open-loop" with the steps 2/(t+1). It is false if a
    theorem of rate_lower_bounds.py says so and the errors of the first steps, computed from K19's
    definition of D, agree with the theorem. It is true if an error is 0.
    """
    if method not in ("fw", "fw-open-loop"):
        raise ValueError(f"there is no theorem about {method!r} on these duals")
    problem = ExactProblem(array([[1]]), (0,), reference.TopK(1), case.m, case.lam, case.smoothing)
    highest = Fraction(1, 4) if case.m == 2 else Fraction(1, 2)
    errors = [highest - value for value in dual_values(problem, steps, method == "fw")]
    if method == "fw-open-loop":
        # from the third vertex the first step reaches the side that contains the optimum, and the
        # run stays there
        share = Fraction(1) if case.m == 2 else Fraction(2, 3)
        proved = rate_lower_bounds.prove_fixed_steps_are_not_linear()
        known = [share * error for error in rate_lower_bounds.fixed_step_errors(steps)]
        least = f"{share}/(t(t+1))^2 for t = 1, 2, 5, 6, 9, 10, .."
    else:
        proved = rate_lower_bounds.prove_line_search_is_not_linear()
        known = list(rate_lower_bounds.line_search_errors(steps))
        least = "1/(96 t) for all t"
    if proved and errors == known:
        first = tuple(errors[:3])
        return truth(False, highest=highest, first_errors=first, at_least=least)
    if min(errors) > 0:
        raise RuntimeError(f"no theorem says how these errors continue: {errors}")
    return truth(True, highest=highest, first_errors=tuple(errors[:3]))


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
    """Return the step in [0, 1] that maximises D along the direction, where D is a parabola."""
    bend = 2 * (problem.dual(A) + rise - problem.dual(A + direction))
    return min(Fraction(1), rise / bend) if bend else Fraction(int(rise > 0))


def linear_inside(deep: bool, method: str = "fw", **changes: Any) -> bool:
    """Return whether Frank-Wolfe is proved to converge linearly if the optimum is inside.

    The proof covers every strongly concave dual, but only exact line search, the method "fw".
    """
    return method == "fw" and not changes and rate_recurrence.prove_linear_inside()


def scaled_dual() -> Case:
    """Return 10 times the dual of rate_lower_bounds.py with the optimum inside.

    The loss and lam are multiplied by 10.
    """
    return Case(kind="exact, loss times 10", m=2, lam=Fraction(1), smoothing=Fraction(0), scale=10)


def exponential_bound(case: Case, relative: bool, share: float, method: str) -> Outcome:
    """State that the errors on the scaled dual are at most exp(-zeta t) for some zeta > 0.

    If `relative`, they are at most that times a share of the first error. It suffices that the
    first error is within the bound, as the others fall geometrically.
    """
    loss = reference.WeightedTopK((Fraction(case.scale), Fraction(0)))
    problem = ExactProblem(array([[1]]), (0,), loss, case.m, case.scale * case.lam)
    start, end = array([[0, 0]]), array([[case.scale, -case.scale]])
    best = (start + end) / 2
    if problem.slope(best, end - best) != 0:
        raise RuntimeError("the maximum of D is not in the middle")
    first = problem.dual(best) - problem.dual(start)
    bound = Fraction(share) * first if relative else Fraction(1)
    return both(at_most(first, bound), linear_rate(case, method))


def exponential_inside(
    deep: bool, relative: bool = False, share: float = 1.0, method: str = "fw"
) -> bool:
    """Return whether the errors h_t are proved to be at most h_0 exp(-zeta t), optimum inside.

    The step h_{t+1} <= q h_t with q < 1 gives h_t <= q^t h_0, and zeta = -log q > 0. Not relative:
    at most exp(-zeta t), which follows if h_0 <= 1, the row's condition.
    """
    return share >= 1 and linear_inside(deep, method)
