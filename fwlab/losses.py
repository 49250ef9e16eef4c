"""The losses: maxima of <beta, margins> over a polytope, with their exact geometry.

The margins are

    h_j = delta_j + s_j - s_y,    delta = 1 - e_y or a row of costs.

A loss is truncated in one of two ways. A joint loss takes one maximum with 0 around the whole
weighted sum (max hinge, top-k, weighted top-k). An entrywise loss takes a maximum with 0 in each
term (Usunier, weighted Usunier). The pseudo top-k loss is joint and leaves the true class out of
the sum. The kernels represent every loss by two weight vectors; kernels.domains.vertices states
the polytope that these describe.

Scores and dual rows have shape (n, m), with labels y (n,). A single row (m,) with a scalar label is
also accepted; the result then has no sample axis either.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import groupby
from math import factorial
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import LARGEST, as_floats, as_integer, as_real, as_rho
from fwlab.checks.labels import labelled_rows
from fwlab.checks.losses import checked_costs, checked_weights
from fwlab.operators.domains import Domains, RowPolytopes, nearest_to_scores
from fwlab.operators.jacobians import projection_jacobians

DOMAIN_TOLERANCE = 1e-9
MOST_VERTICES = 100_000


class LossOfRows(ABC):
    """Value, membership and projection, of one row (m,) or many, by the domains of its dual rows.

    Its domains meet fwlab.operators.domains.Domains, and projection is defined on them.
    """

    @abstractmethod
    def polytopes(self, y: Integers, m: int) -> Any:
        """Return the domains of samples with labels y (n,) among m classes, for the kernels."""

    def value(self, scores: Any, y: Any) -> Any:
        """Return the loss of each row of scores, (n,)."""
        rows, polytopes, single = self._rows("scores", scores, y)
        values = polytopes.values(rows)
        return values[0] if single else values

    def in_domain(self, v: Any, y: Any, tol: float = DOMAIN_TOLERANCE) -> Any:
        """Return whether each row of v lies in dom Phi*(.; y), (n,) bool   (K19 (11)).

        A row may violate each bound on a partial sum, and its own sum may differ from 0, by tol
        times the sum of rho (times 1 for StructuredHinge and CrossEntropy).
        """
        tol = as_real("tol", tol, positive=False)
        rows, polytopes, single = self._rows("v", v, y)
        inside = polytopes.contains(rows, tol * polytopes.scale)
        return inside[0] if single else inside

    def project(self, c: Any, y: Any) -> Any:
        """Return the points of -dom Phi*(.; y) nearest to the rows of c, (n, m), up to rounding."""
        rows, polytopes, single = self._rows("c", c, y)
        points = polytopes.project(rows)
        return points[0] if single else points

    def _rows(
        self, name: str, values: Any, y: Any, largest: float = LARGEST
    ) -> tuple[Floats, Any, bool]:
        rows, labels, single = labelled_rows(name, values, y, largest)
        return rows, self.polytopes(labels, rows.shape[1]), single


class Loss(LossOfRows):
    """A loss Phi(s; y) = max over beta in B of <beta, delta + s - s_y 1>   (K19 (9), T20 (2.9)).

    Subclass it and define `polytope_weights`: every method takes the new loss. Make the subclass a
    frozen dataclass whose fields are its parameters. `fwlab.testing.check_loss` tries it.

    Examples
    --------
    The sorted margins weigh 1, 1/2, 1/3, .., and a quarter of that where they are negative::

        @dataclass(frozen=True)
        class Harmonic(fwlab.Loss):
            share: float = 0.25

            def polytope_weights(self, m):
                upper = 1 / np.arange(1, m)
                return upper, self.share * upper
    """

    @abstractmethod
    def polytope_weights(self, m: int) -> tuple[Any, Any]:
        """Return the weight vectors (upper, lower) of the polytope for m classes, each (m - 1,).

        With the margins of the wrong classes in descending order, the loss is the maximum of 0 and

            sum_j (upper_j if h_[j] > 0 else lower_j) h_[j].

        Both vectors are non-increasing, upper >= lower >= 0, and upper is not 0. All other weights
        are refused; kernels.domains.vertices explains why the kernels need no other form.
        """

    @property
    def scale(self) -> float | None:
        """The unit of the tolerance of `in_domain`, the sum of rho; None for the sum of `upper`."""
        return None

    def cost_table(self, y: Integers, m: int) -> tuple[Any, Any]:
        """Return costs (r, m), by default ones, and the row of each label in y (n,).

        The cost of a sample's true class is not read.
        """
        return np.ones((1, m)), np.zeros(len(y), dtype=np.int64)

    def polytopes(self, y: Integers, m: int) -> RowPolytopes:
        """Return the polytopes of samples with labels y (n,) among m classes, for the kernels.

        Raises ValueError or TypeError if the loss is not defined for m classes, or if its weights
        or costs are not as described.
        """
        name, m = type(self).__name__, as_integer("m", m, low=2)
        costs = checked_costs(name, self.cost_table(y.copy(), m), y, m)
        upper, lower = checked_weights(name, self.polytope_weights(m), m)
        scale = float(upper.sum()) if self.scale is None else self.scale
        return RowPolytopes(y, upper, lower, *costs, scale)

    def subgradient(self, scores: Any, y: Any) -> Any:
        """Return one subgradient per row, (n, m): the zero vector where the loss is 0."""
        rows, polytopes, single = self._rows("scores", scores, y)
        subgradients = 0.0 - polytopes.lowest(rows)[0]
        return subgradients[0] if single else subgradients

    def lmo(self, gradient: Any, y: Any) -> Any:
        """Return the vertices u of the negated domain that minimise <gradient, u>, (n, m).

        Ties go to the lowest index   (K19 Lemma 3).
        """
        rows, polytopes, single = self._rows("gradient", gradient, y)
        vertices = polytopes.without_costs().lowest(rows)[0]
        return vertices[0] if single else vertices

    def conjugate(self, v: Any, y: Any) -> Any:
        """Return the convex conjugate of the loss at each row of v, (n,).

        It is -<delta, v> on the effective domain and +inf outside   (K19 (10)).
        """
        rows, polytopes, single = self._rows("v", v, y)
        inside = polytopes.contains(rows, DOMAIN_TOLERANCE * polytopes.scale)
        conjugates = np.where(inside, -polytopes.cost_products(rows), np.inf)
        return conjugates[0] if single else conjugates

    def projection_jacobian(self, c: Any, y: Any) -> Any:
        """Return the Jacobian of `project` at each row of c, (n, m, m).

        At a kink of the projection this is one element of Clarke's generalised Jacobian. Each
        matrix is an orthogonal projection; kernels.domains.jacobian derives it.
        """
        rows, polytopes, single = self._rows("c", c, y)
        jacobians = np.zeros((*rows.shape, rows.shape[1]))
        index, free = projection_jacobians(polytopes, rows)
        jacobians[index] = free.dense()
        return jacobians[0] if single else jacobians

    def moreau(self, scores: Any, y: Any, smoothing: float) -> tuple[Any, Any]:
        """Return the values (n,) and the minimisers z (n, m) of the Moreau envelope

            min_z Phi(z; y) + |s - z|^2 / (2 smoothing).

        Its gradient is (s - z) / smoothing   (K19 (25), T20 (2.21)).
        """
        smoothing = as_real("smoothing", smoothing, positive=True)
        rows, polytopes, single = self._rows("scores", scores, y)
        values, gradients = moreau_envelope(polytopes, rows, smoothing)
        minimisers = rows - smoothing * gradients
        return (values[0], minimisers[0]) if single else (values, minimisers)

    def vertices(self, m: int, y: int) -> Floats:
        """Return all vertices of -dom Phi*(.; y) for m classes, (v, m), the origin first.

        Raises ValueError if there are more than 10^5 vertices.
        """
        m = as_integer("m", m, low=2)
        y = as_integer("y", y, low=0, high=m - 1)
        name = type(self).__name__
        upper, lower = checked_weights(name, self.polytope_weights(m), m)
        # An ordering pairs its first entries with `upper` and the others with `lower`. A point
        # without any entry at `upper` is a smaller multiple of another one.
        values = {tuple(sorted((*upper[:i], *lower[i:]))) for i in range(1, m)}
        count = 1 + sum(_count_orders(row) for row in values)
        if count > MOST_VERTICES:
            raise ValueError(f"m must give at most {MOST_VERTICES} vertices; m={m} gives {count}.")
        rows = [order for row in sorted(values) for order in _distinct_orders(row)]
        beta = np.array([(0.0,) * (m - 1), *rows])
        return np.insert(-beta, y, beta.sum(axis=1), axis=1) + 0.0


def moreau_envelope(
    polytopes: Domains, scores: Floats, smoothing: float | Floats
) -> tuple[Floats, Floats]:
    """Return the values (n,) and gradients (n, m) of the Moreau envelope at the scores (n, m).

    smoothing is one number, or one number per row (n, 1). The gradient minimises

        smoothing/2 |g|^2 - <s + delta, g>

    over the effective domain. The value is Phi(z) + smoothing/2 |g|^2 at z = s - smoothing g, which
    is never below the envelope, whatever the rounding error of g.
    """
    gradients = 0.0 - nearest_to_scores(polytopes, polytopes.add_costs(scores), smoothing)
    values = polytopes.values(scores - smoothing * gradients)
    values += (0.5 * smoothing * gradients * gradients).sum(axis=1)
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
    padded = np.zeros(m)
    padded[: len(rho)] = rho
    return padded


def _joint(rho: Floats) -> tuple[Floats, Floats]:
    """Return (upper, lower) of the joint loss with the weights rho, (m,)."""
    return rho[:-1], rho[1:]


def _entrywise(rho: Floats) -> tuple[Floats, Floats]:
    """Return (upper, lower) of the entrywise loss with the weights rho, (m,)."""
    return rho[:-1], np.zeros(len(rho) - 1)


@dataclass(frozen=True)
class _LossWithK(Loss):
    """A loss whose k largest margins weigh 1/k each."""

    scale = 1.0

    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", as_integer("k", self.k, low=1))

    def padded_rho(self, m: int) -> Floats:
        """Return k weights 1/k and m - k zeros. Raises ValueError if k > m."""
        k = as_integer("k", self.k, low=1, high=m)
        return _padded((1.0 / k,) * k, m)


@dataclass(frozen=True)
class _LossWithRho(Loss):
    """A loss with given weights of the sorted margins."""

    rho: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", as_rho("rho", self.rho))

    @property
    def scale(self) -> float:
        """The sum of rho."""
        return float(sum(self.rho))

    def padded_rho(self, m: int) -> Floats:
        """Return rho and zeros up to m weights. Raises ValueError if rho is longer than m."""
        return _padded(self.rho, m)


@dataclass(frozen=True)
class MaxHinge(Loss):
    """Crammer and Singer's loss, max_j (s_j - s_y + 1 - delta_jy)   (T20 (2.2))."""

    scale = 1.0

    def polytope_weights(self, m: int) -> tuple[Floats, Floats]:
        """Return the weight vectors (upper, lower) for m classes."""
        return _entrywise(_padded((1.0,), m))


