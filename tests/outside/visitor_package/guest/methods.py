"""A step rule, a method that is one with it, and a method of its own."""

from dataclasses import dataclass

import numpy as np

from fwlab import FrankWolfe, Method, Needs, StepRule
from guest.helpers import damped

SHARE = 0.5


class Damped(StepRule):
    """The exact step, damped."""

    monotone = True

    def __call__(self, direction, memory):
        exact = direction.slope / direction.curvature if direction.curvature > 0 else np.inf
        return damped(min(max(exact, 0.0), direction.limit))


DAMPED = Damped()


@dataclass(frozen=True)
class DampedFrankWolfe(FrankWolfe):
    """Frank-Wolfe with a damped exact step."""

    step: StepRule = DAMPED


@dataclass(frozen=True)
class Blend(Method):
    """Steps of share * 2/(t + 2) to the vertex at the gradient."""

    any_loss = True

    share: float = SHARE

    def needs(self, problem):
        return Needs(scores=True)

    def iterate(self, state, workspace):
        problem = state.problem
        vertex, _ = problem.lowest(problem.shifted_scores(state.A, state.scores))
        direction = -state.A
        vertex.add_to(direction, 1.0)
        step = self.share * 2.0 / (state.n_steps + 2.0)
        state.move(direction, problem.link(direction), step)
        state.step = step
        state.n_steps += 1
        state.n_lmo += problem.n_samples
