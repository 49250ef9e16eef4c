"""Check K19 section 4: the polytope and the conjugate of the weighted top-k hinge loss.

Left sides come from the definition (8), right sides from the sets as printed, in exact fractions.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import fwlab
import reference
from paper_checks.arithmetic import (
    Real,
    Truth,
    all_of,
    equals,
    implies,
    inner,
    is_symbolic,
    total,
)
from paper_checks.cases import Rng
from paper_checks.definitions import admissible, in_topk_simplex, margins
from paper_checks.exact_polytope import largest
from paper_checks.kato2019.conjugates import unit
from paper_checks.kato2019.in_fwlab import as_floats, conjugate_in_the_library
from paper_checks.kato2019.losses import points, rows, stated_conjugate
from paper_checks.ledger import (
    Case,
    Library,
    Outcome,
    claim,
    version,
)
from paper_checks.outcomes import both, equal, truth
from paper_checks.proofs import BySolver
from paper_checks.symbols import reals
from reference import exact
from reference.derived_polytopes import polytope, topk_simplex_bounds
from reference.derived_polytopes import total as sum_of
from reference.polytope import Polytope

Numbers = Sequence[Fraction]


def level_weights(rho: Numbers) -> tuple[list[int], list[Fraction]]:
    """Return K of (39) in increasing order, and rho_{k_l} - rho_{k_{l+1}} with 0 after the last."""
    following = [*rho[1:], Fraction(0)]
    levels = [k for k, (a, b) in enumerate(zip(rho, following, strict=True), 1) if a > b]
    values = [rho[k - 1] for k in levels] + [Fraction(0)]
    return levels, [a - b for a, b in pairwise(values)]


def weighted_set(
    m: int, rho: Numbers, common: bool = True, radius_times_k: bool = True
) -> Polytope:
    """Return B_wtk of (14). If not `common`, every lambda_l has its own zeta.

    If not `radius_times_k`, the simplices have radius rho'_l in place of k_l rho'_l.
    """
    below: list[Any] = [({"zeta": 1}, 1)]  # bounds zeta if there are no levels
    equalities = []
    levels = list(zip(*level_weights(rho), strict=True))
    for k, step in levels:
        entries = [(k, j) for j in range(m)]
        below += topk_simplex_bounds(entries, k, (k if radius_times_k else 1) * step)
        zeta = "zeta" if common else ("zeta", k)
        equalities.append(({**sum_of(entries), zeta: -k * step}, 0))
    return polytope([sum_of((k, j) for k, _ in levels) for j in range(m)], below, equalities)


def crossing() -> Case:
    """Return margins (1, 0, -3) with one positive and one negative top-k sum in K."""
    rho, scores = (Fraction(2), Fraction(1), Fraction(1)), (Fraction(0), Fraction(0), Fraction(-4))
    return Case(kind="exact", m=3, k=1, y=1, rho=rho, scores=scores)


def parts_of_sums(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield rows with sorted margins and lambda_1 .. lambda_m, one for each place k.

    In every other case they make a point of B_wtk.
    """
    for turn, case in enumerate([crossing(), *rows(rng, deep)]):
        m, rho = case.m, case.rho
        zeta = Fraction(int(rng.integers(0, 3)), 2)
        steps = [a - b for a, b in zip(rho, [*rho[1:], Fraction(0)], strict=True)]
        parts = []
        for k, step in enumerate(steps, 1):
            chosen = rng.permutation(m)[:k].tolist() if turn % 2 else list(range(k))
            parts.append(tuple(zeta * step * int(j in chosen) for j in range(m)))
        x = tuple(sorted(margins(case.scores, case.y), reverse=True))
        yield Case(**{**vars(case), "x": x, "parts": tuple(parts), "zeta": (zeta,) * m})


def symbolic_parts(deep: bool) -> Iterator[Case]:
    """Yield weights and lambdas as symbols.

    For m = 2 all of them are free. For larger m, zeta = 1, as both sides of <beta, x> <= zeta <rho,
    x> are homogeneous in (lambda, zeta), and x is a generator of the cone of sorted vectors, on
    which they are linear. Several zetas are needed for a planted version.
    """
    for m in (2, 3, 4):
        rho, parts = reals("rho", m), tuple(reals(f"lambda_{k + 1}", m) for k in range(m))
        case = {"kind": "symbols", "m": m, "rho": rho, "parts": parts}
        if m == 2:
            yield Case(**case, x=reals("x", m), zeta=reals("zeta", m))
        for size, places in [(-1, m), *((1, p) for p in range(1, m + 1))]:
            x = unit(m, *range(places), size=size)
            yield Case(**case, x=x, zeta=(Fraction(1), *reals("zeta", m - 1)))


def sorted_and_admissible(case: Case) -> Truth:
    falling = [a >= b for a, b in pairwise(case.x)]
    shares = [all_of(zeta >= 0, zeta <= 1) for zeta in case.zeta]
    return all_of(admissible(case.rho), *falling, *shares)


