"""Express sympy's rational functions as formulas about symbols, for verify_proofs.py.

Each formula here is the negation of what is proved, so it is unsatisfiable.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import mul
from typing import Any

import sympy

from paper_checks.arithmetic import (
    Real,
    Truth,
    all_of,
    divide,
    equals,
    negation,
    side_conditions,
    total,
)
from paper_checks.symbols import real


def differ(left: Any, right: Any) -> Truth:
    """Return the formula that two rational functions are both defined and have different values."""
    with side_conditions() as conditions:
        same = equals(number(left), number(right))
    return all_of(*conditions.defined, negation(same))


def is_negative(expression: Any, nonnegative: Sequence[sympy.Symbol]) -> Truth:
    """Return the formula that a rational function is negative where some symbols are >= 0."""
    with side_conditions() as conditions:
        value = number(sympy.cancel(sympy.together(expression)))
    signs = (real(symbol.name) >= 0 for symbol in nonnegative)
    return all_of(*signs, *conditions.defined, value < 0)


def number(expression: Any) -> Real:
    """Return sympy's rational function as an expression in symbols."""
    expression = sympy.sympify(expression)
    if expression.is_Symbol:
        return real(expression.name)
    if expression.is_Rational:
        return Fraction(int(expression.p), int(expression.q))
    if expression.is_Add:
        return total(map(number, expression.args))
    if expression.is_Mul:
        over, under = expression.as_numer_denom()
        if under != 1:
            return divide(number(over), number(under))
        return reduce(mul, map(number, expression.args))
    if expression.is_Pow and expression.exp.is_Integer:
        if expression.exp < 0:
            return divide(Fraction(1), number(expression.base**-expression.exp))
        return number(expression.base) ** int(expression.exp)
    raise TypeError(f"{expression} is not a rational function")
