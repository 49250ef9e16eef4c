"""Check M20 appendix A: the conjugates of the two surrogates, from the definition."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from fwlab.ranking.surrogates import Surrogate
from paper_checks.arithmetic import (
    Real,
    Truth,
    all_of,
    any_of,
    divide,
    equals,
    implies,
    is_symbolic,
)
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Library, Outcome, claim, version
from paper_checks.macha2020.problems import greatest, surrogate
from paper_checks.outcomes import both, equal, truth
from paper_checks.proofs import BySolver
from paper_checks.symbols import real
from reference.exact import Pieces, conjugate_of_maximum

SHAPES = "y: a number; theta > 0; x: any argument of the loss"
SURROGATE = "fwlab.ranking.surrogates.Surrogate."


def slopes(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield theta > 0 and points y inside, outside and at the ends of the domains, with any x."""
    for theta in (Fraction(1, 3), Fraction(1), Fraction(5, 2)):
        ends = {"end": (Fraction(0), theta), "other": (-theta, theta / 2, 2 * theta)}
        for kind, values in ends.items():
            for y in values:
                yield Case(kind=kind, theta=theta, y=y, x=Fraction(int(rng.integers(-9, 10)), 4))
        for _ in range(30 if deep else 8):
            y, x = (Fraction(int(step), 5) for step in rng.integers(-6, 20, 2))
            yield Case(kind="other", theta=theta, y=y, x=x)


def symbols(deep: bool) -> Iterator[Case]:
    yield Case(kind="symbols", **{name: real(name) for name in ("theta", "y", "x")})


def by_definition(
    case: Case, kind: str, inside: Truth, stated: Real, best: Real, unbounded: Truth
) -> Outcome:
    """Check the stated conjugate by its definition.

    Inside, the value bounds y x - l(x) for every x and is attained at `best`. Outside, y is not a
    slope of the loss.
    """

    def value(x: Real) -> Real:
        return case.y * x - surrogate(kind, case.theta, x)

    bound = implies(inside, value(case.x) <= stated)
    attained = implies(inside, equals(value(best), stated))
    proved = all_of(bound, attained, any_of(inside, unbounded))
    if is_symbolic(proved):
        return truth(proved)
    return truth(proved, stated=stated, at_x=value(case.x), at_best_x=value(best))


PROOF_OF = BySolver(
    "An end of the domain, or a maximiser, that a grid of y and theta misses.",
    symbols,
    lambda case: case.theta > 0,
    sized_by=(),
)


def loss_of_fwlab(found: Surrogate, case: Case) -> Outcome:
    loss = surrogate(found.name, case.theta, case.x)
    return equal(found.value(np.array([float(case.x)])), [float(loss)])


def hinge_of_fwlab(case: Case) -> Outcome:
    """Compare the loss, its largest slope and the curvature of its conjugate."""
    found = Surrogate("hinge", float(case.theta))
    return both(
        loss_of_fwlab(found, case),
        equal(found.largest, float(case.theta)),
        equal(found.curvature, 0.0),
    )


@claim(
    "M20-eq23",
    "(23)",
    "The conjugate of the hinge surrogate.",
    formula=r"l^*(y)=-\frac{y}{\vartheta}\ \mathrm{if}\ 0\leq y\leq\vartheta,\quad "
    r"\infty\ \mathrm{otherwise}",
    shapes=SHAPES,
    cases=slopes,
    planted=(
        version("y/theta", sign=1),
        version("finite on [0, 1]", end=lambda theta: Fraction(1)),
    ),
    proofs=(PROOF_OF,),
    library=Library(
        (SURROGATE + "value", SURROGATE + "largest", SURROGATE + "curvature"), hinge_of_fwlab
    ),
)
def hinge_conjugate(
    case: Case, sign: int = -1, end: Callable[[Real], Real] = lambda theta: theta
) -> Outcome:
    """Check the conjugate by definition; on numbers also by an exact linear program."""
    y, theta = case.y, case.theta
    inside, stated = all_of(y >= 0, y <= end(theta)), sign * divide(y, theta)
    unbounded = any_of(y < 0, y > theta)
    found = by_definition(case, "hinge", inside, stated, -divide(1, theta), unbounded)
    if is_symbolic(y):
        return found
    pieces: Pieces = {(Fraction(0),): Fraction(0), (theta,): Fraction(1)}
    by_program = conjugate_of_maximum(pieces, (y,))
    return both(found, equal(stated if inside else math.inf, by_program))


def quadratic_of_fwlab(case: Case) -> Outcome:
    """Compare the loss, and the curvature of its conjugate."""
    found = Surrogate("quadratic", float(case.theta))
    curvature = float(1 / (2 * case.theta**2))
    return both(loss_of_fwlab(found, case), equal(found.curvature, curvature))


@claim(
    "M20-eq24",
    "(24)",
    "The conjugate of the truncated quadratic surrogate.",
    formula=r"l^*(y)=\frac{y^2}{4\vartheta^2}-\frac{y}{\vartheta}\ \mathrm{if}\ y\geq 0,\quad "
    r"\infty\ \mathrm{otherwise}",
    shapes=SHAPES,
    cases=slopes,
    planted=(
        version("theta in the place of its square", power=1),
        version("1/2 in the place of 1/4", quarter=Fraction(1, 2)),
    ),
    proofs=(PROOF_OF,),
    library=Library((SURROGATE + "value", SURROGATE + "curvature"), quadratic_of_fwlab),
)
def quadratic_conjugate(case: Case, power: int = 2, quarter: Fraction = Fraction(1, 4)) -> Outcome:
    """Check the conjugate by definition.

    On numbers, the loss is 0 left of its kink, so that y x is unbounded for y < 0. Right of the
    kink the maximum of a quadratic is exact.
    """
    y, theta = case.y, case.theta
    stated = divide(quarter * y**2, theta**power) - divide(y, theta)
    best = divide(divide(y, 2 * theta) - 1, theta)
    found = by_definition(case, "quadratic", y >= 0, stated, best, y < 0)
    if is_symbolic(y):
        return found

    def value(x: Fraction) -> Fraction:
        true: Fraction = y * x - surrogate("quadratic", theta, x)
        return true

    largest = math.inf if y < 0 else greatest(value, -1 / theta, math.inf)[1]
    return both(found, equal(stated if y >= 0 else math.inf, largest))
