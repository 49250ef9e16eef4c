"""Run the two-phase simplex method in exact rational arithmetic, with Bland's rule.

    minimise <cost, x>   subject to   A x = b,   x >= 0,     all data Fractions or ints.

It is slow but reliable: there is no tolerance, and Bland's rule excludes cycling. It is meant for a
dozen rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Tableau = list[list[Fraction]]


def minimise(
    cost: Sequence[Fraction | int],
    A: Sequence[Sequence[Fraction | int]],
    b: Sequence[Fraction | int],
) -> Fraction | None:
    """Return the least value, or None where no x >= 0 has A x = b. An unbounded problem raises."""
    x = minimiser(cost, A, b)
    if x is None:
        return None
    return sum((c * entry for c, entry in zip(cost, x, strict=True)), Fraction())


def minimiser(
    cost: Sequence[Fraction | int],
    A: Sequence[Sequence[Fraction | int]],
    b: Sequence[Fraction | int],
) -> list[Fraction] | None:
    """Return an x that attains the least value, or None where no x >= 0 has A x = b."""
    tableau, basis = first_basis(A, b)
    artificial = len(cost)
    pivot_until_optimal(tableau, basis, [0] * artificial + [1] * len(b), artificial + len(b))
    if any(row[-1] > 0 for row, j in zip(tableau, basis, strict=True) if j >= artificial):
        return None
    drive_out_artificials(tableau, basis, artificial)
    padded_cost = [*cost, *[0] * len(b)]
    pivot_until_optimal(tableau, basis, padded_cost, artificial)
    x = [Fraction()] * len(padded_cost)
    for row, j in zip(tableau, basis, strict=True):
        x[j] = row[-1]
    return x[:artificial]


def first_basis(A: Sequence[Sequence], b: Sequence) -> tuple[Tableau, list[int]]:
    """Return rows [A | identity | b] with b >= 0, and the basis of the artificial variables."""
    rows, columns = len(b), len(A[0])
    tableau = []
    for i, (a, right) in enumerate(zip(A, b, strict=True)):
        sign = -1 if right < 0 else 1
        unit = [Fraction(int(i == j)) for j in range(rows)]
        tableau.append([Fraction(sign * x) for x in a] + unit + [Fraction(sign * right)])
    return tableau, list(range(columns, columns + rows))


def pivot_until_optimal(tableau: Tableau, basis: list[int], cost: Sequence, usable: int) -> None:
    """Take simplex steps over the first `usable` columns until no reduced cost is negative."""
    while True:
        priced = [(cost[j], row) for row, j in zip(tableau, basis, strict=True) if cost[j] != 0]
        entering = next(
            (j for j in range(usable) if cost[j] < sum(c * row[j] for c, row in priced)), None
        )
        if entering is None:
            return
        ratios = [
            (row[-1] / row[entering], basis[i], i)
            for i, row in enumerate(tableau)
            if row[entering] > 0
        ]
        if not ratios:
            raise ArithmeticError("the linear program is unbounded")
        pivot(tableau, basis, min(ratios)[2], entering)


def drive_out_artificials(tableau: Tableau, basis: list[int], artificial: int) -> None:
    """Swap artificial variables at 0 for real ones; a row without a real one is redundant."""
    for i, j in enumerate(basis):
        if j >= artificial:
            real = next((c for c in range(artificial) if tableau[i][c] != 0), None)
            if real is not None:
                pivot(tableau, basis, i, real)


def pivot(tableau: Tableau, basis: list[int], leaving: int, entering: int) -> None:
    """Make column `entering` the unit vector of row `leaving`."""
    scale = tableau[leaving][entering]
    tableau[leaving] = [x / scale for x in tableau[leaving]]
    for i, row in enumerate(tableau):
        factor = row[entering]
        if i != leaving and factor != 0:
            tableau[i] = [
                x - factor * p if p else x for x, p in zip(row, tableau[leaving], strict=True)
            ]
    basis[leaving] = entering
