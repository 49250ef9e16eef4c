"""Find the worst case of Frank-Wolfe with given steps by a semidefinite program, and prove it.

The program (Drori and Teboulle 2014; Taylor, Hendrickx and Glineur 2017) looks for multipliers of
the inequalities of rate_certificate.py: the least bound is the sum of the multipliers of the
diameter, the coefficients of phi_i and l_v agree, and the remainder is a positive semidefinite
form. A solver finds them in floats. They are rounded, the equalities are solved again in fractions,
and the exact check of rate_certificate.py decides; so no result of the solver needs to be trusted.
The set of inequalities is sufficient but not complete: it loses less than one part in a thousand.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import cvxpy as cp
import numpy as np
from scipy import sparse

from figures.exact.rate_certificate import (
    ONE,
    STAR,
    Inequality,
    RateCertificate,
    Symbol,
    error,
    expression,
    is_proof,
    remainder,
)

Steps = tuple[Fraction, ...]
# the multipliers are rounded to fractions with denominators up to these, then to decimals; the
# first ones that give a proof are used
DENOMINATORS = (12, 100)
DECIMALS = (4, 6, 8, 10)
# a form whose least eigenvalue is above minus this may be semidefinite, with null directions
TOLERANCE = 1e-6
# multipliers below this share of the largest count as 0
SMALL = 1e-7


def open_loop_steps(t: int, numerator: Fraction | int = 2, offset: Fraction | int = 1) -> Steps:
    """Return the first t steps numerator/(i + offset), i = 1, 2, ..; T20 has 2/(i + 1)."""
    return tuple(Fraction(numerator) / (i + offset) for i in range(1, t + 1))


def prove(steps: Sequence[Fraction], bound: Fraction, functions: str = "smooth") -> bool:
    """Return whether f(x_t) - min f <= bound L D^2 is proved after these steps.

    functions: "smooth" or "quadratic", see rate_certificate.py. False means that no proof was
    found; worst_case_training.py looks for a counterexample.
    """
    return certificate(tuple(steps), bound, functions) is not None


def prove_open_loop(
    t: int,
    numerator: Fraction | int = 2,
    offset: Fraction | int = 1,
    constant: Fraction | int = 2,
    shift: Fraction | int = 2,
    functions: str = "smooth",
) -> bool:
    """Return whether open-loop steps are proved to have an error bound.

    The steps are numerator/(i + offset), i = 1 .. t, and the bound is constant L D^2/(t + shift).
    """
    steps = open_loop_steps(t, numerator, offset)
    return prove(steps, Fraction(constant) / (t + shift), functions)


@lru_cache(maxsize=128)
def certificate(steps: Steps, bound: Fraction, functions: str = "smooth") -> RateCertificate | None:
    """Return a certificate of the bound that passes the exact check, or None.

    Results are cached.
    """
    return find_certificate(steps, bound, functions)


def find_certificate(
    steps: Steps, bound: Fraction, functions: str = "smooth"
) -> RateCertificate | None:
    """Return a certificate of the bound that passes the exact check, or None."""
    if steps[0] != 1:
        return None  # x_t still depends on x_0, and f(x_0) - min f is unbounded
    found = multipliers(steps, functions, bound)
    for rounded in roundings(found) if found else ():
        candidate = repaired(RateCertificate(steps, bound, rounded, functions))
        if is_proof(candidate):
            return candidate
    return None


def least_bound(steps: Steps, functions: str = "smooth") -> float:
    """Return the least bound that these inequalities give, a float from the solver, without proof.

    inf if there is none, as for a first step other than 1.
    """
    if steps[0] != 1:
        return float("inf")
    found = program(steps, functions)
    return solve(cp.Problem(cp.Minimize(found.bound), [*found.equalities, found.form >> 0]))


def multipliers(steps: Steps, functions: str, bound: Fraction) -> dict[Inequality, float]:
    """Return multipliers for a bound whose form is as far from indefinite as possible; {} if none.

    If the bound is above the least one, the form has no null direction, so rounding keeps it
    definite.
    """
    found = program(steps, functions)
    margin = cp.Variable()
    definite = found.form - margin * np.eye(found.form.shape[0]) >> 0
    constraints = [*found.equalities, definite, found.bound == float(bound)]
    if not solve(cp.Problem(cp.Maximize(margin), constraints)) >= -TOLERANCE:
        return {}
    values = np.asarray(found.unknown.value)
    least = SMALL * values.max()
    pairs = zip(found.inequalities, values, strict=True)
    return {named: float(value) for named, value in pairs if value > least}


def roundings(found: dict[Inequality, float]) -> Iterator[dict[Inequality, Fraction]]:
    """Yield the multipliers as fractions, from coarse to exact ones."""
    for largest in DENOMINATORS:
        yield {k: Fraction(x).limit_denominator(largest) for k, x in found.items()}
    for decimals in DECIMALS:
        unit = 10**decimals
        yield {k: Fraction(round(x * unit), unit) for k, x in found.items()}


def repaired(rounded: RateCertificate) -> RateCertificate:
    """Return the certificate with a few multipliers changed so that all equalities hold.

    Each equality has its own multiplier, which is large where the bound is tight: diameter for the
    constant, smooth * i for phi_i, but smooth t-1 t for phi_t, and lmo i * for the slope at s_i.
    """
    t, changed = len(rounded.steps), dict(rounded.multipliers)

    def settle(symbol: Symbol, named: Inequality, sign: int) -> None:
        left = remainder(replace(rounded, multipliers=changed)).linear[symbol]
        changed[named] = changed.get(named, Fraction(0)) + sign * left

    diameters = [named for named in changed if named.kind == "diameter"]
    settle(ONE, max(diameters, key=lambda named: changed[named]), 1)
    for i in reversed(range(t)):
        settle(("l", i + 1), Inequality("lmo", i, STAR), -1)
    if rounded.functions == "smooth":
        settle(("phi", t), Inequality("smooth", t - 1, t), -1)
        for i in range(t):
            settle(("phi", i), Inequality("smooth", STAR, i), -1)
    return replace(rounded, multipliers={k: x for k, x in changed.items() if x})


def solve(problem: cp.Problem) -> float:
    """Solve a program and return its value, or nan. The proofs do not depend on the status."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the last digits may be inaccurate
        try:
            problem.solve(solver="CLARABEL")
        except cp.error.SolverError:
            return float("nan")
    return float("nan") if problem.value is None else float(problem.value)


