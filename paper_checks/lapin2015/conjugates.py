"""Check L15 sections 2.1, 2.2.1 and 5: conjugates of the losses, and their domains.

Numbers: phi is a maximum of finitely many affine functions, read off its definition; its conjugate
at b is the least combination of their constants whose slopes combine to b, an exact linear program.

Symbols: phi*(b) = -<c, b> on a polytope P and +inf elsewhere, as <v, a + c> <= phi(a) for every
vertex v of P and every a, with equality at a = -c; and as for b outside P some direction d has
<b, d> > phi'(d), the recession slope of phi, so that <b, a> - phi(a) grows without bound.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from math import comb, inf

import numpy as np

import fwlab
import reference
from paper_checks.arithmetic import (
    ZERO,
    Real,
    all_of,
    any_of,
    implies,
    inner,
    is_symbolic,
    maximum,
)
from paper_checks.cases import Rng, changed, fractions, sizes
from paper_checks.definitions import (
    Vector,
    in_simplex,
    in_topk_simplex,
    in_usunier_simplex,
    max_hinge,
    top_k,
    usunier,
)
from paper_checks.lapin2015.forms import iff, shifted
from paper_checks.lapin2015.polytopes import (
    ONE,
    Polytope,
    capped_simplex,
    largest_over,
    topk_simplex,
    vertices,
)
from paper_checks.ledger import Case, Library, Outcome, claim, version
from paper_checks.outcomes import both, equal, truth
from paper_checks.proofs import BySolver, symbolic_sizes
from paper_checks.symbols import reals
from reference import exact
from reference.losses import Loss


def dual_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield m, k, y, a and vectors b inside the sets, on their boundary and outside."""
    for m, k in sizes(5 if deep else 4):
        y = int(rng.integers(m))
        for kind, b in points(rng, m, k):
            yield Case(kind=kind, m=m, k=k, y=y, a=fractions(rng, m), b=b)


def points(rng: Rng, m: int, k: int) -> Iterator[tuple[str, tuple[Fraction, ...]]]:
    for size in range(m + 1):
        for chosen in combinations(range(m), size):
            yield "1/k on a set of entries", tuple(Fraction(int(j in chosen), k) for j in range(m))
    for denominator in (k, 2 * k, m, m * k):
        steps = rng.integers(0, 3, m)
        yield "coarse grid", tuple(Fraction(int(step), denominator) for step in steps)
    yield "negative entries too", fractions(rng, m, 1, 2 * k)
    weights = rng.integers(0, 4, m) + 1
    total = int(weights.sum()) + int(rng.integers(0, 2))
    yield "near the uniform point", tuple(Fraction(int(w), total) for w in weights)


def symbolic_points(deep: bool) -> Iterator[Case]:
    for m, k in symbolic_sizes(4):
        yield Case(kind="symbols", m=m, k=k, y=0, a=reals("a", m), b=reals("b", m))


def conjugate_is_linear_on(
    polytope: Polytope, case: Case, phi: Callable[[Vector], Real], loss: Loss, sign: int = -1
) -> Outcome:
    """State that phi* is sign * <c, b> on a polytope and +inf elsewhere.

    phi is the loss as a function of the margins a + c, the largest <a + c, x> on the polytope.
    """
    h, b, c = shifted(case), case.b, [Fraction(int(j != case.y)) for j in range(case.m)]
    corners = vertices(polytope)
    largest = maximum(*(inner(v, h) for v in corners))
    inside = polytope.contains(b)
    attained = equal(inner(b, [-x for x in c]) - phi([ZERO] * case.m), sign * inner(c, b))
    unbounded = any_of(inside, *(inner(b, d) > phi(d) for d in polytope.normals))
    parts = [attained, equal(largest, phi(h)), truth(unbounded)]
    if not is_symbolic(b):
        affine = exact.pieces(loss, case.m, case.y, centred=False)
        stated = sign * inner(c, b) if inside else inf
        parts.append(equal(stated, exact.conjugate_of_maximum(affine, b)))
        parts.append(equal(largest_over(polytope, h), loss.of_margins(h, case.y)))
    return both(*parts)


