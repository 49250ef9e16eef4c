"""K19 section 8: compatibility, the domain that L15 uses, and the loss that belongs to it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import reference
from paper_checks.cases import Rng, fractions, scored_rows, sizes
from paper_checks.kato2019.exact_problems import array, random_problem
from paper_checks.kato2019.losses import around_the_domain, stated_conjugate
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, false, less, truth
from reference import counterexamples, exact
from reference.derived_polytopes import topk_simplex
from reference.losses import indicator

Numbers = Sequence[Fraction]


def pairs(rng: Rng, deep: bool) -> Iterator[Case]:
    """All (m, k) with 2 <= k < m."""
    return (c for c in all_pairs(rng, deep) if 2 <= c.k < c.m)


def pairs_from_two(rng: Rng, deep: bool) -> Iterator[Case]:
    return (c for c in all_pairs(rng, deep) if c.k >= 2)


def first_pairs(rng: Rng, deep: bool) -> Iterator[Case]:
    return (c for c in all_pairs(rng, deep) if c.k == 1)


def all_pairs(rng: Rng, deep: bool) -> Iterator[Case]:
    for m, k in sizes(7 if deep else 6):
        yield Case(kind="exact, k = m" if k == m else "exact", m=m, k=k)


@claim(
    "K19-prop6",
    "Proposition 6, A.6",
    "The top-k loss phi before centring is not y-compatible: some v with v_y = 0 has a larger "
    "conjugate over all scores than over the scores with s_y = 0.",
    formula=r"\sup_{s:\,s_y=0}\ \langle v,s\rangle-\phi_{utk}(s;y)\ <\ \phi^*_{utk}(v;y)",
    shapes="v, s: (m,)",
    judged="decided for each (m, k): it is enough to try the vertices of the set where the left "
    "side is finite, as both sides are linear where they are finite.",
    cases=pairs,
    relaxed=version("2 <= k <= m; for m = k = 2 the vector is v = 1/2", cases=pairs_from_two),
    planted=(
        version("for k = 1", cases=first_pairs),
        version("the left side is larger", sign=-1),
    ),
)
def topk_is_not_compatible(case: Case, sign: int = 1) -> Outcome:
    """The left side is finite on the projections of the top-k simplex's vertices: 0, and 1/k on k
    classes, of which one may be the true class."""
    loss, m, k = reference.TopK(case.k), case.m, case.k
    for chosen in (k, k - 1):
        if chosen <= m - 1:
            v = indicator(range(chosen), m, k)[: m - 1]
            left, right = counterexamples.lhs(loss, v, m - 1), counterexamples.rhs(loss, v, m - 1)
            if left != right:
                return less(sign * left, sign * right, v=v)
    return false(seen="no vertex tells the sides apart")


@claim(
    "K19-eq69",
    "(69)",
    "The vector with one entry 1/k and m - 2 entries ((m-1)k - m)/((m-2)mk) can be completed to a "
    "point of the top-k simplex by some y-th entry, and not by the y-th entry 0.",
    formula=r"v_{m-1}=\frac{1}{k},\ v_h=\frac{(m-1)k-m}{(m-2)mk}\ (h\leq m-2):\quad "
    r"v\in B_{lhs}\setminus B_{rhs}",
    shapes="v: (m-1,); 2 <= k < m",
    cases=lambda rng, deep: (
        Case(kind="exact", m=m, k=k) for m in range(3, 60 if deep else 30) for k in range(2, m)
    ),
    relaxed=version(
        "2 <= k <= m, m >= 3: for k = m all entries are 1/m",
        cases=lambda rng, deep: (
            Case(kind="exact", m=m, k=k)
            for m in range(3, 60 if deep else 30)
            for k in range(2, m + 1)
        ),
    ),
    planted=(
        version("1/(k+1) in the first place", extra=1),
        version(
            "for k = 1",
            cases=lambda rng, deep: (Case(kind="exact", m=m, k=1) for m in range(3, 9)),
        ),
    ),
)
def printed_vector(case: Case, extra: int = 0) -> Outcome:
    """By the inequalities of the simplex; for small m also by exact linear programs."""
    m, k = case.m, case.k
    small = Fraction((m - 1) * k - m, (m - 2) * m * k)
    v = [Fraction(1, k + extra)] + [small] * (m - 2)
    missing = 1 - sum(v, Fraction())  # the largest y-th entry that keeps the sum at most 1
    completed = in_topk_simplex([*v, missing], k)
    found = truth(completed and not in_topk_simplex([*v, Fraction(0)], k), v=v)
    if m > 5:
        return found
    loss = reference.TopK(k)
    left, right = counterexamples.lhs(loss, v, m - 1), counterexamples.rhs(loss, v, m - 1)
    return both(found, truth(left < math.inf and right == math.inf, v=v))


def in_topk_simplex(beta: Numbers, k: int) -> bool:
    """(4) with r = 1."""
    return min(beta) >= 0 and sum(beta) <= 1 and k * max(beta) <= sum(beta)


@claim(
    "K19-eq30",
    "(30)",
    "The domain of the pseudo top-k loss, where v without its y-th entry lies in the top-k simplex "
    "with 0 in that place, is a proper subset of that of the top-k loss.",
    formula=r"\{v:\langle v,1\rangle=0,\ v-v_ye_y\in\Delta(k,1)\}\subsetneq"
    r"\mathrm{dom}\,\Phi^*_{utk}(\cdot;y),\quad 2\leq k<m",
    shapes="v: (m,)",
    judged="the text says subset; that it is a proper one is what its argument needs.",
    cases=pairs,
    relaxed=version("2 <= k <= m", cases=pairs_from_two),
    planted=(
        version("proper for k = 1 too", cases=first_pairs),
        version("a superset", reverse=True),
    ),
)
def smaller_domain(case: Case, reverse: bool = False) -> Outcome:
    """Every vertex of the one set is in the other, and some vertex of the other is not in the
    one."""
    m, k, y = case.m, case.k, case.m - 1
    true = set(exact.pieces(reference.TopK(k), m, y))
    pseudo = {v for v in candidates(m, k) if in_pseudo_domain(v, k, y)}
    if reverse:
        return truth(all(in_pseudo_domain(v, k, y) for v in true))
    outside = [v for v in true if not in_pseudo_domain(v, k, y)]
    inside = all(exact.in_domain(reference.TopK(k), v, y) for v in pseudo)
    return truth(inside and len(outside) > 0 and len(pseudo) > 0, v=min(outside, default=()))


def in_pseudo_domain(v: Numbers, k: int, y: int) -> bool:
    """(30)."""
    rest = [Fraction(0) if j == y else x for j, x in enumerate(v)]
    return sum(v) == 0 and in_topk_simplex(rest, k)


def candidates(m: int, k: int) -> Iterator[tuple[Fraction, ...]]:
    """0 and 1/k on the first or last wrong classes, the vertices of (30) up to exchanges of
    classes, and points between; the true class is the last, and sums are 0."""
    for size in range(m):
        for shift in {0, m - 1 - size}:
            others = [Fraction(int(shift <= j < shift + size), k) for j in range(m - 1)]
            for scale in (Fraction(1), Fraction(1, 3)):
                v = [scale * x for x in others]
                yield (*v, -sum(v, Fraction()))


def pseudo_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Points around the domains of the pseudo and of the true top-k loss."""
    for m, k in sizes(6 if deep else 5):
        y = int(rng.integers(m))
        if k < m:
            for loss in (reference.PseudoTopK(k), reference.TopK(k)):
                for kind, v in around_the_domain(rng, loss, m, y):
                    yield Case(kind=kind, m=m, k=k, y=y, v=v)


