"""Prove statements about all sizes (m, k) by the signs of polynomials."""

from typing import Any

import sympy


def vector_69_tells_apart(extra: int = 0) -> bool:
    """Prove that the vector of K19 (69) separates the two domains for all 2 <= k <= m, m >= 3.

    With 1/(k + extra) in its first place, it lies in the top-k simplex if the y-th entry makes its
    sum 1, and does not if the y-th entry is 0.
    """
    m, k = sympy.symbols("m k", integer=True)
    first = 1 / (k + extra)
    small = ((m - 1) * k - m) / ((m - 2) * m * k)
    before = first + (m - 2) * small
    missing = 1 - before
    entries = (first, small, missing)
    inside = [*entries, *(1 - k * entry for entry in entries)]
    return all(not_negative(x, m, k) for x in inside) and positive(k * first - before, m, k)


def positive(expression: Any, m: Any, k: Any) -> bool:
    """Return whether an expression is > 0 for 2 <= k <= m, m >= 3, by signs of coefficients."""
    top, bottom = quotient(expression, m, k)
    return all(signs_are_one(p, constant=True) for p in (*top, *bottom))


def not_negative(expression: Any, m: Any, k: Any) -> bool:
    """Return whether an expression is >= 0 for 2 <= k <= m, m >= 3, by signs of coefficients."""
    top, bottom = quotient(expression, m, k)
    return all(signs_are_one(p, constant=False) for p in top) and all(
        signs_are_one(p, constant=True) for p in bottom
    )


def quotient(expression: Any, m: Any, k: Any) -> tuple[list[Any], list[Any]]:
    """Return numerator and denominator as polynomials in numbers >= 0.

    They are given on two parts that cover all sizes: k = 2 + p, m = 3 + p + q; and k = m = 3 + p.
    """
    p, q = sympy.symbols("p q", nonnegative=True)
    found: tuple[list[Any], list[Any]] = ([], [])
    for values in ({k: 2 + p, m: 3 + p + q}, {k: 3 + p, m: 3 + p}):
        parts = sympy.fraction(sympy.cancel(sympy.together(expression.subs(values))))
        sign = -1 if sympy.Poly(parts[1], p, q).LC() < 0 else 1
        for polynomials, part in zip(found, parts, strict=True):
            polynomials.append(sympy.Poly(sign * part, p, q))
    return found


def signs_are_one(polynomial: Any, constant: bool) -> bool:
    """Return whether no coefficient is negative and, if asked, the constant one is positive."""
    coefficients = polynomial.coeffs()
    at_zero = polynomial.eval((0, 0))
    return all(c >= 0 for c in coefficients) and (at_zero > 0 if constant else True)


def scores_of_all_sizes(swapped: bool, factor: int = 1) -> bool:
    """Prove that the columns of A K / (lam n), or of K A' / (lam n), are W(A)' x_i."""
    n, d, m, lam = sympy.symbols("n d m lambda", positive=True)
    X, A = sympy.MatrixSymbol("X", d, n), sympy.MatrixSymbol("A", m, n)
    W = X * A.T / (lam * n)
    K = X.T * X
    try:
        Z = (A * K if swapped else K * A.T) * (factor / (lam * n))
        return bool((W.T * X - Z).doit() == sympy.ZeroMatrix(m, n))
    except sympy.matrices.exceptions.ShapeError:
        return False