def zeroed(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the points b with 0 as the true class's entry."""
    for case in dual_points(rng, deep):
        b = tuple(ZERO if j == case.y else x for j, x in enumerate(case.b))
        yield changed(case, b=b)


def library_domain(loss: fwlab.losses.Loss, case: Case, inside: bool) -> Outcome:
    """State that fwlab's conjugate at b - <1, b> e_y is phi*(b).

    This holds for these compatible losses and b_y = 0.
    """
    v = np.array([float(x) for x in case.b])
    v[case.y] = -v.sum()
    found = float(loss.conjugate(v, case.y)) if loss.in_domain(v, case.y) else inf
    return equal(found, -float(sum(case.b)) if inside else inf, 1e-13)


@claim(
    "L15-prop1",
    "Proposition 1, (2)",
    "The conjugate of the multiclass hinge is -<c, b> for b >= 0 with a sum of at most 1, and +inf "
    "elsewhere.",
    formula=r"\phi^*(b)=-\langle c,b\rangle\ \mathrm{if}\ b\in\Delta,\ +\infty\ \mathrm{otherwise}",
    shapes="b, c: (m,)",
    cases=dual_points,
    planted=(
        version("the sign of <c, b>", sign=1),
        version("entries of at most 1/2", cap=Fraction(1, 2)),
    ),
    proofs=(
        BySolver(
            "A b just outside the simplex, between grid points.",
            cases=lambda deep: (case for case in symbolic_points(deep) if case.k == 1),
            sized_by=("m",),
        ),
    ),
    library=Library(
        ("fwlab.losses.MaxHinge.conjugate", "fwlab.losses.MaxHinge.in_domain"),
        lambda case: library_domain(fwlab.MaxHinge(), case, in_simplex(case.b)),
        zeroed,
    ),
)
def conjugate_of_hinge(case: Case, sign: int = -1, cap: Fraction = ONE) -> Outcome:
    """State the conjugate. The planted cap changes the set; a cap of 1 leaves the simplex as it
    is."""
    simplex = capped_simplex(case.m, cap)
    same = truth(iff(simplex.contains(case.b), in_simplex(case.b))) if cap == 1 else truth(True)
    linear = conjugate_is_linear_on(simplex, case, max_hinge, reference.MaxHinge(), sign)
    return both(linear, same)


@claim(
    "L15-contraction",
    "section 2.2.1, Definition 1",
    "The top-k simplex is part of the simplex, and is all of it for k = 1.",
    formula=r"\Delta_k\subseteq\Delta=\Delta_1",
    shapes="subsets of R^m; 1 <= k <= m",
    cases=dual_points,
    planted=(version("the simplex is part of the top-k simplex", reverse=True),),
    proofs=(
        BySolver(
            "For k = 1 the two descriptions must give the same set; a grid tries few "
            "of its points.",
            cases=symbolic_points,
        ),
    ),
)
def part_of_the_simplex(case: Case, reverse: bool = False) -> Outcome:
    simplex, part = in_simplex(case.b), in_topk_simplex(case.b, case.k)
    contained = implies(simplex, part) if reverse else implies(part, simplex)
    return truth(all_of(contained, iff(in_topk_simplex(case.b, 1), simplex)))


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
        version("entries at most 1/k, as for the Usunier version", box=True),
        version("entries at most sum/(k + 1)", offset=1),
        version("the sign of <c, b>", sign=1),
    ),
    proofs=(
        BySolver(
            "A vertex of the top-k simplex that is not attained, or an extra facet; "
            "both show only in thin sets of b.",
            cases=symbolic_points,
        ),
    ),
)
def conjugate_of_top_k(case: Case, box: bool = False, offset: int = 0, sign: int = -1) -> Outcome:
    m, k = case.m, case.k
    polytope = capped_simplex(m, Fraction(1, k)) if box else topk_simplex(m, k + offset)
    member = in_usunier_simplex(case.b, k) if box else in_topk_simplex(case.b, k + offset)
    same = truth(iff(polytope.contains(case.b), member))
    loss = reference.TopK(k)
    return both(conjugate_is_linear_on(polytope, case, lambda h: top_k(h, k), loss, sign), same)


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
        version("the top-k simplex", joint=True),
        version("no bound on the sum", total=None),
        version("entries at most 1", cap=1),
    ),
    proofs=(
        BySolver(
            "Vertices with fewer than k entries, which the top-k simplex lacks.",
            cases=symbolic_points,
        ),
    ),
    library=Library(
        ("fwlab.losses.Usunier.conjugate", "fwlab.losses.Usunier.in_domain"),
        lambda case: library_domain(
            fwlab.Usunier(case.k), case, in_usunier_simplex(case.b, case.k)
        ),
        zeroed,
    ),
)
def conjugate_of_usunier(
    case: Case, joint: bool = False, total: int | None = 1, cap: int | None = None
) -> Outcome:
    m, k = case.m, case.k
    bound = Fraction(m if total is None else total)
    polytope = capped_simplex(m, Fraction(1, cap or k), bound)
    same = truth(True)
    if joint:
        polytope = topk_simplex(m, k)
    elif total == 1 and cap is None:
        same = truth(iff(polytope.contains(case.b), in_usunier_simplex(case.b, k)))
    loss = reference.Usunier(k)
    return both(conjugate_is_linear_on(polytope, case, lambda h: usunier(h, k), loss), same)


@claim(
    "L15-vertices",
    "Figure 2",
    "The top-k simplex has binomial(m, k) + 1 vertices.",
    formula=r"|\mathrm{ext}\,\Delta_k|=\frac{m!}{k!\,(m-k)!}+1",
    shapes="subsets of R^m; 1 <= k <= m",
    cases=lambda rng, deep: (Case(kind="exact", m=m, k=k) for m, k in sizes(5 if deep else 4)),
    planted=(version("0 is not counted", extra=0), version("k vertices on the axes", extra=2)),
    not_proved="No real number is free: listing all vertices in fractions settles a size.",
)
def number_of_vertices(case: Case, extra: int = 1) -> Outcome:
    found = vertices(topk_simplex(case.m, case.k))
    return equal(comb(case.m, case.k) + extra, len(found))
