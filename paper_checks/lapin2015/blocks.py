"""Check L15 section 3.2 and the update of section 5: one block of dual variables, and kernels."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import sympy

import fwlab
import reference
from paper_checks.cases import Rng, changed
from paper_checks.definitions import in_topk_simplex
from paper_checks.lapin2015.compatibility import centred, finite_with_a_y_zero, random_point
from paper_checks.lapin2015.duality import (
    Rows,
    fenchel_dual,
    gram,
    printed_dual,
    problems,
    scores,
)
from paper_checks.ledger import Case, Condition, Erratum, Library, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, false
from paper_checks.proofs import ByTheorem
from reference import exact
from reference.exact_projection import Point, Region, project, topk_simplex


def blocks(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield problems with A in the domain of the stated dual; the first block is to be updated."""
    yield by_hand()
    for case in problems(rng, deep):
        if case.k == case.m:
            continue
        lam_n, n = case.lam * len(case.y), len(case.y)
        for _ in range(4):
            rows = [random_point(rng, stated_corners(case, i, lam_n)) for i in range(n)]
            yield changed(case, kind="exact", A=tuple(rows))


def by_hand() -> Case:
    """Return a problem on which Proposition 4 misses the maximiser.

    Its block update is x = (5/6, 5/6), and the dual's maximiser is x = (1, 0).
    """
    X, A = np.array([[1], [1]]), (tuple(map(Fraction, a)) for a in ((0, 0, 0), (-1, 2, -1)))
    problem = {"m": 3, "k": 2, "loss": reference.TopK(2), "lam": Fraction(1, 4)}
    return Case(kind="by hand", **problem, X=X, y=(0, 1), A=tuple(A))


def top_k_blocks(rng: Rng, deep: bool) -> Iterator[Case]:
    return (c for c in blocks(rng, deep) if isinstance(c.loss, reference.TopK))


def stated_corners(case: Case, i: int, lam_n: Fraction) -> list[Point]:
    """Return the corners of the blocks with a finite stated D.

    For these, -lam n (a_i - a_y e_y) is in the domain of the conjugate, a convex hull with entries
    >= 0, and its y-th entry is 0.
    """
    y = case.y[i]
    slopes = exact.pieces(case.loss, case.m, y, centred=False)
    return [tuple(-x / lam_n for x in centred(s, y)) for s in slopes if s[y] == 0]


def true_corners(case: Case, i: int, lam_n: Fraction) -> list[Point]:
    """Return the corners of the blocks with a finite Fenchel dual."""
    slopes = exact.pieces(case.loss, case.m, case.y[i])
    return [tuple(-x / lam_n for x in slope) for slope in slopes]


def updated(
    s: Sequence[Fraction], a: Point, length: Fraction, y: int, region: Region, rho: Fraction
) -> Point:
    """Return the updated block, given scores s, the old block a and length = <x_i, x_i>."""
    q = [score - length * x for score, x in zip(s, a, strict=True)]
    b = tuple((q_j + 1 - q[y]) / length for j, q_j in enumerate(q) if j != y)
    x = [-entry for entry in project(b, region, rho)]
    return (*x[:y], -sum(x, Fraction()), *x[y:])


def with_block(A: Rows, i: int, a: Sequence[Fraction]) -> Rows:
    return [a if row == i else old for row, old in enumerate(A)]


def is_best(case: Case, A: Rows, dual: Any, corners: list[Point]) -> Outcome:
    """State that no move of the first block towards a corner of its domain raises the dual.

    On the domain the dual is a concave quadratic, so three values give its slope at A exactly, and
    slopes that are nowhere positive mean a maximum.
    """
    here = dual(case, A)
    if here == -inf:
        return false(seen="the new block is outside the domain", block=A[0])
    slopes = [Fraction(0)]
    for corner in corners:
        half = tuple((x + z) / 2 for x, z in zip(A[0], corner, strict=True))
        middle, end = (dual(case, with_block(A, 0, a)) for a in (half, corner))
        slopes.append(-3 * here + 4 * middle - end)
    return at_most(max(slopes), 0, block=A[0])


