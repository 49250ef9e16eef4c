"""K19 section 3 and Lemma 1: losses as maxima over polytopes, and their conjugates.

Left sides come from the definitions, right sides from the polytopes as printed, mostly in exact
fractions.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import reference
from paper_checks.cases import Rng, decreasing_weights, fractions, sizes
from paper_checks.exact_polytope import contains, largest
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal
from reference import exact
from reference.derived_polytopes import polytope, topk_simplex, total
from reference.losses import Loss
from reference.polytope import Polytope, solve

Numbers = Sequence[Fraction]


def rows(rng: Rng, deep: bool) -> Iterator[Case]:
    """Exact scores with ties, for all (m, k), and admissible weights, once all of them zero."""
    for m, k in sizes(6 if deep else 5):
        for turn in range(4 if deep else 2):
            rho = decreasing_weights(rng, m) if turn or k > 1 else (Fraction(0),) * m
            y, scores = int(rng.integers(m)), fractions(rng, m)
            yield Case(kind="exact, ties", m=m, k=k, y=y, rho=rho, scores=scores)


def points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Points v around the effective domains: vertices, mixtures of them, and vectors that sum to
    0 or to something else; top-k and weighted top-k with the same (m, y)."""
    for m, k in sizes(5 if deep else 4):
        y = int(rng.integers(m))
        rho = decreasing_weights(rng, m) if k > 1 else (Fraction(0),) * m
        for loss in (reference.TopK(k), reference.WeightedTopK(rho)):
            for kind, v in around_the_domain(rng, loss, m, y):
                yield Case(kind=kind, loss=loss, m=m, y=y, v=v)


def around_the_domain(rng: Rng, loss: Loss, m: int, y: int) -> Iterator[tuple[str, Numbers]]:
    slopes = sorted(exact.pieces(loss, m, y))
    one, other = (slopes[int(i)] for i in rng.integers(len(slopes), size=2))
    yield "vertex", one
    yield "mixture", [(3 * a + b) / 4 for a, b in zip(one, other, strict=True)]
    yield "beyond a vertex", [Fraction(9, 8) * a - b / 8 for a, b in zip(one, other, strict=True)]
    v = [Fraction(int(x), 4) for x in rng.integers(0, 3, m)]
    yield "any sum", v
    yield "sum 0", [x - (sum(v) if j == y else 0) for j, x in enumerate(v)]


def margins(case: Case) -> Numbers:
    """1 - e_y + s - s_y 1."""
    return reference.TopK(1).margins(case.scores, case.y)


@claim(
    "K19-eq5",
    "(3)-(5)",
    "The top-k hinge loss is the largest inner product of the margins with a point of the top-k "
    "simplex.",
    formula=r"\Phi_{utk}(s;y)=\max_{\beta\in\Delta(k,1)}\langle\beta,1-e_y+s-s_y1\rangle",
    shapes="s, beta: (m,)",
    cases=rows,
    planted=(
        version("a simplex of radius 1/2", radius=Fraction(1, 2)),
        version("entries at most 1/(k+1) of the sum", extra=1),
    ),
)
def topk_is_a_maximum(case: Case, radius: Fraction = Fraction(1), extra: int = 0) -> Outcome:
    simplex = topk_simplex(case.m, case.k + extra, float(radius))
    value = exact.value(reference.TopK(case.k), case.scores, case.y)
    return equal(value, largest(simplex, margins(case)))


def stated_conjugate(case: Case, simplex: Polytope, sign: int, free: bool) -> Fraction | float:
    """sign v_y if sum v = 0 and v with some other (or the same) y-th entry is in the polytope."""
    inside = sum(case.v) == 0 and contains(simplex, case.v, free=(case.y,) if free else ())
    return sign * case.v[case.y] if inside else math.inf


@claim(
    "K19-eq6",
    "(6) (7)",
    "The conjugate of the top-k hinge loss is v_y where v sums to 0 and can be given another y-th "
    "entry that puts it into the top-k simplex, and infinite elsewhere.",
    formula=r"\Phi^*_{utk}(v;y)=v_y\quad\langle v,1\rangle=0,\ "
    r"\exists b_y:\ v+(b_y-v_y)e_y\in\Delta(k,1)",
    shapes="v: (m,)",
    cases=lambda rng, deep: (c for c in points(rng, deep) if isinstance(c.loss, reference.TopK)),
    planted=(
        version("-v_y", sign=-1),
        version("the y-th entry is kept", free=False),
        version("entries at most 1/(k+1) of the sum", extra=1),
    ),
)
def topk_conjugate(case: Case, sign: int = 1, free: bool = True, extra: int = 0) -> Outcome:
    simplex = topk_simplex(case.m, case.loss.k + extra)
    conjugate = exact.conjugate(case.loss, case.v, case.y)
    return equal(conjugate, stated_conjugate(case, simplex, sign, free))


