"""Check K19 section 8, A.7, A.8: the pseudo top-k loss, its conjugate, and uncentred losses."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import fwlab
import reference
from paper_checks.arithmetic import (
    Truth,
    all_of,
    is_symbolic,
    total,
)
from paper_checks.cases import Rng, fractions, scored_rows, sizes
from paper_checks.definitions import in_topk_simplex, margins, pseudo_top_k, top_k
from paper_checks.kato2019.conjugates import (
    Stated,
    centred_directions,
    in_topk_domain,
    is_conjugate,
    ordered,
    others_of,
    put,
    symbolic_rows,
    uncentred_directions,
    unit,
)
from paper_checks.kato2019.exact_problems import array, random_problem
from paper_checks.kato2019.in_fwlab import as_floats, conjugate_in_the_library
from paper_checks.kato2019.losses import around_the_domain, stated_conjugate
from paper_checks.kato2019.pseudo import in_pseudo_domain
from paper_checks.ledger import Case, Library, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, truth
from paper_checks.proofs import BySolver, symbolic_sizes
from paper_checks.symbols import reals
from reference import counterexamples, exact
from reference.derived_polytopes import topk_simplex
from reference.losses import indicator

Numbers = Sequence[Fraction]


def pseudo_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield points in and around the domains of the pseudo and the true top-k loss."""
    for m, k in sizes(6 if deep else 5):
        y = int(rng.integers(m))
        if k < m:
            for loss in (reference.PseudoTopK(k), reference.TopK(k)):
                for kind, v in around_the_domain(rng, loss, m, y):
                    pseudo = reference.PseudoTopK(k)
                    scores = fractions(rng, m)
                    yield Case(kind=kind, loss=pseudo, m=m, k=k, y=y, v=v, scores=scores)


@claim(
    "K19-eq31",
    "(31), A.7, A.8",
    "The conjugate of the pseudo top-k loss, which sorts only the margins of the "
    "wrong classes, is v_y on the domain (30).",
    formula=r"\Phi_{ptk}(s;y)=\max\{0,\frac{1}{k}\sum_{j=1}^k"
    r"((1-s_y)1_{m-1}+s^{\backslash y})_{\pi(j)}\}",
    shapes="s, v: (m,); 1 <= k < m",
    cases=pseudo_points,
    planted=(
        version("-v_y", sign=-1),
        version("any y-th entry is allowed", free=True),
    ),
    proofs=(
        BySolver(
            "A domain that is too large or too small by a face, or a loss that counts the true "
            "class.",
            cases=lambda deep: symbolic_rows(4 if deep else 3, smaller_k=1),
            assuming=ordered,
        ),
    ),
    library=Library(
        ("fwlab.PseudoTopK.conjugate", "fwlab.PseudoTopK.in_domain"),
        lambda case: conjugate_in_the_library(fwlab.PseudoTopK(case.k), case),
    ),
)
def pseudo_conjugate(case: Case, sign: int = 1, free: bool = False) -> Outcome:
    v, y, m, k = case.v, case.y, case.m, case.k
    inside = in_topk_domain(v, y, k) if free else in_pseudo_domain(v, k, y)
    stated = Stated(inside, sign * v[y], unit(m, y), centred_directions(m, y, k))
    found = truth(
        is_conjugate(
            v,
            case.scores,
            stated,
            lambda s: pseudo_top_k(margins(s, y), y, k),
            lambda d: pseudo_top_k([x - d[y] for x in d], y, k),
        )
    )
    if is_symbolic(v):
        return found
    loss, simplex = reference.PseudoTopK(k), topk_simplex(m, k)
    if not free:
        simplex = simplex.with_zeros((y,))
    conjugate = exact.conjugate(loss, v, y)
    return both(equal(conjugate, stated_conjugate(case, simplex, sign, free=True)), found)


def symbolic_scores(deep: bool) -> Iterator[Case]:
    """Yield scores as symbols; by symmetry y is the last class."""
    for m, k in symbolic_sizes(5 if deep else 4):
        if k < m:
            yield Case(kind="symbols", m=m, k=k, y=m - 1, scores=reals("s", m))