# --- the program ---------------------------------------------------------------------------------


class BoundProgram(NamedTuple):
    """The semidefinite program: its bound and form are affine in the unknown multipliers."""

    inequalities: list[Inequality]
    unknown: cp.Variable
    equalities: list[cp.Constraint]
    form: cp.Expression
    bound: cp.Expression


def program(steps: Steps, functions: str) -> BoundProgram:
    """Return the program for given steps, in floats."""
    named = inequalities(len(steps), functions)
    columns = [expression(steps, functions, k) for k in named] + [error(steps, functions)]
    symbols = positions(s for column in columns for s in column.linear if s != ONE)
    vectors = positions(v for column in columns for pair in column.quadratic for v in pair)
    size = len(vectors)
    linear = sparse.lil_array((len(symbols), len(columns)))
    entries = sparse.lil_array((size * size, len(columns)))
    for place, column in enumerate(columns):
        for symbol, number in column.linear.items():
            if symbol != ONE:
                linear[symbols[symbol], place] = float(number)
        for (a, b), number in column.quadratic.items():
            for i, j in ((vectors[a], vectors[b]), (vectors[b], vectors[a])):
                entries[i * size + j, place] += float(number) / 2
    unknown = cp.Variable(len(named), nonneg=True)
    all_once = cp.hstack([unknown, np.ones(1)])
    form = cp.reshape(-(entries.tocsr() @ all_once), (size, size), order="C")
    diameters = np.array([float(k.kind == "diameter") for k in named])
    return BoundProgram(named, unknown, [linear.tocsr() @ all_once == 0], form, diameters @ unknown)


def positions(names: Iterable[Symbol]) -> dict[Symbol, int]:
    """Return the index of each name, in sorted order."""
    return {name: place for place, name in enumerate(sorted(set(names)))}


def inequalities(t: int, functions: str) -> list[Inequality]:
    """Return the inequalities that get multipliers, for a first step of 1."""
    vertices = [STAR, *range(t + 1)]
    found = [Inequality("diameter", u, v) for u, v in combinations(vertices, 2)]
    found += [Inequality("lmo", i, v) for i in range(t) for v in vertices if v not in (0, i + 1)]
    if functions == "smooth":
        found += [Inequality("smooth", STAR, i) for i in range(t)]
        found += [Inequality("smooth", i, j) for i, j in combinations(range(t + 1), 2)]
    return found
