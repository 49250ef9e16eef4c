"""Run Algorithm 3.1 of M20 for the quadratic Pat&Mat from the start of the authors' program.

The program (ClassificationOnTop_nonlinear.jl, commit b47a009, src/PatMat.jl and src/projections.jl)
draws alpha and beta uniformly, sets delta by M20 (32) from this beta, and then projects alpha and
beta to equal sums. By Theorem C.1 a loop changes the square of delta together with the squares of
beta, so that offset = delta^2 - curvature / (2 n tau) sum_j beta_j^2

keeps its first value. By (32) it should be 0. The loops therefore stop where the gap is not 0, as
in Figure 3; with a negative offset delta can even end at 0, where the dual is -inf. From the same
point, with delta set by (32) again, they reach the optimum. With PatMat(over="all") the problem is
also the program's.
"""

import numpy as np
from scipy.optimize import brentq

from figures.kit.readings import Program
from fwlab.arrays import Floats
from fwlab.ranking.pairwise import Pairwise, best_delta, repeat_loop
from fwlab.ranking.problem import Point, Problem
from fwlab.ranking.state import State

LEAST_DELTA = 1e-4  # of the program's projection
DELTA_FIRST = Program(
    "VaclavMacha/ClassificationOnTop_nonlinear.jl b47a009 src/PatMat.jl",
    "M20 (32), delta of the same beta",
)
CHECKS = 12
# stands for an infinite gap, which JSON does not hold
LARGEST_GAP = 1e9


def first_point(problem: Problem, rng: np.random.Generator) -> Point:
    """Return the program's start, whose delta is computed from beta before the projection."""
    drawn = rng.random(problem.n_positive), rng.random(problem.n_counted)
    delta = max(delta_by_32(problem, drawn[1]), LEAST_DELTA)
    return Point(*with_equal_sums(*drawn), delta)


def delta_by_32(problem: Problem, beta: Floats) -> float:
    """Return the best delta for beta.

    Raises TypeError unless the objective is the quadratic Pat&Mat.
    """
    delta = best_delta(problem, beta)
    if delta is None or problem.loss.power != 2:
        raise TypeError(f"objective must be PatMat, quadratic; got {problem.objective!r}.")
    return delta


def with_equal_sums(alpha: Floats, beta: Floats) -> tuple[Floats, Floats]:
    """Return the nearest non-negative alpha and beta with equal sums, for non-negative ones.

    They are (alpha - shift)_+ and (beta + shift)_+, whose sums are equal at exactly one shift.
    """

    def excess(shift: float) -> float:
        return float(np.maximum(alpha - shift, 0).sum() - np.maximum(beta + shift, 0).sum())

    shift = brentq(excess, -float(beta.max()), float(alpha.max()), xtol=1e-15)
    alpha, beta = np.maximum(alpha - shift, 0), np.maximum(beta + shift, 0)
    return alpha, beta * (alpha.sum() / beta.sum())


def with_delta_again(problem: Problem, point: Point) -> Point:
    """Return the point with delta set by (32) from its beta."""
    return Point(point.alpha, point.beta, delta_by_32(problem, point.beta))


def offset_of(problem: Problem, point: Point) -> float:
    """Return the square of delta less its value by (32)."""
    return point.r**2 - delta_by_32(problem, point.beta) ** 2


def after_loops(
    problem: Problem, point: Point, loops: int, rng: np.random.Generator, offset: float
) -> Point:
    """Return the point after repeat loops, each of which keeps this offset of delta."""
    state = State(problem, Point(point.alpha, point.beta, point.delta), rng)
    workspace = Pairwise().start(state)
    for k in rng.integers(0, len(workspace.z), loops):
        repeat_loop(int(k), state, workspace)
        best = delta_by_32(problem, state.point.beta)
        state.point.delta = float(np.sqrt(max(0.0, offset + best**2)))
    return state.point


def relative_gap(problem: Problem, point: Point) -> float:
    """Return the gap as a share of the larger of |P| and |D|; inf where D is -inf."""
    found = problem.estimate(point)
    if found.gap == np.inf:
        return float(np.inf)
    return float(found.gap / max(abs(found.primal), abs(found.dual)))


def gaps(problem: Problem, loops: int, rng: np.random.Generator) -> dict[str, float]:
    """Return relative gaps after loops as in the program, and after more loops with delta reset."""
    start = first_point(problem, rng)
    stuck = after_loops(problem, start, loops, rng, offset_of(problem, start))
    again = with_delta_again(problem, stuck)
    mended = after_loops(problem, again, loops, rng, 0.0)
    return {
        "as the program": relative_gap(problem, stuck),
        "delta set again": relative_gap(problem, mended),
    }


def gaps_along(
    problem: Problem, loops: int, rng: np.random.Generator, checks: int = CHECKS
) -> dict[str, list[float]]:
    """Return relative gaps along the loops of the program, then with delta set by (32) again.

    The first `checks` entries are the program's; the rest follow from there as the control.
    """
    point = first_point(problem, rng)
    offset, step = offset_of(problem, point), loops // checks
    found: dict[str, list[float]] = {"loops": [], "gap": []}
    for check in range(2 * checks):
        if check == checks:
            point = with_delta_again(problem, point)
            offset = 0.0
        point = after_loops(problem, point, step, rng, offset)
        found["loops"].append(step * (check + 1))
        found["gap"].append(min(relative_gap(problem, point), LARGEST_GAP))
    return found
