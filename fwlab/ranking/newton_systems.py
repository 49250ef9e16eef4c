"""Solve the Newton systems of a ranking dual: the signed kernel matrix Q, a diagonal, equalities.

    (Q + diag(D)) x + A^T v = f,   A x = g,   D > 0

Q = S K S with the signs S, positives first (M20 (6) (14)). Near an optimum D spans twenty decades.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.ranking.gram import LinearGram
from fwlab.ranking.problem import Problem

ROUNDING = float(np.finfo(float).eps)


class NewtonSystem(Protocol):
    """Q (n, n) and A (m, n), with the D of the last call of `factorise`."""

    def product(self, x: Floats) -> Floats:
        """Return Q x."""

    def factorise(self, D: Floats) -> None:
        """Prepare for solves with this D (n,)."""

    def solve(self, f: Floats, g: Floats) -> tuple[Floats, Floats]:
        """Return x (n,) and v (m,) for the right sides f (n,) and g (m,)."""


@dataclass(eq=False)
class StoredSystem:
    """Q as an array; Cholesky, n^3/3 flops.

    If Q has no full rank, rounding of its entries and of the factorisation can make eigenvalues of
    Q + diag(D) negative, down to about -n eps times its largest entry. A ridge of this size makes
    the matrix definite. The residuals of the steps leave the ridge out.
    """

    Q: Floats
    A: Floats
    factor: Any = field(init=False)
    behind: Floats = field(init=False)

    def product(self, x: Floats) -> Floats:
        return self.Q @ x

    def factorise(self, D: Floats) -> None:
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        ridge = 0.0
        while True:
            M = self.Q.copy()
            M[np.diag_indices_from(M)] += D + ridge
            largest = float(M.diagonal().max())
            try:
                # LAPACK stores matrices by columns: without .T it would work on a copy
                self.factor = cho_factor(M.T, lower=True, overwrite_a=True, check_finite=False)
                break
            except LinAlgError:
                if not ridge <= largest < np.inf:
                    raise
                ridge = max(10 * ridge, ROUNDING * largest)
        self.behind = cho_solve(self.factor, self.A.T, check_finite=False)

    def solve(self, f: Floats, g: Floats) -> tuple[Floats, Floats]:
        from scipy.linalg import cho_solve

        x = cho_solve(self.factor, f, check_finite=False)
        v = np.linalg.solve(self.A @ self.behind, self.A @ x - g)
        return x - self.behind @ v, v


@dataclass(eq=False)
class FactorSystem:
    """Q = L L^T, L (n, d) with d < n; QR, some 2 n d^2 flops.

    With B = (L, A^T) and y = (u, v), u = L^T x, this system solves the least squares problem

        min |D^-1/2 (B y - f)|^2 + |u|^2 + 2 <g, v>.

    Householder's QR with the rows from large to small and pivoted columns keeps errors small in
    every row, as long as the reflectors themselves are applied (Cox and Higham 1998): the matrix of
    their product is only accurate as a whole. The normal equations, which are the Woodbury formula,
    would lose all digits.

    The system is solved again for the residuals of x and y together (Bjorck 1967) as long as that
    halves the largest of them, each in units of the terms of its row: at most 52 times, usually
    once.
    """

    L: Floats
    A: Floats
    B: Floats = field(init=False)
    sizes: Floats = field(init=False)
    D: Floats = field(init=False)
    rows: Integers = field(init=False)
    factor: Any = field(init=False)

    def __post_init__(self) -> None:
        self.B = np.column_stack([self.L, self.A.T])
        self.sizes = np.abs(self.B)

    def product(self, x: Floats) -> Floats:
        return self.L @ (self.L.T @ x)

    def factorise(self, D: Floats) -> None:
        from scipy.linalg import qr

        d, width = self.L.shape[1], self.B.shape[1]
        stacked = np.vstack([self.B / np.sqrt(D)[:, None], np.eye(d, width)])
        self.D, self.rows = D, np.argsort(-np.abs(stacked).max(axis=1))
        (reflectors, scales), R, columns = qr(
            stacked[self.rows], mode="raw", pivoting=True, check_finite=False
        )
        self.factor = reflectors, scales, R[:width], columns

    def solve(self, f: Floats, g: Floats) -> tuple[Floats, Floats]:
        d = self.L.shape[1]
        h = np.concatenate([np.zeros(d), g])
        x, y = self._solve_once(f, h)
        *rest, error = self._residual(x, y, f, h)
        while error > ROUNDING:
            dx, dy = self._solve_once(*rest)
            *rest, new_error = self._residual(x + dx, y + dy, f, h)
            if new_error < error:
                x, y = x + dx, y + dy
            if not new_error <= error / 2:
                break
            error = new_error
        return x, y[d:]

    def _residual(self, x: Floats, y: Floats, f: Floats, h: Floats) -> tuple[Floats, Floats, float]:
        """Return the residuals f - D x - B y and h - B^T x + (u, 0), and their largest entry.

        The last is in units of the sum of absolute terms in its row.
        """
        d = self.L.shape[1]
        above, below = f - self.D * x - self.B @ y, h - self.B.T @ x
        below[:d] += y[:d]
        above_terms = np.abs(f) + self.D * np.abs(x) + self.sizes @ np.abs(y)
        below_terms = np.abs(h) + self.sizes.T @ np.abs(x)
        below_terms[:d] += np.abs(y[:d])
        terms = np.maximum(np.concatenate([above_terms, below_terms]), np.finfo(float).tiny)
        return above, below, float(np.max(np.abs(np.concatenate([above, below])) / terms))

    def _solve_once(self, f: Floats, h: Floats) -> tuple[Floats, Floats]:
        """Return x and y with D x + B y = f, B^T x - (u, 0) = h, where u are the first d of y."""
        from scipy.linalg import solve_triangular

        _, _, R, columns = self.factor
        width = len(columns)
        scaled = np.concatenate([f / np.sqrt(self.D), np.zeros(self.L.shape[1])])[self.rows]
        lifted = solve_triangular(R, h[columns], trans="T", check_finite=False)
        turned = self._reflected(scaled, "T")
        y = np.empty(width)
        y[columns] = solve_triangular(R, turned[:width] - lifted, check_finite=False)
        turned[:width] = lifted
        x = np.empty(len(self.rows))
        x[self.rows] = self._reflected(turned, "N")
        return x[: len(f)] / np.sqrt(self.D), y

    def _reflected(self, values: Floats, direction: str) -> Floats:
        """Return the product of the reflectors, or for "T" its transpose, times the values."""
        from scipy.linalg.lapack import dormqr

        reflectors, scales, *_ = self.factor
        # with the least workspace, 1, LAPACK takes the reflectors one by one: best for one vector
        product, _, _ = dormqr("L", direction, reflectors, scales, values[:, None], 1)
        column: Floats = product[:, 0]
        return column


def has_factor(problem: Problem) -> bool:
    """Return whether X is a factor of the kernel matrix with fewer columns than rows."""
    gram = problem.gram
    return isinstance(gram, LinearGram) and gram.X.shape[1] < gram.size


def bytes_needed(problem: Problem) -> int:
    """Return the bytes of Q and its Cholesky factor; 0 with a factor of Q, which needs neither."""
    return 0 if has_factor(problem) else 2 * 8 * problem.gram.size**2


def newton_system(problem: Problem, A: Floats, merged: bool) -> NewtonSystem:
    """Return the system of a problem; if merged, the mean of the negatives replaces them."""
    gram, p = problem.gram, problem.n_positive
    if isinstance(gram, LinearGram) and has_factor(problem):
        X = gram.X if isinstance(gram.X, np.ndarray) else gram.X.toarray()
        L = problem.signs[:, None] * X
        return FactorSystem(_merge_rows(L, p) if merged else L, A)
    Q = gram.block(np.arange(gram.size))
    Q *= problem.signs[:, None]
    Q *= problem.signs
    return StoredSystem(_merge_rows(_merge_rows(Q, p).T, p) if merged else Q, A)


def _merge_rows(L: Floats, p: int) -> Floats:
    return np.vstack([L[:p], L[p:].mean(axis=0)])
