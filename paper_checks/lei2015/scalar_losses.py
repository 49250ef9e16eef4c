"""Define loss functions of the margin t, as in Definition 2, exact on Fractions."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import Any

from paper_checks.arithmetic import maximum, where
from paper_checks.cases import Rng

ONE = Fraction(1)


@dataclass(frozen=True)
class PiecewiseLinear:
    """Linear between the points (t, value), with the slopes `left` and `right` outside them."""

    points: tuple[tuple[Fraction, Fraction], ...]
    left: Fraction
    right: Fraction = Fraction(0)

    @property
    def slopes(self) -> list[Fraction]:
        inner = [(w - v) / (t - s) for (s, v), (t, w) in pairwise(self.points)]
        return [self.left, *inner, self.right]

    @property
    def lipschitz(self) -> Fraction:
        return max(abs(slope) for slope in self.slopes)

    @property
    def convex(self) -> bool:
        return all(a <= b for a, b in pairwise(self.slopes))

    @property
    def zero(self) -> Fraction:
        return next(t for t, value in self.points if value == 0)

    def value(self, t: Any) -> Any:
        first, value = self.points[0]
        found = value + self.left * (t - first)
        for (knot, value), slope in zip(self.points, self.slopes[1:], strict=True):
            found = where(t >= knot, value + slope * (t - knot), found)
        return found

    def conjugate(self, s: Any) -> Any:
        """Return sup over t of s t - value(t); for a convex loss it is attained at a point."""
        if not self.left <= s <= self.right:
            return inf
        return max(s * t - value for t, value in self.points)


@dataclass(frozen=True)
class PowerHinge:
    """(1 - t/end)^power between 0 and `end`, 0 after it, and the tangent at 0 before it."""

    power: int
    end: Fraction
    convex = True

    @property
    def lipschitz(self) -> Fraction:
        return self.power / self.end

    @property
    def zero(self) -> Fraction:
        return self.end

    def value(self, t: Any) -> Any:
        bent = maximum(1 - t / self.end, 0 * t) ** self.power
        return where(t < 0, 1 - self.lipschitz * t, bent)

    def conjugate(self, s: Any) -> Any:
        """Return the conjugate at the slope -lipschitz u^(power - 1), where t = end (1 - u)."""
        if not -self.lipschitz <= s <= 0:
            return inf
        u = float(-s / self.lipschitz) ** (1 / (self.power - 1))
        return self.at_slope_of(u)

    def at_slope_of(self, u: Any) -> Any:
        """Return the conjugate at the slope of the point t = end (1 - u).

        It is exact for a Fraction u.
        """
        return -self.lipschitz * u ** (self.power - 1) * self.end * (1 - u) - u**self.power


ScalarLoss = PiecewiseLinear | PowerHinge

HINGE = PiecewiseLinear(((ONE, Fraction(0)),), left=-ONE)
STEEP_HINGE = PiecewiseLinear(((ONE / 2, Fraction(0)),), left=-2 * ONE)
SMOOTH_HINGE = PowerHinge(2, Fraction(2))
CUBIC_HINGE = PowerHinge(3, ONE)


def margin_loss(rho: Fraction) -> PiecewiseLinear:
    """Return the margin loss (1)."""
    return PiecewiseLinear(((Fraction(0), ONE), (rho, Fraction(0))), left=Fraction(0))


def random_regular(rng: Rng) -> PiecewiseLinear:
    """Return a piecewise linear loss that never rises, is at least 1 at t = 0, and reaches 0."""
    knots = sorted(rng.choice(range(1, 9), 3, replace=False))
    levels = sorted(rng.choice(range(1, 9), 2, replace=False), reverse=True)
    points = [(Fraction(0), 1 + Fraction(int(rng.integers(0, 3)), 2))]
    points += [
        (Fraction(int(t), 4), Fraction(int(v), 8)) for t, v in zip(knots[:2], levels, strict=True)
    ]
    points.append((Fraction(int(knots[-1]), 4), Fraction(0)))
    return PiecewiseLinear(tuple(points), left=Fraction(-int(rng.integers(0, 4))))


def some_losses(rng: Rng, deep: bool) -> Iterator[tuple[str, ScalarLoss]]:
    """Yield the paper's two losses, smooth ones, and random ones, each with its kind."""
    yield "hinge", HINGE
    for denominator in (1, 2, 4):
        yield "margin loss", margin_loss(Fraction(denominator, 2))
    yield "smooth", SMOOTH_HINGE
    yield "smooth", CUBIC_HINGE
    for _ in range(40 if deep else 10):
        yield "random", random_regular(rng)


def grid(loss: ScalarLoss) -> list[Fraction]:
    """Return numbers t on both sides of all kinks, including the kinks."""
    kinks = [t for t, _ in loss.points] if isinstance(loss, PiecewiseLinear) else [loss.end]
    return sorted({Fraction(i, 4) for i in range(-12, 17)} | set(kinks) | {Fraction(1, 1000)})
