"""M20 appendix A: the conjugates of the two surrogates, tried from the definition."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from paper_checks.cases import Rng
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.macha2020.problems import greatest, surrogate
from paper_checks.outcomes import equal
from reference.exact import Pieces, conjugate_of_maximum


def slopes(rng: Rng, deep: bool) -> Iterator[Case]:
    """theta > 0 and points y inside, outside and at the ends of the domains."""
    for theta in (Fraction(1, 3), Fraction(1), Fraction(5, 2)):
        ends = {"end": (Fraction(0), theta), "other": (-theta, theta / 2, 2 * theta)}
        for kind, values in ends.items():
            for y in values:
                yield Case(kind=kind, theta=theta, y=y)
        for _ in range(30 if deep else 8):
            yield Case(kind="other", theta=theta, y=Fraction(int(rng.integers(-6, 20)), 5))


@claim(
    "M20-eq23",
    "(23)",
    "The conjugate of the hinge surrogate.",
    formula=r"l^*(y)=-\frac{y}{\vartheta}\ \mathrm{if}\ 0\leq y\leq\vartheta,\quad "
    r"\infty\ \mathrm{otherwise}",
    shapes="y: a number; theta > 0",
    cases=slopes,
    planted=(
        version("y/theta", sign=1),
        version("finite on [0, 1]", end=lambda theta: Fraction(1)),
    ),
)
def hinge_conjugate(
    case: Case, sign: int = -1, end: Callable[[Fraction], Fraction] = lambda theta: theta
) -> Outcome:
    """Against an exact linear program for max(0, 1 + theta x)."""
    pieces: Pieces = {(Fraction(0),): Fraction(0), (case.theta,): Fraction(1)}
    stated = sign * case.y / case.theta if 0 <= case.y <= end(case.theta) else math.inf
    return equal(stated, conjugate_of_maximum(pieces, (case.y,)))


@claim(
    "M20-eq24",
    "(24)",
    "The conjugate of the truncated quadratic surrogate.",
    formula=r"l^*(y)=\frac{y^2}{4\vartheta^2}-\frac{y}{\vartheta}\ \mathrm{if}\ y\geq 0,\quad "
    r"\infty\ \mathrm{otherwise}",
    shapes="y: a number; theta > 0",
    cases=slopes,
    planted=(
        version("theta in the place of its square", power=1),
        version("1/2 in the place of 1/4", quarter=Fraction(1, 2)),
    ),
)
def quadratic_conjugate(case: Case, power: int = 2, quarter: Fraction = Fraction(1, 4)) -> Outcome:
    """Left of its kink the loss is 0, so that y x is unbounded for y < 0; right of it the exact
    maximum of a quadratic."""
    stated: Fraction | float = math.inf
    if case.y >= 0:
        stated = quarter * case.y**2 / case.theta**power - case.y / case.theta

    def value(x: Fraction) -> Fraction:
        return case.y * x - surrogate("quadratic", case.theta, x)

    true = math.inf if case.y < 0 else greatest(value, -1 / case.theta, math.inf)[1]
    return equal(stated, true)
