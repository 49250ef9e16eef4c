"""What a ranking run leaves behind."""

from dataclasses import dataclass, field
from typing import Any

from fwlab._validation import Floats, as_features
from fwlab.ranking.problem import Point, Problem
from fwlab.result import Status, Trace


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of `solve`; every number is recomputed from (alpha, beta, delta) at the end.

    alpha (n_positive,) and beta (n_negative,) in the order of X; delta, None for TopPushK;
    threshold, t of the training scores; success, whether the gap is at most tol times
    max(|primal|, |dual|); nit, iterations; seconds, solver time without judging.
    """

    alpha: Floats
    beta: Floats
    delta: float | None
    threshold: float
    primal: float
    dual: float
    gap: float
    success: bool
    status: Status
    message: str
    nit: int
    seconds: float
    method: str
    trace: Trace
    problem: Problem = field(repr=False)

    @property
    def w(self) -> Floats | None:
        """The weights (d,) with a linear kernel, None with another one."""
        return self.problem.weights(self._point)

    def decision_function(self, Z: Any) -> Floats:
        """Score minus threshold, (n_new,).

        Z holds new rows (n_new, d), or with a precomputed kernel their kernel values with the
        training rows (n_new, n) in the order of X.
        """
        rows = as_features("Z", Z)
        if rows.shape[1] != self.problem.width:
            raise ValueError(f"Z must have {self.problem.width} columns; got {rows.shape[1]}.")
        coefficients = self.problem.coefficients(self._point)
        return self.problem.gram.scores(coefficients, rows) - self.threshold

    @property
    def _point(self) -> Point:
        return Point(self.alpha, self.beta, self.delta)
