"""Define symbols for real numbers, and formulas about them, for the solver z3.

The truth value of a formula is unknown until the formula is decided. Asking for it raises
TypeError, so no form can branch on a symbol by mistake. Floats are refused, since they are rounded.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import z3

from paper_checks.arithmetic import Symbolic


class Formula(Symbolic):
    """A statement about symbols."""

    __slots__ = ("term",)

    def __init__(self, term: Any) -> None:
        self.term = term

    def __bool__(self) -> bool:
        raise TypeError(
            "the truth value of a formula about symbols is not known; use where, all_of, any_of "
            "and negation (paper_checks.arithmetic)"
        )

    def __and__(self, other: Any) -> "Formula":
        return Formula(z3.And(self.term, as_formula(other).term))

    def __or__(self, other: Any) -> "Formula":
        return Formula(z3.Or(self.term, as_formula(other).term))

    __rand__, __ror__ = __and__, __or__

    def negated(self) -> "Formula":
        return Formula(z3.Not(self.term))

    def choose(self, then: Any, otherwise: Any) -> Any:
        """Return an if-then-else expression: a formula if both values are, else a symbol."""
        if all(isinstance(side, bool | Formula) for side in (then, otherwise)):
            return Formula(z3.If(self.term, as_formula(then).term, as_formula(otherwise).term))
        return Symbol(z3.If(self.term, as_symbol(then).term, as_symbol(otherwise).term))


class Symbol(Symbolic):
    """A real number: a variable, or an expression in variables."""

    __slots__ = ("term",)

    def __init__(self, term: Any) -> None:
        self.term = term

    def __bool__(self) -> bool:
        raise TypeError("whether a symbol is 0 is not known; use equals (paper_checks.arithmetic)")

    def __eq__(self, other: object) -> Any:
        raise TypeError("== on a symbol is ambiguous; use equals (paper_checks.arithmetic)")

    __hash__ = None  # type: ignore[assignment]  # makes the class unhashable

    def __float__(self) -> float:
        raise TypeError("a symbol cannot be converted to float")

    def __neg__(self) -> "Symbol":
        return Symbol(-self.term)

    def __pos__(self) -> "Symbol":
        return self

    def __add__(self, other: Any) -> "Symbol":
        return Symbol(self.term + as_symbol(other).term)

    def __sub__(self, other: Any) -> "Symbol":
        return Symbol(self.term - as_symbol(other).term)

    def __rsub__(self, other: Any) -> "Symbol":
        return Symbol(as_symbol(other).term - self.term)

    def __mul__(self, other: Any) -> "Symbol":
        return Symbol(self.term * as_symbol(other).term)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> "Symbol":
        """Divide by a number that is not 0; `divide` divides by a symbol."""
        return Symbol(self.term / as_symbol(other).term)

    def __rtruediv__(self, other: Any) -> "Symbol":
        return Symbol(as_symbol(other).term / self.term)

    def __pow__(self, exponent: int) -> "Symbol":
        if not isinstance(exponent, int) or exponent < 0:
            raise TypeError(f"the exponent of a symbol must be an int >= 0; got {exponent!r}")
        power = as_symbol(1)
        for _ in range(exponent):
            power = power * self
        return power

    def __le__(self, other: Any) -> Formula:
        return Formula(self.term <= as_symbol(other).term)

    def __lt__(self, other: Any) -> Formula:
        return Formula(self.term < as_symbol(other).term)

    def __ge__(self, other: Any) -> Formula:
        return Formula(self.term >= as_symbol(other).term)

    def __gt__(self, other: Any) -> Formula:
        return Formula(self.term > as_symbol(other).term)


def real(name: str) -> Symbol:
    """Return a symbol for any real number."""
    return Symbol(z3.Real(name))


def reals(name: str, size: int) -> tuple[Symbol, ...]:
    """Return a vector of symbols for any real numbers."""
    return tuple(real(f"{name}_{i + 1}") for i in range(size))


def as_symbol(value: Any) -> Symbol:
    """Return an int, a Fraction or a symbol as a symbol. Raises TypeError for anything else."""
    if isinstance(value, Symbol):
        return value
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        exact = Fraction(value)
        return Symbol(z3.RatVal(exact.numerator, exact.denominator))
    raise TypeError(f"only ints, Fractions and symbols mix with symbols; got {value!r}")


def as_formula(value: Any) -> Formula:
    """Return a bool or a formula as a formula. Raises TypeError for anything else."""
    if isinstance(value, Formula):
        return value
    if isinstance(value, bool):
        return Formula(z3.BoolVal(value))
    raise TypeError(f"only bools and formulas can be joined; got {value!r}")


def variables(value: Any) -> Iterator[Any]:
    """Yield z3's variables in a value, in order of appearance."""
    if isinstance(value, list | tuple):
        for entry in value:
            yield from variables(entry)
    elif (
        isinstance(value, Symbol)
        and z3.is_const(value.term)
        and not z3.is_rational_value(value.term)
    ):
        yield value.term