@claim(
    "K19-eq31",
    "(31), A.7, A.8",
    "The conjugate of the pseudo top-k loss, which sorts the margins of the wrong classes alone, "
    "is v_y on the domain (30).",
    formula=r"\Phi_{ptk}(s;y)=\max\{0,\frac{1}{k}\sum_{j=1}^k"
    r"((1-s_y)1_{m-1}+s^{\backslash y})_{\pi(j)}\}",
    shapes="s, v: (m,); 1 <= k < m",
    cases=pseudo_points,
    planted=(
        version("-v_y", sign=-1),
        version("any y-th entry may be put in", free=True),
    ),
)
def pseudo_conjugate(case: Case, sign: int = 1, free: bool = False) -> Outcome:
    loss, simplex = reference.PseudoTopK(case.k), topk_simplex(case.m, case.k)
    if not free:
        simplex = simplex.with_zeros((case.y,))
    conjugate = exact.conjugate(loss, case.v, case.y)
    return equal(conjugate, stated_conjugate(case, simplex, sign, free=True))


@claim(
    "K19-ptk-below",
    "section 8",
    "The pseudo top-k loss is nowhere above the top-k loss.",
    formula=r"\Phi_{ptk}(s;y)\ \leq\ \Phi_{utk}(s;y)",
    shapes="s: (m,); 1 <= k < m",
    cases=lambda rng, deep: (c for c in scored_rows(rng, deep) if c.k < c.m),
    planted=(version("the top-k loss is nowhere above the pseudo one", sign=-1),),
)
def pseudo_is_below(case: Case, sign: int = 1) -> Outcome:
    pseudo = reference.PseudoTopK(case.k).value(case.scores, case.y)
    true = reference.TopK(case.k).value(case.scores, case.y)
    return at_most(sign * pseudo, sign * true)


