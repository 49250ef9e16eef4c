"""Evaluate the primal of the cross-entropy on tensors, with its gradient, in any precision.

With the link V of A(W), as in solvers.lbfgs,

    grad P(W) = lam (W - V),    P(W) - D(A(W)) = lam/2 |W - V|^2,

and far from the optimum theta A(W) is the dual point (solvers.scaled_dual).

Sums over the samples are made part by part, and V of every part is added in the precision of the
products. W, its gradient and everything that a step needs beside them are float64.
"""

from dataclasses import dataclass
from typing import Any, cast

from fwlab.operators.precision import Precision, products_of
from fwlab.operators.simplices import Simplices
from fwlab.operators.tensor_rows import tensor_rows
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.scaled_dual import NEAR, best_scale


@dataclass(frozen=True, eq=False)
class TensorPoint:
    """A machine W (m, d) with P(W), grad P and the gap of (W, scale A(W)), up to rounding."""

    W: Any
    primal: float
    gradient: Any
    gap: float
    scale: float

    @classmethod
    def at(cls, problem: PrimalDual, W: Any, precision: Precision) -> "TensorPoint":
        """Return the point of W in this precision."""
        xp, lam = tensor_rows(problem.features).xp, problem.lam
        with products_of(W.device, precision):
            losses, loss, V = _losses_and_link(problem, W, precision)
        rest = W - V
        square, squared_rest = (float(xp.sum(matrix * matrix)) for matrix in (W, rest))
        primal, gap, scale = lam / 2 * square + loss, lam / 2 * squared_rest, 1.0
        if gap > NEAR * primal:
            omega = tensor_rows(problem.features).here(problem.sample_weight)
            theta, dual = best_scale(lam, losses, omega, W, V)
            if primal - dual < gap:
                scale, gap = theta, primal - dual
        return cls(W, primal, lam * rest, gap, scale)


def _losses_and_link(problem: PrimalDual, W: Any, precision: Precision) -> tuple[Any, float, Any]:
    """Return the losses (n,), their weighted mean and the link V."""
    features, omega = tensor_rows(problem.features), problem.sample_weight
    polytopes = cast(Simplices, problem.polytopes)
    xp = features.xp
    dtype, is_weighted = getattr(xp, precision.dtype), bool((omega != 1.0).any())
    weights = features.here(omega, dtype) if is_weighted else None
    machine = xp.asarray(W, dtype=dtype)
    total, link = xp.zeros((), dtype=xp.float64, device=W.device), xp.zeros_like(machine)
    found = []
    for rows, X in features.parts(problem.n_classes, dtype):
        losses, A = polytopes.take(rows).losses_and_duals(X @ machine.T)
        found.append(losses)
        if weights is not None:
            losses, A = weights[rows] * losses, weights[rows, None] * A
        total += xp.sum(losses, dtype=xp.float64)
        link += A.T @ X
    n = problem.n_samples
    V = xp.asarray(link, dtype=xp.float64) / problem.lam_n
    return xp.concat(found), float(total) / n, V
