"""Check L15 section 3.1: compatibility, Lemma 2 and Proposition 3.

phi is the loss as a function of a in R^m, and Phi(s) = phi(H_y s), H_y = I - 1 e_y', is the loss as
a function of the scores.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import inf

import numpy as np
import sympy

import fwlab
import reference
from paper_checks.arithmetic import (
    Truth,
    all_of,
    any_of,
    implies,
    inner,
    is_symbolic,
    maximum,
    total,
)
from paper_checks.cases import Rng, fractions, sizes
from paper_checks.definitions import Vector, in_topk_simplex
from paper_checks.lapin2015.forms import iff
from paper_checks.lapin2015.polytopes import ZERO
from paper_checks.ledger import Case, Condition, Erratum, Library, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, truth
from paper_checks.proofs import BySolver, ByTheorem, symbolic_sizes
from paper_checks.rational_functions import differ
from paper_checks.symbols import reals
from reference import counterexamples, exact
from reference.exact import Pieces
from reference.losses import Loss


def random_point(rng: Rng, points: Sequence[Sequence[Fraction]]) -> tuple[Fraction, ...]:
    """Return a convex combination of up to three of the points."""
    chosen = [points[int(j)] for j in rng.integers(0, len(points), 3)]
    weights = [int(w) for w in rng.integers(0, 3, 3) + np.array([1, 0, 0])]
    columns = zip(*chosen, strict=True)
    return tuple(inner(weights, c) / sum(weights) for c in columns)


def centred(slope: Sequence[Fraction], y: int) -> tuple[Fraction, ...]:
    """Return H_y' slope, which subtracts the sum from the true class's entry."""
    return tuple(x - sum(slope) if j == y else x for j, x in enumerate(slope))


def closed_under_zeroing(rng: Rng, m: int, j: int) -> Pieces:
    """Return affine pieces, each with a copy that has the j-th slope 0 and no smaller constant.

    Then the conjugate at v with v_j = 0 is the same whether or not x_j = 0 is required.
    """
    found: Pieces = {}
    for _ in range(4):
        slope, constant = list(fractions(rng, m, 2, 1)), fractions(rng, 1)[0]
        for entry in (slope[j], Fraction(0)):
            slope[j] = entry
            key = tuple(slope)
            found[key] = max(found.get(key, constant), constant)
    return found


def compatible(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield compatible functions as affine pieces, and points v.

    Points with sum 0 lie inside and outside the conjugate's domain; others have another sum.
    """
    for m, k in sizes(5 if deep else 4):
        j = int(rng.integers(m))
        losses: list[Loss] = [reference.MaxHinge(), reference.Usunier(k)]
        losses += [reference.PseudoTopK(k)] if k < m else []
        families = [(str(loss), exact.pieces(loss, m, j, centred=False)) for loss in losses]
        for name, pieces in [*families, ("random", closed_under_zeroing(rng, m, j))]:
            yield from points_of(rng, m, j, name, pieces)


def points_of(rng: Rng, m: int, j: int, name: str, pieces: Pieces) -> Iterator[Case]:
    inside = random_point(rng, [centred(slope, j) for slope in pieces])
    free = fractions(rng, m, 1, 4)
    for kind, v in (("inside", inside), ("sum 0", centred(free, j)), ("any", free)):
        yield Case(kind=kind, function=name, m=m, j=j, v=v, pieces=pieces)


def incompatible(rng: Rng, deep: bool) -> Iterator[Case]:
    for m, k in sizes(4, smallest_k=2):
        pieces = exact.pieces(reference.TopK(k), m, 0, centred=False)
        for slope in pieces:
            v = centred(slope, 0)
            yield Case(kind="top-k", function=f"TopK({k})", m=m, j=0, v=v, pieces=pieces)