@dataclass(frozen=True, eq=False)
class StructuredHinge(Loss):
    """The hinge loss with costs, max_j (s_j - s_y + costs_j)   (T20 (2.4)).

    Row y of costs (m, m) holds the costs of the samples of class y, with costs[y, y] = 0. With
    per_sample, costs is (n, m) and row i belongs to sample i, with costs[i, y_i] = 0. Negative
    costs are refused.
    """

    scale = 1.0

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

    def polytope_weights(self, m: int) -> tuple[Floats, Floats]:
        """Return the weight vectors (upper, lower) for m classes."""
        if self.costs.shape[1] != m:
            raise ValueError(f"costs must have m = {m} columns; got shape {self.costs.shape}.")
        return MaxHinge().polytope_weights(m)

    def cost_table(self, y: Integers, m: int) -> tuple[Any, Any]:
        """Return the costs, and the row of costs of each label in y (n,)."""
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
        return self.costs, rows


@dataclass(frozen=True)
class TopK(_LossWithK):
    """max(0, mean of the k largest margins)   (K19 (3)); 1 <= k <= m."""

    def polytope_weights(self, m: int) -> tuple[Floats, Floats]:
        """Return the weight vectors (upper, lower) for m classes. Raises ValueError if k > m."""
        return _joint(self.padded_rho(m))


