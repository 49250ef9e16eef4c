"""L15 section 3.1: compatibility, Lemma 2, and the dual of Theorem 1, in exact fractions.

phi is the loss as a function of a in R^m and Phi(s) = phi(H_y s), H_y = I - 1 e_y', as one of the
scores. Matrices are the transposes of the paper's: A has one row a sample.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

import reference
from paper_checks.cases import Rng, changed, fractions, labels, sizes
from paper_checks.ledger import Case, Condition, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal
from reference import counterexamples, exact
from reference.exact import Pieces, inner
from reference.losses import Loss

Rows = Sequence[Sequence[Fraction]]


def random_point(rng: Rng, points: Sequence[Sequence[Fraction]]) -> tuple[Fraction, ...]:
    """A convex combination of up to three of the points."""
    chosen = [points[int(j)] for j in rng.integers(0, len(points), 3)]
    weights = [int(w) for w in rng.integers(0, 3, 3) + np.array([1, 0, 0])]
    total = sum(weights)
    columns = zip(*chosen, strict=True)
    return tuple(
        sum((w * x for w, x in zip(weights, c, strict=True)), Fraction()) / total for c in columns
    )


def centred(slope: Sequence[Fraction], y: int) -> tuple[Fraction, ...]:
    """H_y' slope: the sum moves to the true class's entry with a minus."""
    return tuple(x - sum(slope) if j == y else x for j, x in enumerate(slope))


# ---------------------------------------------------------------- Lemma 2 and Proposition 3


def closed_under_zeroing(rng: Rng, m: int, j: int) -> Pieces:
    """Affine pieces each of which has a twin with 0 as the j-th slope and a constant no smaller:
    then v with v_j = 0 has the same conjugate with x_j = 0 or without, as Definition 2 asks."""
    found: Pieces = {}
    for _ in range(4):
        slope, constant = list(fractions(rng, m, 2, 1)), fractions(rng, 1)[0]
        for entry in (slope[j], Fraction(0)):
            slope[j] = entry
            key = tuple(slope)
            found[key] = max(found.get(key, constant), constant)
    return found


def compatible(rng: Rng, deep: bool) -> Iterator[Case]:
    """Compatible functions as affine pieces, and points v: with sum 0 inside and outside the
    conjugate's domain, and with another sum."""
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


@claim(
    "L15-lem2",
    "Lemma 2",
    "For a j-compatible phi the conjugate of phi(H_j x) at v is phi*(v - v_j e_j) if v sums to 0 "
    "and +inf otherwise, and the pseudo-inverse of H_j is the one in the proof.",
    formula=r"\Phi^*(v)=\phi^*(v-v_je_j),\quad "
    r"(H_j^\dagger)^\top=I-e_je_j^\top-\frac{1}{m}(1-e_j)1^\top",
    shapes="v: (m,); H_j: (m, m)",
    cases=compatible,
    planted=(
        version("v + v_j e_j", sign=1),
        version("any sum of v", restricted=False),
        version("1/(m - 1) in the pseudo-inverse", offset=-1),
        version("for the top-k hinge, which is not compatible", cases=incompatible),
    ),
)
def conjugate_of_composition(
    case: Case, sign: int = -1, restricted: bool = True, offset: int = 0
) -> Outcome:
    composed: Pieces = {}
    for slope, constant in case.pieces.items():
        key = centred(slope, case.j)
        composed[key] = max(composed.get(key, constant), constant)
    left = exact.conjugate_of_maximum(composed, case.v)
    moved = [x + sign * x if i == case.j else x for i, x in enumerate(case.v)]
    finite = sum(case.v) == 0 or not restricted
    right = exact.conjugate_of_maximum(case.pieces, moved) if finite else inf
    return both(equal(left, right), penrose(case.m, case.j, case.m + offset))


def penrose(m: int, j: int, divisor: int) -> Outcome:
    """The four conditions of Penrose, each entry exactly."""
    one, e = np.full((m, 1), Fraction(1)), np.array([[Fraction(int(i == j))] for i in range(m)])
    identity = np.array([[Fraction(int(a == b)) for b in range(m)] for a in range(m)])
    H = identity - one @ e.T
    G = (identity - e @ e.T - (one - e) @ one.T / divisor).T
    pairs = [(H @ G @ H, H), (G @ H @ G, G), ((H @ G).T, H @ G), ((G @ H).T, G @ H)]
    return both(*[equal(left, right) for left, right in pairs])


