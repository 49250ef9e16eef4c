"""Define the seven losses as their papers do.

A loss of one sample with m classes, scores s and true class y is a convex, positively homogeneous
function phi of the margins

    h_j = delta_j + s_j - s_y,      delta = 1 - e_y   (structured hinge: delta = its row of costs).

Each class defines phi three times, in the forms that other modules need: of_margins the formula
itself: sort, sum, max. Works on floats and on Fractions alike.
    rows         t >= phi(h) as linear inequalities with auxiliary variables, for LPs and QPs.
    weightings   the finite set of vectors beta with phi(h) = max over beta of <beta, h>.

These forms rely on three elementary facts: the sum of the k largest entries is min over r of k r +
sum_j max(x_j - r, 0), and is also the largest sum over k-subsets; a sum of sorted entries with
non-increasing weights is a sum of such sums (Abel), and is also the largest sum over permutations;
max(x, 0) is the largest of x and 0.

Sources: T20 (2.2) (2.4) max and structured hinge; K19 (3) top-k; K19 (31) pseudo top-k; L15 (5)
Usunier; K19 (8) weighted top-k; T20 (2.8) weighted Usunier. Classes count from 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import numpy as np

# A row {variable: coefficient} says: sum of coefficient * variable <= 0. Variables are "t", the
# margins ("h", j), and auxiliary ones: ("p", j) positive parts, ("r", k) and ("q", k, x) of the
# sum of the k largest.
Row = dict[Any, Any]
Beta = tuple[Fraction, ...]


class Loss(ABC):
    """The base of all losses. Rows of scores are sequences of m numbers; y counts from 0."""

    def delta(self, m: int, y: int) -> list[Any]:
        """Return the margin required of each class, (m,): 1 for every class except the true one."""
        return [int(j != y) for j in range(m)]

    def for_sample(self, i: int) -> Loss:
        """Return the loss of sample i: the loss itself, unless it has costs for each sample."""
        return self

    def numbers(self) -> tuple[Any, ...]:
        """Return the real parameters of the loss (weights, costs), as they were given."""
        return ()

    def margins(self, scores: Iterable[Any], y: int) -> list[Any]:
        """Return h_j = delta_j + s_j - s_y, (m,)."""
        s = plain(scores)
        return [d + s_j - s[y] for d, s_j in zip(self.delta(len(s), y), s, strict=True)]

    def value(self, scores: Iterable[Any], y: int) -> Any:
        """Return Phi(scores; y): a float, or a Fraction if everything given is rational."""
        return self.of_margins(self.margins(scores, y), y)

    def recession(self, direction: Iterable[Any], y: int) -> Any:
        """Return lim Phi(tau direction; y)/tau, tau to infinity: phi with delta = 0.

        It is the support function of the effective domain of the conjugate (Rockafellar,
        Convex Analysis, Theorem 13.3), so minus it is the LMO's value over the negated domain.
        """
        g = plain(direction)
        return self.of_margins([g_j - g[y] for g_j in g], y)

    @abstractmethod
    def of_margins(self, h: Sequence[Any], y: int) -> Any:
        """Return phi(h)."""

    @abstractmethod
    def rows(self, m: int, y: int) -> list[Row]:
        """Return rows that some auxiliary variables satisfy exactly if t >= phi(h)."""

    @abstractmethod
    def weightings(self, m: int, y: int) -> Iterator[Beta]:
        """Return vectors beta (repetitions allowed) with phi(h) = max over beta of <beta, h>."""


@dataclass(frozen=True)
class MaxHinge(Loss):
    """T20 (2.2), L15 (2): the largest margin, or 0 if that is larger.

    In Phi the 0 is redundant, as the true class has the margin 0; in phi it is not.
    """

    def of_margins(self, h: Sequence[Any], y: int) -> Any:
        return max(0, *h)

    def rows(self, m: int, y: int) -> list[Row]:
        return [{"t": -1}, *[{("h", j): 1, "t": -1} for j in range(m)]]

    def weightings(self, m: int, y: int) -> Iterator[Beta]:
        yield indicator((), m, 1)
        for j in range(m):
            yield indicator((j,), m, 1)


@dataclass(frozen=True)
class StructuredHinge(MaxHinge):
    """T20 (2.4): the max hinge with delta_j = cost of answering j.

    costs (m, m): row y is used for class y. per_sample=True: costs (n, m), and row i belongs to
    sample i and is selected with for_sample(i).
    """

    costs: Any
    per_sample: bool = False

    def __post_init__(self) -> None:
        table = tuple(tuple(plain(row)) for row in self.costs)
        if any(cost < 0 for row in table for cost in row):
            raise ValueError("costs has a negative entry; every cost must be at least 0")
        object.__setattr__(self, "costs", table)

    def delta(self, m: int, y: int) -> list[Any]:
        if self.per_sample and len(self.costs) != 1:
            raise ValueError("costs has one row per sample: select one with for_sample(i) first")
        row = self.costs[0] if self.per_sample else self.costs[y]
        if len(row) != m or row[y] != 0:
            raise ValueError(f"costs for class {y} is {row}; {m} costs with a 0 at {y} are needed")
        return list(row)

    def for_sample(self, i: int) -> Loss:
        return StructuredHinge((self.costs[i],), per_sample=True) if self.per_sample else self

    def numbers(self) -> tuple[Any, ...]:
        return tuple(cost for row in self.costs for cost in row)


@dataclass(frozen=True)
class TopK(Loss):
    """K19 (3): the mean of the k largest margins, or 0 if that is larger."""

    k: int

    def of_margins(self, h: Sequence[Any], y: int) -> Any:
        check_k(self.k, len(h))
        return max(0, Fraction(1, self.k) * sum(descending(h)[: self.k]))

    def rows(self, m: int, y: int) -> list[Row]:
        check_k(self.k, m)
        names = [("h", j) for j in range(m)]
        return joint_rows(names, [(self.k, Fraction(1, self.k))])

    def weightings(self, m: int, y: int) -> Iterator[Beta]:
        check_k(self.k, m)
        yield indicator((), m, self.k)
        for chosen in combinations(range(m), self.k):
            yield indicator(chosen, m, self.k)


@dataclass(frozen=True)
class PseudoTopK(Loss):
    """K19 (31): top-k over the margins of the m - 1 classes other than the true one."""

    k: int

    def of_margins(self, h: Sequence[Any], y: int) -> Any:
        check_k(self.k, len(h) - 1)
        others = [h_j for j, h_j in enumerate(h) if j != y]
        return max(0, Fraction(1, self.k) * sum(descending(others)[: self.k]))

    def rows(self, m: int, y: int) -> list[Row]:
        check_k(self.k, m - 1)
        names = [("h", j) for j in range(m) if j != y]
        return joint_rows(names, [(self.k, Fraction(1, self.k))])

    def weightings(self, m: int, y: int) -> Iterator[Beta]:
        check_k(self.k, m - 1)
        yield indicator((), m, self.k)
        for chosen in combinations([j for j in range(m) if j != y], self.k):
            yield indicator(chosen, m, self.k)


@dataclass(frozen=True)
class Usunier(Loss):
    """L15 (5): the mean over the k largest margins of their positive parts."""

    k: int

    def of_margins(self, h: Sequence[Any], y: int) -> Any:
        check_k(self.k, len(h))
        return Fraction(1, self.k) * sum(max(0, h_j) for h_j in descending(h)[: self.k])

    def rows(self, m: int, y: int) -> list[Row]:
        check_k(self.k, m)
        return entrywise_rows(m, [(self.k, Fraction(1, self.k))])

    def weightings(self, m: int, y: int) -> Iterator[Beta]:
        check_k(self.k, m)
        for size in range(self.k + 1):
            for chosen in combinations(range(m), size):
                yield indicator(chosen, m, self.k)


@dataclass(frozen=True)
class WithWeights(Loss):
    """A loss with weights rho of the sorted margins, non-increasing and non-negative.

    Weights that are shorter than m are padded with zeros.
    """

    rho: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", checked_weights(self.rho))

    def numbers(self) -> tuple[Any, ...]:
        return self.rho


@dataclass(frozen=True)
class WeightedTopK(WithWeights):
    """K19 (8): sum_j rho_j h_[j] over the sorted margins, or 0 if that is larger."""

    def of_margins(self, h: Sequence[Any], y: int) -> Any:
        rho = padded(self.rho, len(h))
        return max(0, sum(r * h_j for r, h_j in zip(rho, descending(h), strict=True)))

    def rows(self, m: int, y: int) -> list[Row]:
        names = [("h", j) for j in range(m)]
        return joint_rows(names, increments(padded(self.rho, m)))

    def weightings(self, m: int, y: int) -> Iterator[Beta]:
        yield (Fraction(0),) * m
        yield from permutations(padded(self.rho, m))


@dataclass(frozen=True)
class WeightedUsunier(WithWeights):
    """T20 (2.8): sum_j rho_j max(0, h_[j]) over the sorted margins."""

    def of_margins(self, h: Sequence[Any], y: int) -> Any:
        rho = padded(self.rho, len(h))
        return sum(r * max(0, h_j) for r, h_j in zip(rho, descending(h), strict=True))

    def rows(self, m: int, y: int) -> list[Row]:
        return entrywise_rows(m, increments(padded(self.rho, m)))

    def weightings(self, m: int, y: int) -> Iterator[Beta]:
        rho = padded(self.rho, m)
        for positive in range(m + 1):  # the positive ones among the sorted margins come first
            yield from set(permutations([*rho[:positive], *[Fraction(0)] * (m - positive)]))


# --- sums of largest entries as linear rows -----------------------------------------------------


def increments(rho: Sequence[Fraction]) -> list[tuple[int, Fraction]]:
    """Return the pairs (k, rho_k - rho_{k+1} > 0), with rho_{m+1} = 0 (K19 (39)-(41)).

    sum_j rho_j x_[j] is then the sum over the pairs of difference * (sum of the k largest x).
    """
    following = [*rho[1:], Fraction(0)]
    steps = [here - after for here, after in zip(rho, following, strict=True)]
    return [(k, step) for k, step in enumerate(steps, start=1) if step > 0]


def sum_of_largest(names: Sequence[Any], steps: Sequence[tuple[int, Fraction]]) -> Any:
    """Return (expression, rows) for a weighted sum of sums of largest variables, by L15 Lemma 1.

    The expression's least value under the rows is the sum over steps (k, c) of
    c * (sum of the k largest of the named variables).
    """
    expression: Row = {}
    rows: list[Row] = []
    for k, c in steps:
        expression["r", k] = k * c
        for x in names:
            expression["q", k, x] = c
            rows.append({x: 1, ("r", k): -1, ("q", k, x): -1})  # q >= x - r
            rows.append({("q", k, x): -1})  # q >= 0
    return expression, rows


def joint_rows(names: Sequence[Any], steps: Sequence[tuple[int, Fraction]]) -> list[Row]:
    """Return rows: t >= the weighted sum of sorted named variables, and t >= 0."""
    expression, rows = sum_of_largest(names, steps)
    return [*rows, {**expression, "t": -1}, {"t": -1}]


def entrywise_rows(m: int, steps: Sequence[tuple[int, Fraction]]) -> list[Row]:
    """Return rows: t >= the weighted sum of sorted positive parts p_j >= max(h_j, 0)."""
    expression, rows = sum_of_largest([("p", j) for j in range(m)], steps)
    parts = [{("h", j): 1, ("p", j): -1} for j in range(m)] + [{("p", j): -1} for j in range(m)]
    return [*parts, *rows, {**expression, "t": -1}]


# --- small functions ----------------------------------------------------------------------------


def plain(numbers: Iterable[Any]) -> list[Any]:
    """Return a list of Python numbers (numpy scalars unpacked, Fractions kept)."""
    return [x.item() if isinstance(x, np.generic) else x for x in numbers]


def descending(numbers: Iterable[Any]) -> list[Any]:
    return sorted(numbers, reverse=True)


def indicator(chosen: Sequence[int], m: int, k: int) -> Beta:
    """Return 1/k on the chosen classes, 0 elsewhere, (m,)."""
    return tuple(Fraction(int(j in chosen), k) for j in range(m))


def check_k(k: int, largest: int) -> None:
    if not 1 <= k <= largest:
        raise ValueError(f"k is {k}; it must lie in 1..{largest}")


def checked_weights(rho: Iterable[Any]) -> tuple[Any, ...]:
    weights = tuple(plain(rho))
    if any(not a >= b for a, b in zip(weights, [*weights[1:], 0], strict=True)):
        raise ValueError(f"rho is {weights}; it must be non-increasing and non-negative")
    return weights


def padded(rho: Sequence[Any], m: int) -> tuple[Fraction, ...]:
    """Return rho as exact fractions, (m,), with zeros at the end."""
    if len(rho) > m:
        raise ValueError(f"rho has {len(rho)} weights; with {m} classes at most {m} are allowed")
    return tuple(Fraction(r) for r in rho) + (Fraction(0),) * (m - len(rho))
