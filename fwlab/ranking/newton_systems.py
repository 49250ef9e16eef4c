"""Newton systems of a ranking dual: the signed kernel matrix Q, a diagonal, and the equalities.

    (Q + diag(D)) x + A^T v = f,   A x = g,   D > 0

Q = S K S with the signs S, positives first (M20 (6) (14)). Near an optimum D spans twenty decades.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.ranking.gram import LinearGram
from fwlab.ranking.problem import Problem

REFINEMENTS = 2


class NewtonSystem(Protocol):
    """Q (n, n) and A (m, n), with the D of the last call of `factorise`."""

    def product(self, x: Floats) -> Floats:
        """Q x."""

    def factorise(self, D: Floats) -> None:
        """Prepare for solves with this D (n,)."""

    def solve(self, f: Floats, g: Floats) -> tuple[Floats, Floats]:
        """x (n,) and v (m,) for the right sides f (n,) and g (m,)."""


@dataclass(eq=False)
class StoredSystem:
    """Q as an array; Cholesky, n^3/3 flops."""

    Q: Floats
    A: Floats
    factor: Any = field(init=False)
    behind: Floats = field(init=False)

    def product(self, x: Floats) -> Floats:
        return self.Q @ x

    def factorise(self, D: Floats) -> None:
        from scipy.linalg import cho_factor, cho_solve

        M = self.Q.copy()
        M[np.diag_indices_from(M)] += D
        # LAPACK wants the columns in a row: without .T it would work on a copy
        self.factor = cho_factor(M.T, lower=True, overwrite_a=True, check_finite=False)
        self.behind = cho_solve(self.factor, self.A.T, check_finite=False)

    def solve(self, f: Floats, g: Floats) -> tuple[Floats, Floats]:
        from scipy.linalg import cho_solve

        x = cho_solve(self.factor, f, check_finite=False)
        v = np.linalg.solve(self.A @ self.behind, self.A @ x - g)
        return x - self.behind @ v, v


@dataclass(eq=False)
class FactorSystem:
    """Q = L L^T, L (n, d) with d < n; QR, some 4 n d^2 flops.

    With B = (L, A^T) and y = (u, v), u = L^T x, the system is that of the least squares problem
    min |D^-1/2 (B y - f)|^2 + |u|^2 + 2 <g, v>. QR with the rows from large to small and pivoted
    columns keeps errors small in every row (Cox and Higham 1998), and the residuals of x and y
    together are solved for again (Bjorck 1967). The normal equations, which are the Woodbury
    formula, would lose all digits.
    """

    L: Floats
    A: Floats
    B: Floats = field(init=False)
    D: Floats = field(init=False)
    rows: Integers = field(init=False)
    factor: Any = field(init=False)

    def __post_init__(self) -> None:
        self.B = np.column_stack([self.L, self.A.T])

    def product(self, x: Floats) -> Floats:
        return self.L @ (self.L.T @ x)

    def factorise(self, D: Floats) -> None:
        from scipy.linalg import qr

        d, width = self.L.shape[1], self.B.shape[1]
        stacked = np.vstack([self.B / np.sqrt(D)[:, None], np.eye(d, width)])
        self.D, self.rows = D, np.argsort(-np.abs(stacked).max(axis=1))
        self.factor = qr(stacked[self.rows], mode="economic", pivoting=True, check_finite=False)

    def solve(self, f: Floats, g: Floats) -> tuple[Floats, Floats]:
        n, d = self.L.shape
        right = np.concatenate([np.zeros(d), g])
        x, y = np.zeros(n), np.zeros(len(right))
        for _ in range(1 + REFINEMENTS):
            below = right - self.B.T @ x
            below[:d] += y[:d]
            dx, dy = self._solve_once(f - self.D * x - self.B @ y, below)
            x, y = x + dx, y + dy
        return x, y[d:]

    def _solve_once(self, f: Floats, h: Floats) -> tuple[Floats, Floats]:
        """x and y of D x + B y = f, B^T x - (u, 0) = h, where u are the first d of y."""
        from scipy.linalg import solve_triangular

        T, R, columns = self.factor
        scaled = np.concatenate([f / np.sqrt(self.D), np.zeros(self.L.shape[1])])[self.rows]
        lifted = solve_triangular(R, h[columns], trans="T", check_finite=False)
        seen = T.T @ scaled - lifted
        y = np.empty(len(columns))
        y[columns] = solve_triangular(R, seen, check_finite=False)
        x = np.empty(len(self.rows))
        x[self.rows] = scaled - T @ seen
        return x[: len(f)] / np.sqrt(self.D), y


def has_factor(problem: Problem) -> bool:
    """Whether the rows of X are a factor of the kernel matrix with fewer columns than rows."""
    gram = problem.gram
    return isinstance(gram, LinearGram) and gram.X.shape[1] < gram.size


def bytes_needed(problem: Problem) -> int:
    """For the n x n arrays of the system: Q and its Cholesky factor, none with a factor of Q."""
    return 0 if has_factor(problem) else 2 * 8 * problem.gram.size**2


def newton_system(problem: Problem, A: Floats, merged: bool) -> NewtonSystem:
    """The system of a problem; merged: all negatives become one, their mean."""
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
