"""Check M20 section 2.1: the threshold of TopPushK."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fwlab.ranking.thresholds import MeanOfLargest
from paper_checks.arithmetic import (
    Real,
    divide,
    kth_largest,
    largest_sum,
    maximum,
    positive_part,
    total,
)
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Library, Outcome, claim, version
from paper_checks.macha2020.problems import primal, random_problem, rationals
from paper_checks.outcomes import at_most, both, equal
from paper_checks.proofs import BySolver, symbolic_sizes
from paper_checks.symbols import real, reals

Scores = Sequence[Any]
HALF = Fraction(1, 2)


def mean_of_largest(scores: Scores, K: int) -> Real:
    """Return the threshold of (5)."""
    return divide(largest_sum(scores, K), K)


def mean_of_smallest(scores: Scores, K: int) -> Real:
    return -mean_of_largest([-x for x in scores], K)


def weight_pairs(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield problems with two weight vectors w and v, and any threshold t."""
    for kind in ("quadratic", "hinge"):
        for _ in range(200 if deep else 40):
            case = random_problem(rng, kind)
            d = case.positives.shape[1]
            case.w, case.v = rationals(rng, d), rationals(rng, d)
            case.t = Fraction(int(rng.integers(-9, 10)), 2)
            yield case


def pairs_and_scores(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield problems, and scores at which other thresholds are not convex."""
    for size in (2, 3):
        scores = tuple(Fraction(int(j == 0)) for j in range(size))
        for K in (1, 2):
            yield Case(kind="scores", K=K, s=scores, r=scores[::-1], p=Fraction(0), q=Fraction(0))
    yield from weight_pairs(rng, deep)


def symbolic_scores(deep: bool) -> Iterator[Case]:
    """Yield scores s and r of the negatives, p and q of a positive, at two weight vectors."""
    for m, K in symbolic_sizes(4, smallest_m=1):
        numbers = {"s": reals("s", m), "r": reals("r", m), "p": real("p"), "q": real("q")}
        yield Case(kind="symbols", m=m, K=K, **numbers)


def threshold_of_fwlab(case: Case) -> Outcome:
    if case.kind == "scores":
        return at_fwlab(case.s, case.K)
    return at_fwlab(case.negatives @ case.w, case.K)


def at_fwlab(scores: Scores, K: int) -> Outcome:
    found = MeanOfLargest(K).value(np.asarray(scores, float))
    return equal(found, float(mean_of_largest(list(scores), K)))


THRESHOLD = Library(("fwlab.ranking.thresholds.MeanOfLargest.value",), threshold_of_fwlab)


@claim(
    "M20-eq5",
    "(5)",
    "The TopPushK problem is convex, and for K = 1 its threshold is the largest negative score, "
    "which makes it TopPush.",
    formula=r"t=\frac{1}{K}\sum_{j=1}^K s^-_{[j]}",
    shapes="w: (d,); s, r: (n-,), scores of the negatives at two w, and p, q of a positive",
    judged="On symbols, convex means: the value at the midpoint of two points is at most "
    "the mean of their values. theta = 1 is "
    "the unit of the scores.",
    cases=pairs_and_scores,
    planted=(
        version("also with the K-th largest score as threshold", threshold=kth_largest),
        version("also with the mean of the K smallest scores", threshold=mean_of_smallest),
    ),
    proofs=(
        BySolver(
            "A threshold that is convex along the lines that were drawn but not along others.",
            symbolic_scores,
            sized_by=("m", "K"),
        ),
    ),
    library=THRESHOLD,
)
def toppushk_is_convex(
    case: Case, threshold: Callable[[Scores, int], Real] = mean_of_largest
) -> Outcome:
    """Compare values between two points with their mean.

    On scores the value is the hinge of a positive, on a problem its objective. The value at K = 1
    is also compared with the value at the maximum.
    """
    if hasattr(case, "s"):
        middle = [HALF * (a + b) for a, b in zip(case.s, case.r, strict=True)]
        points = ((middle, HALF * (case.p + case.q)), (case.s, case.p), (case.r, case.q))
        losses = [positive_part(1 + threshold(s, case.K) - p) for s, p in points]
        return both(
            at_most(losses[0], HALF * (losses[1] + losses[2])),
            equal(threshold(case.s, 1), maximum(*case.s)),
        )

    def value(w: np.ndarray, K: int) -> Fraction:
        found: Fraction = primal(case, w, threshold(list(case.negatives @ w), K))
        return found

    share = Fraction(1, 3)
    between = value(share * case.w + (1 - share) * case.v, case.K)
    above = share * value(case.w, case.K) + (1 - share) * value(case.v, case.K)
    push = primal(case, case.w, max(case.negatives @ case.w))
    return both(at_most(between, above), equal(value(case.w, 1), push))


def symbolic_thresholds(deep: bool) -> Iterator[Case]:
    for m, K in symbolic_sizes(4, smallest_m=1):
        yield Case(kind="symbols", m=m, K=K, s=reals("s", m), t=real("t"))


@claim(
    "M20-lemma-topk",
    "proof of Theorem 2.1",
    "The mean of the K largest scores is the minimum over t of t plus 1/K times the "
    "sum of the parts above t.",
    formula=r"\frac{1}{K}\sum_{j=1}^K s_{[j]}=\min_t\ t+\frac{1}{K}\sum_j\max(0,s_j-t)",
    shapes="s: (n-,); t: a number",
    cases=weight_pairs,
    planted=(version("one of K + 1", more=1), version("without the factor 1/K", divided=False)),
    proofs=(
        BySolver(
            "A minimum that is attained between the scores, or only with ties at the K-th score.",
            symbolic_thresholds,
            sized_by=("m", "K"),
        ),
    ),
    library=THRESHOLD,
)
def mean_as_minimum(case: Case, more: int = 0, divided: bool = True) -> Outcome:
    """Check that no t makes the right side smaller than the left one.

    The K-th largest score attains it. On numbers the minimum over the scores, where the right side
    has its kinks, is also checked.
    """
    s = list(case.s) if hasattr(case, "s") else list(case.negatives @ case.w)
    factor = Fraction(1, case.K + more) if divided else Fraction(1)

    def right(t: Real) -> Real:
        return t + factor * total(positive_part(x - t) for x in s)

    mean = mean_of_largest(s, case.K)
    attained = equal(right(kth_largest(s, case.K)), mean)
    parts = [at_most(mean, right(case.t)), attained]
    return both(*parts) if hasattr(case, "s") else both(*parts, equal(mean, min(map(right, s))))
