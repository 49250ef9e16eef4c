"""Prove that Frank-Wolfe does not converge linearly on two training problems with one sample.

Both duals are strongly concave, with or without smoothing, and both runs start from A = 0. The
loss is the max hinge (top-1), with n = d = 1. The recurrences are identities that sympy verifies;
kato2019/linear_rates.py runs Frank-Wolfe on K19's dual in fractions and compares.

`prove_fixed_steps_are_not_linear`: the optimum is inside. Two classes, |x|^2/lam + smoothing = 1:

    D = beta - beta^2,  0 <= beta <= 1,     u = 2 beta - 1,     max D - D = u^2/4.

The steps 2/(t+1) move u_{t-1} to u_t = (1 - 2/(t+1)) u_{t-1} + 2/(t+1) e_t with e_t = 1 or -1. So
t (t+1)/2 u_t = sum_{i <= t} i e_i is an integer, odd if t is 1 or 2 modulo 4; in that case it is
not 0, and max D - D(A_t) >= 1/(t (t+1))^2. This holds for infinitely many t, so no bound c q^t with
q < 1 is possible.

`prove_line_search_is_not_linear`: the optimum is on the boundary. Three classes,
|x|^2/lam + smoothing = 2/3:

    D = b_1 + b_2 - (b_1^2 + b_2^2 + (b_1 + b_2)^2)/3,  b >= 0, b_1 + b_2 <= 1.

In the norm of D the domain is a triangle with equal sides, and the optimum is the middle of the
side b_1 + b_2 = 1, where the gradient is 0. In units of half a side, with that middle as 0, the
vertices are (-1, 0), (1, 0) and (0, sqrt 3), where A = 0 is. From (a, b), b > 0, Frank-Wolfe moves
towards the farther end of the side, at a distance 1 + |a| along it. Exact line search stops at the
foot of the perpendicular from 0, on the other side of a = 0:

    |a'| = v/(1 + v),   b' = sqrt v/(1 + v),   v = (b/(1 + |a|))^2,   max D - D = v/(6 (1 + v)).

So v' = v/(1 + 2 v)^2, that is, 1/v' = 1/v + 4 + 4 v; v = 3 at t = 1, and v <= 3 from then on. Hence
1/v <= 1/3 + 16 (t - 1) after t steps, and

    max D - D(A_t) >= 1/(96 t)    for all t >= 1.
"""

from collections.abc import Iterator
from fractions import Fraction

import sympy
from sympy import Symbol, symbols

from figures.exact.rate_recurrence import Number, exact, is_nonnegative


def prove_fixed_steps_are_not_linear(numerator: Number = 2, offset: Number = 1) -> bool:
    """Return whether the steps numerator/(t + offset) are proved not to converge linearly.

    The proof uses a sum that is odd infinitely often.
    """
    t, u, e = symbols("t u e", positive=True)
    step = exact(numerator) / (t + exact(offset))
    after = t * (t + 1) / 2 * ((1 - step) * u + step * e)
    if sympy.simplify(after - (t * (t - 1) / 2 * u + t * e)) != 0:
        return False
    # every e_i is odd, so the sum has the parity of 1 + .. + t = t (t + 1)/2
    k = Symbol("k", integer=True)
    sums = [sympy.expand(s * (s + 1) / 2) for s in (4 * k + 1, 4 * k + 2)]
    return all(sympy.expand((total - 1) / 2).is_integer for total in sums)


def prove_line_search_is_not_linear(constant: Number = 96) -> bool:
    """Return whether max D - D(A_t) >= 1/(constant t) is proved for all t >= 1 on the triangle."""
    v, t = Symbol("v", positive=True), Symbol("t", nonnegative=True)
    a, b = v / (1 + v), sympy.sqrt(v) / (1 + v)
    after = sympy.simplify((b / (1 + a)) ** 2)
    growth = sympy.simplify(1 / after - 1 / v - 4 - 4 * v)
    most = sympy.Rational(1, 3) + 16 * t  # a bound of 1/v after t + 1 steps
    slack = 1 / (6 * (1 + most)) - 1 / (exact(constant) * (t + 1))
    return bool(sympy.simplify(after - v / (1 + 2 * v) ** 2) == 0 == growth) and is_nonnegative(
        slack, t
    )


def fixed_step_errors(steps: int) -> Iterator[Fraction]:
    """Yield max D - D(A_t), t = 1, 2, .., of the first problem; ties go to the lowest class."""
    u = Fraction(-1)
    for t in range(1, steps + 1):
        step = Fraction(2, t + 1)
        u = (1 - step) * u + step * (1 if u < 0 else -1)
        yield u * u / 4


def line_search_errors(steps: int) -> Iterator[Fraction]:
    """Yield max D - D(A_t), t = 1, 2, .., of the second problem."""
    v = Fraction(3)
    for _ in range(steps):
        yield v / (6 * (1 + v))
        v /= (1 + 2 * v) ** 2
