"""How a form says whether its statement holds: equality, inequality, membership."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from paper_checks.ledger import Outcome

# relative error that rounding and a solver's last digits may leave in float64
ROUNDING = 1e-9


def equal(left: Any, right: Any, allowed: float = ROUNDING, **seen: Any) -> Outcome:
    """left = right, entry by entry: exactly for ints and Fractions, else up to `allowed` times the
    largest entry. Infinities must agree, and so must shapes."""
    seen = {**seen, "left": left, "right": right}
    if np.shape(left) != np.shape(right):
        return false(**{**seen, "left shape": np.shape(left), "right shape": np.shape(right)})
    if is_exact(left) and is_exact(right):
        differences = np.abs(np.subtract(np.asarray(left, object), np.asarray(right, object)))
        return Outcome(-max(np.ravel(differences), default=Fraction(0)), 0.0, seen)
    a, b = np.ravel(left).astype(float), np.ravel(right).astype(float)
    finite = np.isfinite(a)
    if not np.array_equal(a[~finite], b[~finite]) or not np.isfinite(b[finite]).all():
        return false(**seen)
    size = np.max(np.abs([a[finite], b[finite]]), initial=1.0)
    error = np.max(np.abs(a[finite] - b[finite]), initial=0.0)
    return Outcome(-float(error / size), allowed, seen)


def at_most(left: Any, right: Any, allowed: float = ROUNDING, **seen: Any) -> Outcome:
    """left <= right, two numbers: exactly for ints and Fractions, else up to `allowed` times the
    larger one. The margin is right - left, relative likewise."""
    seen = {**seen, "left": left, "right": right}
    if is_exact(left) and is_exact(right):
        return Outcome(Fraction(right) - Fraction(left), 0.0, seen)
    if not (math.isfinite(left) and math.isfinite(right)):
        return true(**seen) if left <= right else false(**seen)
    size = max(1.0, abs(float(left)), abs(float(right)))
    return Outcome((float(right) - float(left)) / size, allowed, seen)


def less(left: Any, right: Any, **seen: Any) -> Outcome:
    """left < right, by more than rounding."""
    if not (math.isfinite(left) and math.isfinite(right)):
        return truth(left < right, left=left, right=right, **seen)
    found = at_most(left, right, **seen)
    exact = isinstance(found.margin, Fraction)
    return found if found.margin > (0 if exact else ROUNDING) else false(**found.seen)


def both(*outcomes: Outcome) -> Outcome:
    """All of these statements: the one that holds least."""
    return min(outcomes, key=lambda outcome: float(outcome.margin) + outcome.allowed)


def truth(condition: bool, **seen: Any) -> Outcome:
    """A statement that is true or false, with nothing to measure."""
    return true(**seen) if condition else false(**seen)


def true(**seen: Any) -> Outcome:
    return Outcome(Fraction(0), 0.0, seen)


def false(**seen: Any) -> Outcome:
    return Outcome(Fraction(-1), 0.0, seen)


def is_exact(value: Any) -> bool:
    """Made of ints and Fractions alone."""
    return all(isinstance(entry, int | Fraction) for entry in np.asarray(value, object).ravel())