def usunier_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield points inside and outside the domain for the Usunier version, sum 0."""
    for m, k in sizes(4):
        pieces = exact.pieces(reference.Usunier(k), m, 0, centred=False)
        for case in points_of(rng, m, 0, "Usunier", pieces):
            if case.kind != "any":
                yield Case(**{**vars(case), "k": k})


def library_conjugate(case: Case) -> Outcome:
    """State that fwlab's conjugate of the Usunier version of the scores is phi*(v - v_y e_y)."""
    moved = [ZERO if i == case.j else x for i, x in enumerate(case.v)]
    right = exact.conjugate_of_maximum(case.pieces, moved)
    v = np.array([float(x) for x in case.v])
    return equal(float(fwlab.Usunier(case.k).conjugate(v, case.j)), float(right))


@claim(
    "L15-lem2",
    "Lemma 2",
    "For a j-compatible phi the conjugate of phi(H_j x) at v is phi*(v - v_j e_j) if v sums to 0 "
    "and +inf otherwise.",
    formula=r"\Phi^*(v)=\phi^*(v-v_je_j)\ \mathrm{if}\ \langle 1,v\rangle=0,\ +\infty\ "
    r"\mathrm{otherwise}",
    shapes="v: (m,); H_j: (m, m)",
    cases=compatible,
    planted=(
        version("v + v_j e_j", sign=1),
        version("any sum of v", restricted=False),
        version("for the top-k hinge, which is not compatible", cases=incompatible),
    ),
    not_proved="An infinite family of functions; the pseudo-inverse of its proof is "
    "L15-lem2-pseudo-inverse.",
    library=Library(("fwlab.losses.Usunier.conjugate",), library_conjugate, usunier_points),
)
def conjugate_of_composition(case: Case, sign: int = -1, restricted: bool = True) -> Outcome:
    composed: Pieces = {}
    for slope, constant in case.pieces.items():
        key = centred(slope, case.j)
        composed[key] = max(composed.get(key, constant), constant)
    left = exact.conjugate_of_maximum(composed, case.v)
    moved = [x + sign * x if i == case.j else x for i, x in enumerate(case.v)]
    finite = sum(case.v) == 0 or not restricted
    right = exact.conjugate_of_maximum(case.pieces, moved) if finite else inf
    return equal(left, right)


# ---------------------------------------------------------------- the pseudo-inverse of H_j


def penrose_for_every_size(deep: bool, offset: int = 0) -> bool:
    """Return whether G is the pseudo-inverse of H = I - 1 e', for every m >= 2."""
    pairs = penrose_conditions(offset)
    return all(a == b and sympy.simplify(C - D).is_zero_matrix for (a, C), (b, D) in pairs)


def penrose_fails(offset: int = 0) -> Iterator[tuple[str, Truth]]:
    """Yield the formula that a condition of Penrose fails, for each condition."""
    for place, ((a, C), (b, D)) in enumerate(penrose_conditions(offset), 1):
        entries = [(a, b), *zip(C, D, strict=True)]
        yield f"condition {place}", any_of(*(differ(left, right) for left, right in entries))


def penrose_conditions(offset: int) -> list[tuple[tuple, tuple]]:
    """Return the sides of the four conditions, as pairs (alpha, C).

    Both are alpha I + V C V' with V = [e, 1] and a 2 x 2 matrix C. As V'V = [[1, 1], [1, m]] = Q,
    products stay of this form: C = alpha C' + alpha' C + C Q C'.
    """
    m = sympy.Symbol("m", positive=True)
    Q = sympy.Matrix([[1, 1], [1, m]])
    H = (sympy.Integer(1), sympy.Matrix([[0, 0], [-1, 0]]))
    # (H^+)' = I - e e' - (1 - e) 1' / m, transposed
    G = (sympy.Integer(1), sympy.Matrix([[-1, 1 / (m + offset)], [0, -1 / (m + offset)]]).T)

    def product(*factors: tuple) -> tuple:
        alpha, C = sympy.Integer(1), sympy.zeros(2, 2)
        for beta, D in factors:
            alpha, C = alpha * beta, alpha * D + beta * C + C * Q * D
        return alpha, C

    def transposed(matrix: tuple) -> tuple:
        return matrix[0], matrix[1].T

    return [
        (product(H, G, H), H),
        (product(G, H, G), G),
        (transposed(product(H, G)), product(H, G)),
        (transposed(product(G, H)), product(G, H)),
    ]


