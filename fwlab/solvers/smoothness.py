"""Compute the smoothness constant of the dual, for step rules that do not measure the curvature."""

import numpy as np

from fwlab.primal_dual import PrimalDual

ACCURACY = 1e-3


def smoothness(problem: PrimalDual) -> float:
    """Return the largest curvature of the dual along a direction of norm 1, to about 1 %.

    It is

        |X|_2^2 / (lam n^2) + max_i smoothing / (n omega_i).

    Raises ValueError for an LpNorm other than LpNorm(2), whose dual is not quadratic.
    """
    if not problem.regularizer.plain:
        raise ValueError(f"regularizer must be LpNorm(2); got {problem.regularizer!r}.")
    n = problem.n_samples
    return _largest_eigenvalue(problem) / (problem.lam_n * n) + float(problem.ridge().max()) / n


def _largest_eigenvalue(problem: PrimalDual) -> float:
    """Return |X|_2^2, the largest eigenvalue of X X^T, not below its Rayleigh quotients."""
    # imported here because it takes a tenth of a second
    from scipy.sparse.linalg import LinearOperator, eigsh

    n, features = problem.n_samples, problem.features

    def product(v: np.ndarray) -> np.ndarray:
        return features.scores(features.transposed_product(v.reshape(n, 1)))[:, 0]

    start = np.random.default_rng(0).normal(size=n)
    if n == 1 or not product(start).any():
        return float(problem.features.square_norms().max())
    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    largest = eigsh(operator, 1, which="LA", v0=start, tol=ACCURACY, return_eigenvectors=False)
    return float(largest[0]) * (1 + 10 * ACCURACY)
