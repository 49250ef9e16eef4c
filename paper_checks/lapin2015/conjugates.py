"""L15 sections 2.1, 2.2.1 and 5: conjugates of the losses, and the sets they live on.

phi is a maximum of finitely many affine functions, read off its definition; its conjugate at b is
the least combination of their constants whose slopes combine to b, an exact linear program.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, inf

import reference
from paper_checks.cases import Rng, fractions, sizes
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import both, equal, truth
from reference import exact
from reference.losses import Loss
from reference.simplex import minimise

Point = tuple[Fraction, ...]
ONE = Fraction(1)


def dual_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """m, k, y and a vector b: inside, on the boundary of and outside the sets of this section."""
    for m, k in sizes(5 if deep else 4):
        y = int(rng.integers(m))
        for chosen in subsets(m):
            b = tuple(Fraction(int(j in chosen), k) for j in range(m))
            yield Case(kind="1/k on a set of entries", m=m, k=k, y=y, b=b)
        for denominator in (k, 2 * k, m, m * k):
            b = tuple(Fraction(int(step), denominator) for step in rng.integers(0, 3, m))
            yield Case(kind="coarse grid", m=m, k=k, y=y, b=b)
        yield Case(kind="negative entries too", m=m, k=k, y=y, b=fractions(rng, m, 1, 2 * k))
        weights = rng.integers(0, 4, m) + 1
        total = int(weights.sum()) + int(rng.integers(0, 2))
        b = tuple(Fraction(int(w), total) for w in weights)
        yield Case(kind="near the uniform point", m=m, k=k, y=y, b=b)


def subsets(m: int) -> Iterator[tuple[int, ...]]:
    for size in range(m + 1):
        yield from combinations(range(m), size)


def conjugate(loss: Loss, case: Case) -> Fraction | float:
    """phi*(b) as a function on R^m: the true class's entry of a is free."""
    return exact.conjugate_of_maximum(exact.pieces(loss, case.m, case.y, centred=False), case.b)


def linear_on(inside: bool, case: Case, sign: int = -1) -> Fraction | float:
    """-<c, b> if inside, else +inf."""
    if not inside:
        return inf
    return sign * sum((x for j, x in enumerate(case.b) if j != case.y), Fraction())


def in_topk_simplex(x: Sequence[Fraction], k: int, r: Fraction = ONE) -> bool:
    """L15 Definition 1."""
    return sum(x) <= r and all(0 <= entry <= sum(x) / k for entry in x)


@claim(
    "L15-prop1",
    "Proposition 1, (2)",
    "The conjugate of the multiclass hinge is -<c, b> for b >= 0 with a sum of at most 1, and +inf "
    "elsewhere.",
    formula=r"\phi^*(b)=-\langle c,b\rangle\ \mathrm{if}\ b\in\Delta,\ +\infty\ \mathrm{otherwise}",
    shapes="b, c: (m,)",
    cases=dual_points,
    planted=(version("the sign of <c, b>", sign=1), version("a sum of 1 exactly", least=1)),
)
def conjugate_of_hinge(case: Case, sign: int = -1, least: int = 0) -> Outcome:
    inside = all(x >= 0 for x in case.b) and least <= sum(case.b) <= 1
    return equal(linear_on(inside, case, sign), conjugate(reference.MaxHinge(), case))


@claim(
    "L15-contraction",
    "section 2.2.1, Definition 1",
    "The top-k simplex is part of the simplex, and is all of it for k = 1.",
    formula=r"\Delta_k\subseteq\Delta=\Delta_1",
    shapes="subsets of R^m; 1 <= k <= m",
    cases=dual_points,
    planted=(version("the simplex is part of the top-k simplex", reverse=True),),
)
def part_of_the_simplex(case: Case, reverse: bool = False) -> Outcome:
    simplex = all(x >= 0 for x in case.b) and sum(case.b) <= 1
    top_k = in_topk_simplex(case.b, case.k)
    contained = top_k or not simplex if reverse else simplex or not top_k
    return truth(contained and in_topk_simplex(case.b, 1) == simplex, b=case.b)


@claim(
    "L15-prop2",
    "Proposition 2, (4)",
    "The conjugate of the top-k hinge phi_k is -<c, b> on the top-k simplex and +inf elsewhere; "
    "phi_k is the largest <a + c, b> over it.",
    formula=r"\phi_k^*(b)=-\langle c,b\rangle,\ b\in\Delta_k;\quad "
    r"\phi_k(a)=\max_{\lambda\in\Delta_k}\langle a+c,\lambda\rangle",
    shapes="a, b, c, lambda: (m,); 1 <= k <= m",
    cases=dual_points,
    planted=(
        version("entries at most 1/k, as for the Usunier version", usunier=True),
        version("entries at most sum/(k + 1)", offset=1),
        version("the sign of <c, b>", sign=1),
    ),
)
def conjugate_of_top_k(
    case: Case, usunier: bool = False, offset: int = 0, sign: int = -1
) -> Outcome:
    loss, m, k = reference.TopK(case.k), case.m, case.k + offset
    inside = in_box(case.b, k) if usunier else in_topk_simplex(case.b, k)
    conjugates = equal(linear_on(inside, case, sign), conjugate(loss, case), b=case.b)
    h = [x + int(j != case.y) for j, x in enumerate(case.b)]  # any vector serves as a
    shares = [[Fraction(int(i == j)) - Fraction(1, k) for j in range(m)] for i in range(m)]
    largest = largest_over([*shares, [ONE] * m], [Fraction(0)] * m + [ONE], h)
    return both(conjugates, equal(loss.of_margins(h, case.y), largest))


