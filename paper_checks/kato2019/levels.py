"""Check K19 section 4, A.2: weighted sums of sorted margins as sums of top-k sums, and weights."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

import fwlab
import reference
from paper_checks.arithmetic import (
    Real,
    Truth,
    inner,
    is_symbolic,
    positive_part,
    total,
    where,
)
from paper_checks.cases import Rng, fractions, sizes
from paper_checks.definitions import admissible, margins
from paper_checks.kato2019.conjugates import unit
from paper_checks.kato2019.in_fwlab import as_floats
from paper_checks.kato2019.losses import rows
from paper_checks.ledger import (
    Case,
    Erratum,
    Library,
    Outcome,
    claim,
    version,
)
from paper_checks.outcomes import at_most, both, equal, truth
from paper_checks.proofs import BySolver
from paper_checks.symbols import reals
from reference import exact
from reference.losses import indicator

Numbers = Sequence[Fraction]


def ordered_margins(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield weights with margins x in descending order."""
    yield Case(kind="exact", rho=(Fraction(2), Fraction(1)), x=(Fraction(1), Fraction(0)))
    for case in rows(rng, deep):
        x = tuple(sorted(margins(case.scores, case.y), reverse=True))
        yield Case(kind="exact, ties", rho=case.rho, x=x, scores=case.scores, y=case.y)


def symbolic_weights(deep: bool) -> Iterator[Case]:
    """Yield weights as symbols, with generators x of the cone of sorted vectors.

    They suffice, as both sides of (41) are linear on that cone.
    """
    for m in (2, 3, 4):
        for places in range(1, m + 1):
            yield Case(kind="symbols", m=m, rho=reals("rho", m), x=unit(m, *range(places)))


def admissible_weights(case: Case) -> Truth:
    return admissible(case.rho)


def falls(rho: Numbers) -> list[Truth]:
    """Return, for each k, whether rho_k > rho_{k+1}, with rho_{m+1} = 0: (39)."""
    return [a > b for a, b in zip(rho, [*rho[1:], Fraction(0)], strict=True)]


def sum_by_levels(rho: Numbers, x: Numbers, following: Numbers, shift: int = 0) -> Real:
    """Return the right side of (41).

    Its weights are rho_k minus the entry of `following`, for each k where rho falls.
    """
    triples = zip(falls(rho), rho, following, strict=True)
    steps = [where(fall, a - b, 0) for fall, a, b in triples]
    return total(step * total(x[: k + shift]) for k, step in enumerate(steps, 1))


def next_falls(rho: Numbers, decreasing: bool) -> list[Real]:
    """Return, for each k, the weight rho at the next element of K; 0 after the last."""
    found: list[Real] = []
    following: Real = Fraction(0)
    places = list(zip(rho, falls(rho), strict=True))
    for a, fall in places if decreasing else reversed(places):
        found.append(following)
        following = where(fall, a, following)
    return found if decreasing else found[::-1]


@claim(
    "K19-eq12",
    "(12) (13), A.2 (39) (41)",
    "The weighted sum of sorted margins is a sum of unweighted top-k sums over the places where "
    "the weights fall, so the weighted loss is the positive part of that sum.",
    formula=r"\Phi_{wtk}(s;y)=\max\{0,\ \sum_\ell\rho'_\ell\,g_\ell(s)\},\quad "
    r"g_\ell(s)=\sum_{j=1}^{k_\ell}(1-e_y+s-s_y1)_{\pi(j)}",
    shapes="s, rho: (m,); rho': one for each k with rho_k > rho_(k+1)",
    judged="rho'_l is the fall of the weights after the place k_l; the printed formula for it is "
    "K19-eq40.",
    cases=ordered_margins,
    planted=(
        version("the sums have one more entry", shift=1),
        version("the last weight is left out", keep_last=False),
    ),
    proofs=(
        BySolver(
            "Weights with ties or zeros, where a place must drop out of K.",
            cases=symbolic_weights,
            assuming=admissible_weights,
            sized_by=("m",),
        ),
    ),
    library=Library(("fwlab.WeightedTopK.value",), lambda case: value_in_the_library(case)),
)
def weights_by_levels(case: Case, shift: int = 0, keep_last: bool = True) -> Outcome:
    rho, x = case.rho, case.x
    following = [*rho[1:], Fraction(0) if keep_last else rho[-1]]
    levels = sum_by_levels(rho, x, following, shift)
    found = equal(inner(rho, x), levels)
    if is_symbolic(rho) or not hasattr(case, "scores"):
        return found
    defined = exact.value(reference.WeightedTopK(rho), case.scores, case.y)
    return both(found, equal(defined, positive_part(levels)))


def value_in_the_library(case: Case) -> Outcome:
    """Compare fwlab's weighted loss with the positive part of the sum over levels."""
    rho, x = as_floats(case.rho), as_floats(case.x)
    if not hasattr(case, "scores") or not rho.any():
        return truth(True)
    stated = positive_part(sum_by_levels(case.rho, case.x, [*case.rho[1:], Fraction(0)]))
    found = fwlab.WeightedTopK(rho).value(as_floats(case.scores), case.y)
    return both(equal(found, float(stated)), equal(len(x), len(rho)))


