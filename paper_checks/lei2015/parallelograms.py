"""Check LP15 section 3.2: whether the dual problems (D) and (7) are quadratic programs."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Condition, Erratum, Outcome, claim, version
from paper_checks.outcomes import ROUNDING, is_exact, truth
from paper_checks.trials import Tier

Matrix = tuple[tuple[Fraction, ...], ...]
ONE, ZERO = Fraction(1), Fraction(0)
# p with p* = 6, 4, 3, 3/2 and 10/9
EXPONENTS = tuple(Fraction(*p) for p in ((6, 5), (4, 3), (3, 2), (3, 1), (10, 1)))
SPECIAL = Fraction(4, 3)


def dual_exponent(p: Fraction) -> Fraction:
    return p / (p - 1)


def square_norm(v: Matrix, p: Fraction) -> Any:
    """Return 2^(-2/p*) times the square of the (2, p*) norm of v, a Fraction where that is easy.

    It is if the rows that are not 0 are two of equal length, and often for p* = 2 and 4.
    """
    q = dual_exponent(p)
    squares = [x for x in (sum(entry * entry for entry in row) for row in v) if x]
    if not squares:
        return ZERO
    if len(squares) == 2 and squares[0] == squares[1]:
        return squares[0]
    if q == 2:
        return sum(squares, ZERO) / 2
    if q == 4:
        half = sum((x * x for x in squares), ZERO) / 2
        root = Fraction(math.isqrt(half.numerator), math.isqrt(half.denominator))
        return root if root * root == half else math.sqrt(half)
    return (sum(float(x) ** float(q / 2) for x in squares) / 2) ** float(2 / q)


def plus(x: Matrix, y: Matrix, sign: int = 1) -> Matrix:
    rows = zip(x, y, strict=True)
    return tuple(tuple(a + sign * b for a, b in zip(*row, strict=True)) for row in rows)


def drawn(rng: Rng, c: int, d: int) -> Matrix:
    """Return c rows of d fractions that sum to 0."""
    rows = [fractions(rng, d, largest=3) for _ in range(c - 1)]
    last = tuple(-sum(column, ZERO) for column in zip(*rows, strict=True))
    return (*map(tuple, rows), last)


def by_hand(c: int, d: int) -> list[tuple[Matrix, Matrix]]:
    """Return pairs of points that distinguish a norm from a quadratic form, c >= 3."""
    u, rest = (ONE, *[ZERO] * (d - 1)), ((ZERO,) * d,) * (c - 3)
    other = u if d == 1 else (ZERO, ONE, *[ZERO] * (d - 2))
    minus, twice = tuple(-x for x in u), tuple(-2 * x for x in u)
    first = (u, minus, (ZERO,) * d, *rest)
    pairs = [(first, (u, u, twice, *rest))]
    return [*pairs, (first, (other, other, tuple(-2 * x for x in other), *rest))]


def problems(rng: Rng, deep: bool, exponents: tuple[Fraction, ...] = EXPONENTS) -> Iterator[Case]:
    """Yield classes, features and p, with pairs of points of the span of the feasible set."""
    for p in exponents:
        for c, d in ((2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (4, 3)):
            pairs = [(drawn(rng, c, d), drawn(rng, c, d)) for _ in range(20 if deep else 5)]
            pairs += by_hand(c, d) if c >= 3 else []
            yield Case(kind=f"{c} classes, {d} features", c=c, d=d, p=p, pairs=tuple(pairs))


@claim(
    "LP15-not-quadratic",
    "3.2, first sentence",
    "The dual problems (D) and (7) are not quadratic programs for p other than 2.",
    formula=r"\Bigl[\sum_j\|v_j\|_2^{p^*}\Bigr]^{2/p^*}\ \mathrm{is\ no\ quadratic\ form},\quad "
    r"v_j=\sum_i\alpha_{ij}\phi(x_i)",
    shapes="v: (c, d), as rows of classes, which sum to 0; c >= 2 classes, d features; p > 1",
    judged="the first term of both objectives, on the span of the feasible set, where each row of "
    "alpha sums to 0; the second term of (7) is linear. A quadratic form has equal sums of squares "
    "of sides and diagonals in every parallelogram.",
    cases=problems,
    condition=Condition(
        "there are three classes or more, and, for p = 4/3 and three classes, two features or more",
        lambda case: case.c >= 3 and (case.p != SPECIAL or case.c > 3 or case.d > 1),
    ),
    main=Condition(
        "three classes or more and two features or more, as on all data sets of section 4",
        lambda case: case.c >= 3 and case.d >= 2,
    ),
    planted=(
        version("for p = 2, too", cases=lambda rng, deep: problems(rng, deep, (Fraction(2),))),
        version(
            "for two classes",
            cases=lambda rng, deep: (c for c in problems(rng, deep) if c.c == 2),
        ),
    ),
    not_proved="real powers; p = 6/5, 4/3, 3/2, 3 and 10 are tried",
    erratum=Erratum(
        page="Section 3.2, first sentence",
        printed=r"\mathrm{not\ quadratic\ for}\ p\neq2",
        correct=r"\mathrm{not\ quadratic\ for}\ p\neq2,\ c\geq3\ \mathrm{and\ more\ than\ one\ "
        r"feature}",
        proof=r"The rows $v_j$ sum to 0. For $c=2$ they are $v_1$ and $-v_1$, and the term is "
        r"$2^{2/p^*}\|v_1\|_2^2$, a quadratic form for every $p$. For $c=3$, one feature and "
        r"$p=\frac{4}{3}$ it is one, too: $a^4+b^4+(a+b)^4=2(a^2+ab+b^2)^2$. With one feature and "
        r"$c\geq3$ a form that keeps its value when classes are exchanged is a multiple of "
        r"$\sum_jv_j^2$; $(1,-1,0)$ and $(1,1,-2)$ then need $2+2^{p^*}=2\cdot3^{p^*/2}$, which "
        r"only $p^*=2$ and $4$ fulfil. At $p^*=4$ the points $(u,-u,0)$ and $(v,v,-2v)$ with "
        r"orthogonal $u$, $v$ of length 1 refute it for more features.",
        breaks="Nothing for three classes or more with many features, the case of interest. With "
        "two classes every p gives the machine of Crammer and Singer, with another C.",
    ),
)
def no_quadratic_form(case: Case) -> Outcome:
    found = [sides_and_diagonals(x, y, case.p) for x, y in case.pairs]
    exact = all(is_exact(pair) for pair in found)
    apart = [abs(a - b) > (0 if is_exact((a, b)) else ROUNDING * abs(b)) for a, b in found]
    return truth(any(apart), None if exact else Tier.FLOAT, parallelograms=len(found))


def sides_and_diagonals(x: Matrix, y: Matrix, p: Fraction) -> tuple[Any, Any]:
    """Return the sums of the squares of the diagonals and of the sides of a parallelogram."""
    diagonals = square_norm(plus(x, y), p) + square_norm(plus(x, y, -1), p)
    return diagonals, 2 * (square_norm(x, p) + square_norm(y, p))
