"""Check K19 section 8: compatibility, and the domain that an earlier paper uses."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import reference
from paper_checks.arithmetic import (
    Truth,
    all_of,
    equals,
    implies,
    is_symbolic,
    total,
)
from paper_checks.cases import Rng, sizes
from paper_checks.definitions import in_topk_simplex
from paper_checks.kato2019.conjugates import (
    in_topk_domain,
    put,
    symbolic_rows,
)
from paper_checks.kato2019.sizes import vector_69_tells_apart
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import both, false, less, truth
from paper_checks.proofs import BySolver, ByTheorem
from reference import counterexamples, exact
from reference.losses import indicator

Numbers = Sequence[Fraction]


def pairs(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield all (m, k) with 2 <= k < m."""
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
    relaxed=version("2 <= k <= m; for m = k = 2 the vector v is 1/2", cases=pairs_from_two),
    planted=(
        version("for k = 1", cases=first_pairs),
        version("the left side is larger", sign=-1),
    ),
    proofs=(
        ByTheorem(
            "A size (m, k) beyond those tried at which the vector (69) leaves the simplex.",
            lambda deep, sign=1: sign == 1 and vector_69_tells_apart(),
            "all 2 <= k <= m, m >= 3",
        ),
    ),
)
def topk_is_not_compatible(case: Case, sign: int = 1) -> Outcome:
    """Compare both sides on the vertices of the set where the left side is finite.

    These are the projections of the top-k simplex's vertices: 0, and 1/k on k classes, one of which
    may be the true class.
    """
    loss, m, k = reference.TopK(case.k), case.m, case.k
    for chosen in (k, k - 1):
        if chosen <= m - 1:
            v = indicator(range(chosen), m, k)[: m - 1]
            left, right = counterexamples.lhs(loss, v, m - 1), counterexamples.rhs(loss, v, m - 1)
            if left != right:
                return less(sign * left, sign * right, v=v)
    return false(seen="the two sides agree at every vertex")


@claim(
    "K19-eq69",
    "(69)",
    "The vector with one entry 1/k and m - 2 entries ((m-1)k - m)/((m-2)mk) can be "
    "completed to a point of the top-k simplex by some y-th entry, but not by the "
    "y-th entry 0.",
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
    proofs=(
        ByTheorem(
            "A size (m, k) beyond those tried at which the vector leaves the first "
            "set or enters the second.",
            lambda deep, extra=0: vector_69_tells_apart(extra),
            "all 2 <= k <= m, m >= 3",
        ),
    ),
)
def printed_vector(case: Case, extra: int = 0) -> Outcome:
    """Check the vector by the inequalities of the simplex; for small m also by linear programs."""
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


def symbolic_domains(deep: bool) -> Iterator[Case]:
    """Yield v as symbols for each (m, k) with 2 <= k <= m; y is the last class."""
    for case in symbolic_rows(5 if deep else 4):
        if case.k >= 2:
            yield case


@claim(
    "K19-eq30",
    "(30)",
    "The domain of the pseudo top-k loss, where v without its y-th entry lies in the top-k simplex "
    "with 0 in that place, is a proper subset of that of the top-k loss.",
    formula=r"\{v:\langle v,1\rangle=0,\ v-v_ye_y\in\Delta(k,1)\}\subsetneq"
    r"\mathrm{dom}\,\Phi^*_{utk}(\cdot;y),\quad 2\leq k<m",
    shapes="v: (m,)",
    judged="the text says subset; its argument needs a proper subset.",
    cases=pairs,
    relaxed=version("2 <= k <= m", cases=pairs_from_two),
    planted=(
        version("proper for k = 1 too", cases=first_pairs),
        version("a superset", reverse=True),
    ),
    proofs=(
        BySolver(
            "A point of the pseudo domain outside the true one, between the vertices tried.",
            cases=symbolic_domains,
        ),
    ),
)
def smaller_domain(case: Case, reverse: bool = False) -> Outcome:
    """State that every point of the first set is in the second, and that the inclusion is proper.

    The point with 1/k on k - 1 wrong classes, completed by the true class, is only in the second.
    On numbers every vertex is tried.
    """
    m, k, y = case.m, case.k, case.m - 1
    edge = [Fraction(int(j < k - 1), k) for j in range(m - 1)]
    edge.append(-total(edge))
    proper = all_of(in_topk_domain(edge, y, k), not in_pseudo_domain(edge, k, y))
    if is_symbolic(getattr(case, "v", ())):
        one, other = in_pseudo_domain(case.v, k, y), in_topk_domain(case.v, y, k)
        return truth(all_of(implies(other, one) if reverse else implies(one, other), proper))
    true = set(exact.pieces(reference.TopK(k), m, y))
    pseudo = {v for v in candidates(m, k) if in_pseudo_domain(v, k, y)}
    if reverse:
        return truth(all(in_pseudo_domain(v, k, y) for v in true))
    outside = [v for v in true if not in_pseudo_domain(v, k, y)]
    inside = all(exact.in_domain(reference.TopK(k), v, y) for v in pseudo)
    found = inside and len(outside) > 0 and len(pseudo) > 0 and proper
    return truth(found, v=min(outside, default=()))


def in_pseudo_domain(v: Numbers, k: int, y: int) -> Truth:
    """Return whether v lies in the domain (30)."""
    return all_of(equals(total(v), 0), in_topk_simplex(put(v, y, Fraction(0)), k))


def candidates(m: int, k: int) -> Iterator[tuple[Fraction, ...]]:
    """Yield points with sum 0, where the true class is the last.

    They are the vertices of (30) up to permutations of classes, namely 0 and 1/k on the first or
    last wrong classes, and points between them.
    """
    for size in range(m):
        for shift in {0, m - 1 - size}:
            others = [Fraction(int(shift <= j < shift + size), k) for j in range(m - 1)]
            for scale in (Fraction(1), Fraction(1, 3)):
                v = [scale * x for x in others]
                yield (*v, -sum(v, Fraction()))
