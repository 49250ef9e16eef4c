"""Prove rates of Frank-Wolfe for every number of steps, by induction that sympy verifies exactly.

Let h_t = f(x_t) - min f, and let C be the curvature of f. For smooth f on a set of diameter D it is
at most L D^2; for a quadratic f it is the largest <s - a, H (s - a)>. For every step gamma in [0,
1]

    f(x + gamma (s - x)) <= f(x) + gamma <f'(x), s - x> + gamma^2 C/2,   <f'(x), s - x> <= -h,

the second because s minimises <f'(x), .> and f is convex. In units of C this is the recurrence

    h_{t+1} <= (1 - gamma_t) h_t + gamma_t^2/2.

With an exact line search h_{t+1} is at most the right side for any gamma_t; so each bound proved
here for fixed steps also holds for the line search.

Every inequality here states that a polynomial in symbols >= 0 is not negative. No coefficient of
the polynomial is negative, which proves it for all values of the symbols.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import sympy
from sympy import Expr, Poly, Rational, Symbol, symbols

Number = Fraction | int
TIME = Symbol("t", nonnegative=True)


def prove_for_all_steps(
    numerator: Number = 2, offset: Number = 1, constant: Number = 2, shift: Number = 2
) -> bool:
    """Return whether the steps numerator/(t + offset), t = 1, 2, .., are proved to have a rate.

    The rate is h_t <= constant C/(t + shift) for all t >= 1.

    The default is the guarantee of T20 3.1, h_t <= 2 C/(t + 2). A bound is also proved if it is
    larger than one that has an inductive proof: the one with constant ell^2/(2 (ell - 1)) and shift
    ell.
    """
    ell, c, s = exact(numerator), exact(constant), exact(shift)
    if ell != exact(offset) + 1 or ell <= 1 or c < 0 or s <= -1:
        return False  # the first step is not 1, or the sum of the steps is finite
    return is_inductive(ell, c, s) or is_smaller(usual_constant(ell), ell, c, s)


def prove_for_every_numerator(factor: Number = 1) -> bool:
    """Return whether the rate of the steps ell/(t + ell - 1) is proved for every real ell > 1.

    The rate is h_t <= factor ell^2/(2 (ell - 1)) C/(t + ell) for all t >= 1.

    For ell = 2 this is 2 C/(t + 2). The factor 1 is the least: see `prove_constant_is_least`.
    """
    extra = Symbol("u", nonnegative=True)  # ell = 1 + u; the constant has the denominator u
    ell = 1 + extra
    return is_inductive(ell, exact(factor) * usual_constant(ell), ell, (extra,))


def prove_constant_is_least() -> bool:
    """Return whether no rate with a smaller constant follows from the recurrence by induction.

    A smaller constant is a c below ell^2/(2 (ell - 1)) in h_t <= c C/(t + s), t >= 1. The induction
    step then fails for large t, for every s. So a smaller constant needs more than the recurrence;
    see performance_estimation.py.
    """
    ell, c, s = symbols("ell c s")
    numerator, _ = sympy.fraction(sympy.together(slack_of_step(ell, c, s)))
    leading = Poly(numerator, TIME).LC()
    lack = 2 * (ell - 1) * c - ell**2
    return bool(sympy.rem(leading, lack, c) == 0 and sympy.simplify(leading / lack) > 0)


def usual_constant(ell: Any) -> Any:
    """Return ell^2/(2 (ell - 1))."""
    return ell**2 / (2 * (ell - 1))


def is_inductive(ell: Any, c: Any, s: Any, others: Iterable[Symbol] = ()) -> bool:
    """Return whether the induction for h_t <= c/(t + s) holds.

    It starts with h_1 <= 1/2 <= c/(1 + s), and h_t <= c/(t + s) must give
    h_{t+1} <= c/(t + 1 + s) for all t >= 1.
    """
    first = first_slack(c, s)
    step = slack_of_step(ell, c, s).subs(TIME, TIME + 1)
    return is_nonnegative(first, *others) and is_nonnegative(step, TIME, *others)


def first_slack(c: Any, s: Any) -> Expr:
    """Return c/(1 + s) - 1/2."""
    return c / (1 + s) - Rational(1, 2)


def slack_of_step(ell: Any, c: Any, s: Any) -> Expr:
    """Return c/(t + 1 + s) - (1 - gamma) c/(t + s) - gamma^2/2 for gamma = ell/(t + ell)."""
    gamma = ell / (TIME + ell)  # the step after x_t, t = 1, 2, ..
    return c / (TIME + 1 + s) - (1 - gamma) * c / (TIME + s) - gamma**2 / 2


def is_smaller(c: Any, s: Any, other_c: Any, other_s: Any) -> bool:
    """Return whether c/(t + s) is proved and at most other_c/(t + other_s) for all t >= 1."""
    later = TIME + 1
    slack = other_c / (later + other_s) - c / (later + s)
    return is_inductive(s, c, s) and is_nonnegative(slack, TIME)


def prove_linear_inside(share: Number = 1) -> bool:
    """Return whether exact line search is proved to converge linearly to an optimum inside.

    The rate is h_{t+1} <= max(1/2, 1 - share r^2/C) h_t for all t.

    f is quadratic, and the set holds all points within r of the optimum in the affine hull, r in
    the norm of f, where f(x) = min f + |x - x*|^2/2. With s = x* - r (x - x*)/|x - x*| the gap
    g = max <f'(x), x - s> is at least |x - x*|^2 + r |x - x*|; so g >= h and g^2 >= 2 r^2 h.
    A step gamma gives h - gamma g + gamma^2 C/2, and the line search at most the value of
    * gamma = 1 if g = C + b, b >= 0:  h/2 - (h - g + C/2) >= 0, as g = h + a, a >= 0;
    * gamma = g/C if not:              h (1 - r^2/C) - (h - g^2/(2 C)) >= 0, as g^2 = 2 r^2 h + e.
    """
    return all(is_nonnegative(slack, *names) for _, slack, names in linear_slacks(share))


def linear_slacks(share: Number = 1) -> Iterator[tuple[str, Expr, tuple[Symbol, ...]]]:
    """Yield the use of each inequality in `prove_linear_inside`, with its slack and its symbols."""
    a, b, e, h, r2, curvature = symbols("a b e h r2 C", nonnegative=True)
    gap = curvature + b
    # h = g - a
    yield "a step of 1", (gap - a) / 2 - (gap - a - gap + curvature / 2), (a, b, curvature)
    near = h * (1 - exact(share) * r2 / curvature) - (h - (2 * r2 * h + e) / (2 * curvature))
    yield "a step below 1", near, (e, h, r2, curvature)


def is_nonnegative(expression: Any, *variables: Symbol) -> bool:
    """Return whether numerator and denominator have no negative coefficient, for variables >= 0.

    The condition is sufficient, not necessary.
    """
    numerator, denominator = sympy.fraction(sympy.cancel(sympy.together(expression)))
    if not variables:
        return bool(numerator / denominator >= 0)
    parts = [Poly(part, *variables).coeffs() for part in (numerator, denominator)]
    if all(x <= 0 for x in parts[1]):
        parts = [[-x for x in part] for part in parts]
    return all(x >= 0 for part in parts for x in part) and any(parts[1])


def exact(number: Number) -> Rational:
    """Return the number as a sympy number."""
    return Rational(Fraction(number).numerator, Fraction(number).denominator)
