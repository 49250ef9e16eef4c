"""Compute whether a statement holds: an equality, an inequality or a membership.

On symbols the result is a formula to be proved (paper_checks.proofs).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from paper_checks.arithmetic import Truth, all_of, equals, is_symbolic
from paper_checks.trials import Outcome, Tier, weakest

# relative error allowed in float64, for rounding and a solver's last digits
ROUNDING = 1e-9
# an interval that is wider than this, relative to its ends, is too wide to locate an optimum
WIDEST = 1e-5

Interval = tuple[float, float]


def equal(left: Any, right: Any, allowed: float = ROUNDING, **seen: Any) -> Outcome:
    """State that left = right, entry by entry.

    Ints and Fractions must be equal exactly, other numbers up to `allowed` times the largest entry.
    Infinities must agree, and so must shapes.
    """
    if is_symbolic(left, right):
        return stated(all_equal(left, right))
    seen = {**seen, "left": left, "right": right}
    if np.shape(left) != np.shape(right):
        return false(**{**seen, "left shape": np.shape(left), "right shape": np.shape(right)})
    if is_exact(left) and is_exact(right):
        differences = np.abs(np.subtract(np.asarray(left, object), np.asarray(right, object)))
        worst = max(np.ravel(np.asarray(differences, object)), default=0)
        return Outcome(-Fraction(worst), 0.0, seen)
    a, b = np.ravel(left).astype(float), np.ravel(right).astype(float)
    finite = np.isfinite(a)
    if not np.array_equal(a[~finite], b[~finite]) or not np.isfinite(b[finite]).all():
        return false(**seen)
    size = np.max(np.abs([a[finite], b[finite]]), initial=1.0)
    error = np.max(np.abs(a[finite] - b[finite]), initial=0.0)
    return Outcome(-float(error / size), allowed, seen)


def at_most(left: Any, right: Any, allowed: float = ROUNDING, **seen: Any) -> Outcome:
    """State that left <= right for two numbers.

    Ints and Fractions are compared exactly, other numbers up to `allowed` times the larger one. The
    margin is right - left, divided by the larger one for floats.
    """
    if is_symbolic(left, right):
        return stated(left <= right)
    seen = {**seen, "left": left, "right": right}
    if is_exact(left) and is_exact(right):
        return Outcome(Fraction(right) - Fraction(left), 0.0, seen)
    if not (math.isfinite(left) and math.isfinite(right)):
        return true(**seen) if left <= right else false(**seen)
    size = max(1.0, abs(float(left)), abs(float(right)))
    return Outcome((float(right) - float(left)) / size, allowed, seen)


def same_optimum(one: Interval, other: Interval, **seen: Any) -> Outcome:
    """State that two optimal values are equal, given an enclosing interval for each.

    Disjoint intervals refute it. So does an interval that is too wide to show anything.
    """
    size = max(1.0, *map(abs, (*one, *other)))
    widths = [(high - low) / size for low, high in (one, other)]
    seen = {**seen, "left": one, "right": other}
    if max(widths) > WIDEST:
        return truth(False, Tier.FLOAT, **seen)
    apart = abs(sum(one) - sum(other)) / 2 / size
    return Outcome(-apart, sum(widths) / 2 + ROUNDING, seen)


def less(left: Any, right: Any, **seen: Any) -> Outcome:
    """State that left < right, by more than rounding."""
    if is_symbolic(left, right):
        return stated(left < right)
    if not (math.isfinite(left) and math.isfinite(right)):
        return truth(left < right, left=left, right=right, **seen)
    found = at_most(left, right, **seen)
    exact = isinstance(found.margin, Fraction)
    if found.margin > (0 if exact else ROUNDING):
        return found
    return truth(False, None if exact else Tier.FLOAT, **found.seen)


def both(*outcomes: Outcome) -> Outcome:
    """Join statements: return the one with the smallest margin, in the weakest tier if all hold."""
    if any(outcome.formula is not None for outcome in outcomes):
        return stated(all_of(*(formula_of(outcome) for outcome in outcomes)))
    worst = min(outcomes, key=lambda outcome: float(outcome.margin) + outcome.allowed)
    tier = weakest(*map(arithmetic_of, outcomes))
    return worst if tier == Tier.EXACT or not worst.holds else replace(worst, tier=tier)


def arithmetic_of(outcome: Outcome) -> Tier:
    """Return the tier of an outcome in a case of exact numbers."""
    if outcome.tier is not None:
        return outcome.tier
    exact = isinstance(outcome.margin, int | Fraction) and outcome.allowed == 0
    return Tier.EXACT if exact else Tier.FLOAT


def truth(condition: Truth, tier: Tier | None = None, **seen: Any) -> Outcome:
    """State a condition that is true or false, without a numerical margin.

    By default the tier is exact for a case of exact numbers; a condition on rounded numbers needs
    Tier.FLOAT.
    """
    if is_symbolic(condition):
        return stated(condition)
    return Outcome(Fraction(0) if condition else Fraction(-1), 0.0, seen, tier)


def true(**seen: Any) -> Outcome:
    return truth(True, **seen)


def false(**seen: Any) -> Outcome:
    return truth(False, **seen)


def counted(left: int, right: float | Fraction, **seen: Any) -> Outcome:
    """State that a count of operations, made by instrumented code, is at most its bound."""
    return replace(at_most(left, right, **seen), tier=Tier.COUNTED)


def published(outcome: Outcome) -> Outcome:
    """State a condition on numbers that a paper prints."""
    return replace(outcome, tier=Tier.PUBLISHED)


def estimated(low: float, high: float, least: float = 0.0, **seen: Any) -> Outcome:
    """State that a mean is at least `least`, by a Monte Carlo estimate in the interval [low, high].

    It is false if the whole interval lies below `least`, and undecided if the interval contains
    `least`.
    """
    return replace(effect(low - least, high - least), seen={"interval": (low, high), **seen})


def effect(low: float, high: float, tier: Tier = Tier.MONTE_CARLO, **seen: Any) -> Outcome:
    """State that an effect is positive, given its confidence interval.

    Undecided if that contains 0.
    """
    undecided = bool(low <= 0 <= high)
    margin = 0.0 if undecided else (low if low > 0 else high)
    seen = {"interval": (low, high), **seen}
    return Outcome(float(margin), 0.0, seen, tier, undecided=undecided)


def stated(formula: Truth) -> Outcome:
    """Return an outcome that holds a formula about symbols, still to be proved."""
    return Outcome(Fraction(0), formula=formula)


def formula_of(outcome: Outcome) -> Truth:
    return outcome.holds if outcome.formula is None else outcome.formula


def all_equal(left: Any, right: Any) -> Truth:
    """Return the formula that two symbolic numbers are equal, or two vectors entry by entry."""
    if isinstance(left, list | tuple) and isinstance(right, Sequence) and len(left) == len(right):
        return all_of(*(all_equal(a, b) for a, b in zip(left, right, strict=True)))
    return equals(left, right)


def is_exact(value: Any) -> bool:
    """Return whether a value consists only of ints and Fractions."""
    return all(isinstance(entry, int | Fraction) for entry in np.asarray(value, object).ravel())
