"""Certify optimal values found by two QP solvers.

A solver's status "optimal" is not trusted: at default settings interior-point solvers report it
even with errors of 1e-5. A Certified holds an interval that contains the true optimum: its upper
end is the objective at a feasible point, its lower end follows from convexity or duality. `proved`
computes both ends in fractions; the ends of `certified` hold up to the rounding of a few sums. Two
unrelated solvers run, and their intervals are intersected.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

ROUNDING = 1e-12  # of the sums in an end, relative to the size of their terms
WIDEST = 1e-6  # relative; a wider interval is not accepted as a certificate

# Settings of each solver, tried in this order until one gives a solution. The later ones are for
# rare problems. Clarabel can cycle at its default step length (seen on a projection with three
# classes) and stall with its own scaling (seen on a Pat&Mat with C = 100). OSQP can cycle while it
# adapts its step size (seen with six classes). The tightest tolerances can be unattainable.
SOLVERS: dict[str, list[dict[str, Any]]] = {
    "CLARABEL": [
        {
            "tol_gap_abs": e,
            "tol_gap_rel": e,
            "tol_feas": e,
            "max_step_fraction": step,
            "equilibrate_enable": scales,
        }
        for e, step, scales in (
            (1e-13, 0.99, True),
            (1e-13, 0.9, True),
            (1e-11, 0.8, True),
            (1e-9, 0.7, True),
            (1e-11, 0.99, False),
            (1e-8, 0.9, True),
        )
    ],
    "OSQP": [
        {"eps_abs": e, "eps_rel": e, "polishing": True, "max_iter": 50_000, "adaptive_rho": adapts}
        for e, adapts in ((1e-8, True), (1e-8, False), (1e-7, True), (1e-6, True), (1e-6, False))
    ],
}


@dataclass(frozen=True, eq=False)
class Certified:
    """value_lower <= optimal value <= value_upper; point attains value_upper up to rounding.

    `solver` names the solver that found it, with its status.
    """

    value_lower: float
    value_upper: float
    point: np.ndarray
    solver: str

    @property
    def width(self) -> float:
        return self.value_upper - self.value_lower

    def contains(self, value: float | Fraction, slack: float = 0.0) -> bool:
        """Return whether value lies in the interval widened by slack on both sides."""
        return self.value_lower - slack <= value <= self.value_upper + slack


def proved(lower: Fraction, upper: Fraction, point: np.ndarray, solver: str) -> Certified:
    """Return the interval between two exact ends, rounded outwards; point holds Fractions."""
    if lower > upper:
        raise ArithmeticError(
            f"a lower bound {float(lower)} above an upper bound {float(upper)} (by {solver})"
        )
    low, high = float(lower), float(upper)
    if Fraction(low) > lower:
        low = math.nextafter(low, -math.inf)
    if Fraction(high) < upper:
        high = math.nextafter(high, math.inf)
    return Certified(low, high, point.astype(float), solver)


def certified(lower: float, upper: float, size: float, point: np.ndarray, solver: str) -> Certified:
    """Return the interval widened by the rounding of sums of terms of this size; never empty."""
    allowance = float(ROUNDING * (1.0 + size))
    if not lower <= upper + 2 * allowance:
        raise ArithmeticError(f"a lower bound {lower} above an upper bound {upper} (by {solver})")
    low, high = float(min(lower, upper)), float(max(lower, upper))
    return Certified(low - allowance, high + allowance, point, solver)


def run(problem: cp.Problem, solver: str) -> str:
    """Solve in place and return "SOLVER: status", at the first settings that give a solution.

    Every attempt starts from scratch, as a warm start would keep the step size at which OSQP
    cycled.

    cvxpy warns about inaccurate solutions. Here that is only a status: the certificate judges every
    solution, whatever the solver calls it.
    """
    for settings in SOLVERS[solver]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            with contextlib.suppress(cp.SolverError):
                problem.solve(solver=solver, warm_start=False, **settings)
        if problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
            return f"{solver}: {problem.status}"
    raise ArithmeticError(f"{solver} found no solution; its last status was {problem.status}")


def found(variable: cp.Variable) -> np.ndarray:
    """Return the value of a variable after `run`."""
    return np.asarray(variable.value, dtype=float)


def by_all_solvers(attempt: Callable[[str], Certified], solvers: Sequence[str]) -> Certified:
    """Run attempt with each solver and intersect the intervals.

    A result that is too wide is an error.
    """
    results = [attempt(solver) for solver in solvers]
    lower = max(r.value_lower for r in results)
    best = min(results, key=lambda r: r.value_upper)
    names = ", ".join(r.solver for r in results)
    if lower > best.value_upper:
        raise ArithmeticError(
            f"solvers disagree: {[(r.value_lower, r.value_upper) for r in results]}"
        )
    together = Certified(lower, best.value_upper, best.point, names)
    if together.width > WIDEST * (1.0 + abs(best.value_upper)):
        raise ArithmeticError(f"interval [{lower}, {best.value_upper}] is too wide ({names})")
    return together
