"""Draw rows of scores or margins, on which the statements of T20 section 2 are tried and proved.

A row names its loss, so that the loss is one expression for numbers and for symbols. The losses and
their sets do not change when classes are renamed, so symbolic rows have y = 0 and sorted margins
without loss of generality.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import reference
from paper_checks.arithmetic import Real, Truth, all_of, descending, is_symbolic
from paper_checks.cases import Rng, fractions, sizes
from paper_checks.definitions import (
    admissible,
    margins,
    max_hinge,
    top_k,
    usunier,
    weighted_top_k,
    weighted_usunier,
)
from paper_checks.ledger import Case
from paper_checks.proofs import symbolic_sizes
from paper_checks.symbols import real, reals
from paper_checks.tajima2020.levels import zero_ended_weights
from paper_checks.tajima2020.polytopes import (
    over,
    over_weighted_topk,
    over_weighted_usunier,
    simplex,
    topk_simplex,
    usunier_simplex,
)

MAX_HINGE, STRUCTURED = "max hinge", "structured hinge"
TOP_K, USUNIER = "top-k hinge", "Usunier loss"
WEIGHTED_TOP_K, WEIGHTED_USUNIER = "weighted top-k hinge", "weighted Usunier loss"
FOUR = (TOP_K, USUNIER, WEIGHTED_TOP_K, WEIGHTED_USUNIER)


# --- rows of scores ------------------------------------------------------------------------------


def exact_rows(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield rows of scores with ties, in fractions, for all m and k."""
    for m, k in sizes(5 if deep else 4):
        for _ in range(20 if deep else 10):
            y = int(rng.integers(m))
            yield Case(kind="exact, ties", m=m, k=k, y=y, s=fractions(rng, m))


def symbolic_rows(deep: bool) -> Iterator[Case]:
    """Yield a row for all real scores of m classes, for each k."""
    for m, k in symbolic_sizes(4):
        yield Case(kind="symbols", m=m, k=k, y=0, s=reals("s", m))


def rows_with_losses(rng: Rng, deep: bool, names: tuple[str, ...]) -> Iterator[Case]:
    """Yield rows of scores in fractions, for each of the named losses.

    The first row has costs 2.
    """
    if STRUCTURED in names:
        zero, costs = (Fraction(0), Fraction(0)), (Fraction(0), Fraction(2))
        yield Case(kind=STRUCTURED, loss=STRUCTURED, m=2, y=0, s=zero, costs=costs)
    for m in (2, 3, 4, 5) if deep else (2, 3, 4):
        for _ in range(4 if deep else 2):
            for name in names:
                y, s = int(rng.integers(m)), fractions(rng, m)
                yield Case(kind=name, loss=name, m=m, y=y, s=s, **parameter(rng, name, m, y))


def parameter(rng: Rng, name: str, m: int, y: int) -> dict[str, Any]:
    """Return the parameter of a named loss by its name: k, rho, or the costs of class y."""
    if name in (TOP_K, USUNIER):
        return {"k": int(rng.integers(1, m + 1))}
    if name in (WEIGHTED_TOP_K, WEIGHTED_USUNIER):
        return {"rho": zero_ended_weights(rng, m)}
    if name != STRUCTURED:
        return {}
    zero_one = bool(rng.integers(2))
    drawn = (Fraction(1) if zero_one else Fraction(int(rng.integers(5)), 2) for _ in range(m))
    return {"costs": tuple(cost * int(j != y) for j, cost in enumerate(drawn))}


def symbolic_losses(names: tuple[str, ...]) -> Callable[[bool], Iterator[Case]]:
    """Return the cases of the named losses for all real scores, weights and costs."""

    def cases(deep: bool) -> Iterator[Case]:
        for m in (2, 3, 4):
            for name in names:
                if m == 4 and name in (WEIGHTED_TOP_K, WEIGHTED_USUNIER):
                    continue  # with products of weights and numbers, any order gives too many cases
                base = {"kind": "symbols", "loss": name, "m": m, "y": 0}
                s, rho = reals("s", m), (*reals("rho", m - 1), Fraction(0))
                if name in (TOP_K, USUNIER):
                    yield from (Case(**base, k=k, s=s) for k in range(1, m + 1))
                elif name in (WEIGHTED_TOP_K, WEIGHTED_USUNIER):
                    yield Case(**base, rho=rho, s=s)
                elif name == STRUCTURED:
                    yield Case(**base, costs=(Fraction(0), *reals("cost", m - 1)), s=s)
                else:
                    yield Case(**base, s=s)

    return cases


