"""Represent matrices as tuples of rows of Fractions or symbols, and D of K19 (2) as a polynomial.

    D(A) = -lam/2 |W(A)|^2 + (1/n) sum_i A_{i, y_i} - smoothing/(2 n) |A|^2,   W(A) = A' X / (lam n)

inside the domain; X (n, d) and A (n, m) are the transposes of the paper's. `domain` states that
each row of -A lies in the domain of the max hinge, which contains every domain used here.
"""

from collections.abc import Sequence
from typing import Any

from paper_checks.arithmetic import Real, Truth, all_of, equals, inner, total

Matrix = Sequence[Sequence[Real]]
Rows = tuple[tuple[Real, ...], ...]


def transposed(A: Matrix) -> Rows:
    """Return A'."""
    return tuple(zip(*A, strict=True))


def times(A: Matrix, B: Matrix) -> Rows:
    """Return A B."""
    columns = transposed(B)
    return tuple(tuple(inner(row, column) for column in columns) for row in A)


def scaled(factor: Any, A: Matrix) -> Rows:
    """Return the matrix with each entry multiplied."""
    return tuple(tuple(factor * x for x in row) for row in A)


def plus(A: Matrix, B: Matrix, factor: Any = 1) -> Rows:
    """Return A + factor B."""
    pairs = zip(A, B, strict=True)
    return tuple(tuple(x + factor * z for x, z in zip(a, b, strict=True)) for a, b in pairs)


def dot(A: Matrix, B: Matrix) -> Real:
    """Return <A, B>, the sum of products of entries."""
    return total(inner(a, b) for a, b in zip(A, B, strict=True))


def gram(X: Matrix) -> Rows:
    """Return K = X X', the paper's X' X."""
    return times(X, transposed(X))


def one_hot(y: Sequence[int], m: int) -> Rows:
    """Return rows e_{y_i}, the transpose of the paper's E_y."""
    return tuple(tuple(int(j == label) for j in range(m)) for label in y)


def weights(X: Matrix, A: Matrix, lam: Any) -> Rows:
    """Return W(A), with one row per class."""
    return scaled(1 / (lam * len(X)), times(transposed(A), X))


def scores(X: Matrix, A: Matrix, lam: Any) -> Rows:
    """Return rows W(A) x_i."""
    return times(X, transposed(weights(X, A, lam)))


def dual(X: Matrix, y: Sequence[int], A: Matrix, lam: Any, smoothing: Any = 0) -> Real:
    """Return D(A) inside the domain."""
    W, n = weights(X, A, lam), len(X)
    linear = total(row[label] for row, label in zip(A, y, strict=True))
    return (linear - smoothing * dot(A, A) / 2) / n - lam * dot(W, W) / 2


def domain(y: Sequence[int], A: Matrix) -> Truth:
    """Return whether each row sums to 0, has at most 1 at its class, and is <= 0 elsewhere."""
    rows = zip(A, y, strict=True)
    return all_of(*(in_row_domain(row, label) for row, label in rows))


def in_row_domain(row: Sequence[Real], label: int) -> Truth:
    others = [x <= 0 for j, x in enumerate(row) if j != label]
    return all_of(equals(total(row), 0), row[label] <= 1, *others)
