"""Solve exact linear programs, and compute the levels of rho that define the sets of T20."""

from collections.abc import Sequence
from fractions import Fraction

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
    """Return weights as T20 requires them: non-increasing, with rho_m = 0; ties are common."""
    return (*decreasing_weights(rng, m - 1), Fraction(0))


def levels(
    rho: Sequence[Real], differences: bool = True, every: bool = False
) -> list[tuple[int, Real]]:
    """Return the pairs (k_l, rho'_l) of (2.15); without `differences`, rho'_l is rho_{k_l} itself.

    Symbols, and on request numbers, have a pair for every k; its weight is 0 if rho_k = rho_{k+1},
    so that k is not a level.
    """
    following = [*rho[1:], ZERO]
    found = [
        (k, where(here > after, here - after if differences else here, ZERO))
        for k, (here, after) in enumerate(zip(rho, following, strict=True), start=1)
    ]
    if every or is_symbolic(list(rho)):
        return found
    return [(k, step) for k, step in found if step > 0]
