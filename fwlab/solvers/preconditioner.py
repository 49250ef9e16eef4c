"""Precondition by the Hessian of multinomial logistic regression at W = 0.

There every probability is 1/m, and with omega the sample weights the Hessian of P is

    lam I + (1/m) (I - 1 1^T / m) (x) X^T diag(omega) X / n.

The class matrix I - 1 1^T / m has the diagonal 1 - 1/m, which stands for it:

    M = lam I + w X^T diag(omega) X / n,    w = (1/m) (1 - 1/m),

the same (d, d) matrix for all classes. Its Cholesky factor gives the inverse. For a sparse X, and
where M would cost more than the run is likely to, the diagonal of M takes its place.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats
from fwlab.primal_dual import CHUNK, PrimalDual
from fwlab.threads import threads_in_blas

# X^T X and a factor for up to so many features, and no more than there are samples
MOST_FEATURES = 2048
# of the largest entry of the diagonal, so that rounding leaves M positive definite
JITTER = 2.0**-48

Operator = Callable[[Floats], Floats]


def inverse_hessian(problem: PrimalDual) -> Operator:
    """Return the map G -> G M^-1 of matrices (m, d), or (d, m) for a sparse X."""
    m, n, d = problem.n_classes, problem.n_samples, problem.n_features
    w = (1.0 - 1.0 / m) / m / n
    if scipy.sparse.issparse(problem.X) or d > min(n, MOST_FEATURES):
        M = problem.lam + w * _column_squares(problem)
        by_feature = M[:, None] if scipy.sparse.issparse(problem.X) else M
        return lambda G: np.asarray(G / by_feature)
    inverse_root = _inverse_root(problem, w)
    return lambda G: np.asarray((G @ inverse_root.T) @ inverse_root)


def _column_squares(problem: PrimalDual) -> Floats:
    """Return the diagonal of X^T diag(omega) X, (d,)."""
    X, omega = problem.X, problem.sample_weight
    if scipy.sparse.issparse(X):
        squares = scipy.sparse.csr_matrix(
            (np.square(X.data, dtype=np.float64), X.indices, X.indptr), X.shape
        )
        return np.asarray(squares.T @ omega)
    return np.asarray(np.einsum("ij,ij,i->j", X, X, omega, dtype=np.float64))


def _inverse_root(problem: PrimalDual, w: float) -> Floats:
    """Return L^-1 for the Cholesky factor L of M, (d, d)."""
    # imported here because it takes a tenth of a second
    from scipy.linalg import cholesky, solve_triangular

    d = problem.n_features
    M, root = np.zeros((d, d)), np.sqrt(problem.sample_weight)
    with threads_in_blas():
        for start in range(0, problem.n_samples, CHUNK):
            rows = slice(start, start + CHUNK)
            part = problem.X[rows] * root[rows, None]
            M += part.T @ part
        M *= w
        diagonal = np.einsum("ii->i", M)
        diagonal += problem.lam + JITTER * diagonal.max()
        L = cholesky(M, lower=True, overwrite_a=True, check_finite=False)
        inverse = solve_triangular(L, np.eye(d), lower=True, overwrite_b=True, check_finite=False)
    return np.ascontiguousarray(inverse)
