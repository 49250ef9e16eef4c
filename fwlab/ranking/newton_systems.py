"""Solve the Newton systems of a ranking dual: the signed kernel matrix Q, a diagonal, equalities.

    (Q + diag(D)) x + A^T v = f,   A x = g,   D > 0

Q = S K S with the signs S, positives first (M20 (6) (14)). Near an optimum D spans twenty decades.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fwlab.arrays import Floats
from fwlab.ranking.gram import LinearGram
from fwlab.ranking.problem import Problem

ROUNDING = float(np.finfo(float).eps)
Solve = Callable[[Floats, Floats], tuple[Floats, Floats]]


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
    """Q = S K S for an array K and signs S (n,); Cholesky, n^3/3 flops.

    S D S = D, so that K + diag(D) is factorised, for y = S x.

    If K has no full rank, rounding of its entries and of the factorisation can make eigenvalues of
    K + diag(D) negative, down to about -n eps times its largest entry. A ridge of this size makes
    the matrix definite. The residuals of the steps leave the ridge out.
    """

    K: Floats
    A: Floats
    signs: Floats
    factor: Floats = field(init=False)
    behind: Floats | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.factor = np.empty_like(self.K, order="C")

    def product(self, x: Floats) -> Floats:
        y: Floats = self.K @ (self.signs * x)
        y *= self.signs
        return y

    def factorise(self, D: Floats) -> None:
        from scipy.linalg.lapack import dpotrf

        ridge, diagonal = 0.0, self.K.diagonal()
        largest = float((diagonal + D).max())
        while True:
            np.copyto(self.factor, self.K)
            np.fill_diagonal(self.factor, diagonal + (D + ridge))
            # LAPACK stores matrices by columns: without .T it would work on a copy
            _, info = dpotrf(self.factor.T, lower=1, clean=0, overwrite_a=1)
            if info == 0:
                break
            if not ridge <= largest < np.inf:
                raise np.linalg.LinAlgError("the matrix is not definite")
            ridge = max(10 * ridge, ROUNDING * largest)
        self.behind = None

    def solve(self, f: Floats, g: Floats) -> tuple[Floats, Floats]:
        if self.behind is None:  # two right sides take little longer than one
            both = self._divided(np.column_stack([f, self.A.T]))
            x, self.behind = both[:, 0], both[:, 1:]
        else:
            x = self._divided(f[:, None])[:, 0]
        v: Floats = np.asarray(np.linalg.solve(self.A @ self.behind, self.A @ x - g))
        return x - self.behind @ v, v

    def _divided(self, F: Floats) -> Floats:
        """Return the solutions X of (Q + diag(D)) X = F, (n, columns) each."""
        from scipy.linalg.lapack import dpotrs

        signs = self.signs[:, None]
        X, _ = dpotrs(self.factor.T, signs * F, lower=1)
        return np.asarray(signs * X)


@dataclass(eq=False)
class FactorSystem:
    """A system with Q = L L^T, L (n, d), d < n, for Cholesky (n d^2 flops) or QR (2 n d^2, slower).

    With B = (L, A^T) and y = (u, v), u = L^T x, this system is

        D x + B y = f,   B^T x - (u, 0) = (0, g).

    The system is solved again for the residuals of x and y together (Bjorck 1967) as long as that
    halves the largest of them, each in units of the terms of its row: at most 52 times, usually
    once. A row counts as solved at as many roundings as it has terms.

    The normal equations (B^T D^-1 B + diag(1, 0)) y = B^T D^-1 f - (0, g) come first. Where D spans
    many decades they can lose all digits, which the residuals show, or be indefinite. Then this
    system is solved as the least squares problem

        min |D^-1/2 (B y - f)|^2 + |u|^2 + 2 <g, v>.

    Householder's QR with the rows from large to small and pivoted columns keeps errors small in
    every row, as long as the reflectors themselves are applied (Cox and Higham 1998): the matrix of
    their product is only accurate as a whole.
    """

    L: Floats
    A: Floats
    B: Floats = field(init=False)
    sizes: Floats = field(init=False)
    enough: float = field(init=False)
    D: Floats = field(init=False)
    cholesky: Floats | None = field(init=False)
    qr: Any = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.B = np.column_stack([self.L, self.A.T])
        self.sizes = np.abs(self.B)
        self.enough = max(self.B.shape) * ROUNDING

    def product(self, x: Floats) -> Floats:
        return self.L @ (self.L.T @ x)

    def factorise(self, D: Floats) -> None:
        from scipy.linalg.lapack import dpotrf

        scaled = self.B / np.sqrt(D)[:, None]
        M = scaled.T @ scaled
        d = self.L.shape[1]
        M[range(d), range(d)] += 1.0
        factor, info = dpotrf(M, clean=0)
        self.D, self.qr = D, None
        self.cholesky = factor if info == 0 and np.isfinite(factor[-1, -1]) else None

    def solve(self, f: Floats, g: Floats) -> tuple[Floats, Floats]:
        d = self.L.shape[1]
        h = np.concatenate([np.zeros(d), g])
        if self.cholesky is not None:
            x, y, error = self._refined(f, h, self._normal_equations)
            if error <= self.enough:
                return x, y[d:]
            self.cholesky = None
        if self.qr is None:
            self.qr = self._orthogonal()
        x, y, _ = self._refined(f, h, self._solve_once)
        return x, y[d:]

    def _refined(self, f: Floats, h: Floats, solve: Solve) -> tuple[Floats, Floats, float]:
        """Return x and y, solved again for their residuals, and the largest residual left."""
        x, y = solve(f, h)
        *rest, error = self._residual(x, y, f, h)
        while error > ROUNDING:
            dx, dy = solve(*rest)
            *rest, new_error = self._residual(x + dx, y + dy, f, h)
            if new_error < error:
                x, y = x + dx, y + dy
            if not new_error <= error / 2:
                return x, y, min(error, new_error)
            error = new_error
        return x, y, error

    def _normal_equations(self, f: Floats, h: Floats) -> tuple[Floats, Floats]:
        """Return x and y with D x + B y = f, B^T x - (u, 0) = h, where u are the first d of y."""
        from scipy.linalg.lapack import dpotrs

        y, _ = dpotrs(self.cholesky, (f / self.D) @ self.B - h)
        return (f - self.B @ y) / self.D, y

    def _orthogonal(self) -> Any:
        """Return the QR factorisation: order of the rows, reflectors, scales, R, columns."""
        from scipy.linalg import qr

        d, width = self.L.shape[1], self.B.shape[1]
        stacked = np.vstack([self.B / np.sqrt(self.D)[:, None], np.eye(d, width)])
        rows = np.argsort(-np.abs(stacked).max(axis=1))
        (reflectors, scales), R, columns = qr(
            stacked[rows], mode="raw", pivoting=True, check_finite=False
        )
        return rows, reflectors, scales, R[:width], columns

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

        rows, _, _, R, columns = self.qr
        width = len(columns)
        scaled = np.concatenate([f / np.sqrt(self.D), np.zeros(self.L.shape[1])])[rows]
        lifted = solve_triangular(R, h[columns], trans="T", check_finite=False)
        turned = self._reflected(scaled, "T")
        y = np.empty(width)
        y[columns] = solve_triangular(R, turned[:width] - lifted, check_finite=False)
        turned[:width] = lifted
        x = np.empty(len(rows))
        x[rows] = self._reflected(turned, "N")
        return x[: len(f)] / np.sqrt(self.D), y

    def _reflected(self, values: Floats, direction: str) -> Floats:
        """Return the product of the reflectors, or for "T" its transpose, times the values."""
        from scipy.linalg.lapack import dormqr

        _, reflectors, scales, *_ = self.qr
        # with the least workspace, 1, LAPACK takes the reflectors one by one: best for one vector
        product, _, _ = dormqr("L", direction, reflectors, scales, values[:, None], 1)
        column: Floats = product[:, 0]
        return column


def has_factor(problem: Problem) -> bool:
    """Return whether X is a factor of the kernel matrix with fewer columns than rows."""
    gram = problem.gram
    return isinstance(gram, LinearGram) and gram.X.shape[1] < gram.size


def bytes_needed(problem: Problem) -> int:
    """Return the bytes of K and its Cholesky factor; 0 with a factor of Q, which needs neither."""
    return 0 if has_factor(problem) else 2 * 8 * problem.gram.size**2


def newton_system(problem: Problem, A: Floats, merged: bool) -> NewtonSystem:
    """Return the system of a problem; if merged, the mean of the counted rows replaces them."""
    gram, p = problem.gram, problem.n_positive
    if isinstance(gram, LinearGram) and has_factor(problem):
        X = gram.X if isinstance(gram.X, np.ndarray) else gram.X.toarray()
        L = problem.signs[:, None] * X
        return FactorSystem(_merge_rows(L, p) if merged else L, A)
    K = gram.matrix()
    if merged:
        K = _merge_rows(_merge_rows(K, p).T, p)
    return StoredSystem(K, A, problem.signs[: len(K)])


def _merge_rows(L: Floats, p: int) -> Floats:
    return np.vstack([L[:p], L[p:].mean(axis=0)])
