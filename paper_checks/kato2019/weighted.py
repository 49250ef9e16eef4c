"""K19 section 4: the weighted top-k hinge loss, its polytope and conjugate, and the weights tried.

Left sides come from the definition (8), right sides from the sets as printed, in exact fractions.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import reference
from paper_checks.cases import Rng, fractions, sizes
from paper_checks.exact_polytope import largest
from paper_checks.kato2019.losses import margins, points, rows, stated_conjugate
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal
from reference import exact
from reference.derived_polytopes import polytope, topk_simplex_bounds, total
from reference.losses import indicator
from reference.polytope import Polytope

Numbers = Sequence[Fraction]


def level_weights(rho: Numbers) -> tuple[list[int], list[Fraction]]:
    """K of (39) in increasing order, and rho_{k_l} - rho_{k_{l+1}} with 0 after the last."""
    following = [*rho[1:], Fraction(0)]
    levels = [k for k, (a, b) in enumerate(zip(rho, following, strict=True), 1) if a > b]
    values = [rho[k - 1] for k in levels] + [Fraction(0)]
    return levels, [a - b for a, b in pairwise(values)]


def weighted_set(
    m: int, rho: Numbers, common: bool = True, radius_times_k: bool = True
) -> Polytope:
    """B_wtk of (14). Not `common`: every lambda_l has a zeta of its own. Not radius_times_k: the
    simplices have radius rho'_l in place of k_l rho'_l."""
    below: list[Any] = [({"zeta": 1}, 1)]  # follows from the radii; it keeps zeta in without levels
    equalities = []
    levels = list(zip(*level_weights(rho), strict=True))
    for k, step in levels:
        entries = [(k, j) for j in range(m)]
        below += topk_simplex_bounds(entries, k, (k if radius_times_k else 1) * step)
        zeta = "zeta" if common else ("zeta", k)
        equalities.append(({**total(entries), zeta: -k * step}, 0))
    return polytope([total((k, j) for k, _ in levels) for j in range(m)], below, equalities)


@claim(
    "K19-eq12",
    "(12) (13), A.2 (39) (41)",
    "The weighted sum of sorted margins is a sum of unweighted top-k sums over the places where "
    "the weights fall, so the weighted loss is the positive part of that sum.",
    formula=r"\Phi_{wtk}(s;y)=\max\{0,\ \sum_\ell\rho'_\ell\,g_\ell(s)\},\quad "
    r"g_\ell(s)=\sum_{j=1}^{k_\ell}(1-e_y+s-s_y1)_{\pi(j)}",
    shapes="s, rho: (m,); rho': one for each k with rho_k > rho_(k+1)",
    judged="rho'_l = rho_(k_l) - rho_(k_(l+1)) with the k_l increasing; the printed order is "
    "K19-eq40.",
    cases=rows,
    planted=(
        version("the sums have one entry more", shift=1),
        version("the last weight is left out", keep_last=False),
    ),
)
def weights_by_levels(case: Case, shift: int = 0, keep_last: bool = True) -> Outcome:
    levels, steps = level_weights(case.rho)
    if not keep_last:
        levels, steps = levels[:-1], steps[:-1]
    x = sorted(margins(case), reverse=True)
    total = sum(step * sum(x[: k + shift]) for k, step in zip(levels, steps, strict=True))
    return equal(exact.value(reference.WeightedTopK(case.rho), case.scores, case.y), max(0, total))


@claim(
    "K19-eq40",
    "(40)",
    "With the places k_l where the weights fall in decreasing order, the weights of the top-k "
    "sums are the differences of successive rho at those places.",
    formula=r"k_1\geq\ldots\geq k_{|K|},\quad \rho'_\ell=\rho_{k_\ell}-\rho_{k_{\ell+1}},\quad "
    r"\sum_j\rho_jx_{\pi(j)}=\sum_\ell\rho'_\ell\sum_{j=1}^{k_\ell}x_{\pi(j)}",
    shapes="rho, x: (m,)",
    judged="rho after the last place is 0, as rho_(m+1) is.",
    cases=rows,
    derived=version("the places in increasing order, as (41) needs", decreasing=False),
    planted=(
        version("increasing order, nothing subtracted", decreasing=False, subtracted=0),
        version("increasing order, added", decreasing=False, subtracted=-1),
    ),
)
def printed_level_weights(case: Case, decreasing: bool = True, subtracted: int = 1) -> Outcome:
    levels = sorted(level_weights(case.rho)[0], reverse=decreasing)
    values = [case.rho[k - 1] for k in levels]
    following = [*values[1:], Fraction(0)]
    x = sorted(margins(case), reverse=True)
    right = sum(
        (a - subtracted * b) * sum(x[:k])
        for a, b, k in zip(values, following, levels, strict=False)
    )
    return equal(exact.inner(case.rho, x), Fraction(right))


@claim(
    "K19-eq15",
    "(14) (15), A.3",
    "The weighted top-k hinge loss is the largest inner product of the margins with a point of "
    "B_wtk, the sums of points of top-k simplices that are filled to one common fraction zeta.",
    formula=r"\Phi_{wtk}(s;y)=\max_{\beta\in B_{wtk}}\langle\beta,1-e_y+s-s_y1\rangle",
    shapes="s, beta: (m,); lambda_l: (m,) in the top-k_l simplex of radius k_l rho'_l",
    cases=rows,
    planted=(
        version("a fraction zeta for each level", common=False),
        version("simplices of radius rho'_l", radius_times_k=False),
    ),
)
def weighted_is_a_maximum(case: Case, common: bool = True, radius_times_k: bool = True) -> Outcome:
    B = weighted_set(case.m, case.rho, common, radius_times_k)
    value = exact.value(reference.WeightedTopK(case.rho), case.scores, case.y)
    return equal(value, largest(B, margins(case)))


@claim(
    "K19-thm2",
    "Theorem 2",
    "The conjugate of the weighted top-k hinge loss is v_y where v sums to 0 and can be given "
    "another y-th entry that puts it into B_wtk, and infinite elsewhere.",
    formula=r"\Phi^*_{wtk}(v;y)=v_y\quad\langle v,1\rangle=0,\ "
    r"\exists b_y:\ v+(b_y-v_y)e_y\in B_{wtk}",
    shapes="v, rho: (m,), rho non-increasing and non-negative",
    cases=lambda rng, deep: (
        c for c in points(rng, deep) if isinstance(c.loss, reference.WeightedTopK)
    ),
    planted=(
        version("-v_y", sign=-1),
        version("a fraction zeta for each level", common=False),
        version("simplices of radius rho'_l", radius_times_k=False),
    ),
)
def weighted_conjugate(
    case: Case, sign: int = 1, common: bool = True, radius_times_k: bool = True
) -> Outcome:
    B = weighted_set(case.m, case.loss.rho, common, radius_times_k)
    conjugate = exact.conjugate(case.loss, case.v, case.y)
    return equal(conjugate, stated_conjugate(case, B, sign, free=True))


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
