"""Define small training problems in exact fractions: objectives, W(A) and derivatives.

    P(W) = lam/2 |W|^2 + (1/n) sum_i Phi(W x_i; y_i)                                     K19 (1)
    D(A) = -lam/2 |W(A)|^2 - (1/n) sum_i Phi*(-a_i; y_i),   W(A) = A^T X / (lam n)       K19 (2)

Arrays hold Fractions (dtype object): X (n, d), W (m, d), A (n, m). The conjugate is a linear
program over the pieces of the loss.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import reference
from paper_checks.cases import Rng, decreasing_weights, fractions, labels
from paper_checks.ledger import Case
from paper_checks.trials import shown
from reference import exact

Exact = np.ndarray


@dataclass(frozen=True, eq=False)
class ExactProblem:
    """X (n, d), y (n,), a reference loss, m classes, lam > 0, smoothing >= 0 for the dual."""

    X: Exact
    y: tuple[int, ...]
    loss: Any
    m: int
    lam: Fraction
    smoothing: Fraction = Fraction(0)

    def __str__(self) -> str:
        text = f"X = {shown(self.X)}, y = {self.y}, {self.loss}, m = {self.m}, lam = {self.lam}"
        return text + (f", smoothing = {self.smoothing}" if self.smoothing else "")

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def gram(self) -> Exact:
        """The Gram matrix K = X X^T, which is X^T X in the paper's layout."""
        return self.X @ self.X.T

    @property
    def one_hot(self) -> Exact:
        """The rows e_{y_i}, the transpose of the paper's E_y."""
        return array([[int(j == label) for j in range(self.m)] for label in self.y])

    def weights(self, A: Exact) -> Exact:
        return A.T @ self.X / (self.lam * self.n)

    def scores(self, A: Exact) -> Exact:
        """Return the rows W(A) x_i."""
        return self.X @ self.weights(A).T

    def primal(self, W: Exact) -> Fraction:
        """Return P(W) for the loss without smoothing."""
        losses = [exact.value(self.loss, s, y) for s, y in zip(self.X @ W.T, self.y, strict=True)]
        return self.lam / 2 * square(W) + sum(losses, Fraction()) / self.n

    def dual(self, A: Exact) -> Fraction | float:
        """Return D(A), -inf outside the domain; smoothing adds smoothing/2 |.|^2 to Phi*."""
        conjugates = [exact.conjugate(self.loss, -a, y) for a, y in zip(A, self.y, strict=True)]
        if math.inf in conjugates:
            return -math.inf
        ridge = self.smoothing / 2 * square(A)
        return -self.lam / 2 * square(self.weights(A)) - (sum(conjugates) + ridge) / self.n

    def slope(self, A: Exact, direction: Exact) -> Fraction:
        """Return the derivative of D at A in a feasible direction, along which D is quadratic."""
        middle, end = self.dual(A + direction / 2), self.dual(A + direction)
        return Fraction(4 * middle - end - 3 * self.dual(A))


def array(rows: Any) -> Exact:
    """Return an object array of Fractions."""
    numbers = np.array(rows, dtype=object)
    return np.vectorize(Fraction, otypes=[object])(numbers)


def square(A: Exact) -> Fraction:
    """Return the sum of squares of all entries."""
    return Fraction(sum(x * x for x in A.ravel()))


def product(A: Exact, B: Exact) -> Fraction:
    """Return <A, B>."""
    return Fraction(sum(x * z for x, z in zip(A.ravel(), B.ravel(), strict=True)))


def feasible(rng: Rng, problem: ExactProblem, spread: int = 3) -> Exact:
    """Return a point of the domain.

    Each row mixes up to `spread` vertices in thirds.
    """
    rows = []
    for y in problem.y:
        slopes = sorted(exact.pieces(problem.loss, problem.m, y))
        chosen = [slopes[int(i)] for i in rng.integers(len(slopes), size=spread)]
        rows.append([-sum(entries) / Fraction(spread) for entries in zip(*chosen, strict=True)])
    return array(rows)


def random_problem(rng: Rng, n: int, d: int, m: int, loss: Any = None) -> ExactProblem:
    """Return a random problem: features with ties, top-k or weighted top-k loss, simple lam."""
    if loss is None:
        k, rho = int(rng.integers(1, m + 1)), decreasing_weights(rng, m)
        loss = reference.TopK(k) if rng.integers(2) else reference.WeightedTopK(rho)
    X = array([fractions(rng, d, largest=2) for _ in range(n)])
    lam = Fraction(int(rng.integers(1, 9)), 8)
    return ExactProblem(X, tuple(int(y) for y in labels(rng, n, m)), loss, m, lam)


def small_problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield problems with two feasible points A and B, for n 1-3, d 1-2, m 2-4."""
    for _ in range(200 if deep else 30):
        n, d, m = (int(rng.integers(low, high)) for low, high in ((1, 4), (1, 3), (2, 5)))
        yield with_points(rng, random_problem(rng, n, d, m))


def with_points(rng: Rng, problem: ExactProblem, **more: Any) -> Case:
    """Return the case of a problem with two feasible points."""
    A, B = feasible(rng, problem), feasible(rng, problem)
    return Case(kind="exact", problem=problem, A=A, B=B, **more)


def clipped(slope: Fraction, bend: Fraction) -> Fraction:
    """Return the maximiser over [0, 1] of slope s - bend s^2/2; 0 for a constant function."""
    if slope <= 0:
        return Fraction(0)
    return Fraction(1) if slope >= bend else slope / bend


def exact_step(problem: ExactProblem, A: np.ndarray, move: np.ndarray) -> Fraction:
    """Return the maximiser of D on the segment, from three values of D."""
    slope = problem.slope(A, move)
    fall = problem.dual(A) + slope - problem.dual(A + move)
    return clipped(slope, Fraction(2 * fall))


def rank(matrix: Exact) -> int:
    """Return the rank, by elimination."""
    rows, found = [list(row) for row in matrix], 0
    for column in range(matrix.shape[1]):
        pivot = next((i for i in range(found, len(rows)) if rows[i][column] != 0), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        top = rows[found]
        for i in range(found + 1, len(rows)):
            factor = rows[i][column] / top[column]
            rows[i] = [x - factor * z for x, z in zip(rows[i], top, strict=True)]
        found += 1
    return found
