"""The default method on a growing set of rows, for kernel matrices that do not fit into memory.

A round solves the problem of the rows in the set, with the same K or budget, by the interior-point
method, which begins at the last round's point; zeros for the other rows make its dual point a
feasible one of the whole problem. Then the rows enter that this point does not serve: positives
with a loss, and negatives above the level from which on they raise the threshold of the set.

Why it cannot stall. If no row enters, the whole threshold is that of the set, no positive outside
has a loss, and the gap of the whole problem is that of the small one, which falls below any number
as rounds ask for more. If rows enter, the set grows, which happens at most n times.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fwlab.arrays import Floats, Integers
from fwlab.ranking.interior_point import InteriorPoint
from fwlab.ranking.problem import Point, Problem
from fwlab.ranking.start import inner_point
from fwlab.ranking.state import State
from fwlab.solvers.method import Method

FIRST = 200  # rows of each kind
GAIN = 1e-2  # the small problem's relative gap, as a share of the whole problem's
FINEST = 1e-11
# at most so many rows of a kind enter, as a share of the set: a positive's loss does not depend on
# the other ones, while one new negative can make the next one needless
POSITIVES, NEGATIVES = 1.0, 0.15
STEPS = 500


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
        certificate = problem.certificate(state.point)
        goal = max(FINEST, GAIN * min(1.0, certificate.gap / abs(certificate.primal)))
        start = restriction(problem, rows, state.point)
        small = solved(problem.restricted(rows), start, state.rng, goal)
        state.point = spread(problem, rows, small)
        enter = unserved(problem, state.point, workspace.inside)
        workspace.inside[enter] = True
        state.n_steps += 1
        state.step = float(len(rows))


def sparse_point(problem: Problem) -> Point:
    """An inner point of the problem of `first_rows`, with zeros for the other rows."""
    rows = first_rows(problem)
    return spread(problem, rows, inner_point(problem.restricted(rows)))


def first_rows(problem: Problem) -> Integers:
    """Some rows of each kind, evenly spread, with more negatives than a threshold needs."""
    p, q, rule = problem.n_positive, problem.n_negative, problem.threshold
    needed = 2 * int(rule.price if rule.free else round(1 / min(1.0, rule.cap)))
    return np.concatenate([spaced(p, FIRST), p + spaced(q, max(FIRST, needed))])


def spaced(n: int, count: int) -> Integers:
    """`count` of 0 .. n-1, evenly spread; all if there are fewer."""
    return np.unique(np.linspace(0, n - 1, min(n, count)).astype(np.int64))


def solved(problem: Problem, start: Point, rng: np.random.Generator, goal: float) -> Point:
    """The dual point of a small problem at this relative gap."""
    small, method = State(problem, start, rng), InteriorPoint()
    workspace = method.start(small)
    for _ in range(STEPS):
        certificate = problem.certificate(small.point)
        if certificate.gap <= goal * abs(certificate.primal):
            break
        method.iterate(small, workspace)
    return small.point


def restriction(problem: Problem, rows: Integers, point: Point) -> Point:
    """The part of a point that the rows hold; the other rows have zeros."""
    p = problem.n_positive
    return Point(point.alpha[rows[rows < p]], point.beta[rows[rows >= p] - p], point.delta)


def spread(problem: Problem, rows: Integers, point: Point) -> Point:
    """The point of the small problem with zeros for the other rows."""
    z = np.zeros(problem.n_positive + problem.n_negative)
    z[rows] = np.concatenate([point.alpha, point.beta])
    return Point(z[: problem.n_positive], z[problem.n_positive :], point.delta)


def unserved(problem: Problem, point: Point, inside: NDArray[np.bool_]) -> Integers:
    """The rows outside that belong into the set, of each kind the worst served ones."""
    p, most = problem.n_positive, int(inside.sum())
    positives, negatives = np.split(problem.scores(point), [p])
    in_set = negatives[inside[p:]]
    slopes = problem.loss.slope(problem.threshold.value(in_set) - positives)
    above = negatives - problem.threshold.level(in_set)
    entering = [
        largest(np.where(inside[:p], 0.0, slopes), max(1, int(POSITIVES * most))),
        p + largest(np.where(inside[p:], 0.0, above), max(1, int(NEGATIVES * most))),
    ]
    return np.concatenate(entering)


def largest(values: Floats, count: int) -> Integers:
    """Positions of the so many largest of the positive values."""
    order = np.argsort(-values)[:count]
    return order[values[order] > 0]