@claim(
    "K19-eq15",
    "(14) (15), A.3",
    "The weighted top-k hinge loss is the largest inner product of the margins with a point of "
    "B_wtk, the set of sums of points of top-k simplices that are all filled to the "
    "same fraction zeta.",
    formula=r"\Phi_{wtk}(s;y)=\max_{\beta\in B_{wtk}}\langle\beta,1-e_y+s-s_y1\rangle",
    shapes="s, beta: (m,); lambda_l: (m,) in the top-k_l simplex of radius k_l rho'_l",
    cases=parts_of_sums,
    planted=(
        version("a fraction zeta for each level", common=False),
        version("simplices of radius rho'_l", radius_times_k=False),
    ),
    proofs=(
        BySolver(
            "A sum of points of the simplices whose product exceeds the loss, for "
            "weights with ties and for "
            "fractions zeta between 0 and 1.",
            cases=symbolic_parts,
            assuming=sorted_and_admissible,
            sized_by=("m",),
        ),
    ),
)
def weighted_is_a_maximum(case: Case, common: bool = True, radius_times_k: bool = True) -> Outcome:
    """State that <beta, x> <= zeta <rho, x> on the set, with equality for beta = rho."""
    rho, x, m = case.rho, case.x, len(case.rho)
    zeta = [case.zeta[0]] * m if common else case.zeta
    beta = [total(entries) for entries in zip(*case.parts, strict=True)]
    within = implies(
        in_sum(case.parts, rho, zeta, radius_times_k),
        inner(beta, x) <= case.zeta[0] * inner(rho, x),
    )
    steps = falls_of(rho)
    best = [unit_of(step, m, k) for k, step in enumerate(steps, 1)]
    attained = in_sum(best, rho, [Fraction(1)] * m, radius_times_k)
    found = truth(all_of(within, attained))
    if is_symbolic(rho, case.parts) or not hasattr(case, "scores"):
        return found
    B = weighted_set(m, rho, common, radius_times_k)
    value = exact.value(reference.WeightedTopK(rho), case.scores, case.y)
    return both(equal(value, largest(B, margins(case.scores, case.y))), found)


def falls_of(rho: Numbers) -> list[Real]:
    """Return rho_k - rho_{k+1} for each k, with rho_{m+1} = 0."""
    return [a - b for a, b in zip(rho, [*rho[1:], Fraction(0)], strict=True)]


def unit_of(step: Real, m: int, k: int) -> list[Real]:
    """Return a vector with `step` in the first k of m places."""
    return [step * int(j < k) for j in range(m)]


def in_sum(
    parts: Sequence[Numbers], rho: Numbers, zeta: Sequence[Real], radius_times_k: bool
) -> Truth:
    """Return whether lambda_1 .. lambda_m are as in (14), and 0 where rho does not fall."""
    conditions = []
    for k, (part, step, share) in enumerate(zip(parts, falls_of(rho), zeta, strict=True), 1):
        radius = (k if radius_times_k else 1) * step
        conditions.append(in_topk_simplex(part, k, radius))
        conditions.append(equals(total(part), share * k * step))
    return all_of(*conditions)


@claim(
    "K19-thm2",
    "Theorem 2",
    "The conjugate of the weighted top-k hinge loss is v_y if v sums to 0 and lies "
    "in B_wtk after some change of its y-th entry, and infinite otherwise.",
    formula=r"\Phi^*_{wtk}(v;y)=v_y\quad\langle v,1\rangle=0,\ "
    r"\exists b_y:\ v+(b_y-v_y)e_y\in B_{wtk}",
    shapes="v, rho: (m,), rho non-increasing and non-negative",
    cases=lambda rng, deep: weighted_points(rng, deep),
    planted=(
        version("-v_y", sign=-1),
        version("a fraction zeta for each level", common=False),
        version("simplices of radius rho'_l", radius_times_k=False),
    ),
    not_proved="follows from K19-eq15 and K19-lemma1; membership in B_wtk has m |K| unknowns, and "
    "each case is decided by exact linear programs",
    library=Library(
        ("fwlab.WeightedTopK.conjugate", "fwlab.WeightedTopK.in_domain"),
        lambda case: conjugate_in_the_library(fwlab.WeightedTopK(as_floats(case.loss.rho)), case),
        lambda rng, deep: (c for c in weighted_points(rng, deep) if any(c.loss.rho)),
    ),
)
def weighted_conjugate(
    case: Case, sign: int = 1, common: bool = True, radius_times_k: bool = True
) -> Outcome:
    B = weighted_set(case.m, case.loss.rho, common, radius_times_k)
    conjugate = exact.conjugate(case.loss, case.v, case.y)
    return equal(conjugate, stated_conjugate(case, B, sign, free=True))


def weighted_points(rng: Rng, deep: bool) -> Iterator[Case]:
    return (c for c in points(rng, deep) if isinstance(c.loss, reference.WeightedTopK))
