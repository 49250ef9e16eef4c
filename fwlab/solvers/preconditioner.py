"""Precondition by the Hessian of multinomial logistic regression, without its mixed blocks.

With the probabilities p_i and the sample weights omega, the block of the classes j, k of the
Hessian of P is

    lam I [j = k] + X^T diag(omega_i p_ij ([j = k] - p_ik)) X / n.

At W = 0 every probability is 1/m, and the diagonal blocks are one matrix for all classes,

    M = lam I + w X^T diag(omega) X / n,    w = (1/m) (1 - 1/m).

Later each class has its own matrix, with w_ij = p_ij (1 - p_ij): the largest part of the Hessian,
where most labels are almost certain. The columns of W and of all gradients sum to 0 over the
classes. The blocks do not keep these sums, and along a common change of all classes, where the
Hessian is lam I, they are wrong by far; so the means over the classes are taken off.

The Cholesky factor of a matrix gives its inverse. For a sparse X, and where M would cost more than
the run is likely to, the diagonal of M takes its place.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats, namespace_of
from fwlab.primal_dual import CHUNK, PrimalDual
from fwlab.threads import threads_in_blas

# the most features for which X^T X and a factor are computed, if no fewer samples exist
MOST_FEATURES = 2048
# of the largest entry of the diagonal, so that rounding leaves M positive definite
JITTER = 2.0**-48
# entries of X that are weighed at once
ENTRIES = 2**18
# the operations of exp and of the passes over a score, in multiplications of a product with X
OF_A_SCORE = 60

Operator = Callable[[Any], Any]


def inverse_at_zero(problem: PrimalDual) -> Operator:
    """Return the map G -> G M^-1 of matrices (m, d), or (d, m) for a sparse X."""
    m, omega = problem.n_classes, problem.sample_weight
    w = (1.0 - 1.0 / m) / m * omega
    if not _factorises(problem):
        M = problem.lam + _column_squares(problem, w) / problem.n_samples
        by_feature = M[:, None] if scipy.sparse.issparse(problem.X) else M
        return lambda G: np.asarray(G / by_feature)
    (root,) = _inverse_roots(problem, w[:, None])
    return lambda G: np.asarray((G @ root.T) @ root)


def inverse_by_class(problem: PrimalDual, A: Floats) -> Operator:
    """Return `product_by_class` with M at W, from the dual point A(W), (n, m).

    |a_ij| is omega_i p_ij, or omega_i (1 - p_ij) for the label.
    """
    omega = problem.sample_weight[:, None]
    share = np.abs(A) / np.where(omega > 0, omega, 1.0)
    return product_by_class(_inverse_roots(problem, omega * share * (1.0 - share)))


def product_by_class(roots: Any) -> Operator:
    """Return the map of matrices (m, d) that multiplies each row by the inverse of its class's M.

    Before and after that, the mean over the classes is taken off. roots (m, d, d) holds L^-1 for
    the Cholesky factor L of each M; it may be a tensor.
    """
    xp = namespace_of(roots)

    def apply(G: Any) -> Any:
        halfway = roots @ (G - xp.mean(G, axis=0))[:, :, None]
        image = (xp.matrix_transpose(roots) @ halfway)[:, :, 0]
        return image - xp.mean(image, axis=0)

    return apply


def cost_by_class(problem: PrimalDual) -> float:
    """Return the cost of inverse_by_class, in evaluations of P with its gradient.

    It is infinite where there is no factorisation.
    """
    n, d = problem.n_samples, problem.n_features
    if not _factorises(problem):
        return np.inf
    return (n * d * (d + 2) + 1.5 * d**3) / (n * (4 * d + OF_A_SCORE))


def _factorises(problem: PrimalDual) -> bool:
    n, d, X = problem.n_samples, problem.n_features, problem.X
    is_sparse = scipy.sparse.issparse(X) or getattr(X, "is_sparse", False)
    return not is_sparse and d <= min(n, MOST_FEATURES)


def _column_squares(problem: PrimalDual, w: Floats) -> Floats:
    """Return the diagonal of X^T diag(w) X, (d,)."""
    X = problem.X
    if scipy.sparse.issparse(X):
        squares = np.square(X.data, dtype=np.float64)
        return np.asarray(scipy.sparse.csr_matrix((squares, X.indices, X.indptr), X.shape).T @ w)
    return np.asarray(np.einsum("ij,ij,i->j", X, X, w, dtype=np.float64))


def _inverse_roots(problem: PrimalDual, w: Floats) -> Floats:
    """Return L^-1 for the Cholesky factors L of M, (k, d, d), for k columns of weights w (n, k)."""
    # imported here because it takes a tenth of a second
    from scipy.linalg import cholesky, solve_triangular

    d, k = problem.n_features, w.shape[1]
    matrices, size = np.zeros((k, d, d)), max(CHUNK, ENTRIES // d)
    with threads_in_blas():
        for start in range(0, problem.n_samples, size):
            rows = slice(start, start + size)
            for M, root in zip(matrices, np.sqrt(w[rows]).T, strict=True):
                part = problem.X[rows] * root[:, None]
                M += part.T @ part
        matrices /= problem.n_samples
        for M in matrices:
            diagonal = np.einsum("ii->i", M)
            diagonal += problem.lam + JITTER * diagonal.max()
            L = cholesky(M, lower=True, check_finite=False)
            M[:] = solve_triangular(L, np.eye(d), lower=True, overwrite_b=True, check_finite=False)
    return matrices
