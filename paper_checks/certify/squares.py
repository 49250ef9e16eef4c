"""Find contradictions of polynomials that need squares: sums of squares plus products.

A linear program finds the products and squares that come closest to a contradiction. Its dual
solution is a quadratic form; adding the square of a linear function on which this form is positive
brings them closer. The coefficients tried are short fractions, as tight proofs have squares with
short coefficients.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from paper_checks.certify.multipliers import (
    Contradiction,
    Known,
    Monomial,
    Polynomial,
    Product,
    Term,
    products_of,
    solved,
)
from paper_checks.verify_proofs import times

ROUNDS = 25
MOST_PRODUCTS = 2000
DENOMINATORS = (1, 2, 4, 6)
# a residual of the linear program below this is a rounding error
SMALL = 1e-9


def contradiction_with_squares(known: Sequence[Known]) -> Contradiction | None:
    """Return multipliers of products of two comparisons and of squares, or None."""
    products = list(products_of(known, 2))
    if len(products) > MOST_PRODUCTS:
        return None
    names = sorted({name for p, _ in known for monomial in p for name in monomial})
    basis: list[Monomial] = [(), *((name,) for name in names)]
    for _ in range(ROUNDS):
        rows = {
            m: i for i, m in enumerate(sorted({m for p in products for m in p.polynomial} - {()}))
        }
        lack, numbers, form = nearest(products, rows, basis)
        if lack < SMALL:
            used = [products[i] for i, x in enumerate(numbers) if x > SMALL * max(numbers)]
            exact = solved(used)
            return (
                tuple(Term(x, p) for x, p in zip(exact, used, strict=True) if x) if exact else None
            )
        squares = list(better_squares(form, basis, {p.text() for p in products}))
        if not squares:
            return None
        products += squares
    return None


def nearest(
    products: Sequence[Product], rows: dict[Monomial, int], basis: Sequence[Monomial]
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the sum of the products that is nearest to a contradiction.

    The result is its distance from one, the multipliers, and the dual solution as a quadratic form
    in the basis.
    """
    last = len(rows)
    matrix = np.zeros((last + 1, len(products)))
    constants = np.zeros(len(products))
    for column, product in enumerate(products):
        for monomial, number in product.polynomial.items():
            if monomial == ():
                constants[column] = float(number)
            else:
                matrix[rows[monomial], column] = float(number)
        matrix[last, column] = float(product.strict) - constants[column]
    slack = np.vstack([np.hstack([np.eye(last), -np.eye(last)]), np.zeros(2 * last)])
    found = linprog(
        np.concatenate([np.zeros(len(products)), np.ones(2 * last)]),
        A_ub=np.append(constants, np.zeros(2 * last))[None],
        b_ub=[0.0],
        A_eq=np.hstack([matrix, slack]),
        b_eq=np.append(np.zeros(last), 1.0),
        method="highs-ds",
    )
    if not found.success:
        return np.inf, np.zeros(0), np.zeros((len(basis), len(basis)))
    prices = found.eqlin.marginals
    constant = found.ineqlin.marginals[0] - prices[last]

    def price(one: Monomial, other: Monomial) -> float:
        monomial = tuple(sorted(one + other))
        return constant if monomial == () else prices[rows[monomial]] if monomial in rows else 0.0

    form = np.array([[price(one, other) for other in basis] for one in basis])
    return found.fun, found.x[: len(products)], form


def better_squares(
    form: np.ndarray, basis: Sequence[Monomial], present: set[str]
) -> Iterator[Product]:
    """Yield squares of linear functions with short coefficients on which the form is positive."""
    values, vectors = np.linalg.eigh(form)
    for value, vector in zip(values, vectors.T, strict=True):
        if value > SMALL:
            scaled = vector / vector[np.argmax(abs(vector))]
            for denominator in DENOMINATORS:
                short = [Fraction(round(float(x) * denominator), denominator) for x in scaled]
                floats = np.array(short, float)
                product = square({m: x for m, x in zip(basis, short, strict=True) if x})
                if floats @ form @ floats > SMALL and product.text() not in present:
                    present.add(product.text())
                    yield product


def square(linear: Polynomial) -> Product:
    """Return the square of a linear function."""
    return Product((), times(linear, linear), False, "q", root=tuple(sorted(linear.items())))