def as_allowed(case: Case) -> Truth:
    """Return whether the costs are >= 0 and the weights admissible.

    For weighted losses the margins except the true class's must also be sorted.
    """
    found = [cost >= 0 for cost in getattr(case, "costs", ())]
    if hasattr(case, "rho"):
        found += [admissible(case.rho), *(a >= b for a, b in pairwise(case.s[1:]))]
    return all_of(*found)


# --- the named losses and their sets -------------------------------------------------------------


def own_margins(case: Case) -> tuple[Real, ...]:
    """Return the margins of the row's loss, with its costs in place of 1 - e_y."""
    if not hasattr(case, "costs"):
        return margins(case.s, case.y)
    return tuple(c + s - case.s[case.y] for c, s in zip(case.costs, case.s, strict=True))


def loss_of(case: Case, h: tuple[Real, ...]) -> Real:
    """Return the row's loss at the margins h, as T20 section 2.1 defines it."""
    match case.loss:
        case "top-k hinge":
            return top_k(h, case.k)
        case "Usunier loss":
            return usunier(h, case.k)
        case "weighted top-k hinge":
            return weighted_top_k(h, case.rho)
        case "weighted Usunier loss":
            return weighted_usunier(h, case.rho)
    return max_hinge(h)


def printed_maximum(case: Case, h: tuple[Real, ...]) -> Real:
    """Return max <beta, h> over the set of section 2.2 (rho' as differences)."""
    match case.loss:
        case "top-k hinge":
            return over(topk_simplex(len(h), case.k), h)
        case "Usunier loss":
            return over(usunier_simplex(len(h), Fraction(1, case.k)), h)
        case "weighted top-k hinge":
            return over_weighted_topk(h, case.rho)
        case "weighted Usunier loss":
            return over_weighted_usunier(h, case.rho)
    return over(simplex(len(h)), h)


def reference_loss(case: Case) -> reference.Loss:
    """Return the row's loss in the reference."""
    match case.loss:
        case "top-k hinge":
            return reference.TopK(case.k)
        case "Usunier loss":
            return reference.Usunier(case.k)
        case "weighted top-k hinge":
            return reference.WeightedTopK(case.rho)
        case "weighted Usunier loss":
            return reference.WeightedUsunier(case.rho)
        case "structured hinge":
            return reference.StructuredHinge((case.costs,), per_sample=True)
    return reference.MaxHinge()


# --- rows of numbers with weights ----------------------------------------------------------------


def weighted_rows(rng: Rng, deep: bool, zero_ended: bool = True) -> Iterator[Case]:
    """Yield numbers x (m,) with weights rho; rho_m = 0, or rho_m = 1/4.

    The first row has two levels and a negative number, which reveals most errors.
    """
    first = (Fraction(1), Fraction(1, 2), Fraction(0))
    rows: list[tuple[tuple[Fraction, ...], ...]]
    rows = [(first, (Fraction(2), Fraction(-1), Fraction(-2)))]
    for m in (2, 3, 4, 5) if deep else (2, 3, 4):
        for _ in range(12 if deep else 6):
            rows.append((zero_ended_weights(rng, m), fractions(rng, m)))
    for rho, x in rows:
        if not zero_ended:
            rho = tuple(r + Fraction(1, 4) for r in rho)
        yield Case(kind=f"exact, m = {len(x)}", m=len(x), rho=rho, x=x)


def symbolic_weights(deep: bool, zero_ended: bool = True) -> Iterator[Case]:
    """Yield all real numbers x in descending order, with all weights."""
    for m in (2, 3, 4) if zero_ended else (2, 3):
        last = Fraction(0) if zero_ended else real(f"rho_{m}")
        yield Case(kind="symbols", m=m, rho=(*reals("rho", m - 1), last), x=reals("x", m))


def sorted_weights(case: Case) -> Truth:
    """Return whether the weights are admissible and the numbers in descending order."""
    return all_of(admissible(case.rho), *(a >= b for a, b in pairwise(case.x)))


def in_order(x: tuple[Real, ...]) -> tuple[Real, ...]:
    """Return numbers in descending order; symbols are in this order already."""
    return x if is_symbolic(x) else descending(x)
