"""Compute the certificate of a training run in ball arithmetic.

The primal is taken at the stored machine, W or the coefficients. The dual is taken at A', a point
of the exact domain next to A: fwlab.operators.repair defines it, `repaired` computes it in
fractions, and `_belongs` proves that it lies in the domain. The kernels supply only a guess of the
gradient of an envelope, which is repaired in the same way. The data, lam, the smoothing, the
weights of the loss and its costs count as exact numbers, as they are stored.

The loss is Lipschitz: it changes by at most the sum of `upper` times the largest change of a
margin. It is therefore computed at the margins rounded to float64, exactly, and its ball widened.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats, Integers
from fwlab.losses import moreau_envelope
from fwlab.problem import Problem
from fwlab.result import Result
from fwlab.streams import stderr

PRECISION = 128
# columns of X at a time
COLUMNS, SPARSE_COLUMNS = 256, 32
SECONDS = 3.0  # before a progress bar shows


class Balls:
    """The problem and the result in balls; one method per term of the certificate."""

    def __init__(self, flint: Any, problem: Problem, result: Result) -> None:
        self.arb, self.matrix, self.fraction = flint.arb, flint.arb_mat, flint.fmpq
        self.problem, self.result = problem, result
        self.lam_n = self.arb(problem.lam) * problem.n_samples
        self.take_loss()
        self.A = [
            self.repaired(a, int(y), self.exact(w))
            for a, y, w in zip(result.A, problem.y, problem.sample_weight, strict=True)
        ]

    def take_loss(self) -> None:
        """Take the weights and the costs of the loss."""
        problem, polytopes = self.problem, self.problem.row_polytopes
        self.upper = [self.exact(w) for w in polytopes.upper]
        self.lower = [self.exact(w) for w in polytopes.lower]
        self.reach = self.arb(sum(self.upper, self.fraction(0)))
        self.costs = polytopes.costs[polytopes.cost_rows].copy()
        self.costs[np.arange(problem.n_samples), problem.y] = 0.0

    def enclosure(self) -> tuple[Any, Any, Any]:
        if self.problem.kernel == "precomputed":
            scores, squares, dual_squares = self._gram_products()
        else:
            scores, squares, dual_squares = self._products()
        half = self.arb(self.problem.lam) / 2
        primal = half * self._square_norm(squares) + self._mean_loss(scores)
        dual = -half * self._dual_square_norm(dual_squares) - self.conjugate_terms()
        return primal, dual, primal - dual

    def exact(self, number: float) -> Any:
        """Return a float as a fraction."""
        return self.fraction(*float(number).as_integer_ratio())

    def repaired(self, a: Floats, y: int, omega: Any) -> list[Any]:
        """Return a proved point a' of omega times the negated domain, (m,) fractions."""
        zero = self.fraction(0)
        if not a.any() or omega == 0:
            return [zero] * len(a)
        b = [max(zero, -self.exact(v)) if j != y else zero for j, v in enumerate(a)]
        rest = b[:y] + b[y + 1 :]
        total, count = sum(rest, zero), len(rest)
        t = self._share_of_mean(rest, total)
        rest = [(1 - t) * v + t * total / count for v in rest]
        least, _ = self._range_of_zeta(rest)
        if least > omega:
            rest = [v * omega / least for v in rest]
        if not self._belongs(rest, omega):
            raise ArithmeticError(f"the repaired row of a sample with label {y} misses the domain.")
        row = [-v for v in rest]
        row.insert(y, sum(rest, zero))
        return row

    def _range_of_zeta(self, rest: list[Any]) -> tuple[Any, Any]:
        """Return the least and the largest zeta that the entries allow (None: no upper bound)."""
        least, most = self.fraction(0), None
        top = top_bound = bottom = bottom_bound = self.fraction(0)
        ordered = sorted(rest, reverse=True)
        for j in range(len(ordered)):
            top, top_bound = top + ordered[j], top_bound + self.upper[j]
            least = max(least, top / top_bound)
            bottom += ordered[-1 - j]
            bottom_bound += self.lower[-1 - j]
            if bottom_bound > 0:
                most = bottom / bottom_bound if most is None else min(most, bottom / bottom_bound)
        return least, most

    def _belongs(self, rest: list[Any], omega: Any) -> bool:
        least, most = self._range_of_zeta(rest)
        return min(rest) >= 0 and least <= omega and (most is None or least <= most)

    def _share_of_mean(self, rest: list[Any], total: Any) -> Any:
        """Return the share t of the mean that brings the entries into the domain's cone."""
        zero = self.fraction(0)
        least, most = self._range_of_zeta(rest)
        if most is None or least <= most:
            return zero
        sum_upper, sum_lower = sum(self.upper, zero), sum(self.lower, zero)
        if sum_upper > sum_lower:
            return (least - most) / (least - most + total / sum_lower - total / sum_upper)
        ordered, t = sorted(rest, reverse=True), zero
        top = bound = zero
        for j in range(len(rest) - 1):
            top, bound = top + ordered[j], bound + self.upper[j]
            excess = top - total / sum_upper * bound
            if excess > 0:
                t = max(t, excess / (top - (j + 1) * total / len(rest)))
        return t

    def _products(self) -> tuple[list[list[Any]], list[Any], list[Any]]:
        """Return the scores X W^T, |w_j|^2, and |v_j|^2 for V = A'^T X / (lam n)."""
        X, W, m = self.problem.X, self.result.W, self.problem.n_classes
        assert W is not None
        scores = [[self.arb(0)] * m for _ in self.A]
        squares = [self._square_sum(map(self.arb, w)) for w in W.tolist()]
        dual_squares = [self.arb(0)] * m
        for columns, rows in _parts(X, "machine and scores"):
            part = X[rows][:, columns]
            x = self._matrix(part.toarray() if scipy.sparse.issparse(part) else part)
            self._add(scores, rows, x * self._matrix(W[:, columns]).transpose())
            v = self._matrix_of([self.A[i] for i in rows]).transpose() * x
            for j, row in enumerate(v.tolist()):
                dual_squares[j] += self._square_sum(row) / self.lam_n**2
        return scores, squares, dual_squares

    def _gram_products(self) -> tuple[list[list[Any]], list[Any], list[Any]]:
        """Return the products with a Gram matrix: K C / (lam n), and the norms from <c, K c>."""
        result = self.result
        C = result.A if result.coefficients is None else result.coefficients
        own = [[self.arb(v) for v in row] for row in C.tolist()]
        repaired = [[self.arb(v) for v in row] for row in self.A]
        scores, squares = self._gram_product(own)
        return scores, squares, self._gram_product(repaired)[1]

    def _gram_product(self, C: list[list[Any]]) -> tuple[list[list[Any]], list[Any]]:
        """Return K C / (lam n) and the products <c_j, K c_j> / (lam n)^2 of its columns."""
        K, m = self.problem.X, self.problem.n_classes
        product = [[self.arb(0)] * m for _ in C]
        everyone = np.arange(len(C))
        for columns, rows in _parts(K, "kernel products"):
            part = self._matrix_of([C[i] for i in everyone[columns]])
            self._add(product, rows, self._matrix(K[:, columns]) * part)
        scores = [[entry / self.lam_n for entry in row] for row in product]
        squares = [
            sum((c[j] * s[j] for c, s in zip(C, scores, strict=True)), self.arb(0)) / self.lam_n
            for j in range(m)
        ]
        return scores, squares

    def _matrix(self, values: Floats) -> Any:
        return self.matrix(*values.shape, values.ravel().tolist())

    def _matrix_of(self, rows: list[list[Any]]) -> Any:
        return self.matrix(len(rows), len(rows[0]), [self.arb(v) for row in rows for v in row])

    def _add(self, scores: list[list[Any]], rows: Integers, product: Any) -> None:
        for i, row in zip(rows, product.tolist(), strict=True):
            scores[i] = [old + new for old, new in zip(scores[i], row, strict=True)]

    def _mean_loss(self, scores: list[list[Any]]) -> Any:
        """Return the mean over the samples of omega_i Phi_i(s_i), or of the envelopes."""
        problem, total = self.problem, self.arb(0)
        if problem.smoothing:
            middles = np.array([[float(s) for s in row] for row in scores])
            guesses = -moreau_envelope(problem.polytopes, middles, problem.smoothing)[1]
        for i, row in enumerate(scores):
            if problem.sample_weight[i] == 0:
                continue
            loss = self._envelope(row, i, guesses[i]) if problem.smoothing else self.loss(row, i)
            total += self.arb(problem.sample_weight[i]) * loss
        return total / problem.n_samples

    def loss(self, scores: list[Any], i: int) -> Any:
        """Return the loss of sample i at scores (m,)."""
        y = int(self.problem.y[i])
        margins = [s + float(c) - scores[y] for s, c in zip(scores, self.costs[i], strict=True)]
        del margins[y]
        rounded = sorted((float(h) for h in margins), reverse=True)
        radius = max(float((h - float(h)).abs_upper()) for h in margins)
        value = sum(
            (
                self.arb(self.upper[j] if h > 0 else self.lower[j]) * h
                for j, h in enumerate(rounded)
            ),
            self.arb(0),
        )
        value = value if value > 0 else self.arb(0)
        return value + self.reach * self.arb(0, 1.01 * radius)

    def _envelope(self, scores: list[Any], i: int, guess: Floats) -> Any:
        """Return a ball that holds the Moreau envelope.

        For any g in the domain it lies between <s + delta, g> - smoothing/2 |g|^2 and
        Phi(s - smoothing g) + smoothing/2 |g|^2.
        """
        y, one = int(self.problem.y[i]), self.fraction(1)
        g = [-self.arb(v) for v in self.repaired(guess, y, one)]
        smoothing = self.arb(self.problem.smoothing)
        square = smoothing / 2 * self._square_sum(g)
        shifted = [s + float(c) for s, c in zip(scores, self.costs[i], strict=True)]
        below = sum((s * v for s, v in zip(shifted, g, strict=True)), self.arb(0)) - square
        moved = [s - smoothing * v for s, v in zip(scores, g, strict=True)]
        return below.union(self.loss(moved, i) + square)

    def conjugate_terms(self) -> Any:
        """Return (1/n) sum_i <delta_i, a'_i> + smoothing/(2 omega_i) |a'_i|^2."""
        problem, total = self.problem, self.arb(0)
        for i, row in enumerate(self.A):
            if not any(row):
                continue
            a = [self.arb(v) for v in row]
            costs = self.costs[i].tolist()
            total += sum((v * c for v, c in zip(a, costs, strict=True)), self.arb(0))
            if problem.smoothing:
                ridge = self.arb(problem.smoothing) / self.arb(problem.sample_weight[i])
                total += ridge / 2 * self._square_sum(a)
        return total / problem.n_samples

    def _square_sum(self, balls: Iterable[Any]) -> Any:
        """Return the sum of the squares; ball**2 would be nan for a ball whose middle is 0."""
        return sum((ball * ball for ball in balls), self.arb(0))

    def _square_norm(self, squares: list[Any]) -> Any:
        """Return 2 R(W) from |w_j|^2."""
        p = self.arb(self.problem.regularizer.p)
        return self._power_norm(squares, p)

    def _dual_square_norm(self, squares: list[Any]) -> Any:
        """Return 2 R*(V) from |v_j|^2."""
        p = self.arb(self.problem.regularizer.p)
        if p == 1:
            largest = squares[0]
            for square in squares[1:]:
                largest = largest.max(square)
            return largest
        return self._power_norm(squares, p / (p - 1))

    def _power_norm(self, squares: list[Any], p: Any) -> Any:
        """Return (sum_j squares_j^(p/2))^(2/p)."""
        if p == 2:
            return sum(squares, self.arb(0))
        return self._power(sum((self._power(s, p / 2) for s in squares), self.arb(0)), 2 / p)

    def _power(self, base: Any, exponent: Any) -> Any:
        """Return base^exponent for a base that is not negative; its ball may reach below 0."""
        if base.lower() > 0:
            return base**exponent
        high = base.upper()
        return self.arb(0).union(high**exponent) if high > 0 else self.arb(0)


def _parts(X: Any, what: str) -> Iterator[tuple[slice, Integers]]:
    """Yield slices of the columns of X, each with the rows that are not 0 there, and progress."""
    sparse = scipy.sparse.issparse(X)
    by_column = X.tocsc() if sparse else None
    from tqdm import tqdm

    width = SPARSE_COLUMNS if sparse else COLUMNS
    starts = tqdm(
        range(0, X.shape[1], width),
        desc=f"verify: {what}",
        delay=SECONDS,
        disable=None,
        leave=False,
        file=stderr(),
    )
    for start in starts:
        columns = slice(start, min(start + width, X.shape[1]))
        if by_column is None:
            yield columns, np.arange(X.shape[0])
            continue
        rows = np.unique(by_column[:, columns].indices)
        if len(rows):
            yield columns, rows
