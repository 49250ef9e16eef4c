"""Run Frank-Wolfe in exact fractions on training problems with one sample on which it is slow.

T20's dual (2.3) of one sample, with the structured hinge (2.4), lambda = 1 and psi(x, y) = 0, is

    D(b) = <costs, b> - |sum_j b_j features_j|^2 / 2,   b in the simplex of the m classes,

and A = 0 is b = e_y. Every convex quadratic on a simplex is -D of such a problem, up to a constant,
if the vertex y is only the starting point. A bound that performance_estimation.py cannot prove is
therefore refuted by running Frank-Wolfe on such a problem.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

Point = tuple[Fraction, ...]


@dataclass(frozen=True)
class Training:
    """A training problem of one sample.

    features holds psi(x, j) of each class, and costs holds Delta_j >= 0. The true class is number
    0, where both are 0.
    """

    features: tuple[Point, ...]
    costs: Point

    @property
    def curvature(self) -> Fraction:
        """max <s - a, H (s - a)> over the domain: the largest squared distance of two features."""
        return max(square(minus(p, q)) for p, q in combinations(self.features, 2))

    def dual(self, weights: Sequence[Fraction]) -> Fraction:
        """Return D(b)."""
        mixed = mixture(self.features, weights)
        return inner(self.costs, weights) - square(mixed) / 2

    def errors(self, steps: Sequence[Fraction]) -> list[Fraction]:
        """Return lower bounds of max D - D(b_t), t = 1, 2, .., for Frank-Wolfe from A = 0.

        Ties of the linear minimisation go to the lowest class. max D is at least D at a vertex.
        """
        m = len(self.features)
        best = max(cost - square(p) / 2 for cost, p in zip(self.costs, self.features, strict=True))
        weights = [Fraction(int(j == 0)) for j in range(m)]
        found = []
        for step in steps:
            mixed = mixture(self.features, weights)
            ascent = [c - inner(p, mixed) for c, p in zip(self.costs, self.features, strict=True)]
            target = ascent.index(max(ascent))
            weights = [(1 - step) * b + step * int(j == target) for j, b in enumerate(weights)]
            found.append(best - self.dual(weights))
        return found


def is_counterexample(training: Training, steps: Sequence[Fraction], bound: Fraction) -> bool:
    """Return whether the error after these steps is above bound * curvature."""
    numbers = (*training.costs, *(x for p in training.features for x in p), *steps, bound)
    if not all(isinstance(number, Fraction) for number in numbers):
        return False
    if any(training.features[0]) or training.costs[0] or min(training.costs) < 0:
        return False
    return training.errors(steps)[-1] > bound * training.curvature


def far_start(steps: Sequence[Fraction], bound: Fraction) -> Training | None:
    """Return a problem of two classes on which a first step below 1 violates any bound.

    D(b) = c b - b^2/2, b in [0, 1], c >= 1. Frank-Wolfe goes to b = 1, and the share r = (1 -
    gamma_0) .. (1 - gamma_{t-1}) of the distance remains, with an error of at least (c - 1) r.
    Divided by c this is the dual of the max hinge with lambda = c, for one sample x = 1 of two
    classes.
    """
    rest = Fraction(1)
    for step in steps:
        rest *= 1 - step
    if rest == 0:
        return None
    cost = Fraction(int(bound / rest) + 2)
    zero, one = (Fraction(0),), (Fraction(1),)
    return Training((zero, one), (Fraction(0), cost))


def mixture(points: Sequence[Point], weights: Sequence[Fraction]) -> Point:
    """Return the sum of weight * point."""
    columns = zip(*points, strict=True)
    return tuple(inner(column, weights) for column in columns)


def minus(left: Point, right: Point) -> Point:
    """Return left - right."""
    return tuple(x - z for x, z in zip(left, right, strict=True))


def inner(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    """Return <left, right>."""
    return sum((x * z for x, z in zip(left, right, strict=True) if x and z), Fraction(0))


def square(point: Point) -> Fraction:
    """Return the squared length."""
    return inner(point, point)