def weighted_sums(rng: Rng, deep: bool) -> Iterator[Case]:
    """Small problems with 1 <= k < m and weights W with ties."""
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
)
def pseudo_risk_is_below(case: Case, sign: int = 1, always_equal: bool = False) -> Outcome:
    problem = case.problem
    pseudo = replace(problem, loss=reference.PseudoTopK(case.k)).primal(case.W)
    true = problem.primal(case.W)
    return equal(pseudo, true) if always_equal else at_most(sign * pseudo, sign * true)


def uncentred_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Points around the domains of the losses before centring: vertices, mixtures, others."""
    for m, k in sizes(6 if deep else 5):
        y = int(rng.integers(m))
        for _ in range(4):
            v = tuple(Fraction(int(x), 4 * k) for x in rng.integers(0, 5, m))
            yield Case(kind="any", m=m, k=k, y=y, v=v)
        chosen = rng.permutation(m)[:k].tolist()
        yield Case(kind="vertex", m=m, k=k, y=y, v=indicator(chosen, m, k))


@claim(
    "K19-eq63",
    "(63)",
    "Before centring the conjugate of the top-k loss is minus the sum of the other entries than "
    "the true class's, on the top-k simplex.",
    formula=r"\phi^*_{utk}(v;y)=-\langle v,1-e_y\rangle\quad v\in\Delta(k,1)",
    shapes="v: (m,)",
    cases=uncentred_points,
    planted=(
        version("all entries count", others=False),
        version("a simplex without the bound on each entry", capped=False),
    ),
)
def uncentred_conjugate(case: Case, others: bool = True, capped: bool = True) -> Outcome:
    affine = exact.pieces(reference.TopK(case.k), case.m, case.y, centred=False)
    inside = in_topk_simplex(case.v, case.k if capped else 1)
    counted = sum(case.v) - (case.v[case.y] if others else 0)
    return equal(exact.conjugate_of_maximum(affine, case.v), -counted if inside else math.inf)


@claim(
    "K19-ptk-compatible",
    "A.7",
    "The pseudo top-k loss before centring is y-compatible.",
    formula=r"\sup_{s:\,s_y=0}\ \langle v,s\rangle-\phi_{ptk}(s;y)=\phi^*_{ptk}(v;y)"
    r"\quad\mathrm{if}\ v_y=0",
    shapes="v, s: (m,); 1 <= k < m",
    cases=lambda rng, deep: (c for c in uncentred_points(rng, deep) if c.k < c.m),
    planted=(version("the top-k loss is, too", pseudo=False),),
)
def pseudo_is_compatible(case: Case, pseudo: bool = True) -> Outcome:
    loss = reference.PseudoTopK(case.k) if pseudo else reference.TopK(case.k)
    v = [x for j, x in enumerate(case.v) if j != case.y]
    return equal(counterexamples.lhs(loss, v, case.y), counterexamples.rhs(loss, v, case.y))
