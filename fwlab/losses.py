"""The losses: maxima of <beta, margins> over a polytope, with their exact geometry.

Margins are h_j = delta_j + s_j - s_y with delta = 1 - e_y, or a row of costs. Two truncations:
joint, one maximum with 0 around the whole weighted sum (max hinge, top-k, weighted top-k), and
entrywise, a maximum with 0 on each term (Usunier, weighted Usunier). The pseudo top-k leaves the
true class out of the sum. All of them are two weight vectors to the kernels, see kernels.support.

Scores and dual rows are (n, m) with labels y (n,), or a single row (m,) with a scalar label and
the answer in kind.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import groupby
from math import factorial
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_array, as_floats, as_integer, as_labels, as_real, as_weights
from fwlab.operators.domains import RowPolytopes
from fwlab.operators.jacobians import projection_jacobians

DOMAIN_TOLERANCE = 1e-9
MOST_VERTICES = 100_000


class Loss(ABC):
    """A loss Phi(s; y) = max over beta in B of <beta, delta + s - s_y 1>   (K19 (9), T20 (2.9))."""

    @abstractmethod
    def bounds(self, m: int) -> tuple[Floats, Floats]:
        """The vectors (upper, lower) of kernels.support for m classes, each (m - 1,)."""

    @property
    def scale(self) -> float:
        """Sum of the weights rho: the unit of the tolerance of `in_domain`."""
        return 1.0

    def polytopes(self, y: Integers, m: int) -> RowPolytopes:
        """The kernels' view of this loss on samples with labels y (n,) among m classes.

        Raises ValueError if the loss is not defined for m classes.
        """
        upper, lower = self.bounds(as_integer("m", m, low=2))
        return RowPolytopes(y, upper, lower, np.ones((1, m)), np.zeros(len(y), dtype=np.int64))

    def value(self, scores: Any, y: Any) -> Any:
        """Loss of each row of scores, (n,)."""
        rows, polytopes, single = self._rows("scores", scores, y)
        values = polytopes.values(rows)
        return values[0] if single else values

    def subgradient(self, scores: Any, y: Any) -> Any:
        """One subgradient a row, (n, m): the zero vector where the loss is 0."""
        rows, polytopes, single = self._rows("scores", scores, y)
        subgradients = 0.0 - polytopes.vertices(rows)
        return subgradients[0] if single else subgradients

    def lmo(self, gradient: Any, y: Any) -> Any:
        """Vertices u of the negated domain that minimise <gradient, u>, (n, m)   (K19 Lemma 3)."""
        rows, polytopes, single = self._rows("gradient", gradient, y)
        vertices = polytopes.without_costs().vertices(rows)
        return vertices[0] if single else vertices

    def conjugate(self, v: Any, y: Any) -> Any:
        """Convex conjugate, (n,): -<delta, v> on the effective domain, +inf outside (K19 (10))."""
        rows, polytopes, single = self._rows("v", v, y)
        inside = polytopes.contains(rows, DOMAIN_TOLERANCE * self.scale)
        conjugates = np.where(inside, -polytopes.cost_products(rows), np.inf)
        return conjugates[0] if single else conjugates

    def in_domain(self, v: Any, y: Any, tol: float = DOMAIN_TOLERANCE) -> Any:
        """Whether rows of v lie in dom Phi*(.; y), (n,) bool (K19 (11)).

        Each bound on a partial sum, and the sum of the row, may be missed by tol times the sum of
        rho (times 1 for StructuredHinge).
        """
        tol = as_real("tol", tol, positive=False)
        rows, polytopes, single = self._rows("v", v, y)
        inside = polytopes.contains(rows, tol * self.scale)
        return inside[0] if single else inside

    def project(self, c: Any, y: Any) -> Any:
        """Nearest points of -dom Phi*(.; y) to the rows of c, (n, m), exact to rounding."""
        rows, polytopes, single = self._rows("c", c, y)
        points = polytopes.project(rows)
        return points[0] if single else points

    def projection_jacobian(self, c: Any, y: Any) -> Any:
        """Jacobian of `project` at each row of c, (n, m, m).

        Where the projection has a kink it is one element of Clarke's generalised Jacobian. Each
        matrix is an orthogonal projection; kernels.projection_jacobian derives it.
        """
        rows, polytopes, single = self._rows("c", c, y)
        jacobians = np.zeros((*rows.shape, rows.shape[1]))
        index, free = projection_jacobians(polytopes, rows)
        jacobians[index] = free.dense()
        return jacobians[0] if single else jacobians

    def moreau(self, scores: Any, y: Any, smoothing: float) -> tuple[Any, Any]:
        """Moreau envelope min_z Phi(z; y) + |s - z|^2 / (2 smoothing)   (K19 (25), T20 (2.21)).

        Returns the values (n,) and the minimisers z (n, m). The gradient is (s - z) / smoothing.
        """
        smoothing = as_real("smoothing", smoothing, positive=True)
        rows, polytopes, single = self._rows("scores", scores, y)
        values, gradients = moreau_envelope(polytopes, rows, smoothing)
        minimisers = rows - smoothing * gradients
        return (values[0], minimisers[0]) if single else (values, minimisers)

    def vertices(self, m: int, y: int) -> Floats:
        """All vertices of -dom Phi*(.; y) for m classes, (v, m), the origin first.

        Raises ValueError above 10^5 vertices.
        """
        m = as_integer("m", m, low=2)
        y = as_integer("y", y, low=0, high=m - 1)
        upper, lower = self.bounds(m)
        # an ordering pairs its first entries with upper and the others with lower; without any
        # entry at upper the point is a smaller multiple of another one
        values = {tuple(sorted((*upper[:i], *lower[i:]))) for i in range(1, m)}
        count = 1 + sum(_count_orders(row) for row in values)
        if count > MOST_VERTICES:
            raise ValueError(f"m must give at most {MOST_VERTICES} vertices; m={m} gives {count}.")
        rows = [order for row in sorted(values) for order in _distinct_orders(row)]
        beta = np.array([(0.0,) * (m - 1), *rows])
        return np.insert(-beta, y, beta.sum(axis=1), axis=1) + 0.0

    def _rows(self, name: str, values: Any, y: Any) -> tuple[Floats, RowPolytopes, bool]:
        rows = as_floats(name, values, ndims=(1, 2))
        single = rows.ndim == 1
        rows = np.atleast_2d(rows)
        m = rows.shape[1]
        if m < 2:
            raise ValueError(f"{name} must have at least 2 columns, one a class; got {m}.")
        y = as_array("y", y)
        if single != (y.ndim == 0):
            raise ValueError(
                f"y must be (n,) for {name} (n, m) and a scalar for a single row; "
                f"got shapes {y.shape} and {np.shape(values)}."
            )
        labels = as_labels(np.atleast_1d(y), m)
        if len(labels) != len(rows):
            raise ValueError(
                f"y must have one label a row of {name}, {len(rows)}; got {len(labels)}."
            )
        return rows, self.polytopes(labels, m), single


def moreau_envelope(
    polytopes: RowPolytopes, scores: Floats, smoothing: float | Floats
) -> tuple[Floats, Floats]:
    """Values (n,) and gradients (n, m) of the envelope; smoothing is a number or one a row (n, 1).

    The gradient g minimises smoothing/2 |g|^2 - <s + delta, g> over the effective domain: it is
    minus the projection of -(s + delta) / smoothing.
    """
    shifted = polytopes.add_costs(scores)
    gradients = 0.0 - polytopes.project(-shifted / smoothing)
    values = ((shifted - 0.5 * smoothing * gradients) * gradients).sum(axis=1)
    return values, gradients


def _count_orders(values: tuple[float, ...]) -> int:
    count = factorial(len(values))
    for _, group in groupby(values):
        count //= factorial(len(list(group)))
    return count


def _distinct_orders(values: tuple[float, ...]) -> list[tuple[float, ...]]:
    if not values:
        return [()]
    orders = []
    for first in dict.fromkeys(values):
        rest = list(values)
        rest.remove(first)
        orders += [(first, *tail) for tail in _distinct_orders(tuple(rest))]
    return orders


def _padded(rho: tuple[float, ...], m: int) -> Floats:
    if len(rho) > m:
        raise ValueError(f"rho must have at most m = {m} weights; got {len(rho)}.")
    return np.pad(np.array(rho), (0, m - len(rho)))


@dataclass(frozen=True)
class MaxHinge(Loss):
    """Crammer and Singer's loss, max_j (s_j - s_y + 1 - delta_jy)   (T20 (2.2))."""

    def bounds(self, m: int) -> tuple[Floats, Floats]:
        return _padded((1.0,), m - 1), np.zeros(m - 1)


