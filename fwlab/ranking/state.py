"""The state of a ranking run."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fwlab.ranking.gram import PART, LinearGram
from fwlab.ranking.problem import Point, Problem
from fwlab.ranking.rounding import certificate
from fwlab.result import Certificate
from fwlab.solvers.certificate_time import ONE_OF, shortest
from fwlab.solvers.run_state import RunState

# a certificate reads X for a judgement and for the errors: |X|, and its products both ways
PASSES_OF_ERRORS = 5.0


@dataclass(eq=False)
class State(RunState):
    """The state of a ranking run, whose `point` a method replaces or changes.

    active counts the dual variables that are not 0.
    """

    problem: Problem
    point: Point
    rng: np.random.Generator
    known: tuple[Point, Certificate] | None = None

    def publish(self, point: Point) -> Certificate:
        """Set a point that no method changes in place; return its certificate, which `judge` keeps.

        Like the certificate of `judge` it has no bound of its rounding error.
        """
        self.point, self.known = point, (point, self.problem.estimate(point))
        return self.known[1]

    def judge(self) -> Certificate:
        """Return the certificate of the point without a bound of its rounding error."""
        self._count()
        if self.known is not None and self.known[0] is self.point:
            return self.known[1]
        return self.problem.estimate(self.point)

    def certify(self) -> Certificate:
        """Return the certificate of the point; nothing else is tracked."""
        self._count()
        return certificate(self.problem, self.point)

    def seconds_to_certify(self, judgement: float) -> float:
        """Predict the seconds of `certify` from products with some columns of the kernel matrix."""
        gram: Any = self.problem.gram
        if isinstance(gram, LinearGram):
            return PASSES_OF_ERRORS * judgement
        c = self.problem.coefficients(self.point)
        columns = np.flatnonzero(c)
        taken = columns[: max(PART, len(columns) // ONE_OF)]
        some = np.zeros(len(c))
        some[taken] = c[taken]
        seconds = shortest(lambda: gram.product_with_errors(some))
        return seconds * len(columns) / max(1, len(taken))

    def _count(self) -> None:
        point = self.point
        self.active = int(np.count_nonzero(point.alpha) + np.count_nonzero(point.beta))
