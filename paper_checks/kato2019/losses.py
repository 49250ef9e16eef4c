"""Check K19 section 3 and Lemma 1: losses as maxima over polytopes, and their conjugates.

Left sides come from the definitions, right sides from the polytopes as printed, mostly in exact
fractions.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import fwlab
import reference
from paper_checks.arithmetic import (
    Real,
    Truth,
    all_of,
    any_of,
    equals,
    implies,
    inner,
    is_symbolic,
    kth_largest,
    total,
    where,
)
from paper_checks.cases import Rng, decreasing_weights, fractions, sizes
from paper_checks.definitions import in_topk_simplex, margins, top_k
from paper_checks.exact_polytope import contains, largest
from paper_checks.kato2019.conjugates import (
    Stated,
    centred_directions,
    in_topk_domain,
    is_conjugate,
    ordered,
    others_of,
    symbolic_rows,
    unit,
)
from paper_checks.kato2019.in_fwlab import as_floats, conjugate_in_the_library
from paper_checks.ledger import Case, Library, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, truth
from paper_checks.proofs import BySolver, symbolic_sizes
from paper_checks.symbols import reals
from reference import exact
from reference.derived_polytopes import polytope, topk_simplex
from reference.derived_polytopes import total as sum_of
from reference.losses import Loss
from reference.polytope import Polytope

Numbers = Sequence[Fraction]


def rows(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield exact scores with ties, for all (m, k), and weights, all zero in one case."""
    for m, k in sizes(6 if deep else 5):
        for turn in range(4 if deep else 2):
            rho = decreasing_weights(rng, m) if turn or k > 1 else (Fraction(0),) * m
            y, scores = int(rng.integers(m)), fractions(rng, m)
            beta = tuple(Fraction(int(x), 2 * k) for x in rng.integers(0, 3, m))
            yield Case(kind="exact, ties", m=m, k=k, y=y, rho=rho, scores=scores, beta=beta)


