"""L15 section 3.2 and the update of section 5: one block of dual variables, and kernels."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

import reference
from paper_checks.cases import Rng, changed
from paper_checks.lapin2015.compatibility import centred, random_point
from paper_checks.lapin2015.duality import (
    Rows,
    fenchel_dual,
    gram,
    printed_dual,
    problems,
    scores,
)
from paper_checks.ledger import Case, Condition, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, false
from reference import exact
from reference.exact_projection import Point, Region, knapsack, project, topk_simplex


def blocks(rng: Rng, deep: bool) -> Iterator[Case]:
    """Problems with A in the domain of the stated dual; the first block is to be updated."""
    for case in problems(rng, deep):
        if case.k == case.m:
            continue
        lam_n, n = case.lam * len(case.y), len(case.y)
        for _ in range(6):
            rows = [random_point(rng, stated_corners(case, i, lam_n)) for i in range(n)]
            yield changed(case, kind="exact", A=tuple(rows))


def top_k_blocks(rng: Rng, deep: bool) -> Iterator[Case]:
    return (c for c in blocks(rng, deep) if isinstance(c.loss, reference.TopK))


def usunier_blocks(rng: Rng, deep: bool) -> Iterator[Case]:
    return (c for c in blocks(rng, deep) if isinstance(c.loss, reference.Usunier))


def stated_corners(case: Case, i: int, lam_n: Fraction) -> list[Point]:
    """The corners of the blocks with a finite stated D: -lam n (a_i - a_y e_y) is in the domain of
    the conjugate, a convex hull with entries >= 0, and has the y-th entry 0."""
    y = case.y[i]
    slopes = exact.pieces(case.loss, case.m, y, centred=False)
    return [tuple(-x / lam_n for x in centred(s, y)) for s in slopes if s[y] == 0]


def true_corners(case: Case, i: int, lam_n: Fraction) -> list[Point]:
    """The corners of the blocks with a finite Fenchel dual."""
    slopes = exact.pieces(case.loss, case.m, case.y[i])
    return [tuple(-x / lam_n for x in slope) for slope in slopes]


def updated(
    s: Sequence[Fraction], a: Point, length: Fraction, y: int, region: Region, rho: Fraction
) -> Point:
    """Proposition 4: the new block, from scores s, the old block a and length = <x_i, x_i>."""
    q = [score - length * x for score, x in zip(s, a, strict=True)]
    b = tuple((q_j + 1 - q[y]) / length for j, q_j in enumerate(q) if j != y)
    x = [-entry for entry in project(b, region, rho)]
    return (*x[:y], -sum(x, Fraction()), *x[y:])


def with_block(A: Rows, i: int, a: Sequence[Fraction]) -> Rows:
    return [a if row == i else old for row, old in enumerate(A)]


def is_best(case: Case, A: Rows, dual: Any, corners: list[Point]) -> Outcome:
    """No move of the first block towards a corner of its domain raises the dual.

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


@claim(
    "L15-update-optimal",
    "section 3.2",
    "The update of line 9 of Algorithm 1 maximises the stated dual D jointly over the m variables "
    "of a sample.",
    formula=r"a_i\in\mathrm{argmax}_{a_i}\,D(A)",
    shapes="a_i: (m,); 1 <= k < m, x_i not 0",
    judged="D as Theorem 1 states it with the conjugate of Proposition 2; whether that is the dual "
    "of the top-k SVM is L15-thm1 and L15-prop4.",
    cases=top_k_blocks,
    planted=(
        version("Fenchel's dual of the top-k SVM", fenchel=True),
        version("rho = 0", rho=0),
        version("the radius 1/n", radius_times_lam=True),
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
    shapes="b, x: (m - 1,); 1 <= k < m, x_i not 0",
    judged="D is the dual of the top-k SVM with the loss (3), as section 3.2.1 says; for the D "
    "that Theorem 1 states see L15-update-optimal.",
    cases=top_k_blocks,
    condition=Condition("k = 1", lambda case: case.k == 1),
    corrected=version("for the D that Theorem 1 states", fenchel=False),
    planted=(version("rho = 0", rho=0), version("rho = 0, stated D", rho=0, fenchel=False)),
)
def projection_is_the_update(case: Case, fenchel: bool = True, rho: int = 1) -> Outcome:
    return update_maximises.form(case, fenchel=fenchel, rho=rho)


@claim(
    "L15-usunier-radius",
    "section 5",
    "The update for the Usunier version is the biased projection onto the set with sum at most "
    "r = 1/(lam n) and entries at most u = 1/k.",
    formula=r"\min\ \frac{1}{2}\|a-x\|^2+\frac{1}{2}\rho s^2,\quad "
    r"s=\langle 1,x\rangle\leq r,\ 0\leq x_i\leq\frac{1}{k}",
    shapes="a, x: (m - 1,); 1 <= k < m, x_i not 0",
    judged="u = 1/k is printed both in (9), for every r, and in section 5.",
    cases=usunier_blocks,
    derived=version("u = r/k: the conjugate's argument is lam n times the block", scaled=True),
    planted=(
        version("u = r", scaled=True, cap=1),
        version("rho = 0", scaled=True, rho=0),
    ),
)
def usunier_update(
    case: Case, scaled: bool = False, cap: int | None = None, rho: int = 1
) -> Outcome:
    lam_n, K = case.lam * len(case.y), gram(case.X)
    upper = (1 / lam_n if scaled else Fraction(1)) / (cap or case.k)
    region = knapsack(upper, 1 / lam_n)
    a = updated(scores(case.A, K, 0), case.A[0], K[0][0], case.y[0], region, Fraction(rho))
    return is_best(case, with_block(case.A, 0, a), fenchel_dual, true_corners(case, 0, lam_n))


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
