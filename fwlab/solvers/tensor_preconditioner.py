"""Precondition by the Hessian at W = 0, or by its blocks of the classes, from rows on any device.

The matrices are the ones of solvers.preconditioner. At W = 0 one matrix serves all classes, for up
to MOST_FEATURES features, from products in float32 where that can hold them. The blocks of the
classes are sums of the matrices x_i x_i^T with weights, and one product of each part gives them for
all classes: the weights (classes, rows) times the matrices (rows, d^2). There are few features, and
everything is float64, because float32 loses the small eigenvalues of almost certain labels.
"""

from typing import Any, cast

from fwlab.operators.precision import DOUBLE, SINGLE, Precision, products_of
from fwlab.operators.simplices import Simplices
from fwlab.operators.tensor_rows import tensor_rows
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.preconditioner import Operator, product_by_class

# the largest number of features for X^T X and its inverse, which samples must not fall below
MOST_FEATURES = 8192
# of the largest entry of the diagonal, so that rounding leaves it positive definite: of sums in
# float32, and of sums in float64
JITTER, JITTER_BY_CLASS = 2.0**-22, 2.0**-40


def inverse_at_zero(problem: PrimalDual) -> Operator:
    """Return the map G -> G M^-1 of matrices (m, d), M = lam I + X^T diag(omega) X (1 - 1/m) / m n.

    With more features than samples or than MOST_FEATURES, M is its diagonal.
    """
    features, (n, d), m = tensor_rows(problem.features), problem.X.shape, problem.n_classes
    xp, weight = features.xp, (1.0 - 1.0 / m) / m / n
    is_full = d <= min(n, MOST_FEATURES)
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


def inverse_by_class(problem: PrimalDual, W: Any) -> Operator:
    """Return `product_by_class` with M at W, a tensor (m, d) of float64."""
    features, d = tensor_rows(problem.features), problem.n_features
    M = _blocks(problem, W) / problem.n_samples
    xp = features.xp
    largest = xp.max(xp.linalg.diagonal(M), axis=1)
    identity = xp.eye(d, dtype=xp.float64, device=features.device)
    M += (problem.lam + JITTER_BY_CLASS * largest)[:, None, None] * identity
    return product_by_class(xp.linalg.inv(xp.linalg.cholesky(M)))


def _blocks(problem: PrimalDual, W: Any) -> Any:
    """Return X^T diag(omega_i p_ij (1 - p_ij)) X for each class, (m, d, d)."""
    features, (m, d) = tensor_rows(problem.features), W.shape
    xp, polytopes = features.xp, cast(Simplices, problem.polytopes)
    omega = features.here(problem.sample_weight)
    blocks = xp.zeros((m, d * d), dtype=xp.float64, device=features.device)
    for rows, X in features.parts(max(m, d * d), xp.float64):
        share = xp.abs(polytopes.take(rows).losses_and_duals(X @ W.T)[1])
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
    return xp.astype(M, xp.float64)