@dataclass(frozen=True, eq=False)
class StructuredHinge(Loss):
    """max_j (s_j - s_y + costs_j)   (T20 (2.4)).

    costs (m, m): row y holds the costs of samples of class y, costs[y, y] = 0. With per_sample,
    costs (n, m): row i belongs to sample i, costs[i, y_i] = 0. Negative costs are refused.
    """

    costs: Any
    per_sample: bool = False

    def __post_init__(self) -> None:
        costs = as_floats("costs", self.costs, ndims=(2,)).copy()
        if costs.size and costs.min() < 0:
            raise ValueError(f"costs must be non-negative; got {costs.min()}.")
        if not self.per_sample:
            if costs.shape[0] != costs.shape[1]:
                raise ValueError(f"costs must be (m, m); got shape {costs.shape}.")
            if costs.diagonal().any():
                j = int(np.flatnonzero(costs.diagonal())[0])
                raise ValueError(
                    f"costs must have a zero diagonal; got {costs[j, j]} at class {j}."
                )
        object.__setattr__(self, "costs", costs)

    def bounds(self, m: int) -> tuple[Floats, Floats]:
        if self.costs.shape[1] != m:
            raise ValueError(f"costs must have m = {m} columns; got shape {self.costs.shape}.")
        return MaxHinge().bounds(m)

    def polytopes(self, y: Integers, m: int) -> RowPolytopes:
        rows = np.arange(len(y)) if self.per_sample else y
        shape = (len(y), m) if self.per_sample else (m, m)
        if self.costs.shape != shape:
            kind = "(n, m)" if self.per_sample else "(m, m)"
            raise ValueError(f"costs must be {kind} = {shape}; got shape {self.costs.shape}.")
        wrong = np.flatnonzero(self.costs[rows, y])
        if len(wrong):
            i = wrong[0]
            cost = self.costs[rows[i], y[i]]
            raise ValueError(f"costs must be 0 at the true class; got {cost} for sample {i}.")
        return RowPolytopes(y, *self.bounds(as_integer("m", m, low=2)), self.costs, rows)