@claim(
    "K19-eq40",
    "(40)",
    "If k_1 >= k_2 >= .. are the places after which the weights fall, the weights of the top-k "
    "sums are the differences of successive rho at those places.",
    formula=r"k_1\geq\ldots\geq k_{|K|},\quad \rho'_\ell=\rho_{k_\ell}-\rho_{k_{\ell+1}},\quad "
    r"\sum_j\rho_jx_{\pi(j)}=\sum_\ell\rho'_\ell\sum_{j=1}^{k_\ell}x_{\pi(j)}",
    shapes="rho, x: (m,)",
    judged="as read, the last index is k_(l+1), the next place of K, and rho after the last place "
    "is 0. The weight rho_(m+1) = 0, which A.2 introduces, is needed only for the index k_l + 1.",
    cases=ordered_margins,
    sides=("weighted sum", "sum over K"),
    reading=version(
        "rho'_l = rho_(k_l) - rho_(k_l + 1), the fall right after k_l, in either order",
        next_place=False,
        formula=r"\rho'_\ell=\rho_{k_\ell}-\rho_{k_\ell+1},\quad \rho_{m+1}=0",
    ),
    planted=(
        version("the same, nothing subtracted", next_place=False, subtracted=0),
        version("the same, added", next_place=False, subtracted=-1),
    ),
    proofs=(
        BySolver(
            "Weights with ties, where k_l + 1 and the next place of K differ.",
            cases=symbolic_weights,
            assuming=admissible_weights,
            sized_by=("m",),
        ),
    ),
    erratum=Erratum(
        page="A.2, (40)",
        printed=r"k_1\geq\ldots\geq k_{|K|},\quad \rho'_\ell=\rho_{k_\ell}-\rho_{k_{\ell+1}}",
        correct=r"\rho'_\ell=\rho_{k_\ell}-\rho_{k_\ell+1},\quad \rho_{m+1}=0",
        proof=r"By partial summation $\sum_j\rho_jx_{\pi(j)}="
        r"\sum_k(\rho_k-\rho_{k+1})\sum_{j\leq k}x_{\pi(j)}$, where only $k\in K$ count. "
        r"With $m=2$ and $\rho=(2,1)$ the printed order gives $k=(2,1)$ and $\rho'=(-1,2)$, "
        r"so that $x=(1,0)$ has $2$ on the left of (41) and $-1+2=1$ on the right. Here "
        r"$k_{|K|+1}$, which the text does not define, counts as a place where the weight is 0; "
        r"with that reading (40) is right in increasing order.",
        breaks=r"As read, (12) to (14): weights $\rho'_\ell<0$ make the radii of the simplices in "
        r"(14) negative, so that $B_{wtk}$ would be empty. Read otherwise, nothing.",
    ),
)
def printed_level_weights(
    case: Case, decreasing: bool = True, subtracted: int = 1, next_place: bool = True
) -> Outcome:
    rho = case.rho
    following = next_falls(rho, decreasing) if next_place else [*rho[1:], Fraction(0)]
    scaled = [subtracted * b for b in following]
    return equal(inner(rho, case.x), sum_by_levels(rho, case.x, scaled))


def schemes(rng: Rng, deep: bool) -> Iterator[Case]:
    for m, k in sizes(12 if deep else 7):
        yield Case(kind="exact", m=m, k=k, y=int(rng.integers(m)), scores=fractions(rng, m))


@claim(
    "K19-weights",
    "7.3",
    "The flat weights 1/k give the top-k hinge loss; the linear ones fall by equal steps, the "
    "exponential ones by equal factors, and all three are admissible and sum to 1.",
    formula=r"\rho^{flat}_j=\frac{1}{k},\quad \rho^{linear}_j=\frac{2(k+1-j)}{(k+1)k},\quad "
    r"\rho^{exp}_j=\frac{\exp(-j/k)}{\sum_{i=1}^k\exp(-i/k)},\quad j\leq k",
    shapes="rho: (m,), zero after the k-th",
    cases=schemes,
    planted=(
        version("flat weights 1/(k+1)", flat_extra=1),
        version("linear weights from k - j", linear_top=0),
        version("increasing exponents", exponent=1),
    ),
    not_proved="the exponential weights are transcendental",
    library=Library(
        ("fwlab.weights.flat", "fwlab.weights.linear", "fwlab.weights.exponential"),
        lambda case: weights_in_the_library(case.k),
    ),
)
def weight_schemes(
    case: Case, flat_extra: int = 0, linear_top: int = 1, exponent: int = -1
) -> Outcome:
    k, m = case.k, case.m
    places = range(1, k + 1)
    flat = [Fraction(1, k + flat_extra)] * k
    linear = [Fraction(2 * (k + linear_top - j), (k + 1) * k) for j in places]
    powers = [math.exp(exponent * j / k) for j in places]
    exponential = [p / sum(powers) for p in powers]
    recovered = reference.WeightedTopK(indicator(range(k), m, k + flat_extra))
    return both(
        equal(
            exact.value(recovered, case.scores, case.y),
            exact.value(reference.TopK(k), case.scores, case.y),
        ),
        *[equal(sum(rho), 1) for rho in (flat, linear, exponential)],
        *[at_most(b, a) for rho in (linear, exponential) for a, b in pairwise(rho)],
        *[equal(a - b, linear[-1]) for a, b in pairwise(linear)],
        *[equal(b / a, math.exp(-1 / k)) for a, b in pairwise(exponential)],
    )


def weights_in_the_library(k: int) -> Outcome:
    """Compare fwlab's weights with the printed formulas."""
    places = range(1, k + 1)
    powers = [math.exp(-j / k) for j in places]
    return both(
        equal(fwlab.weights.flat(k), [1 / k] * k),
        equal(fwlab.weights.linear(k), [2 * (k + 1 - j) / ((k + 1) * k) for j in places]),
        equal(fwlab.weights.exponential(k), [p / sum(powers) for p in powers]),
    )
