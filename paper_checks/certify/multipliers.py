"""Find multipliers with which known comparisons contradict each other.

By Farkas' lemma linear comparisons contradict each other if and only if a sum of positive multiples
says that a number below 0 is >= 0, or that 0 is > 0. A linear program finds the comparisons in
floats, and the multipliers are solved for in fractions. Products of two comparisons are tried for
polynomials, where this is sufficient, not necessary.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from paper_checks.verify_proofs import plus, times

Polynomial = dict[tuple[str, ...], Fraction]
Known = tuple[Polynomial, bool]
# multipliers below this part of the largest are rounding errors of the linear program
SMALL = 1e-9


@dataclass(frozen=True)
class Product:
    """A product of known comparisons, by their numbers, or the square "s3" of one polynomial."""

    factors: str
    polynomial: Polynomial
    strict: bool


def contradiction(known: Sequence[Known], degree: int = 1) -> str | None:
    """Return multipliers of products of up to `degree` known comparisons, as text, or None."""
    products = list(products_of(known, degree))
    used = support(products)
    if used is None:
        return None
    numbers = solved([products[i] for i in used])
    if numbers is None:
        return None
    pairs = zip(numbers, used, strict=True)
    return " ".join(f"{number}:{products[i].factors}" for number, i in pairs if number)


def products_of(known: Sequence[Known], degree: int) -> Iterator[Product]:
    """Yield the known comparisons; with degree 2 also the product of each two, and squares."""
    for i, (p, strict) in enumerate(known):
        yield Product(str(i), p, strict)
    if degree > 1:
        for (i, (p, one)), (j, (q, other)) in combinations_with_replacement(enumerate(known), 2):
            if i == j:
                yield Product(f"s{i}", times(p, p), False)
            else:
                yield Product(f"{i},{j}", times(p, q), one and other)


def support(products: Sequence[Product]) -> list[int] | None:
    """Return the products in a contradiction that the linear program finds, or None."""
    rows: dict[tuple[str, ...], int] = {}
    entries: list[tuple[int, int, float]] = []
    for column, product in enumerate(products):
        scale = float(max(map(abs, product.polynomial.values()), default=1))
        gain = float(product.strict)
        for monomial, number in product.polynomial.items():
            value = float(number) / scale
            if monomial == ():
                gain -= value
            else:
                entries.append((rows.setdefault(monomial, len(rows)), column, value))
        entries.append((-1, column, gain))
    # the multiples add up to a constant c <= 0; -c plus the multiples of what is > 0 is 1
    last = len(rows)
    places = [(last if row < 0 else row, column) for row, column, _ in entries]
    constants = [float(p.polynomial.get((), 0)) for p in products]
    scales = [float(max(map(abs, p.polynomial.values()), default=1)) for p in products]
    matrix = csr_array(
        ([value for *_, value in entries], tuple(zip(*places, strict=True))),
        shape=(last + 1, len(products)),
    )
    found = linprog(
        np.ones(len(products)),
        A_ub=np.array([[c / s for c, s in zip(constants, scales, strict=True)]]),
        b_ub=[0.0],
        A_eq=matrix,
        b_eq=np.append(np.zeros(last), 1.0),
        method="highs-ds",
    )
    if not found.success:
        return None
    least = SMALL * found.x.max()
    return [i for i, x in enumerate(found.x) if x > least]


def solved(products: Sequence[Product]) -> list[Fraction] | None:
    """Return positive multipliers in fractions that make the products contradict each other.

    None if the sum of the products cannot be a number <= 0, or would need negative multipliers.
    """
    monomials = sorted({m for p in products for m in p.polynomial if m != ()})
    rows = [[p.polynomial.get(m, Fraction(0)) for p in products] + [Fraction(0)] for m in monomials]
    gains = [int(p.strict) - p.polynomial.get((), Fraction(0)) for p in products]
    numbers = solution([*rows, [*map(Fraction, gains), Fraction(1)]])
    if numbers is None or min(numbers) < 0:
        return None
    total: Polynomial = {}
    for number, product in zip(numbers, products, strict=True):
        total = plus(total, product.polynomial, number)
    return numbers if total.get((), 0) <= 0 else None


def solution(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Return a solution of linear equations whose right sides are the last column, or None.

    Variables that stay free are 0.
    """
    width = len(rows[0]) - 1
    pivots: list[int] = []
    for column in range(width):
        place = len(pivots)
        found = next((i for i in range(place, len(rows)) if rows[i][column]), None)
        if found is None:
            continue
        rows[place], rows[found] = rows[found], rows[place]
        pivot = rows[place]
        pivot[:] = [x / pivot[column] for x in pivot]
        for i, row in enumerate(rows):
            if i != place and row[column]:
                factor = row[column]
                row[:] = [x - factor * z for x, z in zip(row, pivot, strict=True)]
        pivots.append(column)
    if any(row[-1] for row in rows[len(pivots) :]):
        return None
    values = [Fraction(0)] * width
    for row, column in zip(rows, pivots, strict=False):
        values[column] = row[-1]
    return values