def vectors_without_y(rng: Rng, deep: bool) -> Iterator[Case]:
    """m, k and the m - 1 entries of v other than v_y = 0; (69) of K19 among them."""
    for m, k in sizes(6 if deep else 5):
        if k < m:
            yield Case(kind="coarse grid", m=m, k=k, v=grid(rng, m - 1, 2 * k))
            yield Case(kind="coarse grid", m=m, k=k, v=grid(rng, m - 1, m * k))
            yield Case(kind="uniform", m=m, k=k, v=(Fraction(1, m),) * (m - 1))
        if 2 <= k < m:
            yield Case(kind="K19 (69)", m=m, k=k, v=tuple(counterexamples.kato_vector(m, k)))


def grid(rng: Rng, size: int, denominator: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(int(step), denominator) for step in rng.integers(0, 3, size))


@claim(
    "L15-prop3",
    "Proposition 3",
    "The top-k hinge is y-compatible: for v with v_y = 0 the conjugate is not changed by holding "
    "the true class's entry at 0.",
    formula=r"\sup_{a:\,a_y=0}\ \langle v,a\rangle-\phi_k(a)=\phi_k^*(v)",
    shapes="a, v: (m,); 1 <= k < m",
    cases=vectors_without_y,
    condition=Condition("k = 1", lambda case: case.k == 1),
    corrected=version("the left side is at most the right side", only_at_most=True),
    planted=(version("the left side is at least the right side", sign=-1, only_at_most=True),),
)
def top_k_is_compatible(case: Case, only_at_most: bool = False, sign: int = 1) -> Outcome:
    loss = reference.TopK(case.k)
    left = counterexamples.lhs(loss, case.v, case.m - 1)
    right = counterexamples.rhs(loss, case.v, case.m - 1)
    if only_at_most:
        return at_most(left, right) if sign > 0 else at_most(right, left)
    return equal(left, right)


# ---------------------------------------------------------------- Theorem 1


def problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Small training problems with each loss of section 2: X, y, lam, loss."""
    for m, k in sizes(5 if deep else 4):
        for loss in (reference.TopK(k), reference.Usunier(k)):
            for _ in range(3 if deep else 1):
                n, d = int(rng.integers(2, 4)), int(rng.integers(1, 3))
                X = rng.integers(-2, 3, (n, d))
                X[0, 0] = 1  # the first sample is not 0: its block update divides by its length
                lam = Fraction(int(rng.integers(1, 9)), 4)
                y = tuple(int(label) for label in labels(rng, n, m))
                yield Case(kind="problem", m=m, k=k, loss=loss, lam=lam, X=X, y=y)


def dual_matrices(rng: Rng, deep: bool) -> Iterator[Case]:
    """Problems with dual variables A: in the domain of Fenchel's dual, rows that do not sum to 0
    too; and, as "optimum", problems to be solved."""
    for case in problems(rng, deep):
        scale = -1 / (case.lam * len(case.y))
        rows = []
        for y in case.y:
            slopes = list(exact.pieces(case.loss, case.m, y))
            rows.append(tuple(scale * x for x in random_point(rng, slopes)))
        yield changed(case, kind="feasible", A=tuple(rows))
        shifted = tuple(tuple(x + Fraction(int(j == 0), 2) for j, x in enumerate(a)) for a in rows)
        yield changed(case, kind="rows with another sum", A=shifted)
        if case.m <= 3:
            yield changed(case, kind="optimum", A=None)


def gram(X: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(int(x @ z)) for z in X] for x in X]


def scores(A: Rows, K: Rows, i: int) -> list[Fraction]:
    """A K_i, with the samples in the rows of A: (m,)."""
    return [inner(column, K[i]) for column in zip(*A, strict=True)]


def trace_term(A: Rows, K: Rows) -> Fraction:
    """tr(A K A')."""
    return sum((inner(a, scores(A, K, i)) for i, a in enumerate(A)), Fraction())


def printed_conjugate(loss: Loss, lam_n: Fraction, a: Sequence[Fraction], y: int) -> Any:
    """phi*(-lam n (a - a_y e_y)), the term of Theorem 1."""
    v = [Fraction(0) if j == y else -lam_n * x for j, x in enumerate(a)]
    return exact.conjugate_of_maximum(exact.pieces(loss, len(a), y, centred=False), v)


def printed_dual(case: Case, A: Rows, scale: int = 1, outside: float = -inf) -> Any:
    """D(A) of Theorem 1; `outside` where a row does not sum to 0."""
    if any(sum(a) != 0 for a in A):
        return outside
    n = len(A)
    rows = zip(A, case.y, strict=True)
    terms = [printed_conjugate(case.loss, case.lam * n * scale, a, y) for a, y in rows]
    return -case.lam / 2 * trace_term(A, gram(case.X)) - sum(terms) / n


def fenchel_dual(case: Case, A: Rows) -> Any:
    """-(1/n) sum Phi*(-lam n a_i) - lam/2 |X A'|^2, from the conjugate of Phi itself."""
    n = len(A)
    rows = zip(A, case.y, strict=True)
    terms = [exact.conjugate(case.loss, [-case.lam * n * x for x in a], y) for a, y in rows]
    W = np.array(A).T @ case.X
    return -case.lam / 2 * sum(w * w for w in W.ravel()) - sum(terms) / n


COMPATIBLE = Condition(
    "k = 1 or the loss is the Usunier version",
    lambda case: case.k == 1 or isinstance(case.loss, reference.Usunier),
)


@claim(
    "L15-thm1",
    "Theorem 1",
    "For the losses of section 2 the stated D(A) is the Fenchel dual of P(W), with W = X A' and "
    "scores A K_i.",
    formula=r"D(A)=-\frac{1}{n}\sum_i\phi_i^*(-\lambda n(a_i-a_{y_i,i}e_{y_i}))"
    r"-\frac{\lambda}{2}\mathrm{tr}(AKA^\top)",
    shapes="A: (m, n); K: (n, n); 1 <= k <= m",
    judged="D is read as -inf where a column of A does not sum to 0; printed is +inf "
    "(L15-thm1-outside). Both duals are compared at given A, and their largest values.",
    cases=dual_matrices,
    condition=COMPATIBLE,
    planted=(
        version("n in place of lam n", scale=2),
        version("lam/2 tr(A K A') with another factor", trace=2),
    ),
)
def stated_dual_is_fenchels(case: Case, scale: int = 1, trace: int = 1) -> Outcome:
    if case.A is None:
        return same_optimum(case)
    K = gram(case.X)
    W = np.array(case.A).T @ case.X
    links = [equal(scores(case.A, K, i), (W @ x).tolist()) for i, x in enumerate(case.X)]
    extra = (trace - 1) * case.lam / 2 * trace_term(case.A, K)
    stated = printed_dual(case, case.A, scale) - extra
    return both(equal(stated, fenchel_dual(case, case.A)), *links)


def same_optimum(case: Case) -> Outcome:
    """The certified intervals of the largest stated D and of the least P overlap."""
    X, y, lam = case.X.astype(float), np.array(case.y), float(case.lam)
    largest = reference.OtherDual(X, y, case.loss, lam, case.m).fixed_optimum()
    least = reference.linear_training(X, y, case.loss, lam, n_classes=case.m).optimum()
    return at_most(least.value_lower, largest.value_upper, 1e-7, D=largest.value_upper)


@claim(
    "L15-thm1-outside",
    "Theorem 1",
    "The dual objective, which is maximised, is +inf where a column of A does not sum to 0.",
    formula=r"D(A)=+\infty\ \mathrm{if}\ \langle 1,a_i\rangle\neq 0\ \mathrm{for\ some}\ i",
    shapes="A: (m, n)",
    judged="The +inf stands twice in the text; it is tried for compatible losses, for which the "
    "rest of the theorem holds.",
    cases=lambda rng, deep: (
        c for c in dual_matrices(rng, deep) if c.A is not None and COMPATIBLE.meets(c)
    ),
    derived=version("-inf there, as -g*(-A') is by Lemma 2", outside=-inf),
    planted=(version("0 there", outside=0.0),),
)
def stated_dual_outside(case: Case, outside: float = inf) -> Outcome:
    return equal(printed_dual(case, case.A, outside=outside), fenchel_dual(case, case.A))
