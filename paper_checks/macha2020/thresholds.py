"""M20 sections 2.1 and 2.2: the thresholds of TopPushK, of Accuracy at the Top and of Pat&Mat."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.macha2020.problems import (
    pick,
    primal,
    random_problem,
    rationals,
    surrogate,
    threshold_k,
)
from paper_checks.outcomes import at_most, both, equal, truth

Scores = Sequence[Fraction]


def weight_pairs(rng: Rng, deep: bool) -> Iterator[Case]:
    """Problems with two weight vectors w and v."""
    for kind in ("quadratic", "hinge"):
        for _ in range(200 if deep else 60):
            case = random_problem(rng, kind)
            d = case.positives.shape[1]
            case.w, case.v = rationals(rng, d), rationals(rng, d)
            yield case


def kth_largest(scores: Scores, K: int) -> Fraction:
    return sorted(scores, reverse=True)[K - 1]


@claim(
    "M20-eq5",
    "(5)",
    "The TopPushK problem is convex, and for K = 1 its threshold is the largest negative score, "
    "which makes it TopPush.",
    formula=r"t=\frac{1}{K}\sum_{j=1}^K s^-_{[j]}",
    shapes="w: (d,)",
    cases=weight_pairs,
    planted=(
        version("also with the K-th largest score as threshold", threshold=kth_largest),
        version(
            "also with the mean of the K smallest scores",
            threshold=lambda s, K: -threshold_k([-x for x in s], K),
        ),
    ),
)
def toppushk_is_convex(
    case: Case, threshold: Callable[[Scores, int], Fraction] = threshold_k
) -> Outcome:
    """Between w and v, exactly; and the value at K = 1 against the maximum."""

    def value(w: np.ndarray, K: int) -> Fraction:
        return primal(case, w, threshold(list(case.negatives @ w), K))

    share = Fraction(1, 3)
    between = value(share * case.w + (1 - share) * case.v, case.K)
    above = share * value(case.w, case.K) + (1 - share) * value(case.v, case.K)
    push = primal(case, case.w, max(case.negatives @ case.w))
    return both(at_most(between, above), equal(value(case.w, 1), push))


@claim(
    "M20-lemma-topk",
    "proof of Theorem 2.1",
    "The mean of the K largest scores is the least of t plus a K-th of the parts above t.",
    formula=r"\frac{1}{K}\sum_{j=1}^K s_{[j]}=\min_t\ t+\frac{1}{K}\sum_j\max(0,s_j-t)",
    shapes="s: (n-,)",
    cases=weight_pairs,
    planted=(version("one of K + 1", more=1), version("without the factor 1/K", divided=False)),
)
def mean_as_minimum(case: Case, more: int = 0, divided: bool = True) -> Outcome:
    """The right side is piecewise linear with its kinks at the scores."""
    s = case.negatives @ case.w
    factor = Fraction(1, case.K + more) if divided else Fraction(1)
    least = min(t + factor * sum(max(Fraction(0), x - t) for x in s) for t in s)
    return equal(threshold_k(list(s), case.K), least)


# ---------------------------------------------------------------- Accuracy at the Top


def scored_samples(rng: Rng, deep: bool) -> Iterator[Case]:
    """Scores of positives and negatives, distinct and tied, and tau; small sizes first."""
    for size in range(2, 12 if deep else 9):
        for _ in range(8):
            negatives = int(rng.integers(1, size))
            tau = pick(rng, [Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(2, 3)])
            distinct = tuple(Fraction(int(s)) for s in rng.permutation(size))
            for kind, scores in (("distinct", distinct), ("ties", fractions(rng, size))):
                yield Case(
                    kind=kind, tau=tau, negatives=scores[:negatives], positives=scores[negatives:]
                )


def quantile(scores: Scores, budget: Fraction) -> Fraction | None:
    """(8): the largest t with at least `budget` scores at or above it; None if there is none."""
    reached = [t for t in scores if sum(s >= t for s in scores) >= budget]
    return max(reached, default=None)


@claim(
    "M20-eq8",
    "(8)",
    "The t with budget n tau is the top tau-quantile of the scores of the negative samples: the "
    "least share of them at or above it that is not below tau.",
    formula=r"t=\max\{t:\ \sum_{j=1}^{n^-}[s^-_j-t]\geq n\tau\}",
    shapes="n = n+ + n-; 0 < tau < 1",
    judged="[x] is 1 for x >= 0, without which the maximum is not attained. The paper keeps n tau "
    "in every later formula, so that it is no slip of one place.",
    cases=scored_samples,
    corrected=version("with the budget n- tau", count=lambda case: len(case.negatives)),
    planted=(version("with the budget tau", count=lambda case: 1),),
)
def budget_of_quantile(
    case: Case, count: Callable[[Case], int] = lambda c: len(c.negatives) + len(c.positives)
) -> Outcome:
    """The tau-quantile by its meaning: the share reaches tau there, and at no higher score."""
    scores, size = case.negatives, len(case.negatives)
    t = quantile(scores, count(case) * case.tau)
    if t is None:
        return truth(False, t="none: the budget is above the number of negatives")
    share = Fraction(sum(s >= t for s in scores), size)
    higher = [Fraction(sum(s >= u for s in scores), size) for u in scores if u > t]
    return truth(share >= case.tau and all(x < case.tau for x in higher), t=t, share=share)


@claim(
    "M20-eq8-all",
    "(8), Figure 2",
    "The t with budget n tau is the top tau-quantile of the scores of all samples.",
    formula=r"t=\max\{t:\ \sum_{j=1}^{n^-}[s^-_j-t]\geq n\tau\}",
    shapes="n = n+ + n-; 0 < tau < 1",
    judged="Figure 2 marks the quantile of all scores for this method.",
    cases=scored_samples,
    corrected=version("if the sum in (8) is over all n samples", everyone=True),
    planted=(version("with twice the budget and all samples", everyone=True, factor=2),),
)
def quantile_of_all(case: Case, everyone: bool = False, factor: int = 1) -> Outcome:
    everything = [*case.negatives, *case.positives]
    t = quantile(everything if everyone else case.negatives, factor * len(everything) * case.tau)
    right = quantile(everything, len(everything) * case.tau)
    return truth(t == right, t=t, right=right)


def two_score_vectors(rng: Rng, deep: bool) -> Iterator[Case]:
    """Scores of the negatives for two w, a budget up to their number, theta and a surrogate."""
    for kind in ("hinge", "quadratic"):
        for _ in range(200 if deep else 60):
            size = int(rng.integers(1, 6))
            yield Case(
                kind=kind,
                s=fractions(rng, size),
                r=fractions(rng, size),
                budget=Fraction(int(rng.integers(1, 4 * size + 1)), 4),
                theta=pick(rng, [Fraction(1, 2), Fraction(1), Fraction(2)]),
            )


def saturating(kind: str, theta: Fraction, s: Any) -> Any:
    """A surrogate cut off at 1: no convex one."""
    return min(1, surrogate("hinge", theta, s))


def shifted(kind: str, theta: Fraction, s: Any) -> Any:
    """Convex, but below the 0-1 loss around 0."""
    return surrogate(kind, theta, s - Fraction(1) / theta)


@claim(
    "M20-eq10",
    "(10)",
    "The least t that satisfies (10) is convex in the scores and nowhere below the true quantile "
    "(8) with the same budget.",
    formula=r"\sum_{j=1}^{n^-}l_2(w^\top x^-_j-t)\leq n\tau",
    shapes="scores: (n-,)",
    judged="(10) is an inequality that every large t satisfies; (11) chooses the least such t, as "
    "the loss does not decrease in t.",
    cases=two_score_vectors,
    planted=(
        version("with a surrogate cut off at 1", loss=saturating),
        version("with a surrogate below the 0-1 loss", loss=shifted),
    ),
)
def surrogate_threshold(case: Case, loss: Callable[..., Any] = surrogate) -> Outcome:
    """Thresholds by bisection in fractions, rounded up: the mean of two satisfies (10) for the mean
    scores, and the quantile is at most the threshold, up to the last step of the bisection."""

    def spent(scores: Scores, t: Fraction) -> Any:
        return sum(loss(case.kind, case.theta, x - t) for x in scores)

    def least_threshold(scores: Scores) -> Fraction:
        return threshold_above(lambda t: spent(scores, t) - case.budget)

    least = [least_threshold(x) for x in (case.s, case.r)]
    mean = [(a + b) / 2 for a, b in zip(case.s, case.r, strict=True)]
    convex = at_most(spent(mean, sum(least, Fraction()) / 2), case.budget)
    quantiles = [quantile(x, case.budget) for x in (case.s, case.r)]
    return both(convex, *[at_most(q, t) for q, t in zip(quantiles, least, strict=True)])


def threshold_above(too_much: Callable[[Fraction], Any], steps: int = 40) -> Fraction:
    """A t with too_much(t) <= 0 by less than 2^-30 above the least one."""
    low, high = Fraction(-16), Fraction(16)
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if too_much(middle) > 0 else (low, middle)
    return high


@claim(
    "M20-quantile-not-convex",
    "2.2",
    "The quantile (8) is not a convex function of the scores.",
    cases=lambda rng, deep: [
        Case(kind="exact", s=(Fraction(2), Fraction(0), Fraction(0)), budget=Fraction(2))
    ],
    shapes="scores: (n-,)",
    planted=(version("for budget 1, where it is the maximum", budget=1),),
)
def quantile_is_not_convex(case: Case, budget: int = 2) -> Outcome:
    """Between the scores s and their reverse."""
    back = case.s[::-1]
    middle = [(a + b) / 2 for a, b in zip(case.s, back, strict=True)]
    ends = [quantile(x, Fraction(budget)) or Fraction(0) for x in (case.s, back)]
    at_middle = quantile(middle, Fraction(budget)) or Fraction(0)
    return truth(at_middle > sum(ends) / 2, ends=tuple(ends), middle=at_middle)
