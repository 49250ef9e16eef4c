"""Find numbers that satisfy a formula, using z3, and make them as simple as possible."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import z3

from paper_checks.arithmetic import Unknown
from paper_checks.symbols import Formula, Symbol, as_formula, variables
from paper_checks.trials import FOUND, Case

LONGEST = 60_000  # milliseconds
# z3's own unit of work, so that an answer does not depend on the machine: a few seconds
MOST_WORK = 2_000_000
# values that are tried first for each variable, in this order
SIMPLE = [
    Fraction(sign * over, under)
    for under in (1, 2, 3, 4)
    for over in (1, 2, 3, 4, 5)
    for sign in (1, -1)
    if under == 1 or over % under
]


def simple_solution(formula: Any, case: Case) -> Case | Unknown | None:
    """Return the case with its symbols replaced by rational numbers that satisfy the formula.

    The numbers are 0 where possible and simple elsewhere. Returns None if there are none, and
    Unknown if the solver cannot decide.
    """
    context = z3.Context()  # a fresh context, so that earlier questions cannot change the answer
    solver = solver_of(as_formula(formula), context)
    answer = solver.check()
    if answer == z3.unsat:
        return None
    if answer == z3.unknown:
        return Unknown()
    names = list(dict.fromkeys(variables(list(vars(case).values()))))
    found = simple_values(solver, [name.translate(context) for name in names])
    if found is None:
        return Unknown()
    values = dict(zip(names, found, strict=True))
    return Case(**{**substituted(vars(case), values), "kind": FOUND})


def solver_of(formula: Formula, context: Any) -> Any:
    """Return a solver for the formula, one for polynomials if the formula is not linear."""
    goal = z3.Goal(ctx=context)
    goal.add(z3.simplify(formula.term).translate(context))
    polynomial = z3.Tactic("qfnra-nlsat", ctx=context).solver
    general = partial(z3.SimpleSolver, ctx=context)
    makers = [polynomial, general] if z3.Probe("is-qfnra", ctx=context)(goal) else [general]
    for make in makers:
        made = make()
        made.set("rlimit", MOST_WORK)
        made.set("timeout", LONGEST)  # z3 does not count all of its work on polynomials
        made.add(*goal)
        if made.check() != z3.unknown:
            break
    return made


def simple_values(solver: Any, names: list[Any]) -> list[Fraction] | None:
    """Return a value for each variable, fixing them one by one.

    Returns None if the last variables are irrational in every solution found.
    """
    values: dict[int, Fraction] = {}
    for place, name in enumerate(names):
        if fixed(solver, name, Fraction(0)):
            values[place] = Fraction(0)
    for place, name in enumerate(names):
        if place in values:
            continue
        found = next((value for value in SIMPLE if fixed(solver, name, value)), None)
        if found is None and (found := value_in_model(solver, name)) is not None:
            found = found if fixed(solver, name, found) else None
        if found is None:
            return None
        values[place] = found
    return [values[place] for place in range(len(names))]


def fixed(solver: Any, name: Any, value: Fraction) -> bool:
    """Fix a variable at a value if that leaves a solution; return whether it does."""
    solver.push()
    solver.add(name == z3.RatVal(value.numerator, value.denominator, ctx=solver.ctx))
    if solver.check() == z3.sat:
        return True
    solver.pop()
    return False


def value_in_model(solver: Any, name: Any) -> Fraction | None:
    """Return a rational value of a variable in a solution, as the solver gives it."""
    if solver.check() != z3.sat:
        return None
    value = solver.model().eval(name, model_completion=True)
    return rational(value) if z3.is_rational_value(value) else None


def rational(value: Any) -> Fraction:
    return Fraction(value.numerator_as_long(), value.denominator_as_long())


def substituted(value: Any, values: Mapping[Any, Fraction]) -> Any:
    """Return a value with its symbols replaced by numbers."""
    if isinstance(value, dict):
        return {name: substituted(entry, values) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(entries(value, values))
    if isinstance(value, Symbol):
        pairs = [(name, z3.RatVal(v.numerator, v.denominator)) for name, v in values.items()]
        return rational(z3.simplify(z3.substitute(value.term, *pairs)))
    return value


def entries(value: Any, values: Mapping[Any, Fraction]) -> Iterator[Any]:
    for entry in value:
        yield substituted(entry, values)