@claim(
    "L15-lem2-pseudo-inverse",
    "Lemma 2, proof",
    "The pseudo-inverse of H_j = I - 1 e_j' is the one in the proof.",
    formula=r"(H_j^\dagger)^\top=I-e_je_j^\top-\frac{1}{m}(1-e_j)1^\top",
    shapes="H_j: (m, m)",
    judged="By the four conditions of Penrose.",
    cases=lambda rng, deep: (
        Case(kind="exact", m=m, j=j) for m in range(2, 8 if deep else 6) for j in range(m)
    ),
    planted=(version("1/(m - 1) in place of 1/m", offset=-1),),
    proofs=(
        ByTheorem(
            "A factor that is right only for the small m that were tried.",
            penrose_for_every_size,
            obligations=penrose_fails,
        ),
    ),
)
def pseudo_inverse(case: Case, offset: int = 0) -> Outcome:
    m, j, divisor = case.m, case.j, case.m + offset
    one, e = np.full((m, 1), Fraction(1)), np.array([[Fraction(int(i == j))] for i in range(m)])
    identity = np.array([[Fraction(int(a == b)) for b in range(m)] for a in range(m)])
    H = identity - one @ e.T
    G = (identity - e @ e.T - (one - e) @ one.T / divisor).T
    pairs = [(H @ G @ H, H), (G @ H @ G, G), ((H @ G).T, H @ G), ((G @ H).T, G @ H)]
    return both(*[equal(left, right) for left, right in pairs])


# ---------------------------------------------------------------- Proposition 3


