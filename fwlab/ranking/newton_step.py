"""Solve for a Newton step of the ranking dual under its equalities, in z, r and multipliers."""

from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats
from fwlab.ranking.dual import Dual, smooth_gradient, smooth_hessian


@dataclass(frozen=True, eq=False)
class Move:
    """A change of z, r and the multipliers of the equalities."""

    z: Floats
    r: float
    multipliers: Floats

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite."""
        return bool(np.isfinite(self.z.sum() + self.r + self.multipliers.sum()))


class NewtonMatrix:
    """The matrix of the Newton steps at (z, r), factorised.

        M dz + c dr + A^T dv = f
        c^T dz + h dr + b^T dv = g
        A dz + b dr = e

    where M = Q + diagonal. barrier (slacks,) holds the weights of the slacks in the Hessian.
    """

    def __init__(self, dual: Dual, z: Floats, r: float, barrier: Floats) -> None:
        self.dual = dual
        self.diagonal, self.cross, self.corner = smooth_hessian(dual, z, r, barrier)
        dual.system.factorise(self.diagonal)
        if dual.has_r:
            self.z_border, self.v_border = dual.system.solve(self.cross, dual.b)
            self.pivot = self.corner - self.cross @ self.z_border - dual.b @ self.v_border

    def solve(self, f: Floats, g: float, e: Floats, refinements: int) -> Move:
        """Return the step, solved again for the residuals that rounding leaves."""
        d = self.dual
        dz, dr, dv = self._solve_once(f, g, e)
        for _ in range(refinements):
            f_rest = f - d.system.product(dz) - self.diagonal * dz - self.cross * dr - d.A.T @ dv
            g_rest = float(g - self.cross @ dz - self.corner * dr - d.b @ dv)
            x, y, v = self._solve_once(f_rest, g_rest, e - d.A @ dz - d.b * dr)
            dz, dr, dv = dz + x, dr + y, dv + v
        return Move(dz, dr, dv)

    def _solve_once(self, f: Floats, g: float, e: Floats) -> tuple[Floats, float, Floats]:
        x, v = self.dual.system.solve(f, e)
        if not self.dual.has_r:
            return x, 0.0, v
        y = float((g - self.cross @ x - self.dual.b @ v) / self.pivot)
        return x - self.z_border * y, y, v - self.v_border * y

    def square(self, move: Move) -> float:
        """Return the square of the step's norm in the Hessian."""
        dz, dr = move.z, move.r
        curved = self.dual.system.product(dz) + self.diagonal * dz + 2 * dr * self.cross
        return float(dz @ curved + self.corner * dr * dr)


@dataclass(eq=False)
class Iterate:
    """A point (z, r) inside all bounds, with the multipliers of the equalities and the slacks."""

    dual: Dual
    z: Floats
    r: float
    multipliers: Floats
    slack_multipliers: Floats

    def gradient(self) -> tuple[Floats, float]:
        """Return the gradient of the Lagrangian of -D without the slacks, in z and in r."""
        d = self.dual
        gz, gr = smooth_gradient(d, self.z, self.r)
        gz += d.system.product(self.z)
        gz += self.multipliers @ d.A
        return gz, gr + float(d.b @ self.multipliers)

    def miss(self) -> Floats:
        """Return A z + b r, which rounding leaves."""
        return self.dual.A @ self.z + self.dual.b * self.r
