"""Solve two linear programs over polytopes in standard form.

    {M x : A x = b, x >= 0}

Both the effective domain that LP duality gives (reference.epigraph) and the polytopes that the
papers derive (reference.derived_polytopes) are sets of this shape. HiGHS solves the programs. It
accepts violations of 1e-10, so its x is corrected to satisfy A x = b, x >= 0 up to rounding; the
points returned are points of the set up to rounding. reference.rational gives exact bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, linprog

from reference.arithmetic import fractions

TOLERANCE = 1e-10  # the tightest that HiGHS accepts
ROUNDING = 1e-12  # the largest violation allowed after the correction
OPTIMAL, INFEASIBLE, UNBOUNDED = 0, 2, 3


@dataclass(frozen=True, eq=False)
class Polytope:
    """M (m, r), A (e, r), b (e,).

    Its methods require that it is bounded and not empty. exact holds A and b as Fractions if they
    were rounded to floats.
    """

    M: np.ndarray
    A: np.ndarray
    b: np.ndarray
    exact: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def equations(self) -> tuple[np.ndarray, np.ndarray]:
        """A and b as Fractions."""
        return self.exact or (fractions(self.A), fractions(self.b))

    def image(self, H: np.ndarray) -> Polytope:
        """Return {H u : u in the set}."""
        return replace(self, M=H @ self.M)

    def with_zeros(self, entries: tuple[int, ...]) -> Polytope:
        """Return the points u of the set with u_j = 0 for the listed entries j."""
        rows, (A, b) = self.M[list(entries)], self.equations
        zeros = fractions(np.zeros(len(rows)))
        return exact_polytope(self.M, np.vstack([A, fractions(rows)]), np.concatenate([b, zeros]))

    def minimum(self, gradient: np.ndarray) -> tuple[float, np.ndarray]:
        """Return (value, point): the least <gradient, u> over the set, and where it is attained."""
        point = self.M @ refined(self.solved(self.M.T @ gradient).x, self.A, self.b)
        return float(gradient @ point), point

    def multipliers(self, cost: np.ndarray) -> np.ndarray:
        """Return l (e,) that maximise <b, l> subject to A' l <= cost, approximately."""
        return np.asarray(self.solved(cost).eqlin.marginals)

    def solved(self, cost: np.ndarray) -> OptimizeResult:
        """Return HiGHS's solution of: minimise <cost, x> subject to A x = b, x >= 0."""
        result = solve(cost, A_eq=self.A, b_eq=self.b, bounds=(0, None))
        require_optimal(result)
        return result

    def nearest(self, v: np.ndarray) -> tuple[np.ndarray, float]:
        """Return (point, distance): the point of the set nearest to v in the maximum norm."""
        point = self.M @ self.nearest_x(v)
        return point, float(np.max(np.abs(point - v)))

    def nearest_x(self, v: np.ndarray) -> np.ndarray:
        """Return x (r,) of the point nearest to v: it solves

        minimise e   subject to   |M x - v|_j <= e,   A x = b,   x >= 0
        """
        ones = np.ones((len(v), 1))
        result = solve(
            np.concatenate([np.zeros(self.M.shape[1]), [1.0]]),
            A_ub=np.block([[self.M, -ones], [-self.M, -ones]]),
            b_ub=np.concatenate([v, -v]),
            A_eq=np.column_stack([self.A, np.zeros(len(self.b))]),
            b_eq=self.b,
            bounds=(0, None),
        )
        require_optimal(result)
        return refined(result.x[:-1], self.A, self.b)


def exact_polytope(M: np.ndarray, A: np.ndarray, b: np.ndarray) -> Polytope:
    """Return the polytope of floats M (m, r), and of A (e, r) and b (e,) of Fractions."""
    return Polytope(M, A.astype(float), b.astype(float), (A, b))


def solve(cost: np.ndarray, **constraints: Any) -> OptimizeResult:
    """Run scipy's linprog with HiGHS at its tightest tolerances.

    Raises if they end with an unexpected status.
    """
    options = {"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE}
    result = linprog(cost, method="highs", options=options, **constraints)
    if result.status not in (OPTIMAL, INFEASIBLE, UNBOUNDED):
        # presolve may report "infeasible or unbounded" without saying which
        options["presolve"] = False
        result = linprog(cost, method="highs", options=options, **constraints)
    if result.status not in (OPTIMAL, INFEASIBLE, UNBOUNDED):
        raise ArithmeticError(f"HiGHS gave no answer: {result.message}")
    return result


def require_optimal(result: OptimizeResult) -> None:
    if result.status != OPTIMAL:
        raise ArithmeticError(f"a linear program that has a solution ended with: {result.message}")


def refined(x: np.ndarray, A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return x >= 0 with A x = b to rounding, from an x that HiGHS accepts.

    The least-squares correction changes only the support of x, where entries can move both ways.
    """
    for threshold in (10 * TOLERANCE, 1e3 * TOLERANCE, 0.0):
        support = x > threshold
        corrected = np.where(support, x, 0.0)
        residual = b - A @ corrected
        corrected[support] += np.linalg.lstsq(A[:, support], residual, rcond=None)[0]
        corrected = np.maximum(corrected, 0.0)
        if np.max(np.abs(b - A @ corrected)) <= ROUNDING * (1 + np.max(np.abs(b))):
            return corrected
    raise ArithmeticError("a solution of HiGHS could not be corrected to rounding")
