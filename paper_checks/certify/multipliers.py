"""Find multipliers that show that known comparisons contradict each other.

By Farkas' lemma linear comparisons contradict each other if and only if a sum of positive multiples
says that a number below 0 is >= 0, or that 0 is > 0. A linear program in floats selects the
comparisons; the multipliers are then computed in fractions. For polynomials, products of two
comparisons are also tried; there such multipliers are sufficient for a contradiction, but need not
exist.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
import z3
from scipy.optimize import linprog
from scipy.sparse import csr_array

from paper_checks.verify_proofs import inequality, plus, times

Monomial = tuple[str, ...]
Polynomial = dict[Monomial, Fraction]
Known = tuple[Polynomial, bool]
# multipliers below this fraction of the largest are rounding errors of the linear program
SMALL = 1e-9
# the linear program is slow with more products than this
MOST_PRODUCTS = 5000


@dataclass(frozen=True)
class Product:
    """A product of known comparisons, by their numbers in `used`.

    `form` is "" for the product, "s" for the square of one polynomial, and "=" for two comparisons
    that say p >= 0 and -p >= 0: `polynomial` is then p, or -p, times the variables in `names`. It
    is "q" for the square of any polynomial, which is `root`.
    """

    used: tuple[int, ...]
    polynomial: Polynomial
    strict: bool = False
    form: str = ""
    names: tuple[str, ...] = ()
    sign: int = 1
    root: tuple[tuple[Monomial, Fraction], ...] = ()

    def text(self) -> str:
        """Return the factors as verify_proofs.py reads them."""
        if self.form == "q":
            return "q" + "+".join("*".join([str(x), *names]) for names, x in self.root)
        if self.form == "=":
            return "*".join(["=".join(map(str, self.used)), *self.names])
        return ",".join(f"{self.form}{i}" for i in self.used)


@dataclass(frozen=True)
class Term:
    """A multiplier and its product."""

    number: Fraction
    product: Product

    def text(self) -> str:
        return f"{self.product.sign * self.number}:{self.product.text()}"


Contradiction = tuple[Term, ...]


def contradiction(known: Sequence[Known], degree: int = 1) -> Contradiction | None:
    """Return multipliers of products of up to `degree` known comparisons, or None."""
    if degree == 1 and is_possible(known):
        return None
    if comb(len(known) + degree, degree) > MOST_PRODUCTS:
        return None
    products = list(products_of(known, degree))
    used = support(products)
    if used is None:
        return None
    numbers = solved([products[i] for i in used])
    if numbers is None:
        return None
    pairs = zip(numbers, used, strict=True)
    return tuple(Term(number, products[i]) for number, i in pairs if number)


def is_possible(known: Sequence[Known]) -> bool:
    """Return whether known comparisons are consistent if the monomials may be any numbers."""
    solver = z3.SimpleSolver()
    solver.add(*(as_term(*inequality(p, strict)) for p, strict in known))
    return solver.check() == z3.sat


@cache
def as_term(parts: tuple[tuple[tuple[str, ...], Fraction], ...], strict: bool) -> Any:
    """Return an inequality of verify_proofs.py as a term of z3 that is linear in the monomials."""
    total = z3.Sum(*(z3.RatVal(x.numerator, x.denominator) * monomial(m) for m, x in parts))
    return total > 0 if strict else total >= 0


def monomial(names: tuple[str, ...]) -> Any:
    return z3.Real("*".join(names)) if names else z3.RealVal(1)


def products_of(known: Sequence[Known], degree: int) -> Iterator[Product]:
    """Yield the known comparisons, and the products of 2, .., degree of them.

    Equations are multiplied by the monomials that occur, up to the same degree.
    """
    for i, (p, strict) in enumerate(known):
        yield Product((i,), p, strict)
    for size in range(2, degree + 1):
        for chosen in combinations_with_replacement(range(len(known)), size):
            factors = [known[i] for i in chosen]
            polynomial = reduce(times, (p for p, _ in factors))
            if len(set(chosen)) == 1 and size == 2:
                yield Product(chosen[:1], polynomial, False, "s")
            else:
                yield Product(chosen, polynomial, all(strict for _, strict in factors))
    if degree > 1:
        yield from multiples_of_equations(known, degree)


def multiples_of_equations(known: Sequence[Known], degree: int) -> Iterator[Product]:
    """Yield the products of polynomials known to be 0 with variables, with both signs."""
    names = sorted({name for p, _ in known for monomial in p for name in monomial})
    for i, j in combinations(range(len(known)), 2):
        p, q = known[i][0], known[j][0]
        if plus(p, q) == {}:
            for size in range(1, degree):
                for chosen in combinations_with_replacement(names, size):
                    polynomial = times(p, {chosen: Fraction(1)})
                    yield Product((i, j), polynomial, False, "=", chosen)
                    yield Product((i, j), plus({}, polynomial, -1), False, "=", chosen, -1)


def support(products: Sequence[Product]) -> list[int] | None:
    """Return the products of a contradiction found by the linear program, or None."""
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
    # the multiples add up to a constant c <= 0; -c plus the multipliers of the strict inequalities
    # is 1
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

    Returns None if the sum of the products cannot be a number <= 0, or if a multiplier would be
    negative.
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

    Free variables are set to 0.
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
