"""Check LP15 A and B.3: two inequalities that the proofs of Lemma 4 and Corollary 8 use."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from paper_checks.arithmetic import absolute, inner, is_symbolic, maximum, total
from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.lei2015.norms import block_norm
from paper_checks.outcomes import at_most, both
from paper_checks.proofs import BySolver
from paper_checks.symbols import reals


def vectors(rng: Rng, deep: bool) -> Iterator[Case]:
    for c in (1, 2, 3, 6):
        for _ in range(20 if deep else 6):
            a, b = (fractions(rng, c, largest=4) for _ in range(2))
            yield Case(kind="exact", c=c, a=a, b=b)


def symbolic_vectors(deep: bool) -> Iterator[Case]:
    for c in (1, 2, 3, 4) if deep else (1, 2, 3):
        yield Case(kind="symbols", c=c, a=reals("a", c), b=reals("b", c))


@claim(
    "LP15-max-differences",
    "A, proof of Lemma 4, the line before the last display",
    "Two maxima differ by at most the largest difference of the entries, and that is at most their "
    "sum.",
    formula=r"|\max_ja_j-\max_jb_j|\leq\max_j|a_j-b_j|\leq\sum_j|a_j-b_j|",
    shapes="a, b: (c,)",
    cases=vectors,
    proofs=(
        BySolver("an order of entries that was not tried", cases=symbolic_vectors, sized_by=("c",)),
    ),
    planted=(
        version("at most half the largest difference", factor=Fraction(1, 2)),
        version("the sum is at most the largest difference", reverse=True),
    ),
)
def maxima_differ(case: Case, factor: Fraction = Fraction(1), reverse: bool = False) -> Outcome:
    off = [absolute(x - z) for x, z in zip(case.a, case.b, strict=True)]
    largest, all_together = maximum(*off), total(off)
    second = (all_together, largest) if reverse else (largest, all_together)
    first = absolute(maximum(*case.a) - maximum(*case.b))
    return both(at_most(first, factor * largest), at_most(*second))


def exponents_in_order(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield p <= q in [1, 2] and a matrix (c, d); p = 1 and q = 2 in fractions with one feature."""
    for p, q in ((1.0, 1.0), (1.0, 1.2), (1.2, 1.5), (1.5, 2.0), (1.0, 2.0)):
        for c in (1, 2, 5):
            for _ in range(10 if deep else 3):
                yield Case(kind="normal", p=p, q=q, w=rng.standard_normal((c, 3)))
        one_row = np.zeros((4, 2))
        one_row[1] = 3.0
        yield Case(kind="one class", p=p, q=q, w=one_row)
    for c in (1, 2, 4):
        yield Case(kind="exact", p=1, q=2, w=fractions(rng, c, largest=4))


def symbolic_rows(deep: bool) -> Iterator[Case]:
    for c in (1, 2, 3):
        yield Case(kind="symbols", p=1, q=2, c=c, w=reals("w", c))


@claim(
    "LP15-norm-order",
    "B.3, after the first display of the bound, the inequality called trivial",
    "The (2, p) norm is at least the (2, q) norm for p <= q, so that the class of functions of p "
    "lies in that of q.",
    formula=r"\|w\|_{2,p}\geq\|w\|_{2,q},\quad H_{p,\Lambda}\subset H_{q,\Lambda}\quad(p\leq q)",
    shapes="w: (c, d), or (c,) with one feature; 1 <= p <= q <= 2",
    cases=exponents_in_order,
    proofs=(
        BySolver(
            "signs that were not tried, for p = 1 and q = 2 with one feature",
            cases=symbolic_rows,
            sized_by=("c",),
        ),
    ),
    planted=(
        version("at most 0.99 times the (2, p) norm", factor=Fraction(99, 100)),
        version("the other way round", reverse=True),
    ),
)
def norms_in_order(case: Case, factor: Fraction = Fraction(1), reverse: bool = False) -> Outcome:
    """Compare the norms; on fractions and symbols their squares, p = 1 and q = 2."""
    if is_symbolic(case.w) or isinstance(case.w, list | tuple):
        sums = total(absolute(x) for x in case.w)
        large, small, scale = sums * sums, inner(case.w, case.w), factor * factor
    else:
        large, small = (block_norm(case.w, e) for e in (case.p, case.q))
        scale = float(factor)  # type: ignore[assignment]
    if reverse:
        return at_most(large, scale * small)
    return at_most(small, scale * large)
