"""Enclose the machine of the exact optimum in a ball, from a machine and a dual point.

For a machine W and a dual point A' with the link V = W(A') and the gap g (fwlab.certificate)

    lam/2 |W - W*|^2 + lam/2 |V - W*|^2 <= g,
    |W - W*|^2 + |V - W*|^2 = 2 |M - W*|^2 + |W - V|^2 / 2,    M = (W + V) / 2.

Hence W* lies in the ball around M with the squared radius

    r^2 = g / lam - |W - V|^2 / 4 = (s - h) (s + h),    s = sqrt(g / lam),  h = |W - V| / 2.

The first line alone gives a ball around W with the squared radius 2 g / lam, twice r^2 or more. For
the gradient's dual point of a smooth loss g = lam/2 |W - V|^2 (solvers.lbfgs), so that the segment
from W to V is a diameter of the ball: its radius is half of that around W, inside which it lies.

Rounding. The computed link is off by at most E, so h by E / 2 and the centre by E / 2; the sum in
the centre is rounded, and entries below the normal numbers lose their digits.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwlab.arrays import Floats, on_host
from fwlab.operators.sums import MARGIN, UNIT, gamma_in_parts, square_in_parts
from fwlab.primal_dual import PrimalDual
from fwlab.result import Certificate

# of a norm, whose entries' squares may vanish
VANISHED = 2.0**-500
# of a radius, below which another centre is worth its memory
CLEARLY = 0.9


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball that holds the machine of the exact optimum: its centre (m, d) and its radius."""

    centre: Floats
    radius: float

    def distance(self, W: Floats) -> float:
        """Return a bound of |W - W*|; the margins of both terms cover the rounding of the sum."""
        return norm_above(W - self.centre) + self.radius


def ball_of_pair(W: Floats, V: Floats, gap: float, lam: float, link_error: float) -> Ball:
    """Return the ball of a machine and a dual point.

    Parameters
    ----------
    W, V : array (m, d)
        The machine, and the computed link of the dual point.
    gap : float
        An upper bound of their exact gap.
    lam : float
        The constant of strong convexity.
    link_error : float
        A bound of |V - W(A')|, the error of the link.
    """
    centre = (W + V) / 2
    # the quotient and the roots are rounded
    s = (1 + 8 * UNIT) * float(np.sqrt(gap)) / float(np.sqrt(lam))
    h = max(0.0, norm_below(W - V) - MARGIN * link_error) / 2
    radius = float(np.sqrt(max(0.0, s - h)) * np.sqrt(s + h))
    moved = link_error / 2 + 2 * UNIT * norm_above(centre)
    return Ball(centre, float(MARGIN * (radius + moved)))


def ball_of_run(problem: PrimalDual, W: Any, V: Any, certificate: Certificate) -> Ball | None:
    """Return the ball of a run's machine W and dual point with the link V.

    None if it is not known, or about as large as the ball around W. The problem has no kernel.
    """
    if (
        not problem.regularizer.plain
        or certificate.contradiction
        or not np.isfinite(certificate.gap_error)
    ):
        return None
    given = certificate.proved_gap, problem.lam, certificate.link_error
    ball = ball_of_pair(on_host(W), on_host(V), *given)
    return ball if ball.radius < CLEARLY * certificate.distance else None


def smallest(balls: Iterable[Ball]) -> Ball:
    """Return the ball of the smallest radius, the first one of several."""
    return min(balls, key=lambda ball: ball.radius)


def norm_above(D: Floats) -> float:
    """Return a bound of the norm of a difference D (m, d) that was computed entry by entry."""
    return float(MARGIN * np.sqrt(square_in_parts(D)) + D.size * VANISHED)


def norm_below(D: Floats) -> float:
    """Return a number that the norm of such a difference does not fall below."""
    share = 1.0 - gamma_in_parts(D.size + 2)
    return float(share * np.sqrt(square_in_parts(D)) - D.size * VANISHED)