def objective_is_the_projections(
    deep: bool, fenchel: bool = False, rho: int = 1, radius_times_lam: bool = False
) -> bool:
    """Return whether D in one block is the projection's objective, for every m and k.

    With x = -a without y, S = <1, x>, N = <x, x>, Q = <q without y, x>, K = <x_i, x_i>: the terms
    of D in the block, by Proposition 2 and Theorem 1, equal the terms of |b - x|^2 + rho S^2. The
    stated D is finite for lam n x in the top-k simplex. If lam n r = 1, this means that x is in the
    top-k simplex of radius r, as all its other bounds are homogeneous. Fenchel's dual is finite on
    a larger set (L15-prop3), which for k = 2 has the vertex (1/2, 0).
    """
    S, N, Q, K, q_y, lam, n = sympy.symbols("S N Q K q_y lam n", positive=True)
    D = lam * S - lam / 2 * (K * (S**2 + N) + 2 * (q_y * S - Q))
    inner_b_x = (Q + (1 - q_y) * S) / K
    projection = N - 2 * inner_b_x + rho * S**2
    radius = (lam if radius_times_lam else 1) / (lam * n)
    vertex = (Fraction(1, 2), Fraction(0))
    in_domain = finite_with_a_y_zero if fenchel else in_topk_simplex
    same_domain = in_domain(vertex, 2) == in_topk_simplex(vertex, 2) and lam * n * radius == 1
    return same_domain and sympy.expand(D + lam * K / 2 * projection) == 0


@claim(
    "L15-update-optimal",
    "section 3.2",
    "The update of line 9 of Algorithm 1 maximises the stated dual D jointly over the m variables "
    "of a sample.",
    formula=r"a_i\in\mathrm{argmax}_{a_i}\,D(A)",
    shapes="a_i: (m,); 1 <= k < m, x_i not 0",
    judged="D as Theorem 1 states it with the conjugate of Proposition 2; whether that is the dual "
    "of the top-k SVM is L15-thm1 and L15-prop4.",
    assumed="x_i is not 0: b is divided by <x_i, x_i>.",
    cases=top_k_blocks,
    planted=(
        version("Fenchel's dual of the top-k SVM", fenchel=True),
        version("rho = 0", rho=0),
        version("the radius 1/n", radius_times_lam=True),
    ),
    proofs=(
        ByTheorem(
            "A factor of 2 between the two objectives that moves the maximiser by "
            "too little for the corners of the small problems to show.",
            objective_is_the_projections,
        ),
    ),
)
def update_maximises(
    case: Case, fenchel: bool = False, rho: int = 1, radius_times_lam: bool = False
) -> Outcome:
    lam_n = case.lam * len(case.y)
    r = case.lam / lam_n if radius_times_lam else 1 / lam_n
    K = gram(case.X)
    region = topk_simplex(case.k, r)
    a = updated(scores(case.A, K, 0), case.A[0], K[0][0], case.y[0], region, Fraction(rho))
    A = with_block(case.A, 0, a)
    if fenchel:
        return is_best(case, A, fenchel_dual, true_corners(case, 0, lam_n))
    return is_best(case, A, printed_dual, stated_corners(case, 0, lam_n))


