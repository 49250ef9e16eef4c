"""Run the default method on a growing set of rows, if the kernel matrix does not fit into memory.

A round solves the problem of the rows in the set, with the same K or budget, by the interior-point
method, which starts at the last round's point. With zeros for the other rows, the dual point of
this small problem is feasible for the whole problem. Then all rows that this point does not serve
enter the set: positives with a loss, and counted rows above the level at which they raise the
threshold. A positive that counts can enter as either of the two, or as both.

The method cannot stall. If no row enters, the set has the threshold of all rows and no positive
outside has a loss. The whole problem then has the gap of the small one, which falls below any
number because each round asks for a smaller gap. If rows enter, the set grows, which happens at
most n times.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fwlab.arrays import Floats, Integers
from fwlab.ranking import rounding
from fwlab.ranking.interior_point import InteriorPoint
from fwlab.ranking.problem import Point, Problem
from fwlab.ranking.start import central_point
from fwlab.ranking.state import State
from fwlab.solvers.method import Method

FIRST = 200  # rows of each kind
GAIN = 1e-2  # the small problem's relative gap, as a share of the whole problem's
FINEST = 1e-11
# the largest number of rows of each kind that enter, as a share of the set: the loss of a positive
# does not depend on other positives, while one new counted row can make the next one unnecessary
POSITIVES, COUNTED = 1.0, 0.15
STEPS = 500
STEPS_BETWEEN = 25  # after this number of steps, rounding errors may keep the gap from the goal


@dataclass(eq=False)
class Workspace:
    """The rows in the set, among the problem's rows with the positives first."""

    inside: NDArray[np.bool_]


@dataclass(frozen=True)
class WorkingSet(Method):
    """One iteration is one round."""

    sentence = "The same on a growing set of rows, for large n."

    def start(self, state: State) -> Workspace:
        inside = np.concatenate([state.point.alpha, state.point.beta]) > 0
        inside[first_rows(state.problem)] = True
        return Workspace(inside)

    def iterate(self, state: State, workspace: Workspace) -> None:
        problem = state.problem
        rows = np.flatnonzero(workspace.inside)
        certificate = problem.estimate(state.point)
        goal = max(FINEST, GAIN * min(1.0, certificate.gap / abs(certificate.primal)))
        start = restriction(problem, rows, state.point)
        small = solved(problem.restricted(rows), start, state.rng, goal)
        moved = spread(problem, rows, small)
        if problem.is_feasible(moved):  # rounding may take it across a bound
            state.point = moved
        enter = unserved(problem, state.point, workspace.inside)
        workspace.inside[enter] = True
        state.n_steps += 1
        state.step = float(len(rows))


def sparse_point(problem: Problem) -> Point:
    """Return an inner point of the problem of `first_rows`, with zeros for the other rows."""
    rows = first_rows(problem)
    return spread(problem, rows, central_point(problem.restricted(rows)))


def first_rows(problem: Problem) -> Integers:
    """Return rows of each kind, evenly spread, with more counted rows than a threshold needs."""
    p, q, rule = problem.n_positive, problem.n_counted, problem.threshold
    needed = 2 * int(rule.price if rule.free else round(1 / min(1.0, rule.cap)))
    return np.concatenate([spaced(p, FIRST), p + spaced(q, max(FIRST, needed))])


def spaced(n: int, count: int) -> Integers:
    """Return `count` of the numbers 0 .. n-1, evenly spread; all of them if n <= count."""
    return np.unique(np.linspace(0, n - 1, min(n, count)).astype(np.int64))


def solved(problem: Problem, start: Point, rng: np.random.Generator, goal: float) -> Point:
    """Return a dual point of a small problem with this relative gap.

    Parameters
    ----------
    problem : Problem
        The problem of the rows in the set.
    start : Point
        The start of the interior-point method.
    rng : numpy.random.Generator
        The generator of the state.
    goal : float
        The relative gap.

    Returns
    -------
    Point
        The last point. Its gap exceeds the goal if STEPS steps miss it or rounding hides it.

    """
    small, method = State(problem, start, rng), InteriorPoint()
    workspace = method.start(small)
    for count in range(1, STEPS + 1):
        certificate = problem.estimate(small.point)
        if certificate.gap <= goal * abs(certificate.primal):
            break
        if count % STEPS_BETWEEN == 0:
            certificate = rounding.certificate(problem, small.point)
            if certificate.gap <= certificate.gap_error:
                break
        method.iterate(small, workspace)
        if small.step == 0:
            break
    return small.point


def restriction(problem: Problem, rows: Integers, point: Point) -> Point:
    """Return the part of a point that belongs to these rows; the others must have zeros."""
    p = problem.n_positive
    return Point(point.alpha[rows[rows < p]], point.beta[rows[rows >= p] - p], point.delta)


def spread(problem: Problem, rows: Integers, point: Point) -> Point:
    """Return the point of the small problem with zeros for the other rows."""
    z = np.zeros(problem.n_positive + problem.n_counted)
    z[rows] = np.concatenate([point.alpha, point.beta])
    return Point(z[: problem.n_positive], z[problem.n_positive :], point.delta)


def unserved(problem: Problem, point: Point, inside: NDArray[np.bool_]) -> Integers:
    """Return the rows that enter the set: of each kind, the rows that the point serves worst."""
    p, most = problem.n_positive, int(inside.sum())
    positives, counted = np.split(problem.scores(point), [p])
    in_set = counted[inside[p:]]
    slopes = problem.loss.slope(problem.threshold.value(in_set) - positives)
    above = counted - problem.threshold.level(in_set)
    entering = [
        largest(np.where(inside[:p], 0.0, slopes), max(1, int(POSITIVES * most))),
        p + largest(np.where(inside[p:], 0.0, above), max(1, int(COUNTED * most))),
    ]
    return np.concatenate(entering)


def largest(values: Floats, count: int) -> Integers:
    """Return the positions of the `count` largest values, without values that are not positive."""
    order = np.argsort(-values)[:count]
    return order[values[order] > 0]
