"""Away-step and pairwise Frank-Wolfe over whole-matrix atoms (Lacoste-Julien and Jaggi 2015).

An atom is a vertex of the product of all blocks' domains, as K19 ran these methods. `afw` takes the
away rule and `pfw` the pairwise rule of kernels.steps.pairwise_rule. The step is the exact
maximiser of the dual; at its limit the away atom leaves the active set.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats
from fwlab.kernels.layouts import Products
from fwlab.kernels.steps.exact_step import exact_step
from fwlab.kernels.steps.pairwise_rule import POINT, TIES, choose_ends, scale_of_the_rest
from fwlab.problem import Problem
from fwlab.solvers.atoms import ActiveSet, Vertex
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.segment import move

# largest relative rounding error that A may collect before it is combined again from its atoms
ROUNDING = 1e-14


@dataclass(eq=False)
class Workspace:
    """The active set, and a bound on the rounding errors since A was last combined from it."""

    active_set: ActiveSet
    rounding: float = 0.0


@dataclass(frozen=True)
class Direction:
    """From the atom at place `away` to the atom at place `towards`, where POINT stands for A."""

    towards: int
    away: int
    slope: float
    limit: float


@dataclass(frozen=True)
class AwaySteps(Method):
    """One step for all blocks by the away rule, or by the pairwise rule."""

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
        growth = scale_of_the_rest(direction.towards, direction.away, step)
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
        """Return the direction at this gradient; the vertex enters the active set if it is new."""
        products, lowest = active_set.products(gradient), vertex.product(gradient)
        size = max(abs(lowest), float(np.abs(products).max()))
        mean, highest = float(active_set.atom_weights @ products), float(products.max())
        lows = np.flatnonzero(products <= lowest + TIES * size)
        towards = int(lows[0]) if len(lows) else active_set.enter(vertex)
        away = int(np.argmax(products >= highest - TIES * size))
        towards, away, slope = choose_ends(
            self.pairwise, towards, away, len(products), Products(lowest, mean, highest, size)
        )
        return Direction(towards, away, slope, active_set.largest_step(towards, away))


def _move(state: State, active_set: ActiveSet, direction: Direction) -> float:
    """Change A, link and scores by the exact step, and return it."""
    problem, D, link = state.problem, *_difference(state, active_set, direction)
    curvature = problem.curvature(D, link)
    step = exact_step(direction.slope / problem.n_samples, curvature, direction.limit)
    if step > 0.0:
        move(state.A, state.link, D, link, step)
        state.scores += problem.features.scores(link)
    return float(step)


def _difference(state: State, active_set: ActiveSet, direction: Direction) -> tuple[Floats, Floats]:
    """Return the direction (n, m) and its link."""
    D, link = np.zeros_like(state.A), np.zeros_like(state.link)
    for place, sign in ((direction.towards, 1.0), (direction.away, -1.0)):
        if place == POINT:
            D += sign * state.A
            link += sign * state.link
        else:
            active_set.atoms[place].add_to(D, sign)
            link += sign * active_set.atoms[place].link(state.problem)
    return D, link
