"""Bound the inverse of a positive definite matrix, from its computed factors.

Let H (N, N) be known up to a matrix of norm E. With c = N + 8 operations for an entry of a product,
the computed Cholesky factor L of H - s I is checked by its residual

    R = H - s I - L L^T,    E + |R| + gamma_c (|L|^2 + tr H) <= s,

so that L L^T is at most the exact matrix, and an approximate inverse T of L by F = I - T L: from
T = (I - F) L^-1 follows |L^-1 v| <= |T v| / (1 - |F|). All norms of matrices are Frobenius norms.
No bound depends on how L and T were computed.

An array v (m, d) counts as a vector of N = m d entries. Products with T are right to
gamma_N |T| |v|. The matrix of a form v^T (T^T T) v at v = (e_j - e_c) (x) x is a sum of four blocks
of T^T T, and the form is right to

    (2 gamma_N + 4 gamma_(2 d + 16)) |T|^2 |x|^2,

as |v|^2 = 2 |x|^2 and no block is larger than |T|^2.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats, Integers, cut
from fwlab.enclosing_ball import norm_above
from fwlab.operators.sums import MARGIN, UNDERFLOW, UNIT, gamma, norms_above

# rows of samples that are read at a time
ROWS = 1024
# the largest |F|
MOST_WRONG = 0.01


@dataclass(frozen=True, eq=False)
class Inverse:
    """A bound of H^-1: v^T H^-1 v <= |T v|^2 for arrays v like W (m, d), as a vector.

    Attributes
    ----------
    T : array (m d, m d)
    shape : tuple (m, d)
    """

    T: Floats
    shape: tuple[int, int]

    @cached_property
    def size(self) -> float:
        """A bound of the sum of the squares of T."""
        return MARGIN * float(np.sum(self.T * self.T))

    @cached_property
    def blocks(self) -> Floats:
        """The product T^T T, (m, d, m, d)."""
        return (self.T.T @ self.T).reshape(2 * self.shape)

    def step(self, G: Floats) -> Floats:
        """Return about H^-1 G for an array G (m, d)."""
        return (self.T.T @ (self.T @ G.ravel())).reshape(self.shape)

    def norm(self, G: Floats) -> float:
        """Return a bound of |G| in the norm of H^-1, for an array G (m, d)."""
        rounding = gamma(G.size + 2) * np.sqrt(self.size) * norm_above(G)
        return MARGIN * float(norm_above(self.T @ G.ravel()) + rounding)

    def reach(self, X: Any, classes: Integers) -> Floats:
        """Return bounds of |(e_j - e_c) (x) x| in the norm of H^-1, (n, m).

        X (n, d) are samples, and classes (n,) their c.
        """
        (m, d), out = self.shape, np.empty((X.shape[0], self.shape[0]))
        # of a form in T^T T, which has errors of its own, and in the sum of four of its blocks
        rounding = 2 * gamma(m * d + 4) + 4 * gamma(2 * d + 16)
        for rows in cut(slice(0, X.shape[0]), ROWS):
            x, c = dense_rows(X, rows), classes[rows]
            squares = norms_above(np.einsum("ij,ij->i", x, x)) ** 2
            errors = rounding * self.size * squares
            errors += 8 * m * d**2 * UNDERFLOW * (1 + squares)
            forms = np.maximum(self._forms(x, c), 0.0) + errors[:, None]
            out[rows] = MARGIN * np.sqrt(forms)
            out[rows][np.arange(len(c)), c] = 0.0
        return np.where(np.isnan(out), np.inf, out)

    def _forms(self, x: Floats, classes: Integers) -> Floats:
        """Return the squares of `reach` for rows x, computed, (n, m)."""
        m, blocks = self.shape[0], self.blocks
        own, out = blocks[np.arange(m), :, np.arange(m)], np.empty((len(x), m))
        for c in np.unique(classes):
            rows, at_c = x[classes == c], blocks[c].transpose(1, 0, 2)
            pairs = own + own[c] - at_c - at_c.transpose(0, 2, 1)
            out[classes == c] = np.einsum("jik,ik->ij", rows @ pairs, rows)
        return out


def inverse_factor(H: Floats, error: float) -> Floats | None:
    """Return T with v^T (H + D)^-1 v <= |T v|^2 for all |D| <= error, None if none is proved.

    The lower half of H (N, N) counts.
    """
    N, lower = len(H), np.tril(H)
    H = lower + np.tril(H, -1).T
    trace = MARGIN * float(np.trace(H))
    if not np.isfinite(trace + error):
        return None
    shift = MARGIN * (error + 4 * gamma(N + 8) * trace)
    H[np.diag_indices(N)] -= shift
    try:
        L = np.linalg.cholesky(H)
        T = np.linalg.inv(L)
    except np.linalg.LinAlgError:
        return None
    size = MARGIN * float(np.sum(L * L))
    wrong = norm_above(H - L @ L.T) + gamma(N + 8) * (size + trace)
    rest = norm_above(np.eye(N) - T @ L)
    rest += gamma(N + 8) * (np.sqrt(size * float(np.sum(T * T))) + N)
    if not (error + MARGIN * wrong <= shift and MARGIN * rest <= MOST_WRONG):
        return None
    return np.asarray(T * ((1 + 4 * UNIT) / (1 - MARGIN * rest)))


def dense_rows(X: Any, rows: slice) -> Floats:
    """Return rows of X as an array of float64."""
    part = X[rows]
    part = part.toarray() if scipy.sparse.issparse(part) else part
    return np.asarray(part, dtype=np.float64)
