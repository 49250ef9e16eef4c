"""Check M20 section 2.2: the quantile (8) of Accuracy at the Top, and Pat&Mat's threshold (10)."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from fwlab.ranking.surrogates import Surrogate
from fwlab.ranking.thresholds import SurrogateQuantile
from paper_checks.arithmetic import (
    Real,
    Truth,
    all_of,
    any_of,
    implies,
    is_symbolic,
    minimum,
    negation,
    total,
    where,
)
from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Erratum, Library, Outcome, claim, version
from paper_checks.macha2020.problems import pick, surrogate
from paper_checks.outcomes import at_most, both, equal, truth
from paper_checks.proofs import BySolver
from paper_checks.symbols import real, reals

Scores = Sequence[Any]
FOUND = Fraction(1, 2**30)  # the error of a threshold found by bisection


def scored_samples(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield scores of positives and negatives, distinct and tied, and tau; small sizes first."""
    for size in range(2, 12 if deep else 9):
        for _ in range(8):
            negatives = int(rng.integers(1, size))
            tau = pick(rng, [Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(2, 3)])
            distinct = tuple(Fraction(int(s)) for s in rng.permutation(size))
            for kind, scores in (("distinct", distinct), ("ties", fractions(rng, size))):
                yield Case(
                    kind=kind, tau=tau, negatives=scores[:negatives], positives=scores[negatives:]
                )


def symbolic_samples(deep: bool) -> Iterator[Case]:
    """Yield one to three negatives and one or two positives, with symbols for scores and tau."""
    for n_minus, n_plus in product(range(1, 5 if deep else 4), (1, 2)):
        yield Case(
            kind="symbols",
            n_minus=n_minus,
            n_plus=n_plus,
            negatives=reals("s", n_minus),
            positives=reals("p", n_plus),
            tau=real("tau"),
        )


BY_COUNTING = BySolver(
    "A tau at which the two budgets happen to require the same number of scores.",
    symbolic_samples,
    lambda case: all_of(case.tau > 0, case.tau < 1),
    sized_by=("n_minus", "n_plus"),
)


def reached(scores: Scores, t: Real, budget: Real) -> Truth:
    """Return whether at least `budget` of the scores are t or above."""
    return total(where(s >= t, 1, 0) for s in scores) >= budget


def is_quantile(scores: Scores, t: Real, budget: Real) -> Truth:
    """Return whether t is the largest number with at least `budget` scores at or above it."""
    higher = [implies(s > t, negation(reached(scores, s, budget))) for s in scores]
    return all_of(reached(scores, t, budget), *higher)


def same_quantile(case: Case, printed: tuple[Scores, Real], right: tuple[Scores, Real]) -> Outcome:
    """Check that the printed t exists and is right, given scores and a budget."""
    exists = any_of(*(reached(printed[0], s, printed[1]) for s in printed[0]))
    agrees = [
        implies(is_quantile(printed[0], s, printed[1]), is_quantile(right[0], s, right[1]))
        for s in printed[0]
    ]
    holds = all_of(exists, *agrees)
    if is_symbolic(holds):
        return truth(holds)
    found = [quantile(*printed), quantile(*right)]
    texts = ["none: the budget is above the number of scores" if t is None else t for t in found]
    return truth(holds, printed_t=texts[0], right_t=texts[1], printed_budget=printed[1])


def quantile(scores: Scores, budget: Fraction) -> Fraction | None:
    """Return (8): the largest t with at least `budget` scores at or above it, or None."""
    return max((t for t in scores if reached(scores, t, budget)), default=None)