@claim(
    "L15-prop4",
    "Proposition 4",
    "The block update of the top-k SVM (3) is the biased projection of b onto the top-k simplex of "
    "radius 1/(lam n) with rho = 1.",
    formula=r"\max_{a_i}D(A)\ \equiv\ \min_{x\in\Delta_k(1/(\lambda n))}"
    r"\|b-x\|^2+\rho\langle 1,x\rangle^2",
    shapes="b, x: (m - 1,); A: (m, n), given as one row for each sample; 1 <= k < m, x_i not 0; "
    "classes count from 0",
    judged="D is the dual of the top-k SVM with the loss (3), as section 3.2.1 says; for the D "
    "that Theorem 1 states see L15-update-optimal.",
    assumed="x_i is not 0: b is divided by <x_i, x_i>.",
    cases=top_k_blocks,
    condition=Condition("k = 1", lambda case: case.k == 1),
    corrected=version(
        "for the D that Theorem 1 states",
        update_maximises.form,
        formula=r"\max_{a_i}D(A)\ \equiv\ \min_x\{\|b-x\|^2+\langle 1,x\rangle^2:"
        r"\ 0\leq x_j\leq\frac{r}{k},\ (k-1)x_j\leq\langle 1,x\rangle\leq r\},"
        r"\ r=\frac{1}{\lambda n}",
    ),
    planted=(
        version("rho = 0", rho=0),
        version("rho = 0, stated D", update_maximises.form, rho=0),
    ),
    sides=("steepest rise of D at the update", "at a maximum"),
    not_proved="The identity of the objectives is proved in L15-update-optimal, the difference of "
    "the domains in L15-prop3.",
    erratum=Erratum(
        "section 3.2.1, Proposition 4 for the loss (3)",
        r"\max_{a_i}D(A)\ \equiv\ \min_x\{\|b-x\|^2+\rho\langle 1,x\rangle^2:\ "
        r"x\in\Delta_k(\frac{1}{\lambda n})\}",
        r"\max_{a_i}D(A)\ \equiv\ \min_x\{\|b-x\|^2+\rho\langle 1,x\rangle^2:\ "
        r"(x,w)\in\Delta_k(\frac{1}{\lambda n})\ \mathrm{for\ some}\ w\}",
        r"Proposition 4 is right for the D that Theorem 1 states, but that D is not the dual of "
        r"the SVM with the loss (3): this one lets the true class have a share $w$ of its own "
        r"(L15-prop3). For $m=3$, $k=2$, $n=2$, $x_1=x_2=1$, $y=(1,2)$, $\lambda=\frac{1}{4}$, "
        r"$a_2=(-1,2,-1)$, $a_1=0$: $r=2$ and $b=(4,1)$. $\Delta_2(2)$ asks for $x_1=x_2$, so the "
        r"update is $x=(\frac{5}{6},\frac{5}{6})$ with the objective $\frac{77}{6}$; $x=(1,0)$, "
        r"with $w=1$, has 11.",
        "Algorithm 1, line 9, with the loss (3) and 2 <= k < m: it maximises the dual of a "
        "smaller loss, the pseudo top-k loss of K19 (31).",
    ),
)
def projection_is_the_update(case: Case, rho: int = 1) -> Outcome:
    return update_maximises.form(case, fenchel=True, rho=rho)


def library_kernel(case: Case) -> Outcome:
    """State that fwlab's D at A, from the Gram matrix, equals Fenchel's, from the features."""
    features = np.array([np.outer(x, x).ravel() for x in case.X])
    K, y, lam = (features @ features.T).astype(float), np.array(case.y), float(case.lam)
    A = lam * len(y) * np.array([[float(x) for x in a] for a in case.A])
    loss = fwlab.TopK(case.k)
    problem = fwlab.Problem(K, y, loss, lam, kernel="precomputed", n_classes=case.m)
    return equal(problem.dual(A), float(fenchel_dual(changed(case, X=features), case.A)))


@claim(
    "L15-kernel",
    "section 3.1",
    "Algorithm 1 needs the samples only through their inner products: scores are A K_i, so a "
    "kernel may replace them.",
    formula=r"W^\top x_i=AK_i,\quad \mathrm{tr}(W^\top W)=\mathrm{tr}(AKA^\top)",
    shapes="A: (m, n); K: (n, n)",
    judged="Tried with the kernel <x, z>^2 against the features that it stands for, all products "
    "of two entries, over two passes of block updates.",
    cases=lambda rng, deep: (c for c in top_k_blocks(rng, deep) if all(np.any(c.X, axis=1))),
    planted=(
        version("the kernel <x, z>", power=1),
        version("K_ii a_i is not taken out of the scores", keep=True),
    ),
    not_proved="A statement about passes of an algorithm; each step is the definition of A K_i.",
    library=Library(("fwlab.problem.Problem.dual",), library_kernel),
)
def kernel_is_enough(case: Case, power: int = 2, keep: bool = False) -> Outcome:
    features = np.array([np.outer(x, x).ravel() for x in case.X])
    K = [[entry**power for entry in row] for row in gram(case.X)]
    region = topk_simplex(case.k, 1 / (case.lam * len(case.y)))
    A, B = list(case.A), list(case.A)
    W = np.array(B).T @ features
    for i in (*range(len(A)), *range(len(A))):
        length = Fraction(int(features[i] @ features[i]))
        old = (Fraction(0),) * case.m if keep else A[i]
        A[i] = updated(scores(A, K, i), old, K[i][i], case.y[i], region, Fraction(1))
        new = updated((W @ features[i]).tolist(), B[i], length, case.y[i], region, Fraction(1))
        W = W + np.outer(np.array(new) - np.array(B[i]), features[i])
        B[i] = new
    trace = sum((exact.inner(a, scores(A, K, i)) for i, a in enumerate(A)), Fraction())
    return both(equal(A, B), equal(sum(w * w for w in W.ravel()), trace))
