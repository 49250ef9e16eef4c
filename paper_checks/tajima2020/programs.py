"""Exact linear programs, the levels of rho, and one loss of each kind of T20."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import reference
from paper_checks.arithmetic import ZERO, Real, is_symbolic, where
from paper_checks.cases import Rng, decreasing_weights
from reference.derived_polytopes import Bound, Expression
from reference.simplex import minimise


def greatest(
    objective: Expression, below: Sequence[Bound], equal: Sequence[Bound] = ()
) -> Fraction:
    """Return the largest <objective, x> over x >= 0 under the bounds, without rounding."""
    slacked = [({**row, ("slack", i): 1}, bound) for i, (row, bound) in enumerate(below)]
    equations = [*slacked, *equal]
    names = list(
        dict.fromkeys(name for row in (objective, *(e for e, _ in equations)) for name in row)
    )
    found = minimise(
        [-objective.get(name, 0) for name in names],
        [[row.get(name, 0) for name in names] for row, _ in equations],
        [bound for _, bound in equations],
    )
    if found is None:
        raise ArithmeticError("a linear program of the paper has no feasible point")
    return -found


def zero_ended_weights(rng: Rng, m: int) -> tuple[Fraction, ...]:
    """Return weights as T20 wants them: non-increasing, with rho_m = 0; ties are common."""
    return (*decreasing_weights(rng, m - 1), Fraction(0))


def levels(
    rho: Sequence[Real], differences: bool = True, every: bool = False
) -> list[tuple[int, Real]]:
    """Return the pairs (k_l, rho'_l) of (2.15); rho'_l is rho_{k_l} itself without differences.

    Symbols have a pair for every k, and so have numbers on request; its weight is 0 where
    rho_k = rho_{k+1}, so that k is no level.
    """
    following = [*rho[1:], ZERO]
    found = [
        (k, where(here > after, here - after if differences else here, ZERO))
        for k, (here, after) in enumerate(zip(rho, following, strict=True), start=1)
    ]
    if every or is_symbolic(list(rho)):
        return found
    return [(k, step) for k, step in found if step > 0]


def mdos_losses(rng: Rng, m: int) -> list[reference.Loss]:
    """Return one loss of each kind of Theorem 2.1."""
    k, rho = int(rng.integers(1, m + 1)), zero_ended_weights(rng, m)
    zero_one = tuple(tuple(int(i != j) for j in range(m)) for i in range(m))
    return [
        reference.MaxHinge(),
        reference.StructuredHinge(zero_one),
        reference.TopK(k),
        reference.Usunier(k),
        reference.WeightedTopK(rho),
        reference.WeightedUsunier(rho),
    ]


def costly_losses(rng: Rng, m: int) -> list[reference.Loss]:
    """Return a structured hinge with costs 0, 1/2, .., 2 off the diagonal."""
    costs = [[Fraction(int(i != j) * int(rng.integers(5)), 2) for j in range(m)] for i in range(m)]
    return [reference.StructuredHinge(costs)]


def other_losses(rng: Rng, m: int) -> list[reference.Loss]:
    """Return losses that are not of mdos type: any costs, and the pseudo top-k hinge."""
    return [*costly_losses(rng, m), reference.PseudoTopK(int(rng.integers(1, m)))]


def listed_losses(m: int) -> list[reference.Loss]:
    """Return losses of every kind for m classes, for statements about all scores: every k, and
    two weight vectors."""
    linear = tuple(Fraction(m - 1 - j, m) for j in range(m))
    flat = tuple(Fraction(int(j < m - 1)) for j in range(m))
    costs = [[Fraction(abs(i - j), 2) for j in range(m)] for i in range(m)]
    ks = range(1, m + 1)
    made: list[Any] = [reference.TopK(k) for k in ks] + [reference.Usunier(k) for k in ks]
    for rho in (linear, flat):
        made += [reference.WeightedTopK(rho), reference.WeightedUsunier(rho)]
    made += [reference.PseudoTopK(k) for k in range(1, m)]
    return [reference.MaxHinge(), reference.StructuredHinge(costs), *made]
