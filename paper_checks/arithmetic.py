"""Provide operations that have the same meaning for fractions, floats and symbols for real numbers.

A form written with them is a single expression, which can be both tried on numbers and proved for
all real numbers. Python's own functions do not work on symbols: `max`, `sorted`, `if` and `and`
need the truth value of a comparison, and a symbolic comparison has none (it raises TypeError). A
quotient by a symbol needs the condition that the symbol is not 0. The operators +, -, *, <=, <, >=,
> can be used directly; `equals` replaces ==.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from itertools import combinations
from operator import and_, or_
from typing import Any

ZERO = Fraction(0)
# an int, a Fraction, a float or a Symbol; and a bool or a Formula
Real = Any
Truth = Any


class Unknown:
    """The answer of a solver that reached its work limit without a decision."""


class Undefined(ArithmeticError):
    """Raised where an expression has no value: a quotient by 0, an index out of range."""


class Symbolic:
    """The base class of symbols and formulas (paper_checks.symbols)."""

    __slots__ = ()


@dataclass
class SideConditions:
    """The conditions that the evaluation of a form relies on.

    `defined` holds the conditions under which its symbolic quotients are defined, and `conventions`
    counts the quotients 0/0 that were given a value by convention.
    """

    defined: list[Truth] = field(default_factory=list)
    conventions: int = 0


_CONDITIONS: ContextVar[SideConditions | None] = ContextVar("side conditions", default=None)


@contextmanager
def side_conditions() -> Iterator[SideConditions]:
    """Collect the side conditions of the expressions evaluated inside."""
    found = SideConditions()
    token = _CONDITIONS.set(found)
    try:
        yield found
    finally:
        _CONDITIONS.reset(token)


def is_symbolic(*values: Any) -> bool:
    """Return whether any of the values, or any entry of a sequence among them, is symbolic."""
    return any(
        is_symbolic(*value) if isinstance(value, list | tuple) else isinstance(value, Symbolic)
        for value in values
    )


def where(condition: Truth, then: Real, otherwise: Real) -> Real:
    """Return `then` if the condition is true, else `otherwise`; both are evaluated."""
    if isinstance(condition, Symbolic):
        return condition.choose(then, otherwise)  # type: ignore[attr-defined]  # a formula
    return then if condition else otherwise


def maximum(*values: Real) -> Real:
    """Return the largest of the values."""
    return reduce(lambda a, b: where(a >= b, a, b), values)


def minimum(*values: Real) -> Real:
    """Return the smallest of the values."""
    return reduce(lambda a, b: where(a <= b, a, b), values)


def absolute(value: Real) -> Real:
    """Return |value|."""
    return maximum(value, -value)


def positive_part(value: Real) -> Real:
    """Return max(value, 0)."""
    return maximum(value, ZERO)


def total(values: Iterable[Real]) -> Real:
    """Return the sum; 0 as a Fraction if there is nothing to add."""
    return sum(values, ZERO)


def inner(left: Sequence[Real], right: Sequence[Real]) -> Real:
    """Return the inner product of two vectors of the same length."""
    return total(a * b for a, b in zip(left, right, strict=True))


def largest_sum(values: Sequence[Real], k: int) -> Real:
    """Return the sum of the k largest values, 0 <= k <= len(values)."""
    if not 0 <= k <= len(values):
        raise Undefined(f"the {k} largest of {len(values)} values")
    if is_symbolic(values):
        return maximum(*(total(chosen) for chosen in combinations(values, k)))
    return total(sorted(values, reverse=True)[:k])


def kth_largest(values: Sequence[Real], k: int) -> Real:
    """Return the k-th largest value, 1 <= k <= len(values)."""
    if not 1 <= k <= len(values):
        raise Undefined(f"the {k}-th largest of {len(values)} values")
    if is_symbolic(values):
        return maximum(*(minimum(*chosen) for chosen in combinations(values, k)))
    return sorted(values, reverse=True)[k - 1]


def descending(values: Sequence[Real]) -> tuple[Real, ...]:
    """Return the values from the largest to the smallest."""
    return tuple(kth_largest(values, k) for k in range(1, len(values) + 1))


def pick(values: Sequence[Real], index: int) -> Real:
    """Return values[index], 0-based; raise Undefined for a negative index or one past the end."""
    if not 0 <= index < len(values):
        raise Undefined(f"entry {index + 1} of a vector of {len(values)}")
    return values[index]


def divide(numerator: Real, denominator: Real, zero_over_zero: Real | None = None) -> Real:
    """Return the quotient.

    `zero_over_zero` is the value of 0/0 by convention; each use on numbers is counted. Any other
    quotient by 0 raises Undefined, and a symbolic one adds the condition that it is defined.
    """
    found = _CONDITIONS.get()
    if is_symbolic(numerator, denominator):
        is_defined = negation(equals(denominator, 0))
        if zero_over_zero is None:
            if found is not None:
                found.defined.append(is_defined)
            return numerator / denominator
        if found is not None:
            found.defined.append(any_of(is_defined, equals(numerator, 0)))
        return where(is_defined, numerator / denominator, zero_over_zero)
    if denominator != 0:
        exact = isinstance(numerator, int) and isinstance(denominator, int)
        return Fraction(numerator, denominator) if exact else numerator / denominator
    if zero_over_zero is None or numerator != 0:
        raise Undefined(f"{numerator} / {denominator}")
    if found is not None:
        found.conventions += 1
    return zero_over_zero


def equals(left: Real, right: Real) -> Truth:
    """Return whether two numbers are equal; floats must be identical."""
    return all_of(left <= right, left >= right)


def all_of(*conditions: Truth) -> Truth:
    """Return whether all of the conditions are true."""
    return reduce(and_, map(truth_value, conditions), True)


def any_of(*conditions: Truth) -> Truth:
    """Return whether one of the conditions is true."""
    return reduce(or_, map(truth_value, conditions), False)


def negation(condition: Truth) -> Truth:
    """Return whether the condition is false."""
    if isinstance(condition, Symbolic):
        return condition.negated()  # type: ignore[attr-defined]  # a formula
    return not condition


def implies(premise: Truth, conclusion: Truth) -> Truth:
    """Return whether the conclusion is true if the premise is."""
    return any_of(negation(premise), conclusion)


def truth_value(condition: Truth) -> Truth:
    """Return a condition on numbers as a Python bool; return a symbolic condition unchanged."""
    return condition if isinstance(condition, Symbolic) else bool(condition)
