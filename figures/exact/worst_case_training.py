"""Find the one-sample training problem on which Frank-Wolfe with given steps is slowest.

This is the primal side of performance_estimation.py for quadratics. The products of the vertices
and the slopes there are the unknowns of a semidefinite program, whose solution is a training
problem of slow_training.py. It is rounded to fractions, and an exact run decides.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import cvxpy as cp
import numpy as np

from figures.exact.performance_estimation import Steps, open_loop_steps, solve
from figures.exact.slow_training import Training, far_start, is_counterexample

# decimals of the features and costs; the first number that gives a counterexample is used
DECIMALS = (1, 2, 3, 4, 5)
# eigenvalues of the products below this are rounding errors of the solver
SMALL = 1e-6


def refute(steps: Sequence[Fraction], bound: Fraction) -> Training | None:
    """Return a training problem whose error after these steps is above bound * curvature.

    Returns None if none was found; then performance_estimation.prove may prove the bound.
    """
    steps = tuple(steps)
    if steps[0] != 1:
        found = far_start(steps, bound)
        return found if found and is_counterexample(found, steps, bound) else None
    for decimals in DECIMALS:
        problem = slowest(steps, lead=2 * 0.1**decimals)
        training = rounded(*problem, decimals) if problem else None
        if training and is_counterexample(training, steps, bound):
            return training
    return None


def refute_open_loop(
    t: int,
    numerator: Fraction | int = 2,
    offset: Fraction | int = 1,
    constant: Fraction | int = 2,
    shift: Fraction | int = 2,
) -> Training | None:
    """Return a training problem that refutes the bound of open-loop steps, or None.

    The steps numerator/(i + offset), i = 1 .. t, leave an error above
    constant * curvature/(t + shift).
    """
    steps = open_loop_steps(t, numerator, offset)
    return refute(steps, Fraction(constant) / (t + shift))


def slowest(steps: Steps, lead: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the vertices x_0, s_0, .., s_{t-1}, x* and the slopes there of the slowest problem.

    The problem is |x - x*|^2/2 + <g*, x - x*> on the hull of the vertices, of diameter 1; the
    slopes are <g*, v - x*>. The unknowns are the products of the v - x* and the slopes. The vertex
    that Frank-Wolfe chooses is better than the others by `lead`, so rounding does not change the
    choice. Returns None if there is no such problem.
    """
    t = len(steps)
    unit = np.eye(t + 2)[: t + 1]  # x_0, s_0, ..; the last coordinate belongs to x* = 0
    vertices = np.vstack([unit, np.zeros(t + 2)])[:, : t + 1]
    products = cp.Variable((t + 1, t + 1), PSD=True)
    slopes = cp.hstack([cp.Variable(t + 1, nonneg=True), np.zeros(1)])

    point, weights, constraints = vertices[0], np.eye(t + 2)[0], []
    for i, step in enumerate(map(float, steps)):
        ascent = vertices @ (products @ point) + slopes
        others = [v for v in range(t + 2) if v != i + 1]
        constraints.append(ascent[others] >= ascent[i + 1] + lead)
        point = (1 - step) * point + step * vertices[i + 1]
        weights = (1 - step) * weights + step * np.eye(t + 2)[i + 1]
    for u, v in combinations(range(t + 2), 2):
        apart = vertices[u] - vertices[v]
        constraints.append(apart @ products @ apart <= 1)
    last = point @ products @ point / 2 + weights @ slopes
    solve(cp.Problem(cp.Maximize(last), constraints))
    if products.value is None:
        return None
    values, directions = np.linalg.eigh(products.value)
    kept = values > SMALL
    factors = directions[:, kept] * np.sqrt(values[kept])
    return vertices @ factors, np.asarray(slopes.value)


def rounded(vertices: np.ndarray, slopes: np.ndarray, decimals: int) -> Training:
    """Return the training problem of these vertices, moved so that x_0 is 0, with rounded numbers.

    Moving x_0 to 0 makes -D = |b|^2/2 + <x_0 - x*, b> + slope. The costs of all other classes
    are then raised until the true class, the start, is the worst vertex at any point.
    """
    features = vertices - vertices[0]
    costs = -(features @ vertices[0]) - slopes
    costs[1:] += 2 - costs[1:].min()
    costs[0] = 0
    unit = 10**decimals
    exact = [[Fraction(round(x * unit), unit) for x in row] for row in [*features, costs]]
    return Training(tuple(map(tuple, exact[:-1])), tuple(exact[-1]))