def hulls(rng: Rng, deep: bool) -> Iterator[Case]:
    """Convex hulls of a few points with small integer entries, some with the line along e_y added
    (there the loss stays finite), delta with delta_y = 0, and points v around the domain."""
    for _ in range(60 if deep else 20):
        m, size = int(rng.integers(2, 5)), int(rng.integers(1, 5))
        y, corners = int(rng.integers(m)), [fractions(rng, m, denominator=1) for _ in range(size)]
        delta = tuple(Fraction(0) if j == y else d for j, d in enumerate(fractions(rng, m)))
        mixture = rng.multinomial(4, [1 / size] * size)
        beta = [
            sum(int(w) * x for w, x in zip(mixture, e, strict=True)) / Fraction(4)
            for e in zip(*corners, strict=True)
        ]
        centred = [b - (sum(beta) if j == y else 0) for j, b in enumerate(beta)]
        for kind, v in (("inside", centred), ("any", fractions(rng, m, denominator=1))):
            for line in (False, True):
                yield Case(kind=kind, corners=corners, line=line, delta=delta, y=y, v=v)


@claim(
    "K19-lemma1",
    "Lemma 1, A.1",
    "A loss that is a maximum over a polyhedron, of the inner product with delta and the scores "
    "minus that of the true class, has the conjugate minus <v, delta> on the vectors that sum to "
    "0 and lie in the polyhedron after a change of their y-th entry.",
    formula=r"\Phi(s)=\max_{\beta\in B}\langle\beta,\delta+s-s_y1\rangle\ \Rightarrow\ "
    r"\Phi^*(v)=-\langle v,\delta\rangle\ \mathrm{on}\ "
    r"\{v:\langle v,1\rangle=0,\ \exists\beta_y:\ v+(\beta_y-v_y)e_y\in B\}",
    shapes="s, v, beta, delta: (m,); delta_y = 0",
    cases=hulls,
    planted=(
        version("<v, delta>", sign=1),
        version("the y-th entry is kept", free=False),
        version("v need not sum to 0", total=None),
    ),
)
def conjugate_of_a_maximum(
    case: Case, sign: int = -1, free: bool = True, total: int | None = 0
) -> Outcome:
    m, y, v = len(case.v), case.y, case.v
    hull = hull_of(case.corners, line=y if case.line else None)
    inside = contains(hull, v, free=(y,) if free else ())
    stated: Any = math.inf
    if inside and (total is None or sum(v) == total):
        stated = sign * exact.inner(v, case.delta)
    return equal(supremum(case.corners, case.delta, v, y, m), float(stated))


def hull_of(corners: Sequence[Numbers], line: int | None) -> Polytope:
    """The convex hull, with all multiples of e_line added."""
    weights = [("corner", i) for i in range(len(corners))]
    entries = []
    for j in range(len(corners[0])):
        entry: dict[Any, Any] = {w: c[j] for w, c in zip(weights, corners, strict=True)}
        if j == line:
            entry |= {"up": 1, "down": -1}
        entries.append(entry)
    return polytope(entries, equal=[(total(weights), 1)])


def supremum(corners: Sequence[Numbers], delta: Numbers, v: Numbers, y: int, m: int) -> float:
    """sup over s of <v, s> - Phi(s), by its definition: the largest <v, s> - t with t at least
    <beta, delta + s - s_y 1> for every corner. A line along e_y changes nothing in Phi."""
    lhs, rhs = [], []
    for beta in corners:
        slope = [float(b) for b in beta]
        slope[y] -= float(sum(beta))
        lhs.append([*slope, -1.0])
        rhs.append(-float(exact.inner(beta, delta)))
    cost = [*(-float(x) for x in v), 1.0]
    result = solve(np.array(cost), A_ub=np.array(lhs), b_ub=np.array(rhs), bounds=(None, None))
    return -float(result.fun) if result.status == 0 else math.inf


def topk_errors(rng: Rng, deep: bool) -> Iterator[Case]:
    """Exact scores with ties: the true class often at the edge of the k largest."""
    for m, k in sizes(6 if deep else 5):
        for _ in range(20 if deep else 6):
            y, scores, other = int(rng.integers(m)), fractions(rng, m, 1), fractions(rng, m, 1)
            yield Case(kind="exact, ties", m=m, k=k, y=y, scores=scores, other=other)


@claim(
    "K19-topk-surrogate",
    "B.2",
    "The top-k hinge loss is a convex upper bound of the top-k error, which is 1 if k other "
    "classes score at least as high as the true one.",
    formula=r"\Phi_{utk}(s;y)\geq\mathrm{err}_k(s;y)",
    shapes="s: (m,)",
    judged="ties count as errors; the error that forgives ties is smaller.",
    cases=topk_errors,
    planted=(
        version("a bound of the top-(k-1) error", fewer=1),
        version("a bound of twice the error", height=2),
    ),
)
def surrogate(case: Case, fewer: int = 0, height: int = 1) -> Outcome:
    loss, s, t = reference.TopK(case.k), case.scores, case.other
    ahead = sum(s[j] >= s[case.y] for j in range(case.m) if j != case.y)
    error = height * int(ahead >= max(1, case.k - fewer))
    middle = [(a + b) / 2 for a, b in zip(s, t, strict=True)]
    values = [exact.value(loss, x, case.y) for x in (s, middle, t)]
    return both(at_most(error, values[0]), at_most(2 * values[1], values[0] + values[2]))