def vectors_without_y(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield m, k and the m - 1 entries of v other than v_y = 0; (69) of K19 among them."""
    for m, k in sizes(6 if deep else 5):
        if k < m:
            yield Case(kind="coarse grid", m=m, k=k, v=grid(rng, m - 1, 2 * k))
            yield Case(kind="coarse grid", m=m, k=k, v=grid(rng, m - 1, m * k))
            yield Case(kind="uniform", m=m, k=k, v=(Fraction(1, m),) * (m - 1))
        if 2 <= k < m:
            yield Case(kind="K19 (69)", m=m, k=k, v=tuple(counterexamples.kato_vector(m, k)))


def grid(rng: Rng, size: int, denominator: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(int(step), denominator) for step in rng.integers(0, 3, size))


def symbolic_vectors_without_y(deep: bool) -> Iterator[Case]:
    for m, k in symbolic_sizes(5 if deep else 4):
        if k < m:
            yield Case(kind="symbols", m=m, k=k, v=reals("v", m - 1))


def finite_with_a_y_zero(v: Vector, k: int) -> Truth:
    """Return whether sup over a with a_y = 0 of <v, a> - phi_k(a) is finite, for k < m."""
    S = total(v)
    shares = (all_of(k * x <= 1, (k - 1) * x <= S) for x in v)
    return all_of(*(x >= 0 for x in v), S <= 1, *shares)


def restricted_conjugate(case: Case, cap: int = 0) -> Outcome:
    """State that with a_y = 0 the conjugate at v is -<1, v> or +inf.

    By Proposition 2 it is finite if (v, w) is in the top-k simplex for some w. Definition 1 bounds
    w from below by 0 and k v_j - <1, v>; if some w is suitable, the least one is.
    """
    finite = finite_with_a_y_zero(case.v, case.k + cap)
    w = maximum(ZERO, *(case.k * x - total(case.v) for x in case.v))
    in_the_domain = in_topk_simplex((*case.v, w), case.k)
    if is_symbolic(case.v):
        return truth(iff(finite, in_the_domain))
    right = -total(case.v) if finite else inf
    return equal(counterexamples.lhs(reference.TopK(case.k), case.v, case.m - 1), right)


def library_restricted(case: Case) -> Outcome:
    """State that fwlab's conjugate of the loss of the scores is the conjugate with a_y = 0.

    The proof of Lemma 2 shows this.
    """
    v = np.array([*map(float, case.v), -float(total(case.v))])
    right = -float(total(case.v)) if finite_with_a_y_zero(case.v, case.k) else inf
    return equal(float(fwlab.TopK(case.k).conjugate(v, case.m - 1)), right, 1e-13)


@claim(
    "L15-prop3",
    "Proposition 3",
    "The top-k hinge is y-compatible: for v with v_y = 0 the conjugate is not changed by holding "
    "the true class's entry at 0.",
    formula=r"\sup_{a:\,a_y=0}\ \langle v,a\rangle-\phi_k(a)=\phi_k^*(v)",
    shapes="a, v: (m,), v_y = 0 is left out; 1 <= k < m",
    cases=vectors_without_y,
    condition=Condition("k = 1", lambda case: case.k == 1),
    corrected=version(
        "with a_y = 0 the conjugate is finite on a larger set, and -<c, v> there",
        restricted_conjugate,
        formula=r"\sup_{a_y=0}\langle v,a\rangle-\phi_k(a)=-\langle c,v\rangle\ \mathrm{if}\ "
        r"0\leq v_j\leq\frac{1}{k},\ (k-1)v_j\leq\langle 1,v\rangle\leq 1,"
        r"\ +\infty\ \mathrm{otherwise}",
    ),
    planted=(
        version(
            "the left side is finite for a w above 1/k, too",
            cap=-1,
            form=restricted_conjugate,
            cases=lambda rng, deep: (c for c in vectors_without_y(rng, deep) if c.k > 1),
        ),
        version("the left side is at least the right side", sign=-1),
    ),
    sides=("with a_y = 0", "for all a"),
    proofs=(
        BySolver(
            "For k = 1, a v on the boundary of the simplex for which the two suprema differ.",
            cases=symbolic_vectors_without_y,
        ),
    ),
    library=Library(("fwlab.losses.TopK.conjugate",), library_restricted),
    erratum=Erratum(
        "Proposition 3",
        r"\phi_k\ \mathrm{is}\ y_i\mathrm{-compatible}:\ "
        r"\max_{a,\,a_{y_i}=0}\{\langle a,b\rangle-\phi_k(a)\}=\phi_k^*(b)",
        r"\max_{a,\,a_{y_i}=0}\{\langle a,b\rangle-\phi_k(a)\}=-\langle c,b\rangle\ \mathrm{if}\ "
        r"(b_1,\ldots,w,\ldots,b_m)\in\Delta_k\ \mathrm{for\ some}\ w\ \mathrm{as\ entry}\ y_i",
        r"In the proof $\max_{a,\,a_y=0}\langle a,b-\lambda\rangle$ is finite for every $\lambda$ "
        r"that equals $b$ outside $y$, whatever $\lambda_y$ is, not for $\lambda=b$ alone. For "
        r"$m=3$, $k=2$, $y$ the third class, $b=(0,\frac{1}{2},0)$: $\lambda=(0,\frac{1}{2},"
        r"\frac{1}{2})\in\Delta_2$ gives $-\frac{1}{2}$; but $b\notin\Delta_2$, as "
        r"$\frac{1}{2}>\frac{1}{2}\langle 1,b\rangle$. Indeed $a=(-t,t,-t)$ has "
        r"$\phi_2(a)=1$ for $t\geq 1$ and $\langle a,b\rangle=\frac{t}{2}$, without bound.",
        "Theorem 1 and Proposition 4 for the top-k hinge with 2 <= k < m: D is the dual of "
        "another, smaller loss, and Algorithm 1 trains with that one.",
    ),
)
def top_k_is_compatible(case: Case, sign: int = 0) -> Outcome:
    """Compare both sides; on symbols both are -<1, v> where they are finite.

    This follows from Proposition 2 and its analogue for a_y = 0. sign is -1 for `at least`.
    """
    left = finite_with_a_y_zero(case.v, case.k)
    right = in_topk_simplex((*case.v, ZERO), case.k)
    if is_symbolic(case.v):
        return truth(iff(left, right) if sign == 0 else implies(left, right))
    loss, last = reference.TopK(case.k), case.m - 1
    held, free = counterexamples.lhs(loss, case.v, last), counterexamples.rhs(loss, case.v, last)
    return equal(held, free) if sign == 0 else at_most(free, held)
