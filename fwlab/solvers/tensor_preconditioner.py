"""Precondition by the Hessian at W = 0, or by its blocks of the classes, from rows on any device.

The matrices are the ones of solvers.preconditioner. At W = 0 one matrix serves all classes, for up
to most_features features, from products in float32 where that can hold them. The blocks of the
classes are sums of the matrices x_i x_i^T with weights, and one product of each part gives them for
all classes: the weights (classes, rows) times the matrices (rows, d^2).

Rounding of such a sum moves the entry (a, b) by a share of sqrt(M_aa M_bb), so that a share of each
entry of the diagonal makes up for it, whatever the scales of the features are.
"""

from typing import Any, cast

from fwlab.operators.precision import DOUBLE, SINGLE, Precision, products_of
from fwlab.operators.simplices import Simplices
from fwlab.operators.tensor_rows import tensor_rows
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.preconditioner import Operator, product_by_class

# of the largest entry of the diagonal, or of each entry in the block of a class, so that rounding
# of sums in float32 leaves it positive definite; and of sums in float64
JITTER, JITTER_IN_DOUBLE = 2.0**-22, 2.0**-40


def inverse_at_zero(problem: PrimalDual) -> Operator:
    """Return the map G -> G M^-1 of matrices (m, d), M = lam I + X^T diag(omega) X (1 - 1/m) / m n.

    M is its diagonal if X is sparse or has more features than samples or than most_features.
    """
    features, (n, d), m = tensor_rows(problem.features), problem.X.shape, problem.n_classes
    xp, weight = features.xp, (1.0 - 1.0 / m) / m / n
    is_full = d <= min(n, features.most_features) and not features.is_sparse
    for precision in (SINGLE, DOUBLE):
        M = weight * _weighted_squares(problem, precision, is_full)
        if bool(xp.all(xp.isfinite(M))):
            break
    if not is_full:
        return lambda G: G / (M + problem.lam)
    identity = xp.eye(d, dtype=xp.float64, device=features.device)
    largest = float(xp.max(xp.linalg.diagonal(M)))
    inverse = xp.linalg.inv(M + (problem.lam + JITTER * largest) * identity)
    return lambda G: G @ inverse


def inverse_by_class(problem: PrimalDual, W: Any, precision: Precision) -> Operator:
    """Return `product_by_class` with M at W, a tensor (m, d), from products in a precision.

    Products of float32 are not rounded further.
    """
    features, d = tensor_rows(problem.features), problem.n_features
    xp, jitter = features.xp, JITTER if precision.dtype == "float32" else JITTER_IN_DOUBLE
    with products_of(features.device, SINGLE):
        M = xp.asarray(_blocks(problem, W, getattr(xp, precision.dtype)), dtype=xp.float64)
    M = M / problem.n_samples
    lifted = problem.lam + jitter * xp.linalg.diagonal(M)
    M += lifted[:, :, None] * xp.eye(d, dtype=xp.float64, device=features.device)
    return product_by_class(xp.linalg.inv(xp.linalg.cholesky(M)))


def _blocks(problem: PrimalDual, W: Any, dtype: Any) -> Any:
    """Return X^T diag(omega_i p_ij (1 - p_ij)) X for each class, (m, d, d)."""
    features, (m, d) = tensor_rows(problem.features), W.shape
    xp, polytopes = features.xp, cast(Simplices, problem.polytopes)
    omega, machine = features.here(problem.sample_weight, dtype), xp.asarray(W, dtype=dtype)
    blocks = xp.zeros((m, d * d), dtype=dtype, device=features.device)
    # a quarter of the usual part stays nearer to the caches, which saves a third with 26 classes
    for rows, X in features.parts(max(m, 4 * d * d), dtype):
        share = xp.abs(polytopes.take(rows).losses_and_duals(X @ machine.T)[1])
        squares = xp.reshape(X[:, :, None] * X[:, None, :], (X.shape[0], d * d))
        blocks += (omega[rows, None] * share * (1.0 - share)).T @ squares
    return xp.reshape(blocks, (m, d, d))


def _weighted_squares(problem: PrimalDual, precision: Precision, is_full: bool) -> Any:
    """Return X^T diag(omega) X, (d, d), or its diagonal, (d,), in float64."""
    features, d = tensor_rows(problem.features), problem.n_features
    xp, dtype = features.xp, getattr(features.xp, precision.dtype)
    omega = features.here(problem.sample_weight, dtype)
    M = xp.zeros((d, d) if is_full else (d,), dtype=dtype, device=features.device)
    with products_of(features.device, precision):
        for rows, X in features.parts(problem.n_classes, dtype):
            weighed = omega[rows, None] * X
            M += weighed.T @ X if is_full else xp.sum(weighed * X, axis=0)
    return xp.asarray(M, dtype=xp.float64)