@claim(
    "M20-eq8",
    "(8)",
    "The t with budget n tau is the top tau-quantile of the scores of the negative samples: the "
    "largest t that at least a share tau of them reaches.",
    formula=r"t=\max\{t:\ \sum_{j=1}^{n^-}[s^-_j-t]\geq n\tau\}",
    shapes="n = n+ + n-; 0 < tau < 1",
    judged="[x] is 1 for x >= 0, without which the maximum is not attained. The paper keeps "
    "n tau in every later formula, so it is not an isolated slip.",
    cases=scored_samples,
    corrected=version(
        "with the budget n- tau",
        formula=r"t=\max\{t:\ \sum_{j=1}^{n^-}[s^-_j-t]\geq n^-\tau\}",
        count=lambda case: len(case.negatives),
    ),
    planted=(
        version("with the budget tau", count=lambda case: 1),
        version("with the budget (n- - 1) tau", count=lambda case: len(case.negatives) - 1),
    ),
    proofs=(BY_COUNTING,),
    erratum=Erratum(
        page="Page 4, section 2.2, (8)",
        printed=r"\sum_{j=1}^{n^-}[w^\top x_j^--t]\geq n\tau",
        correct=r"\sum_{j=1}^{n^-}[w^\top x_j^--t]\geq n^-\tau",
        proof=r"The text calls $t$ the top $\tau$-quantile of the negative samples: a share "
        r"$\tau$ of the $n^-$ scores is at or above it, which is $n^-\tau$ scores. With $n\tau$ "
        r"the share is $\tau n/n^->\tau$. Two negatives with the scores 1 and 0, one positive, "
        r"$\tau=\frac{1}{2}$: the top half begins at 1, but (8) asks for "
        r"$\frac{3}{2}$ scores and gives $t=0$. For $\tau>n^-/n$ no $t$ satisfies (8).",
        breaks=r"The budget $n\tau$ stays in (10), (12), (30), (32) and (34): with few negatives "
        r"Pat&Mat works at another quantile than $\tau$ says. For $n^-\approx n$ it is harmless. "
        r"(The quantile of all scores, which Figure 2 marks, has the budget $n\tau$, with a sum "
        r"over all $n$ samples.)",
    ),
)
def budget_of_quantile(
    case: Case, count: Callable[[Case], int] = lambda c: len(c.negatives) + len(c.positives)
) -> Outcome:
    """Check the tau-quantile by its meaning: the share reaches tau there and at no higher score."""
    scores = case.negatives
    return same_quantile(case, (scores, count(case) * case.tau), (scores, len(scores) * case.tau))


# ---------------------------------------------------------------- (10)