@dataclass(frozen=True)
class PseudoTopK(_LossWithK):
    """max(0, mean of the k largest margins of the wrong classes)   (K19 (31)); 1 <= k <= m - 1."""

    def polytope_weights(self, m: int) -> tuple[Floats, Floats]:
        """Return the weight vectors (upper, lower) for m classes. Raises ValueError if k >= m."""
        rho = self.padded_rho(m - 1)
        return rho, rho


@dataclass(frozen=True)
class Usunier(_LossWithK):
    """Mean of the positive parts of the k largest margins   (L15 (5), T20 (2.6)); 1 <= k <= m."""

    def polytope_weights(self, m: int) -> tuple[Floats, Floats]:
        """Return the weight vectors (upper, lower) for m classes. Raises ValueError if k > m."""
        return _entrywise(self.padded_rho(m))


@dataclass(frozen=True)
class WeightedTopK(_LossWithRho):
    """max(0, sum_j rho_j h_[j])   (K19 (8)).

    rho is non-increasing, non-negative and not all zero. Missing weights, up to m, are 0.
    """

    def polytope_weights(self, m: int) -> tuple[Floats, Floats]:
        """Return (upper, lower) for m classes. Raises ValueError if rho is longer than m."""
        return _joint(self.padded_rho(m))


@dataclass(frozen=True)
class WeightedUsunier(_LossWithRho):
    """sum_j rho_j max(0, h_[j])   (T20 (2.8)); rho as for WeightedTopK."""

    def polytope_weights(self, m: int) -> tuple[Floats, Floats]:
        """Return (upper, lower) for m classes. Raises ValueError if rho is longer than m."""
        return _entrywise(self.padded_rho(m))
