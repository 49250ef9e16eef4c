"""T20 sections 2.1 and 2.2: the losses, and the sets over which they are maxima."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import reference
from paper_checks.cases import Rng, fractions, sizes
from paper_checks.ledger import Case, Condition, Outcome, claim, version
from paper_checks.outcomes import both, equal
from paper_checks.tajima2020.programs import (
    costly_losses,
    greatest,
    levels,
    mdos_losses,
    zero_ended_weights,
)
from reference.derived_polytopes import topk_simplex_bounds, total


def exact_rows(rng: Rng, deep: bool) -> Iterator[Case]:
    """Rows of scores with ties, in fractions, for all m and k."""
    for m, k in sizes(5 if deep else 4):
        for _ in range(20 if deep else 10):
            y = int(rng.integers(m))
            yield Case(kind="exact, ties", m=m, k=k, y=y, scores=fractions(rng, m))


def rows_with_losses(rng: Rng, deep: bool, losses: Any = (mdos_losses,)) -> Iterator[Case]:
    """Rows of scores in fractions, one for each of the losses."""
    for m in (2, 3, 4, 5) if deep else (2, 3, 4):
        for _ in range(4 if deep else 2):
            for loss in (loss for family in losses for loss in family(rng, m)):
                kind, y = type(loss).__name__, int(rng.integers(m))
                yield Case(kind=kind, loss=loss, y=y, scores=fractions(rng, m))


def weighted_rows(rng: Rng, deep: bool, zero_ended: bool = True) -> Iterator[Case]:
    """Numbers x (m,) with weights rho; rho_m = 0, or rho_m = 1/4."""
    for m in (2, 3, 4, 5) if deep else (2, 3, 4):
        for _ in range(12 if deep else 6):
            rho, x = zero_ended_weights(rng, m), fractions(rng, m)
            if not zero_ended:
                rho = tuple(r + Fraction(1, 4) for r in rho)
            yield Case(kind=f"exact, m = {m}", rho=rho, x=x)


# --- linear maxima over the sets of section 2.2 --------------------------------------------------


def over_simplex(h: Any, r: Any = 1, cap: Any = None) -> Fraction:
    """max <beta, h> over beta >= 0, sum beta <= r, and beta <= cap if there is one."""
    m = range(len(h))
    caps = [] if cap is None else [({j: 1}, cap) for j in m]
    return greatest(dict(enumerate(h)), [(total(m), r), *caps])


def over_topk_simplex(h: Any, k: int) -> Fraction:
    """max <beta, h> over (2.11) with r = 1."""
    return greatest(dict(enumerate(h)), topk_simplex_bounds(list(range(len(h))), k, 1))


def over_weighted_topk(h: Any, rho: Any, differences: bool = True) -> Fraction:
    """max <beta, h> over (2.13)."""
    below, filled, objective = [], [], {}
    for k, step in levels(rho, differences):
        level = [(k, j) for j in range(len(h))]
        below += topk_simplex_bounds(level, k, k * step)
        filled.append(({**total(level), "zeta": -k * step}, 0))
        objective.update(dict(zip(level, h, strict=True)))
    return greatest(objective, below, filled)


def over_weighted_usunier(
    h: Any, rho: Any, differences: bool = True, capped: bool = True, equality: bool = False
) -> Fraction:
    """max <beta, h> over (2.14): beta at most the sum of the lambda_l, or equal to it."""
    below, m = [], range(len(h))
    steps = levels(rho, differences)
    for k, step in steps:
        level = [(k, j) for j in m]
        below.append((total(level), k * step))
        below += [({x: 1}, step) for x in level] if capped else []
    sums = [({j: 1, **total(((k, j) for k, _ in steps), -1)}, 0) for j in m]
    objective = dict(enumerate(h))
    return greatest(objective, below, sums) if equality else greatest(objective, below + sums)


def over_printed_set(loss: reference.Loss, h: Any) -> Fraction:
    """max <beta, h> over the set that section 2.2 gives for the loss (rho' as differences)."""
    match loss:
        case reference.TopK(k):
            return over_topk_simplex(h, k)
        case reference.Usunier(k):
            return over_simplex(h, 1, Fraction(1, k))
        case reference.WeightedTopK(rho):
            return over_weighted_topk(h, rho)
        case reference.WeightedUsunier(rho):
            return over_weighted_usunier(h, rho)
        case _:
            return over_simplex(h)


def unit_margins(scores: Any, y: int) -> list[Any]:
    """1 - e_y + s - s_y 1, (m,)."""
    return reference.MaxHinge().margins(scores, y)


# --- claims --------------------------------------------------------------------------------------


@claim(
    "T20-max-hinge",
    "(2.2) (2.10)",
    "The max hinge is the maximum of <beta, margins> over the simplex of radius 1.",
    formula=r"\max_j\,(s_j-s_y+1-\delta_{j,y})=\max_{\beta\geq 0,\ \Vert\beta\Vert_1\leq 1}"
    r"\langle\beta,1-e_y+s-s_y1\rangle",
    shapes="s, beta: (m,)",
    cases=exact_rows,
    planted=(
        version("the simplex of radius 1/2", radius=Fraction(1, 2)),
        version("a unit margin asked of the true class too", delta=0),
    ),
)
def max_hinge(case: Case, radius: Fraction | int = 1, delta: int = 1) -> Outcome:
    s, y = case.scores, case.y
    direct = max(s[j] - s[y] + 1 - delta * int(j == y) for j in range(case.m))
    return equal(direct, over_simplex(unit_margins(s, y), radius))


@claim(
    "T20-six-mdos",
    "2.2, Def. 1",
    "All six losses are maxima of <beta, 1 - e_y + s - s_y 1> over the set given for them, which "
    "depends on neither s nor y; the structured hinge with any costs, too.",
    formula=r"\Phi(s;y)=\max_{\beta\in B}\ \langle\beta,1-e_y+s-s_y1\rangle",
    shapes="s, beta: (m,)",
    judged="rho' of (2.13) and (2.14) as differences; see T20-rho-prime",
    cases=partial(rows_with_losses, losses=(mdos_losses, costly_losses)),
    condition=Condition(
        "the costs of the structured hinge are 0 and 1",
        lambda case: (
            case.loss.delta(len(case.scores), case.y)
            == reference.MaxHinge().delta(len(case.scores), case.y)
        ),
    ),
    planted=(version("the margins without 1 - e_y", margin=0),),
)
def six_losses(case: Case, margin: int = 1) -> Outcome:
    h = [
        h_j - (1 - margin) * int(j != case.y)
        for j, h_j in enumerate(unit_margins(case.scores, case.y))
    ]
    return equal(case.loss.value(case.scores, case.y), over_printed_set(case.loss, h))


@claim(
    "T20-thm2.1",
    "Theorem 2.1",
    "Top-k hinge, Usunier loss and their weighted versions are such maxima, and so is the "
    "structured hinge with costs 0 and 1.",
    formula=r"\Phi(s;y)=\max_{\beta\in B}\ \langle\beta,1-e_y+s-s_y1\rangle",
    shapes="s, beta: (m,)",
    judged="rho' of (2.13) and (2.14) as differences; see T20-rho-prime",
    cases=rows_with_losses,
    planted=(version("the margins without 1 - e_y", margin=0),),
)
def theorem_2_1(case: Case, margin: int = 1) -> Outcome:
    return six_losses.form(case, margin)


@claim(
    "T20-mdos-no-set",
    "2.2, Def. 1",
    "With any costs there is some set over which the structured hinge is a maximum of "
    "<beta, 1 - e_y + s - s_y 1>; the loss is then 0 where these margins are 0, and doubles when "
    "they double.",
    formula=r"\exists B:\ \Phi_{sh}(s;y)=\max_{\beta\in B}\ \langle\beta,1-e_y+s-s_y1\rangle",
    shapes="s: (m,), costs: (m, m)",
    cases=partial(rows_with_losses, losses=(mdos_losses, costly_losses)),
    condition=six_losses.condition,
    planted=(version("the loss grows threefold when the margins double", growth=3),),
)
def some_set(case: Case, growth: int = 2) -> Outcome:
    """h = 1 - e_y + s - s_y 1 is doubled by s + h."""
    h = unit_margins(case.scores, case.y)
    doubled = [s_j + h_j for s_j, h_j in zip(case.scores, h, strict=True)]
    at_zero = [s_j - h_j for s_j, h_j in zip(case.scores, h, strict=True)]
    loss, y = case.loss, case.y
    return both(
        equal(loss.value(doubled, y), growth * loss.value(case.scores, y)),
        equal(loss.value(at_zero, y), 0),
    )


@claim(
    "T20-eq2.6",
    "(2.6)",
    "Sorting by s - e_y sorts the margins, so (2.6) is the mean of the positive parts of the k "
    "largest margins.",
    formula=r"\Phi_{uu}(s;y)=\frac{1}{k}\sum_{j\leq k}\max\{0,(s-s_y1+1-e_y)_{\pi(j;\,s-e_y)}\}",
    shapes="s: (m,); 1 <= k <= m",
    cases=exact_rows,
    planted=(
        version("sorted by s", sorted_by=0),
        version("sorted by s + e_y", sorted_by=1),
    ),
)
def usunier_sorted(case: Case, sorted_by: int = -1) -> Outcome:
    s, y, h = case.scores, case.y, unit_margins(case.scores, case.y)
    order = sorted(range(case.m), key=lambda j: -(s[j] + sorted_by * int(j == y)))
    printed = sum(max(Fraction(0), h[j]) for j in order[: case.k]) / case.k
    return equal(printed, reference.Usunier(case.k).value(s, y))


@claim(
    "T20-eq2.12",
    "(2.12)",
    "The Usunier loss is the maximum over the beta >= 0 with sum at most 1 and entries at most "
    "1/k.",
    formula=r"\Phi_{uu}(s;y)=\max\{\langle\beta,h\rangle:\ \beta\geq 0,\ \Vert\beta\Vert_1\leq 1,"
    r"\ \beta\leq\frac{1}{k}1\}",
    shapes="s, beta, h = 1 - e_y + s - s_y 1: (m,); 1 <= k <= m",
    cases=exact_rows,
    planted=(
        version("sum at most 1/2", radius=Fraction(1, 2)),
        version("entries at most 1", cap=lambda k: 1),
    ),
)
def usunier_polytope(case: Case, radius: Fraction | int = 1, cap: Any = None) -> Outcome:
    largest = Fraction(1, case.k) if cap is None else cap(case.k)
    best = over_simplex(unit_margins(case.scores, case.y), radius, largest)
    return equal(reference.Usunier(case.k).value(case.scores, case.y), best)


@claim(
    "T20-eq2.11",
    "(2.11)",
    "The top-k hinge is the maximum over the beta >= 0 with sum at most 1 and no entry above 1/k "
    "of the sum.",
    formula=r"\Phi_{utk}(s;y)=\max\{\langle\beta,h\rangle:\ \beta\geq 0,\ \Vert\beta\Vert_1\leq 1,"
    r"\ \beta\leq\frac{1}{k}\Vert\beta\Vert_1 1\}",
    shapes="s, beta, h = 1 - e_y + s - s_y 1: (m,); 1 <= k <= m",
    cases=exact_rows,
    planted=(version("the cap 1/k of the Usunier loss", usunier=True),),
)
def topk_polytope(case: Case, usunier: bool = False) -> Outcome:
    h = unit_margins(case.scores, case.y)
    best = over_simplex(h, 1, Fraction(1, case.k)) if usunier else over_topk_simplex(h, case.k)
    return equal(reference.TopK(case.k).value(case.scores, case.y), best)


@claim(
    "T20-rho-prime",
    "2.2",
    "The weights of the levels in (2.13) and (2.14) are the rho at the ends of the levels.",
    formula=r"\rho'_\ell:=\rho_{k_\ell}",
    shapes="rho: (m,) with rho_m = 0, rho': (L,)",
    cases=weighted_rows,
    derived=version(
        "rho'_l = rho_{k_l} - rho_{k_{l+1}}, 0 after the last: the second line of (A.2) needs it",
        differences=True,
    ),
    planted=(version("twice the differences", differences=True, factor=2),),
)
def level_weights(case: Case, differences: bool = False, factor: int = 1) -> Outcome:
    """The weighted losses, and the sum of sorted entries in (A.2)."""
    x, rho = case.x, case.rho
    descending = sorted(x, reverse=True)
    by_level = sum(factor * step * sum(descending[:k]) for k, step in levels(rho, differences))
    direct = sum(r * x_j for r, x_j in zip(rho, descending, strict=True))
    usunier = reference.WeightedUsunier(rho).of_margins(x, 0)
    topk = reference.WeightedTopK(rho).of_margins(x, 0)
    return both(
        equal(by_level, direct),
        equal(over_weighted_usunier(x, rho, differences), usunier),
        equal(over_weighted_topk(x, rho, differences), topk),
    )


@claim(
    "T20-eq2.13",
    "(2.13)",
    "The weighted top-k hinge is the maximum over the sums of lambda_l from top-k_l simplices, "
    "all filled to the same fraction zeta.",
    formula=r"\max\{0,\sum_j\rho_j h_{\pi(j)}\}=\max\{\langle\sum_\ell\lambda_\ell,h\rangle:\ "
    r"\lambda_\ell\in\Delta_{tk}(k_\ell,\rho'_\ell k_\ell),\ "
    r"\langle 1,\lambda_\ell\rangle=\zeta k_\ell\rho'_\ell\}",
    shapes="h, lambda_l: (m,); rho: (m,) with rho_m = 0",
    judged="rho' as differences; see T20-rho-prime",
    cases=weighted_rows,
    planted=(version("rho'_l = rho_{k_l}", differences=False),),
)
def weighted_topk_set(case: Case, differences: bool = True) -> Outcome:
    value = reference.WeightedTopK(case.rho).of_margins(case.x, 0)
    return equal(value, over_weighted_topk(case.x, case.rho, differences))


@claim(
    "T20-eq2.14",
    "(2.14)",
    "The weighted Usunier loss is the maximum over the beta >= 0 that are at most a sum of "
    "lambda_l with entries at most rho'_l and sums at most k_l rho'_l.",
    formula=r"\sum_j\rho_j\max\{0,h_{\pi(j)}\}=\max\{\langle\beta,h\rangle:\ 0\leq\beta\leq"
    r"\sum_\ell\lambda_\ell,\ 0\leq\lambda_\ell\leq\rho'_\ell1,\ "
    r"\Vert\lambda_\ell\Vert_1\leq k_\ell\rho'_\ell\}",
    shapes="h, beta, lambda_l: (m,); rho: (m,) with rho_m = 0",
    judged="rho' as differences (T20-rho-prime); the set called Delta_uu there is that of (2.12)",
    cases=weighted_rows,
    planted=(
        version("rho'_l = rho_{k_l}", differences=False),
        version("no bound on the entries of lambda_l", capped=False),
    ),
)
def weighted_usunier_set(
    case: Case, differences: bool = True, capped: bool = True, equality: bool = False
) -> Outcome:
    value = reference.WeightedUsunier(case.rho).of_margins(case.x, 0)
    return equal(value, over_weighted_usunier(case.x, case.rho, differences, capped, equality))


@claim(
    "T20-eq2.14-sum",
    "(2.14)",
    "beta may equal the sum of the lambda_l in (2.14) instead of being at most that sum: the "
    "maximum is the same.",
    formula=r"\beta=\sum_\ell\lambda_\ell",
    shapes="h, beta, lambda_l: (m,); rho: (m,) with rho_m = 0",
    cases=weighted_rows,
    planted=(version("rho'_l = rho_{k_l}", differences=False),),
)
def equal_to_the_sum(case: Case, differences: bool = True) -> Outcome:
    return weighted_usunier_set.form(case, differences, equality=True)


@claim(
    "T20-rho-m",
    "(2.7) (2.8) (2.15)",
    "For weights with rho_m = 0, so that k_L < m, the sets (2.13) and (2.14) give the weighted "
    "losses.",
    formula=r"\rho_1\geq\ldots\geq\rho_{m-1}\geq\rho_m=0",
    shapes="rho: (m,)",
    judged="rho' as differences; see T20-rho-prime",
    cases=weighted_rows,
    relaxed=version(
        "rho_m > 0 and k_L = m are allowed", cases=partial(weighted_rows, zero_ended=False)
    ),
    planted=(version("rho'_l = rho_{k_l}", differences=False),),
)
def last_weight(case: Case, differences: bool = True) -> Outcome:
    return both(
        weighted_topk_set.form(case, differences),
        weighted_usunier_set.form(case, differences),
    )
