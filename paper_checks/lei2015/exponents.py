"""Identities of exponents by sympy, for every p and every number of classes.

A vector of positive numbers r_j enters by its powers alone: w_j = S^a r_j^b with S = sum r_j^s
gives sum w_j^p = S^(a p) sum r_j^(b p), which is a power of S if b p = s.
"""

from typing import Any

import sympy

P = sympy.Symbol("p", positive=True)


def is_zero(expression: Any) -> bool:
    return bool(sympy.simplify(expression) == 0)


def power_of_sum(p: Any, a: Any, b: Any, s: Any) -> Any:
    """Return e with sum w_j^p = S^e for w_j = S^a r_j^b; None if it is no power of S."""
    return a * p + 1 if is_zero(b * p - s) else None


def representer_attains(deep: bool, factor: int = 1, plain: bool = False) -> bool:
    """(1/2)|w|_p^2 - <w, u> is -(1/2)|u|_{p*}^2 for w_j = factor S^(2/p*-1) |u_j|^(p*-1)."""
    s = P / (P - 1)
    a, b = (0, 1) if plain else (2 / s - 1, s - 1)
    sums = power_of_sum(P, a, b, s)
    product = power_of_sum(1, a, b + 1, s)  # sum w_j |u_j|
    if sums is None or product is None:
        return False
    same = is_zero(sums * 2 / P - product) and is_zero(product - 2 / s)
    return same and sympy.Rational(factor) ** 2 / 2 - factor == -sympy.Rational(1, 2)
