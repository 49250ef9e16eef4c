"""Away-step and pairwise Frank-Wolfe over whole-matrix atoms (Lacoste-Julien and Jaggi 2015).

An atom is a vertex of the product of all blocks' domains, as K19 ran these methods. With U the
LMO's vertex at the gradient and V the atom of the active set that the gradient likes least:

    afw   the steeper of U - A (step at most 1) and A - V (step at most w / (1 - w), w the weight
          of V);
    pfw   U - V (step at most w).

The step is the exact maximiser of the dual; at its limit V leaves the active set.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats
from fwlab.kernels.steps.row_active_sets import NOISE, TIES
from fwlab.problem import Problem
from fwlab.solvers.atoms import ActiveSet, Vertex
from fwlab.solvers.method import Method, Needs, State

# largest relative rounding error that A may collect before it is combined again from its atoms
ROUNDING = 1e-14


@dataclass(eq=False)
class Workspace:
    """The active set, and a bound on the rounding errors since A was last combined from it."""

    active_set: ActiveSet
    rounding: float = 0.0


@dataclass(frozen=True)
class Direction:
    """From the atom at place `away` towards that at place `towards`, where None stands for A."""

    towards: int | None
    away: int | None
    slope: float
    limit: float


@dataclass(frozen=True)
class AwaySteps(Method):
    """One step for all blocks along U - A or A - V, or if pairwise along U - V."""

    pairwise: bool

    @property
    def sentence(self) -> str:
        return (
            f"{'Pairwise' if self.pairwise else 'Away-step'} Frank-Wolfe over whole-matrix atoms."
        )

    def needs(self, problem: Problem) -> Needs:
        return Needs(scores=True)

    def start(self, state: State) -> Workspace:
        state.active = 1
        return Workspace(ActiveSet.holding(state.problem, state.A))

    def iterate(self, state: State, workspace: Workspace) -> None:
        problem, active_set = state.problem, workspace.active_set
        shifted = problem.shifted_scores(state.A, state.scores)
        vertex, gradient = Vertex.lowest(problem, shifted), problem.polytopes.add_costs(shifted)
        direction = self.choose(active_set, vertex, gradient)
        del shifted, gradient
        step = _move(state, active_set, direction)
        active_set.move(direction.towards, direction.away, step, direction.limit)
        growth = 1.0
        if direction.away is None:
            growth = 1.0 - step
        elif direction.towards is None:
            growth = 1.0 + step
        workspace.rounding = growth * workspace.rounding + (1.0 + step) * np.finfo(float).eps
        if workspace.rounding > ROUNDING:
            active_set.combine(state.A)
            state.refresh()
            workspace.rounding = 0.0
        state.step = step
        state.active = len(active_set.atoms)
        state.n_steps += 1
        state.n_lmo += problem.n_samples

    def choose(self, active_set: ActiveSet, vertex: Vertex, gradient: Floats) -> Direction:
        """The direction at this gradient; the vertex enters the active set unless it is there."""
        products, lowest = active_set.products(gradient), vertex.product(gradient)
        size = max(abs(lowest), float(np.abs(products).max()))
        mean, highest = float(active_set.weights @ products), float(products.max())
        lows = np.flatnonzero(products <= lowest + TIES * size)
        towards = int(lows[0]) if len(lows) else active_set.enter(vertex)
        away = int(np.argmax(products >= highest - TIES * size))
        if self.pairwise:
            limit = float(active_set.weights[away])
            return Direction(towards, away, _positive(highest - lowest, size), limit)
        if len(products) == 1 or mean - lowest >= highest - mean - TIES * size:
            return Direction(towards, None, _positive(mean - lowest, size), 1.0)
        limit = active_set.away_limit(away)
        return Direction(None, away, _positive(highest - mean, size), limit)


def _positive(slope: float, size: float) -> float:
    """A slope that is more than rounding, else 0."""
    return slope if slope > NOISE * size else 0.0


def _move(state: State, active_set: ActiveSet, direction: Direction) -> float:
    """Change A, link and scores by the exact step, and return it."""
    problem, D, link = state.problem, *_difference(state, active_set, direction)
    slope, bend = direction.slope / problem.n_samples, problem.curvature(D, link)
    if slope <= 0.0:
        return 0.0
    step = direction.limit if slope >= direction.limit * bend else slope / bend
    D *= step
    link *= step
    state.A += D
    state.link += link
    state.scores += problem.features.scores(link)
    return step


def _difference(state: State, active_set: ActiveSet, direction: Direction) -> tuple[Floats, Floats]:
    """The direction (n, m) and its link."""
    D, link = np.zeros_like(state.A), np.zeros_like(state.link)
    for place, sign in ((direction.towards, 1.0), (direction.away, -1.0)):
        if place is None:
            D += sign * state.A
            link += sign * state.link
        else:
            active_set.atoms[place].add_to(D, sign)
            link += sign * active_set.atoms[place].link(state.problem)
    return D, link