def points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield points v in and around the effective domains of top-k and weighted top-k.

    They are vertices, mixtures of them, and vectors that sum to 0 or to another value.
    """
    for m, k in sizes(5 if deep else 4):
        y = int(rng.integers(m))
        rho = decreasing_weights(rng, m) if k > 1 else (Fraction(0),) * m
        for loss in (reference.TopK(k), reference.WeightedTopK(rho)):
            for kind, v in around_the_domain(rng, loss, m, y):
                yield Case(kind=kind, loss=loss, m=m, k=k, y=y, v=v, scores=fractions(rng, m))


def around_the_domain(rng: Rng, loss: Loss, m: int, y: int) -> Iterator[tuple[str, Numbers]]:
    slopes = sorted(exact.pieces(loss, m, y))
    one, other = (slopes[int(i)] for i in rng.integers(len(slopes), size=2))
    yield "vertex", one
    yield "mixture", [(3 * a + b) / 4 for a, b in zip(one, other, strict=True)]
    yield "beyond a vertex", [Fraction(9, 8) * a - b / 8 for a, b in zip(one, other, strict=True)]
    v = [Fraction(int(x), 4) for x in rng.integers(0, 3, m)]
    yield "any sum", v
    yield "sum 0", [x - (sum(v) if j == y else 0) for j, x in enumerate(v)]


def symbolic_margins(deep: bool) -> Iterator[Case]:
    """Yield scores and beta as symbols for each m, k and y."""
    for m, k in symbolic_sizes(4 if deep else 3):
        for y in range(m):
            yield Case(kind="symbols", m=m, k=k, y=y, scores=reals("s", m), beta=reals("beta", m))


def sorted_margins(case: Case) -> Truth:
    """Return whether the classes are in the order of their margins, which loses no generality."""
    return all_of(*(a >= b for a, b in pairwise(margins(case.scores, case.y))))


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
    proofs=(
        BySolver(
            "A point of the simplex whose product exceeds the loss, or a maximum "
            "that no point attains, at margins with ties that samples miss.",
            cases=symbolic_margins,
            assuming=sorted_margins,
        ),
    ),
    library=Library(
        ("fwlab.TopK.value", "fwlab.TopK.subgradient"), lambda case: value_in_the_library(case)
    ),
)
def topk_is_a_maximum(case: Case, radius: Fraction = Fraction(1), extra: int = 0) -> Outcome:
    """State that no point exceeds the loss, and that 0 or a point with k entries 1/k attains it."""
    h, k, m = margins(case.scores, case.y), case.k + extra, case.m
    value = top_k(h, case.k)
    corners = [unit(m), *(unit(m, *chosen) for chosen in combinations(range(m), k))]
    attained = any_of(*(equals(radius / k * inner(corner, h), value) for corner in corners))
    within = implies(in_topk_simplex(case.beta, k, radius), inner(case.beta, h) <= value)
    found = truth(all_of(within, attained))
    if is_symbolic(case.scores):
        return found
    simplex = topk_simplex(case.m, k, float(radius))
    defined = exact.value(reference.TopK(case.k), case.scores, case.y)
    return both(equal(defined, largest(simplex, h)), found)


def value_in_the_library(case: Case) -> Outcome:
    """Compare fwlab's value with the exact one, and check its subgradient's inequality at beta."""
    s, y, other = as_floats(case.scores), case.y, as_floats(case.beta)
    loss, defined = fwlab.TopK(case.k), reference.TopK(case.k)
    slope = loss.subgradient(s, y)
    touching = float(defined.value(s, y)) + float(slope @ (other - s))
    return both(
        equal(loss.value(s, y), float(exact.value(defined, case.scores, y))),
        at_most(touching, float(defined.value(other, y))),
        equal(float(slope.sum()), 0.0),
    )


def stated_conjugate(case: Case, simplex: Polytope, sign: int, free: bool) -> Fraction | float:
    """Return sign * v_y if sum v = 0 and v lies in the polytope for some y-th entry."""
    inside = sum(case.v) == 0 and contains(simplex, case.v, free=(case.y,) if free else ())
    return sign * case.v[case.y] if inside else math.inf


def topk_points(rng: Rng, deep: bool) -> Iterator[Case]:
    return (c for c in points(rng, deep) if isinstance(c.loss, reference.TopK))


@claim(
    "K19-eq6",
    "(6) (7)",
    "The conjugate of the top-k hinge loss is v_y if v sums to 0 and lies in the "
    "top-k simplex after some change of its y-th entry, and infinite otherwise.",
    formula=r"\Phi^*_{utk}(v;y)=v_y\quad\langle v,1\rangle=0,\ "
    r"\exists b_y:\ v+(b_y-v_y)e_y\in\Delta(k,1)",
    shapes="v: (m,)",
    cases=topk_points,
    planted=(
        version("-v_y", sign=-1),
        version("the y-th entry is not changed", free=False),
        version("entries at most 1/(k+1) of the sum", extra=1),
    ),
    proofs=(
        BySolver(
            "A domain that is too large or too small by a face: the pseudo domain (30) of two "
            "earlier papers is refuted at every size.",
            cases=lambda deep: symbolic_rows(4 if deep else 3),
            assuming=ordered,
        ),
    ),
    library=Library(
        ("fwlab.TopK.conjugate", "fwlab.TopK.in_domain"),
        lambda case: conjugate_in_the_library(fwlab.TopK(case.k), case),
    ),
)
def topk_conjugate(case: Case, sign: int = 1, free: bool = True, extra: int = 0) -> Outcome:
    v, y, m, k = case.v, case.y, case.m, case.k + extra
    kept = all_of(equals(total(v), 0), in_topk_simplex(v, k))
    inside = in_topk_domain(v, y, k) if free else kept
    stated = Stated(inside, sign * v[y], unit(m, y), centred_directions(m, y, case.k))
    found = truth(is_conjugate(v, case.scores, stated, centred(y, case.k), tangent(y, case.k)))
    if is_symbolic(v):
        return found
    conjugate = exact.conjugate(reference.TopK(case.k), v, y)
    return both(equal(conjugate, stated_conjugate(case, topk_simplex(m, k), sign, free)), found)


def centred(y: int, k: int) -> Any:
    """Return the top-k hinge as a function of the scores."""
    return lambda s: top_k(margins(s, y), k)


def tangent(y: int, k: int) -> Any:
    """Return the recession function of the top-k hinge."""
    return lambda d: top_k([x - d[y] for x in d], k)


def hulls(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield convex hulls of a few points with small integer entries.

    Each comes with delta, where delta_y = 0, and points v in and around the domain. Some hulls have
    the line along e_y added, on which the loss stays finite.
    """
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
        version("the y-th entry is not changed", free=False),
        version("v need not sum to 0", total=None),
    ),
    assumed="the maximum in (9) is attained for every s, as the polyhedron need not be bounded",
    not_proved="polyhedra of all kinds; each case is decided by exact linear programs",
)
def conjugate_of_a_maximum(
    case: Case, sign: int = -1, free: bool = True, total: int | None = 0
) -> Outcome:
    y, v = case.y, case.v
    hull = hull_of(case.corners, line=y if case.line else None)
    inside = contains(hull, v, free=(y,) if free else ())
    stated: Any = math.inf
    if inside and (total is None or sum(v) == total):
        stated = sign * exact.inner(v, case.delta)
    return equal(supremum(case.corners, case.delta, v, y), stated)


