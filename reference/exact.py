"""Compute value, conjugate, domain and LMO of every loss in exact fractions, for a few classes.

The loss is a maximum of finitely many affine functions of the scores, given by its definition:

    Phi(s; y) = max over beta of <beta, delta + s - s_y 1> = max over pieces of <a, s> + b.

Then, by LP duality, Phi*(v; y) = min -sum_i t_i b_i over t >= 0, sum t_i = 1, sum_i t_i a_i = v,
and +inf without such t: the effective domain is the convex hull of the slopes a_i. No number is
rounded and there is no tolerance. Inputs are ints or Fractions; a float is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Any

from reference.losses import Loss, plain
from reference.simplex import minimise

Pieces = dict[tuple[Fraction, ...], Fraction]  # slope -> intercept


def value(loss: Loss, scores: Iterable[Any], y: int) -> Fraction:
    """Return Phi(scores; y)."""
    require_rational_loss(loss)
    return Fraction(loss.value(rational(scores, "scores"), y))


def conjugate(loss: Loss, v: Iterable[Any], y: int) -> Fraction | float:
    """Return Phi*(v; y); math.inf outside the effective domain."""
    v = rational(v, "v")
    return conjugate_of_maximum(pieces(loss, len(v), y), v)


def in_domain(loss: Loss, v: Iterable[Any], y: int) -> bool:
    """Return whether v is in dom Phi*(.; y)."""
    return conjugate(loss, v, y) != math.inf


def lmo_value(loss: Loss, gradient: Iterable[Any], y: int) -> Fraction:
    """Return the least <gradient, u> over u in -dom Phi*(.; y), that is, over minus the slopes."""
    g = rational(gradient, "gradient")
    return min(-inner(slope, g) for slope in pieces(loss, len(g), y))


def pieces(loss: Loss, m: int, y: int, centred: bool = True) -> Pieces:
    """Return the affine pieces of Phi(.; y), or, if not centred, of phi(.; y)."""
    require_rational_loss(loss)
    return enumerated_pieces(loss, m, y, centred)


@lru_cache(maxsize=64)
def enumerated_pieces(loss: Loss, m: int, y: int, centred: bool) -> Pieces:
    """Return the result of `pieces`, cached because a weighted loss has many pieces."""
    delta = [Fraction(d) for d in loss.delta(m, y)]
    found: Pieces = {}
    for beta in set(loss.weightings(m, y)):
        slope = list(beta)
        if centred:
            slope[y] -= sum(beta)  # <beta, s - s_y 1> has the slope beta - <1, beta> e_y
        found[tuple(slope)] = inner(beta, delta)
    return found


def conjugate_of_maximum(affine: Pieces, v: Iterable[Fraction]) -> Fraction | float:
    """Return the conjugate at v of the maximum of affine functions; math.inf outside its domain."""
    slopes = list(affine)
    convex_combination = [
        [1] * len(slopes),
        *[list(column) for column in zip(*slopes, strict=True)],
    ]
    least = minimise([-affine[a] for a in slopes], convex_combination, [1, *v])
    return math.inf if least is None else least


def inner(a: Iterable[Fraction], b: Iterable[Fraction]) -> Fraction:
    return sum((x * z for x, z in zip(a, b, strict=True)), Fraction())


def rational(numbers: Iterable[Any], name: str) -> list[Fraction]:
    """Return ints and Fractions as Fractions.

    Anything else may have rounding errors and is refused.
    """
    given = plain(numbers)
    for i, x in enumerate(given):
        if not isinstance(x, Rational):
            raise TypeError(f"{name}[{i}] is {x!r}; exact functions take ints and Fractions only")
    return [Fraction(x) for x in given]


def require_rational_loss(loss: Loss) -> None:
    rational(loss.numbers(), "the loss's parameter list")