def exact_scores(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield exact scores.

    The first case has the margins (3, -3, 0), where the two losses differ.
    """
    scores = (Fraction(2), Fraction(-4), Fraction(0))
    yield Case(kind="exact, ties", m=3, k=2, y=2, scores=scores)
    for case in scored_rows(rng, deep):
        if case.k < case.m and case.kind != "normal":
            yield case


@claim(
    "K19-ptk-below",
    "section 8",
    "The pseudo top-k loss is nowhere above the top-k loss.",
    formula=r"\Phi_{ptk}(s;y)\ \leq\ \Phi_{utk}(s;y)",
    shapes="s: (m,); 1 <= k < m",
    cases=exact_scores,
    planted=(version("the top-k loss is nowhere above the pseudo one", sign=-1),),
    proofs=(
        BySolver(
            "Scores where the true class is among the k largest margins and both losses are near "
            "0.",
            cases=symbolic_scores,
        ),
    ),
    library=Library(
        ("fwlab.PseudoTopK.value", "fwlab.TopK.value"), lambda case: values_in_the_library(case)
    ),
)
def pseudo_is_below(case: Case, sign: int = 1) -> Outcome:
    s, y, k = case.scores, case.y, case.k
    h = margins(s, y)
    pseudo, true = pseudo_top_k(h, y, k), top_k(h, k)
    found = at_most(sign * pseudo, sign * true)
    if is_symbolic(s):
        return found
    defined = [reference.PseudoTopK(k), reference.TopK(k)]
    return both(
        found,
        *(equal(exact.value(d, s, y), v) for d, v in zip(defined, (pseudo, true), strict=True)),
    )


def values_in_the_library(case: Case) -> Outcome:
    """Compare fwlab's two losses with the exact ones."""
    s, y, k = case.scores, case.y, case.k
    pairs = [
        (fwlab.PseudoTopK(k), reference.PseudoTopK(k)),
        (fwlab.TopK(k), reference.TopK(k)),
    ]
    return both(
        *(equal(ours.value(as_floats(s), y), float(exact.value(d, s, y))) for ours, d in pairs)
    )


def weighted_sums(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield small problems with 1 <= k < m and weights W with ties."""
    for _ in range(200 if deep else 40):
        n, d, m = (int(rng.integers(low, high)) for low, high in ((1, 4), (1, 3), (3, 6)))
        k = int(rng.integers(1, m))
        problem = random_problem(rng, n, d, m, reference.TopK(k))
        yield Case(
            kind="exact", problem=problem, k=k, W=array([fractions(rng, d) for _ in range(m)])
        )


@claim(
    "K19-primal-below",
    "8",
    "The regularised risk of the pseudo top-k loss is nowhere above that of the top-k loss.",
    formula=r"P_{ptk}(W)\leq P_{utk}(W)",
    shapes="W: (d, m); 1 <= k < m",
    cases=weighted_sums,
    planted=(
        version("they are equal", always_equal=True),
        version("it is nowhere below", sign=-1),
    ),
    not_proved="the regularisers are equal, and K19-ptk-below compares each sample's loss",
)
def pseudo_risk_is_below(case: Case, sign: int = 1, always_equal: bool = False) -> Outcome:
    problem = case.problem
    pseudo = replace(problem, loss=reference.PseudoTopK(case.k)).primal(case.W)
    true = problem.primal(case.W)
    return equal(pseudo, true) if always_equal else at_most(sign * pseudo, sign * true)


def uncentred_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield points in and around the domains of the losses before centring."""
    for m, k in sizes(6 if deep else 5):
        y = int(rng.integers(m))
        for _ in range(4):
            v = tuple(Fraction(int(x), 4 * k) for x in rng.integers(0, 5, m))
            yield Case(kind="any", m=m, k=k, y=y, v=v, scores=fractions(rng, m))
        chosen = rng.permutation(m)[:k].tolist()
        v = tuple(indicator(chosen, m, k))
        yield Case(kind="vertex", m=m, k=k, y=y, v=v, scores=fractions(rng, m))


def symbolic_uncentred(deep: bool) -> Iterator[Case]:
    """Yield v and scores as symbols for each m, k and y."""
    for m, k in symbolic_sizes(4 if deep else 3):
        for y in range(m):
            yield Case(kind="symbols", m=m, k=k, y=y, v=reals("v", m), scores=reals("s", m))


def sorted_plain_margins(case: Case) -> Truth:
    """Return whether the classes are in the order of the margins 1 - e_y + s."""
    return all_of(*(a >= b for a, b in pairwise(plain_margins(case.scores, case.y))))


def plain_margins(s: Sequence[Any], y: int) -> list[Any]:
    """Return 1 - e_y + s."""
    return [x + int(j != y) for j, x in enumerate(s)]


@claim(
    "K19-eq63",
    "(63)",
    "Before centring, the conjugate of the top-k loss on the top-k simplex is minus "
    "the sum of all entries except the true class's.",
    formula=r"\phi^*_{utk}(v;y)=-\langle v,1-e_y\rangle\quad v\in\Delta(k,1)",
    shapes="v: (m,)",
    cases=uncentred_points,
    planted=(
        version("all entries count", others=False),
        version("a simplex without the bound on each entry", capped=False),
    ),
    proofs=(
        BySolver(
            "A domain that is too large or too small by a face.",
            cases=symbolic_uncentred,
            assuming=sorted_plain_margins,
        ),
    ),
)
def uncentred_conjugate(case: Case, others: bool = True, capped: bool = True) -> Outcome:
    v, y, m, k = case.v, case.y, case.m, case.k
    value = -total(others_of(v, y) if others else v)
    stated = Stated(
        in_topk_simplex(v, k if capped else 1),
        value,
        [-int(j != y) for j in range(m)],
        uncentred_directions(m, k),
    )
    found = truth(
        is_conjugate(
            v,
            case.scores,
            stated,
            lambda s: top_k(plain_margins(s, y), k),
            lambda d: top_k(d, k),
        )
    )
    if is_symbolic(v):
        return found
    affine = exact.pieces(reference.TopK(case.k), case.m, case.y, centred=False)
    conjugate = exact.conjugate_of_maximum(affine, v)
    return both(equal(conjugate, value if stated.inside else math.inf), found)


@claim(
    "K19-ptk-compatible",
    "A.7",
    "The pseudo top-k loss before centring is y-compatible.",
    formula=r"\sup_{s:\,s_y=0}\ \langle v,s\rangle-\phi_{ptk}(s;y)=\phi^*_{ptk}(v;y)"
    r"\quad\mathrm{if}\ v_y=0",
    shapes="v, s: (m,); 1 <= k < m",
    cases=lambda rng, deep: (c for c in uncentred_points(rng, deep) if c.k < c.m),
    planted=(version("the top-k loss is y-compatible too", pseudo=False),),
    proofs=(
        BySolver(
            "A vector v whose conjugate is smaller over the scores with s_y = 0; for "
            "the top-k loss there is one at every size with k >= 2.",
            cases=lambda deep: symbolic_rows(4 if deep else 3, smaller_k=1),
            assuming=ordered,
        ),
    ),
)
def pseudo_is_compatible(case: Case, pseudo: bool = True) -> Outcome:
    """Compare both sides for v_y = 0.

    They are minus the sum of v on the simplex, and infinite elsewhere. The left side is infinite
    along directions d with d_y = 0, which do not change s_y.
    """
    y, m, k = case.y, case.m, case.k
    loss = reference.PseudoTopK(k) if pseudo else reference.TopK(k)
    v, s = put(case.v, y, Fraction(0)), put(case.scores, y, Fraction(0))
    stated = Stated(
        in_topk_simplex(v, k),
        -total(v),
        [-int(j != y) for j in range(m)],
        [put(d, y, 0) for d in centred_directions(m, y, k)],
    )

    def value(h: Sequence[Any]) -> Any:
        return pseudo_top_k(h, y, k) if pseudo else top_k(h, k)

    found = truth(is_conjugate(v, s, stated, lambda s: value(plain_margins(s, y)), value))
    if is_symbolic(case.v):
        return found
    others = others_of(v, y)
    sides = counterexamples.lhs(loss, others, y), counterexamples.rhs(loss, others, y)
    return both(equal(*sides), found)
