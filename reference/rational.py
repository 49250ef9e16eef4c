"""Prove facts about a polytope in fractions, from the floats of an LP solver.

    feasible   x >= 0 with A x = b, near floats that fulfil it almost
    least      a lower bound of <g, M x> over all such x, by weak duality

Neither trusts the solver: both hold exactly, and only the quality of the result depends on its
tolerances. They use the exact data of the polytope, before rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from reference.arithmetic import fractions, inner
from reference.polytope import Polytope
from reference.simplex import minimiser

THRESHOLDS = (1e-12, 1e-9, 1e-7)  # entries below this are noise of HiGHS and of the correction
Row = dict[int, Fraction]


def feasible(polytope: Polytope, x: np.ndarray) -> np.ndarray:
    """Return Fractions (r,) near the floats x >= 0. Raises ArithmeticError if none are found.

    Entries below a threshold are noise, and start at 0.
    """
    for threshold in THRESHOLDS:
        exact = corrected(polytope, np.where(x > threshold, x, 0.0))
        if exact is not None:
            return exact
    raise ArithmeticError("a solution of HiGHS could not be made exact")


def corrected(polytope: Polytope, x: np.ndarray) -> np.ndarray | None:
    """Return x as Fractions, after a tiny correction that makes it feasible, if there is one.

    Gauss-Jordan elimination solves A d = b - A x for a correction d of basic columns with large x,
    where entries can move both ways. If rows without such a column remain, entries that are 0 must
    grow: the exact simplex method finds the least such entries.
    """
    exact, (A, b) = fractions(x), polytope.equations
    rest = [right - inner(row, exact) for row, right in zip(A, b, strict=True)]
    rows = [{j: entry for j, entry in enumerate(row) if entry} for row in A]
    zeros = [j for j in range(len(x)) if x[j] == 0]
    basis = eliminated(rows, rest, [int(j) for j in np.argsort(-x, kind="stable") if x[j] > 0])
    others = [i for i in range(len(rows)) if i not in basis]
    if any(rest[i] for i in others):
        table = [[rows[i].get(j, Fraction()) for j in zeros] for i in others]
        grown = minimiser([1] * len(zeros), table, [rest[i] for i in others]) if zeros else None
        if grown is None:
            return None
        exact[zeros] = grown
    for i, j in basis.items():
        moved = sum((entry * exact[z] for z, entry in rows[i].items() if x[z] == 0), Fraction())
        exact[j] += (rest[i] - moved) / rows[i][j]
    return exact if min(exact) >= 0 else None


def eliminated(rows: list[Row], rest: list[Fraction], columns: Sequence[int]) -> dict[int, int]:
    """Reduce rows = rest in place.

    Return {i: j}, where only row i still contains the basic column j.
    """
    basis: dict[int, int] = {}
    for j in columns:
        pivot = next((i for i, row in enumerate(rows) if j in row and i not in basis), None)
        if pivot is None:
            continue
        basis[pivot] = j
        for i, row in enumerate(rows):
            if i != pivot and j in row:
                factor = row[j] / rows[pivot][j]
                rest[i] -= factor * rest[pivot]
                for column, entry in rows[pivot].items():
                    row[column] = row.get(column, Fraction()) - factor * entry
                    if not row[column]:
                        del row[column]
    return basis


def least(polytope: Polytope, gradient: np.ndarray) -> Fraction:
    """Return a lower bound of <gradient, u> over the set, for Fractions (m,).

    With c = M' gradient and any multipliers l,

        <c, x> = <b, l> + <c - A' l, x> >= <b, l> - excess * sum(x),

    where excess is the largest entry of A' l - c, or 0, which is tiny for the solver's l.
    """
    c = np.array([inner(column, gradient) for column in fractions(polytope.M).T])
    scale = max(abs(c)) or Fraction(1)  # the solver's tolerance is absolute
    multipliers = polytope.multipliers((c / scale).astype(float))
    bound, slacks = weak_duality(polytope, c, scale * fractions(multipliers))
    return bound if min(slacks) >= 0 else bound + min(slacks) * largest_sum(polytope)


def largest_sum(polytope: Polytope) -> Fraction:
    """Return an upper bound of sum(x) over the x >= 0 with A x = b.

    Multipliers l with A' l >= s > 0 in every entry give s sum(x) <= <A' l, x> = <b, l>.
    """
    zero = fractions(np.zeros(polytope.M.shape[1]))
    multipliers = polytope.multipliers(np.full(len(zero), -1.0))
    bound, slacks = weak_duality(polytope, zero, fractions(multipliers))
    if min(slacks) <= 0:
        raise ArithmeticError("no multipliers prove that the polytope is bounded")
    return -bound / min(slacks)


def weak_duality(
    polytope: Polytope, c: np.ndarray, multipliers: np.ndarray
) -> tuple[Fraction, np.ndarray]:
    """Return <b, multipliers> and c - A' multipliers."""
    A, b = polytope.equations
    slacks = [cost - inner(column, multipliers) for cost, column in zip(c, A.T, strict=True)]
    return inner(b, multipliers), np.array(slacks)
