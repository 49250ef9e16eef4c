"""Verify identities of exponents by sympy, for every p and every number of classes.

A vector of positive numbers r_j enters only through its powers: w_j = S^a r_j^b with S = sum r_j^s
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
    """Return whether the Lagrangian's part in w is minimal at the w of Theorem 12.

    There (1/2)|w|_p^2 - <w, u> is -(1/2)|u|_{p*}^2, for w_j = factor S^(2/p*-1) |u_j|^(p*-1).
    """
    s = P / (P - 1)
    a, b = (0, 1) if plain else (2 / s - 1, s - 1)
    sums = power_of_sum(P, a, b, s)
    product = power_of_sum(1, a, b + 1, s)  # sum w_j |u_j|
    if sums is None or product is None:
        return False
    same = is_zero(sums * 2 / P - product) and is_zero(product - 2 / s)
    return same and sympy.Rational(factor) ** 2 / 2 - factor == -sympy.Rational(1, 2)


def dual_norm_attained(deep: bool, same: bool = False, factor: int | float = 1) -> bool:
    """Return whether w_j = |v_j|^(p*-1) gives sum w_j |v_j| / |w|_p = |v|_{p*}, and is optimal.

    w^(p-1) is a multiple of |v|, so the inner product is the largest over the convex ball.
    """
    s = P / (P - 1)
    sums, product = power_of_sum(P, 0, s - 1, s), power_of_sum(1, 0, s, s)
    if same or sums is None or product is None:
        return False  # the p-th powers do not sum to a power of S
    stationary = is_zero((s - 1) * (P - 1) - 1)
    return stationary and is_zero(product - sums / P - 1 / s) and factor == 1


def ratio_sum_attained(deep: bool, inner: float = 1.0, outer: float = 1.0) -> bool:
    """Return whether eta_i = a_i^(1/(r+1))/S^(1/r), S = sum a_i^(r/(r+1)), solves Lemma C.1.

    It is feasible and stationary, as a_i/eta_i^2 is a multiple of eta_i^(r-1), and the value is
    S^(1+1/r).
    """
    r = sympy.Symbol("r", positive=True)
    power, stated = 1 / (r + 1), r / (r + 1) if inner else 1 / (r + 1)
    feasible = power_of_sum(r, -1 / r, power, r / (r + 1))
    value = power_of_sum(1, 1 / r, 1 - power, r / (r + 1))
    if feasible is None or value is None or not is_zero(stated - r / (r + 1)):
        return False
    stationary = is_zero((1 - 2 * power) - power * (r - 1))
    return is_zero(feasible) and stationary and is_zero(value - 1 - int(outer) / r)


def class_weights_optimal(deep: bool, power: float = 2.0, scale: float = 1.0) -> bool:
    """Return whether (14) solves (8) for 1 <= p < 2.

    It is feasible for |beta|_{p/(2-p)} <= 1 and stationary for the convex sum of
    |w_j|^2/(2 beta_j), and its value is (1/2)|w|_p^2.
    """
    bar, b, a = P / (2 - P), sympy.Integer(int(power)) - P, (P - 2) / P
    feasible = power_of_sum(bar, a, b, P)
    value = power_of_sum(1, -a, 2 - b, P)
    if feasible is None or value is None:
        return False
    stationary = is_zero((2 - 2 * b) - b * (bar - 1))
    return is_zero(feasible) and stationary and is_zero(value - 2 / P) and scale == 1


def start_feasible(deep: bool, sign: int = -1, factor: float = 1.0) -> bool:
    """Return whether c entries factor c^(sign/p-bar) have a p-bar norm of at most 1.

    The norm is factor c^((1 + sign)/p-bar).
    """
    return 1 + sign == 0 and factor <= 1


def gradient_by_sympy(deep: bool, shift: float = 1.0, inner: float = 2.0) -> bool:
    """Return whether the stated slope is the derivative of (1/2)(sum r_j^p)^(2/p) by r_1.

    It is tried for up to four norms r_j > 0; the norm of v_1 has the derivative v_1/r_1.
    """
    for c in range(1, 5):
        norms = sympy.symbols(f"r1:{c + 1}", positive=True)
        sums = sum(r**P for r in norms)
        slope = sympy.diff(sums ** (2 / P) / 2, norms[0]) / norms[0]
        stated = sums ** (2 / P - int(shift)) * norms[0] ** (P - int(inner))
        if not is_zero(slope / stated - 1):
            return False
    return True


LOG_C = sympy.Symbol("L", positive=True)


def turning_point(deep: bool, factor: float = 2.0) -> bool:
    """Return whether the derivative of log(t)/2 + log(c)/t is (t - 2 log c)/(2 t^2)."""
    t = sympy.Symbol("t", positive=True)
    slope = sympy.diff(sympy.log(t) / 2 + LOG_C / t, t)
    return is_zero(slope - (t - sympy.nsimplify(factor) * LOG_C) / (2 * t**2))


def first_case(log_c: Any) -> Any:
    """Return the logarithm of sqrt(e) (4 log c)^(1 + 1/(2 log c))."""
    return sympy.Rational(1, 2) + (1 + 1 / (2 * log_c)) * sympy.log(4 * log_c)


def second_case(log_c: Any, dual: Any) -> Any:
    """Return the logarithm of (2 p*)^(1 + 1/p*) c^(1/p*), as 2 - 1/p = 1 + 1/p*."""
    return (1 + 1 / dual) * sympy.log(2 * dual) + log_c / dual


def cases_meet(deep: bool, scale: float = 1.0) -> bool:
    dual = 2 * sympy.nsimplify(scale) * LOG_C
    return is_zero(sympy.expand_log(first_case(LOG_C) - second_case(LOG_C, dual)))


def growth(deep: bool, inverse: bool = False, power: float = 1.0) -> bool:
    """Return whether the growth is as stated. Above the threshold c enters only as c^(1/p*). Below
    it, with L = log c, 2 L^2 times the derivative of log(first case) - power log L is 2 (1 - power)
    L + 1 - log(4 L), which for power 1 falls, and is negative at L = log 2, since log 2 > e/4.
    """
    dual = sympy.Symbol("q", positive=True)
    exponent = sympy.diff(second_case(LOG_C, dual), LOG_C)
    if not is_zero(exponent - (1 - 1 / dual if inverse else 1 / dual)):
        return False
    share = sympy.nsimplify(power)
    slope = sympy.diff(first_case(LOG_C) - share * sympy.log(LOG_C), LOG_C)
    if not is_zero(2 * LOG_C**2 * slope - (2 * (1 - share) * LOG_C + 1 - sympy.log(4 * LOG_C))):
        return False
    return share == 1 and bool(sympy.log(2) > sympy.E / 4)
