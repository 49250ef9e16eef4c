"""Evaluate Lapin's compatibility, which fails for the top-k hinge, in exact fractions.

phi(s; y), the loss with margins delta + s, is called y-compatible (L15 Definition 2, K19 (28)) if

    sup over s with s_y = 0 of <v, s> - phi(s; y)  =  phi*(v; y)      for every v with v_y = 0.

L15 Proposition 3 states it for the top-k hinge; K19 Proposition 6 refutes that for 2 <= k < m with
the vector (69). Below, v lists the m - 1 entries other than the y-th; both sides of the equation
are Fractions or math.inf.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from reference.exact import conjugate_of_maximum, pieces, rational
from reference.losses import Loss


def lhs(loss: Loss, v: Iterable[Any], y: int) -> Fraction | float:
    """Return sup of <v, s> - phi(s; y) over s with s_y = 0, where phi is piecewise affine."""
    v = rational(v, "v")
    affine = pieces(loss, len(v) + 1, y, centred=False)
    restricted = {slope[:y] + slope[y + 1 :]: b for slope, b in affine.items()}
    return conjugate_of_maximum(restricted, v)


def rhs(loss: Loss, v: Iterable[Any], y: int) -> Fraction | float:
    """Return phi*(v; y) with 0 put in as the y-th entry."""
    v = rational(v, "v")
    affine = pieces(loss, len(v) + 1, y, centred=False)
    return conjugate_of_maximum(affine, [*v[:y], Fraction(0), *v[y:]])


def kato_vector(m: int, k: int) -> list[Fraction]:
    """Return K19 (69), for m >= 3: m - 2 entries ((m-1) k - m) / ((m-2) m k), then 1/k.

    Their sum is (m-1)/m.
    """
    small = Fraction((m - 1) * k - m, (m - 2) * m * k)
    return [small] * (m - 2) + [Fraction(1, k)]