def in_box(x: Sequence[Fraction], k: int) -> bool:
    """The set of Proposition 5 with r = 1."""
    return sum(x) <= 1 and all(0 <= entry <= Fraction(1, k) for entry in x)


def largest_over(
    rows: list[list[Fraction]], bounds: list[Fraction], h: Sequence[Fraction]
) -> Fraction:
    """The largest <h, x> over x >= 0 with rows x <= bounds, by the exact simplex method."""
    slack = [[Fraction(int(i == j)) for j in range(len(rows))] for i in range(len(rows))]
    equations = [[*row, *extra] for row, extra in zip(rows, slack, strict=True)]
    least = minimise([-x for x in h] + [Fraction(0)] * len(rows), equations, bounds)
    if least is None:
        raise ArithmeticError("the set is empty, though 0 is in it")
    return -least


@claim(
    "L15-prop5",
    "Proposition 5, (9)",
    "The conjugate of the Usunier version is -<c, b> where the sum is at most 1 and the entries "
    "lie between 0 and 1/k, +inf elsewhere; the loss is the largest <a + c, b> over that set.",
    formula=r"\tilde\phi_k^*(b)=-\langle c,b\rangle,\quad b\in\tilde\Delta_k="
    r"\{\langle 1,x\rangle\leq 1,\ 0\leq x_i\leq 1/k\}",
    shapes="a, b, c: (m,); 1 <= k <= m",
    cases=dual_points,
    planted=(
        version("the top-k simplex", top_k=True),
        version("no bound on the sum", total=None),
        version("entries at most 1", cap=1),
    ),
)
def conjugate_of_usunier(
    case: Case, top_k: bool = False, total: int | None = 1, cap: int | None = None
) -> Outcome:
    loss, m, upper = reference.Usunier(case.k), case.m, Fraction(1, cap or case.k)
    sum_bound = Fraction(m if total is None else total)
    inside = sum(case.b) <= sum_bound and all(0 <= x <= upper for x in case.b)
    if top_k:
        inside = in_topk_simplex(case.b, case.k)
    conjugates = equal(linear_on(inside, case), conjugate(loss, case), b=case.b)
    h = [x + int(j != case.y) for j, x in enumerate(case.b)]
    identity = [[Fraction(int(i == j)) for j in range(m)] for i in range(m)]
    largest = largest_over([*identity, [ONE] * m], [upper] * m + [sum_bound], h)
    return both(conjugates, equal(loss.of_margins(h, case.y), largest))


@claim(
    "L15-vertices",
    "Figure 2",
    "The top-k simplex has binomial(m, k) + 1 vertices.",
    formula=r"|\mathrm{ext}\,\Delta_k|=\frac{m!}{k!\,(m-k)!}+1",
    shapes="subsets of R^m; 1 <= k <= m",
    cases=lambda rng, deep: (Case(kind="exact", m=m, k=k) for m, k in sizes(5 if deep else 4)),
    planted=(version("0 is not counted", extra=0), version("k vertices on the axes", extra=2)),
)
def number_of_vertices(case: Case, extra: int = 1) -> Outcome:
    return equal(comb(case.m, case.k) + extra, len(vertices(case.m, case.k)))


def vertices(m: int, k: int) -> set[Point]:
    """The points of the top-k simplex at which m independent bounds are attained."""
    units = [[Fraction(int(i == j)) for j in range(m)] for i in range(m)]
    shares = [[k * x - 1 for x in unit] for unit in units]  # k x_i <= sum
    bounds = [*[(row, Fraction(0)) for row in units + shares], ([ONE] * m, ONE)]
    found = set()
    for chosen in combinations(bounds, m):
        x = solution([row for row, _ in chosen], [right for _, right in chosen])
        if x is not None and in_topk_simplex(x, k):
            found.add(x)
    return found


def solution(rows: list[list[Fraction]], right: list[Fraction]) -> Point | None:
    """The solution of a square linear system, None if it has none or many; Gauss and Jordan."""
    table = [[*row, b] for row, b in zip(rows, right, strict=True)]
    for j in range(len(rows)):
        pivot = next((i for i in range(j, len(rows)) if table[i][j] != 0), None)
        if pivot is None:
            return None
        table[j], table[pivot] = table[pivot], table[j]
        table[j] = [x / table[j][j] for x in table[j]]
        for i, row in enumerate(table):
            if i != j and row[j] != 0:
                table[i] = [x - row[j] * z for x, z in zip(row, table[j], strict=True)]
    return tuple(row[-1] for row in table)
