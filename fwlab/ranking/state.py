"""The state of a ranking run."""

from dataclasses import dataclass

import numpy as np

from fwlab.ranking.problem import Point, Problem
from fwlab.result import Certificate
from fwlab.solvers.method import RunState


@dataclass(eq=False)
class State(RunState):
    """The state of a ranking run, whose `point` a method replaces or changes.

    active counts the rows whose dual variable is not 0.
    """

    problem: Problem
    point: Point
    rng: np.random.Generator

    def judge(self) -> Certificate:
        """Return the certificate of the point without a bound of its rounding error."""
        self._count()
        return self.problem.estimate(self.point)

    def certify(self) -> Certificate:
        """Return the certificate of the point; nothing else is tracked."""
        self._count()
        return self.problem.certificate(self.point)

    def _count(self) -> None:
        point = self.point
        self.active = int(np.count_nonzero(point.alpha) + np.count_nonzero(point.beta))
