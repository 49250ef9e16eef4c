"""The domains of a loss from outside the family, which brings its own numpy functions.

Every array that the loss returns is checked. Whether `value` and `lmo` belong to the same loss is
tried at every checkpoint of a run, by `contradiction`.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.operators.domains import Domains

# `value`, `lmo` and the dual point must agree to this fraction of the products that are summed
AGREEMENT = 1e-9


@dataclass(frozen=True, eq=False)
class GivenDomains:
    """The negated domains of samples with labels y (n,), and their costs (n, m)."""

    loss: Any
    y: Integers
    costs: Floats

    @classmethod
    def of(cls, loss: Any, y: Integers, m: int) -> "GivenDomains":
        """Return the domains of samples with labels y (n,) among m classes."""
        return cls(loss, y, _checked(loss, "costs", loss.costs(y, m), (len(y), m)))

    @property
    def checks_membership(self) -> bool:
        return self.loss.contains is not None

    @property
    def projects(self) -> bool:
        return self.loss.project is not None

    def take(self, rows: Integers | slice) -> "GivenDomains":
        return replace(self, y=self.y[rows], costs=self.costs[rows])

    def values(self, scores: Floats) -> Floats:
        given = self.loss.value(scores.copy(), self.y)
        return _checked(self.loss, "value", given, (len(scores),))

    def lowest(self, scores: Floats) -> tuple[Floats, Floats]:
        gradient = self.add_costs(scores)
        vertices = _checked(self.loss, "lmo", self.loss.lmo(gradient.copy(), self.y), scores.shape)
        return vertices, -np.einsum("ij,ij->i", gradient, vertices)

    def cost_products(self, points: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", self.costs, points))

    def add_costs(self, scores: Floats) -> Floats:
        return scores + self.costs

    def contains(self, v: Floats, slack: float) -> np.ndarray:
        """Return what the loss answers, which has a slack of its own."""
        inside = np.asarray(self.loss.contains(v.copy(), self.y))
        if inside.shape != (len(v),) or inside.dtype != np.bool_:
            raise ValueError(
                f"contains of {_name(self.loss)} must return ({len(v)},) bool; got shape "
                f"{inside.shape} of {inside.dtype}."
            )
        return inside

    def project(self, points: Floats) -> Floats:
        given = self.loss.project(points.copy(), self.y)
        return _checked(self.loss, "project", given, points.shape)


def contradiction(domains: Domains, A: Floats, scores: Floats, omega: Floats) -> str:
    """Return how `value` contradicts `lmo` or the dual point A, (n, m), at these scores, or "".

    The loss is the maximum of -<scores + delta, u> over the negated domain: the LMO attains it, and
    no row of A / omega exceeds it.
    """
    if not isinstance(domains, GivenDomains):
        return ""
    inside = np.flatnonzero(omega)
    domains, A, scores = domains.take(inside), A[inside] / omega[inside, None], scores[inside]
    values, (vertices, attained) = domains.values(scores), domains.lowest(scores)
    gradient = domains.add_costs(scores)
    largest = max(np.abs(vertices).max(initial=0.0), np.abs(A).max(initial=0.0))
    slack = AGREEMENT * (np.abs(values) + largest * np.abs(gradient).sum(axis=1))
    reached = -np.einsum("ij,ij->i", gradient, A)
    name = _name(domains.loss)
    for excess, sentence in (
        (values - attained, "lmo of {} attains {:.6g} (it misses a point of the domain)"),
        (attained - values, "lmo of {} attains {:.6g} (value misses a point of the domain)"),
        (reached - values, "the dual row attains {1:.6g} (it is outside the domain)"),
    ):
        i = int(np.argmax(excess - slack))
        if excess[i] > slack[i]:
            other = reached[i] if "dual row" in sentence else attained[i]
            return (
                f"sample {inside[i]} with label {domains.y[i]}: value of {name} is "
                f"{values[i]:.6g}, but {sentence.format(name, other)}."
            )
    return ""


def _checked(loss: Any, function: str, given: Any, shape: tuple[int, ...]) -> Floats:
    """Return what a function of the loss gave as a finite array of this shape."""
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != shape:
        raise ValueError(
            f"{function} of {_name(loss)} must return an array of numbers of shape {shape}; got "
            f"{type(given).__name__} of shape {np.shape(given)}."
        )
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(
            f"{function} of {_name(loss)} must return finite numbers; got {array[place]} in row "
            f"{place[0]}."
        )
    return array


def _name(loss: Any) -> str:
    return type(loss).__name__