@dataclass(frozen=True)
class TopK(Loss):
    """max(0, mean of the k largest margins)   (K19 (3)); 1 <= k <= m."""

    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", as_integer("k", self.k, low=1))

    def bounds(self, m: int) -> tuple[Floats, Floats]:
        as_integer("k", self.k, low=1, high=m)
        rho = _padded((1.0 / self.k,) * self.k, m)
        return rho[:-1], rho[1:]


@dataclass(frozen=True)
class PseudoTopK(Loss):
    """max(0, mean of the k largest margins of the wrong classes)   (K19 (31)); 1 <= k <= m - 1."""

    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", as_integer("k", self.k, low=1))

    def bounds(self, m: int) -> tuple[Floats, Floats]:
        as_integer("k", self.k, low=1, high=m - 1)
        rho = _padded((1.0 / self.k,) * self.k, m - 1)
        return rho, rho


@dataclass(frozen=True)
class Usunier(Loss):
    """Mean of the positive parts of the k largest margins   (L15 (5), T20 (2.6)); 1 <= k <= m."""

    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", as_integer("k", self.k, low=1))

    def bounds(self, m: int) -> tuple[Floats, Floats]:
        as_integer("k", self.k, low=1, high=m)
        return _padded((1.0 / self.k,) * self.k, m)[:-1], np.zeros(m - 1)


@dataclass(frozen=True)
class WeightedTopK(Loss):
    """max(0, sum_j rho_j h_[j])   (K19 (8)).

    rho is non-increasing, non-negative and not all zero; zeros are appended up to m weights.
    """

    rho: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", as_weights("rho", self.rho))

    @property
    def scale(self) -> float:
        return float(sum(self.rho))

    def bounds(self, m: int) -> tuple[Floats, Floats]:
        rho = _padded(self.rho, m)
        return rho[:-1], rho[1:]


@dataclass(frozen=True)
class WeightedUsunier(Loss):
    """sum_j rho_j max(0, h_[j])   (T20 (2.8)); rho as for WeightedTopK."""

    rho: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", as_weights("rho", self.rho))

    @property
    def scale(self) -> float:
        return float(sum(self.rho))

    def bounds(self, m: int) -> tuple[Floats, Floats]:
        return _padded(self.rho, m)[:-1], np.zeros(m - 1)
