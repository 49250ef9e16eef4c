"""Run away-step and pairwise Frank-Wolfe over whole-matrix atoms (Lacoste-Julien and Jaggi 2015).

An atom is a vertex of the product of all blocks' domains, as K19 ran these methods. AwayStep takes
the away rule and Pairwise the pairwise rule of kernels.steps.pairwise_rule. At the limit of a step
the away atom leaves the active set.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.kernels.layouts import Products
from fwlab.kernels.steps.pairwise_rule import POINT, TIES, choose_ends, scale_of_the_rest
from fwlab.operators.vertices import Atom
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.atoms import ActiveSet
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.segment import move
from fwlab.solvers.step_rules import Direction, StepRule, as_step_rule, chosen_step

# largest relative rounding error that A may collect before it is combined again from its atoms
ROUNDING = 1e-14


@dataclass(eq=False)
class Workspace:
    """The active set, and a bound on the rounding errors since A was last combined from it.

    memory belongs to the step rule.
    """

    active_set: ActiveSet
    memory: Any
    rounding: float = 0.0


@dataclass(frozen=True)
class Ends:
    """The ends of a step, from the atom at place `away` to the one at `towards`, and its slope.

    POINT stands for A. slope is n times the derivative of the dual.
    """

    towards: int
    away: int
    slope: float


@dataclass(frozen=True)
class ActiveSetMethod(Method):
    """One step for all blocks between two atoms, or between A and an atom.

    step: "exact", "open-loop", "short", "adaptive", or a StepRule.
    """

    any_loss = True
    kind = ""

    step: StepRule | str = "exact"

    def __post_init__(self) -> None:
        as_step_rule(self.step)

    @abstractmethod
    def choose(self, active_set: ActiveSet, vertex: Atom, gradient: Floats) -> Ends:
        """Return the ends of the step; the LMO's vertex enters the active set if a step needs it.

        gradient (n, m) is minus n times the gradient of the dual.
        """

    @property
    def sentence(self) -> str:
        sentence = f"{self.kind} Frank-Wolfe over whole-matrix atoms"
        rule = as_step_rule(self.step)
        return f"{sentence}." if self.step == "exact" else f"{sentence}, with {rule.phrase}."

    @property
    def monotone(self) -> bool:
        return as_step_rule(self.step).monotone

    def needs(self, problem: PrimalDual) -> Needs:
        return Needs(scores=True)

    def start(self, state: State) -> Workspace:
        state.active = 1
        memory = as_step_rule(self.step).start(state)
        return Workspace(ActiveSet.holding(state.problem, state.A), memory)

    def iterate(self, state: State, workspace: Workspace) -> None:
        problem, active_set = state.problem, workspace.active_set
        shifted = problem.shifted_scores(state.A, state.scores)
        vertex = problem.lowest(shifted)[0].atom()
        gradient = problem.polytopes.add_costs(shifted)
        ends = self.choose(active_set, vertex, gradient)
        del shifted, gradient
        limit = active_set.largest_step(ends.towards, ends.away)
        step = self._move(state, workspace, ends, limit)
        active_set.move(ends.towards, ends.away, step, limit)
        growth = scale_of_the_rest(ends.towards, ends.away, step)
        workspace.rounding = growth * workspace.rounding + (1.0 + step) * np.finfo(float).eps
        if workspace.rounding > ROUNDING:
            active_set.combine(state.A)
            state.refresh()
            state.n_rows += problem.n_samples
            workspace.rounding = 0.0
        state.step = step
        state.active = len(active_set.atoms)
        state.n_steps += 1
        state.n_lmo += problem.n_samples

    def _move(self, state: State, workspace: Workspace, ends: Ends, limit: float) -> float:
        """Change A, link and scores by the step of the rule, and return it."""
        problem, D, link = state.problem, *_difference(state, workspace.active_set, ends)
        direction = Direction(
            iteration=state.n_steps,
            slope=ends.slope / problem.n_samples,
            limit=limit,
            state=state,
            measure_curvature=lambda: problem.curvature(D, link),
            measure_square=lambda: float(np.vdot(D, D)),
        )
        step = chosen_step(as_step_rule(self.step), direction, workspace.memory)
        if step > 0.0:
            move(state.A, state.link, D, link, step)
            state.scores += problem.features.scores(link)
            state.n_rows += problem.n_samples
        return step


@dataclass(frozen=True)
class AwayStep(ActiveSetMethod):
    """The steeper of the Frank-Wolfe step and the away step."""

    kind = "Away-step"

    def choose(self, active_set: ActiveSet, vertex: Atom, gradient: Floats) -> Ends:
        return _ends(False, active_set, vertex, gradient)


@dataclass(frozen=True)
class Pairwise(ActiveSetMethod):
    """The step from the away atom to the LMO's vertex."""

    kind = "Pairwise"

    def choose(self, active_set: ActiveSet, vertex: Atom, gradient: Floats) -> Ends:
        return _ends(True, active_set, vertex, gradient)


def _ends(pairwise: bool, active_set: ActiveSet, vertex: Atom, gradient: Floats) -> Ends:
    """Return the ends that the pairwise rule or the away rule chooses."""
    products, lowest = active_set.products(gradient), vertex.product(gradient)
    size = max(abs(lowest), float(np.abs(products).max()))
    mean, highest = float(active_set.atom_weights @ products), float(products.max())
    lows = np.flatnonzero(products <= lowest + TIES * size)
    towards = int(lows[0]) if len(lows) else active_set.enter(vertex)
    away = int(np.argmax(products >= highest - TIES * size))
    chosen = choose_ends(
        pairwise, towards, away, len(products), Products(lowest, mean, highest, size)
    )
    return Ends(*chosen)


def _difference(state: State, active_set: ActiveSet, ends: Ends) -> tuple[Floats, Floats]:
    """Return the direction (n, m) and its link."""
    D, link = np.zeros_like(state.A), np.zeros_like(state.link)
    for place, sign in ((ends.towards, 1.0), (ends.away, -1.0)):
        if place == POINT:
            D += sign * state.A
            link += sign * state.link
        else:
            active_set.atoms[place].add_to(D, sign)
            link += sign * state.problem.atom_link(active_set.atoms[place])
    return D, link
