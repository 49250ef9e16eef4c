"""Call the numpy functions of a loss from outside the family, as domains of its samples.

Every array that the loss returns is checked, and the loss gets copies of the arrays that it could
change. At every checkpoint of a run `contradiction` checks that `value`, `lmo` and `project` belong
to the same loss. Before a run ends, `outside` checks that the dual point lies in the domain.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.operators.domains import Domains

# `value`, `lmo` and the dual point must agree to this fraction of the products that are summed
AGREEMENT = 1e-9
# the rounding errors that a projection and a product may have, as a fraction of what enters them
ROUNDING = 64 * np.finfo(float).eps
# steps of the search for a plane between a dual row and its domain
SEARCH = 20


@dataclass(frozen=True, eq=False)
class GivenDomains:
    """The negated domains of samples with labels y (n,), and their costs (n, m).

    `samples` (n,) holds the numbers that name the samples in errors.
    """

    loss: Any
    y: Integers
    costs: Floats
    samples: Integers

    @classmethod
    def of(cls, loss: Any, y: Integers, m: int) -> "GivenDomains":
        """Return the domains of samples with labels y (n,) among m classes."""
        samples = np.arange(len(y))
        costs = _checked(loss, "costs", loss.costs(y.copy(), m), (len(y), m), samples)
        return cls(loss, y, costs, samples)

    trusted: ClassVar = False

    @property
    def scale(self) -> float:
        return float(self.loss.scale)

    @property
    def checks_membership(self) -> bool:
        return self.loss.contains is not None

    @property
    def projects(self) -> bool:
        return self.loss.project is not None

    def take(self, rows: Integers | slice) -> "GivenDomains":
        y, costs, samples = self.y[rows], self.costs[rows], self.samples[rows]
        return replace(self, y=y, costs=costs, samples=samples)

    def values(self, scores: Floats) -> Floats:
        given = self.loss.value(scores.copy(), self.y.copy())
        return _checked(self.loss, "value", given, (len(scores),), self.samples)

    def lowest(self, scores: Floats) -> tuple[Floats, Floats]:
        gradient = self.add_costs(scores)
        given = self.loss.lmo(gradient.copy(), self.y.copy())
        vertices = _checked(self.loss, "lmo", given, scores.shape, self.samples)
        return vertices, -np.einsum("ij,ij->i", gradient, vertices)

    def cost_products(self, points: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", self.costs, points))

    def conjugate_terms(self, points: Floats, omega: Floats) -> Floats:
        return self.cost_products(points)

    def add_costs(self, scores: Floats) -> Floats:
        return scores + self.costs

    def cost_sizes(self) -> Floats:
        return np.asarray(np.abs(self.costs).max(axis=1))

    def contains(self, v: Floats, slack: float) -> np.ndarray:
        """Return the answer of the loss, which has a slack of its own."""
        inside = np.asarray(self.loss.contains(v.copy(), self.y.copy()))
        if inside.shape != (len(v),) or inside.dtype != np.bool_:
            raise ValueError(
                f"contains of {_name(self.loss)} must return ({len(v)},) bool; got shape "
                f"{inside.shape} of {inside.dtype}."
            )
        return inside

    def project(self, points: Floats) -> Floats:
        given = self.loss.project(points.copy(), self.y.copy())
        return _checked(self.loss, "project", given, points.shape, self.samples)

    def used(self, A: Floats, omega: Floats) -> tuple["GivenDomains", Floats]:
        """Return the domains with a positive weight omega (n,), and the rows of A / omega."""
        inside = np.flatnonzero(omega)
        return self.take(inside), A[inside] / omega[inside, None]


def contradiction(
    domains: Domains, A: Floats, scores: Floats, omega: Floats, smoothing: float = 0.0
) -> str:
    """Return how the functions of a loss or the dual point A, (n, m), disagree at scores, or "".

    The loss is the maximum of -<scores + delta, u> over the negated domain: the LMO attains it, and
    no row of A / omega exceeds it. With smoothing, u is the nearest point of the negated domain to
    -(scores + delta) / smoothing if and only if it attains the loss at scores + smoothing u.
    """
    if not isinstance(domains, GivenDomains):
        return ""
    (domains, A), scores = domains.used(A, omega), scores[omega > 0]
    size = np.abs(scores).sum(axis=1) + np.abs(domains.costs).sum(axis=1)
    found = _disagreement(domains, A, scores, size, "the dual row")
    if found or not smoothing:
        return found
    far = domains.add_costs(scores) / -smoothing
    nearest = domains.project(far)
    moved = scores + smoothing * nearest
    name = f"the point that project of {_name(domains.loss)} returns"
    rounding = ROUNDING * np.abs(far).max(axis=1)
    return _disagreement(domains, nearest, moved, size, name, rounding)


def outside(domains: Domains, A: Floats, omega: Floats) -> str:
    """Return which row of A (n, m) lies outside omega times its domain, or "" if none is found.

    `contains` may say so, or a plane between the row and all points that `lmo` returns. The search
    for a plane minimises the distance to the row by Frank-Wolfe steps; it finds every row that is
    far from its domain.
    """
    if not isinstance(domains, GivenDomains):
        return ""
    domains, A = domains.used(A, omega)
    name = _name(domains.loss)
    if domains.checks_membership and not (inside := domains.contains(-A, 0.0)).all():
        i = int(np.argmin(inside))
        return f"{_sample(domains, i)}: contains of {name} refuses the dual row."
    point = domains.lowest(np.zeros_like(A))[0]
    for _ in range(SEARCH):
        scores = point - A - domains.costs
        gradient = domains.add_costs(scores)
        vertices, attained = domains.lowest(scores)
        reached = -np.einsum("ij,ij->i", gradient, A)
        excess = reached - attained - _slack(gradient, vertices, A)
        if (excess > 0).any():
            i = int(np.argmax(excess))
            return f"{_sample(domains, i)}: the dual row is outside the points of lmo of {name}."
        step = vertices - point
        slope, square = (np.einsum("ij,ij->i", D, step) for D in (-gradient, step))
        point += np.clip(slope / np.where(square > 0, square, 1.0), 0.0, 1.0)[:, None] * step
    return ""


def _disagreement(
    domains: GivenDomains,
    A: Floats,
    scores: Floats,
    size: Floats,
    point: str,
    rounding: Floats | None = None,
) -> str:
    """Return how `value`, `lmo` and A, which is called `point`, disagree at scores, or "".

    size (n,) is the sum of the sizes of what scores + delta is computed from. Without `rounding` A
    may be any point of the negated domain. With it, A must attain the loss; its entries may be
    wrong by `rounding`, (n,).
    """
    values, (vertices, attained) = domains.values(scores), domains.lowest(scores)
    gradient = domains.add_costs(scores)
    slack = AGREEMENT * np.abs(values) + _slack(gradient, vertices, A)
    slack += ROUNDING * size * np.abs(vertices).max(initial=0.0)
    reached = -np.einsum("ij,ij->i", gradient, A)
    name = _name(domains.loss)
    lmo = f"lmo of {name}"
    tests = [
        (values - attained, slack, lmo, attained, "it misses a point of the domain"),
        (attained - values, slack, lmo, attained, "value misses a point of the domain"),
    ]
    if rounding is not None:
        slack = slack + rounding * np.abs(gradient).sum(axis=1)
        tests.append((values - reached, slack, point, reached, "it is not the nearest one"))
    tests.append((reached - values, slack, point, reached, "it is outside the domain"))
    for excess, allowed, who, other, reason in tests:
        i = int(np.argmax(excess - allowed))
        if excess[i] > allowed[i]:
            return (
                f"{_sample(domains, i)}: value of {name} is {values[i]:.6g}, but {who} attains "
                f"{other[i]:.6g} ({reason})."
            )
    return ""


def _slack(gradient: Floats, *points: Floats) -> Floats:
    """Return the allowed difference of products of the rows of gradient with points, (n,)."""
    largest = max(np.abs(point).max(initial=0.0) for point in points)
    return np.asarray(AGREEMENT * largest * np.abs(gradient).sum(axis=1))


def _sample(domains: GivenDomains, i: int) -> str:
    return f"sample {domains.samples[i]} with label {domains.y[i]}"


def _checked(
    loss: Any, function: str, given: Any, shape: tuple[int, ...], samples: Integers
) -> Floats:
    """Return the answer of a function of the loss as a finite array of this shape."""
    try:
        array = np.asarray(given)
        found = f"{type(given).__name__} of shape {array.shape} and type {array.dtype}"
        # a copy, as the loss may keep its array
        array = np.array(array, dtype=np.float64) if array.dtype.kind in "biufO" else np.empty(0)
    except (TypeError, ValueError):
        array, found = np.empty(0), f"{type(given).__name__} that is no array of numbers"
    if array.shape != shape:
        raise ValueError(
            f"{function} of {_name(loss)} must return an array of numbers of shape {shape}; got "
            f"{found}."
        )
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(
            f"{function} of {_name(loss)} must return finite numbers; got {array[place]} in row "
            f"{samples[place[0]]}."
        )
    return array


def _name(loss: Any) -> str:
    return type(loss).__name__