def two_score_vectors(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield scores of the negatives for two w, a budget up to their number, theta and a
    surrogate."""
    for kind in ("hinge", "quadratic"):
        for _ in range(200 if deep else 40):
            size = int(rng.integers(1, 6))
            yield Case(
                kind=kind,
                surrogate=kind,
                s=fractions(rng, size),
                r=fractions(rng, size),
                budget=Fraction(int(rng.integers(1, 4 * size + 1)), 4),
                theta=pick(rng, [Fraction(1, 2), Fraction(1), Fraction(2)]),
            )


def symbolic_vectors(name: str, largest: int) -> Callable[[bool], Iterator[Case]]:
    """Return cases of scores at two w with thresholds t and u; theta = 1 is the scores' unit."""

    def cases(deep: bool) -> Iterator[Case]:
        for m in range(1, largest + 1):
            vectors, numbers = {"s": reals("s", m), "r": reals("r", m)}, ("t", "u", "budget")
            symbols = {**vectors, **{letter: real(letter) for letter in numbers}}
            yield Case(kind="symbols", surrogate=name, m=m, theta=Fraction(1), **symbols)

    return cases


def by_vectors(name: str, largest: int) -> BySolver:
    return BySolver(
        f"For the {name} surrogate, a mean of two thresholds that violates (10) at "
        f"scores that were not drawn.",
        symbolic_vectors(name, largest),
        lambda case: case.budget > 0,
        sized_by=("m",),
    )


def saturating(kind: str, theta: Real, s: Real) -> Real:
    """Return a surrogate cut off at 1, which is not convex."""
    return minimum(1, surrogate("hinge", theta, s))


def shifted(kind: str, theta: Real, s: Real) -> Real:
    """Return a convex loss that is below the 0-1 loss around 0."""
    return surrogate(kind, theta, s - 1 / theta)


def root_of_fwlab(case: Case) -> Outcome:
    """Compare fwlab's root of (10) with bisection in fractions."""
    loss = Surrogate(case.surrogate, float(case.theta))
    found = SurrogateQuantile(loss, float(case.budget)).value(np.asarray(case.s, float))
    spent = spent_with(case, case.s, surrogate)
    return equal(found, float(threshold_above(spent, case.budget)), allowed=float(2 * FOUND))


def spent_with(case: Case, scores: Scores, loss: Callable[..., Real]) -> Callable[[Real], Real]:
    """Return the left side of (10) as a function of t."""
    return lambda t: total(loss(case.surrogate, case.theta, x - t) for x in scores)


@claim(
    "M20-eq10",
    "(10)",
    "The smallest t that satisfies (10) is convex in the scores and never below the "
    "true quantile (8) with the same budget.",
    formula=r"\sum_{j=1}^{n^-}l_2(w^\top x^-_j-t)\leq n\tau",
    shapes="s, r: (n-,), scores at two w, with thresholds t, u; budget: n tau",
    judged="(10) is an inequality that every large t satisfies; (11) chooses the smallest "
    "such t, as the loss does not decrease in t.",
    cases=two_score_vectors,
    planted=(
        version("with a surrogate cut off at 1", loss=saturating),
        version("with a surrogate below the 0-1 loss", loss=shifted),
    ),
    proofs=(by_vectors("hinge", 4), by_vectors("quadratic", 1)),
    library=Library(("fwlab.ranking.thresholds.SurrogateQuantile.value",), root_of_fwlab),
)
def surrogate_threshold(case: Case, loss: Callable[..., Real] = surrogate) -> Outcome:
    """Check that the mean of two t that satisfy (10) satisfies it for the mean scores.

    The quantile is at most such a t. On numbers the smallest t are used, found by bisection in
    fractions and rounded up.
    """
    vectors, b = (case.s, case.r), case.budget
    spent = [spent_with(case, x, loss) for x in vectors]
    symbolic = hasattr(case, "t")
    t = [case.t, case.u] if symbolic else [threshold_above(f, b) for f in spent]
    mean = [(x + y) / 2 for x, y in zip(case.s, case.r, strict=True)]
    at_mean = spent_with(case, mean, loss)((t[0] + t[1]) / 2)
    above = [
        implies(reached(scores, x, b), x <= limit)
        for scores, limit in zip(vectors, t, strict=True)
        for x in scores
    ]
    if symbolic:
        premises = all_of(*(f(limit) <= b for f, limit in zip(spent, t, strict=True)))
        return truth(implies(premises, all_of(at_mean <= b, *above)), spent_at_mean=at_mean)
    quantiles = [quantile(x, b) for x in vectors]
    return both(at_most(at_mean, b), truth(all_of(*above), thresholds=t, quantiles=quantiles))


def threshold_above(spent: Callable[[Fraction], Any], budget: Fraction) -> Fraction:
    """Return a t with spent(t) <= budget that is less than 2^-30 above the smallest one."""
    low, high = Fraction(-16), Fraction(16)
    while high - low > FOUND:
        middle = (low + high) / 2
        low, high = (middle, high) if spent(middle) > budget else (low, middle)
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
    not_proved="One exact example is the proof.",
)
def quantile_is_not_convex(case: Case, budget: int = 2) -> Outcome:
    """Compare the quantile at the mean of the scores s and their reverse with the mean quantile."""
    back = case.s[::-1]
    middle = [(a + b) / 2 for a, b in zip(case.s, back, strict=True)]
    ends = [quantile(x, Fraction(budget)) or Fraction(0) for x in (case.s, back)]
    at_middle = quantile(middle, Fraction(budget)) or Fraction(0)
    return truth(at_middle > sum(ends) / 2, ends=tuple(ends), middle=at_middle)