def hull_of(corners: Sequence[Numbers], line: int | None) -> Polytope:
    """Return the convex hull of the points, plus all multiples of e_line."""
    weights = [("corner", i) for i in range(len(corners))]
    entries = []
    for j in range(len(corners[0])):
        entry: dict[Any, Any] = {w: c[j] for w, c in zip(weights, corners, strict=True)}
        if j == line:
            entry |= {"up": 1, "down": -1}
        entries.append(entry)
    return polytope(entries, equal=[(sum_of(weights), 1)])


def supremum(corners: Sequence[Numbers], delta: Numbers, v: Numbers, y: int) -> Fraction | float:
    """Return the supremum over s of <v, s> - Phi(s).

    Phi is the largest of the affine functions <beta, delta + s - s_y 1> of the corners beta. A line
    along e_y does not change Phi.
    """
    affine: dict[tuple[Fraction, ...], Fraction] = {}
    for beta in corners:
        slope = tuple(b - sum(beta) if j == y else b for j, b in enumerate(beta))
        height = exact.inner(beta, delta)
        affine[slope] = max(affine.get(slope, height), height)
    return exact.conjugate_of_maximum(affine, v)


def topk_errors(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield exact scores with ties, often between the true class and the k-th largest."""
    for m, k in sizes(6 if deep else 5):
        for _ in range(20 if deep else 6):
            y, scores, other = int(rng.integers(m)), fractions(rng, m, 1), fractions(rng, m, 1)
            yield Case(kind="exact, ties", m=m, k=k, y=y, scores=scores, other=other)


def symbolic_pairs(deep: bool) -> Iterator[Case]:
    """Yield two score vectors as symbols; the error depends only on the order of the classes."""
    for m, k in symbolic_sizes(4):
        yield Case(kind="symbols", m=m, k=k, y=0, scores=reals("s", m), other=reals("t", m))


@claim(
    "K19-topk-surrogate",
    "B.2",
    "The top-k hinge loss is a convex upper bound of the top-k error, which is 1 if k other "
    "classes score at least as high as the true one.",
    formula=r"\Phi_{utk}(s;y)\geq\mathrm{err}_k(s;y)",
    shapes="s: (m,)",
    judged="ties count as errors; an error that does not count ties is smaller.",
    cases=topk_errors,
    planted=(
        version("a bound of the top-(k-1) error", fewer=1),
        version("a bound of twice the error", height=2),
    ),
    proofs=(
        BySolver(
            "Scores that tie at the k-th place, where the error jumps and the loss has a kink.",
            cases=symbolic_pairs,
        ),
    ),
)
def surrogate(case: Case, fewer: int = 0, height: int = 1) -> Outcome:
    s, t, y, k = case.scores, case.other, case.y, max(1, case.k - fewer)
    others = others_of(s, y)
    wrong: Real = where(kth_largest(others, k) >= s[y], 1, 0) if k <= len(others) else 0
    values = [top_k(margins(x, y), case.k) for x in (s, middle(s, t), t)]
    return both(at_most(height * wrong, values[0]), at_most(2 * values[1], values[0] + values[2]))


def middle(s: Sequence[Real], t: Sequence[Real]) -> list[Real]:
    """Return (s + t)/2."""
    return [(a + b) / 2 for a, b in zip(s, t, strict=True)]
