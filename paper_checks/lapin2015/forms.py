"""Define the forms that several files of L15 share: psi_k, the top-k error, premises."""

from collections.abc import Iterator
from fractions import Fraction

from paper_checks.arithmetic import (
    Real,
    Truth,
    all_of,
    any_of,
    implies,
    is_symbolic,
    kth_largest,
    negation,
    positive_part,
    where,
)
from paper_checks.cases import Rng, fractions, scored_rows, sizes
from paper_checks.definitions import Vector
from paper_checks.ledger import Case, Outcome
from paper_checks.outcomes import formula_of, stated, true
from paper_checks.proofs import symbolic_sizes
from paper_checks.symbols import reals


def psi(h: Vector, k: int) -> Real:
    """Return max(0, h_[k]), h = a + c (section 2.2)."""
    return positive_part(kth_largest(h, k))


def top_k_error(scores: Vector, y: int, k: int) -> Real:
    """Return 1 if the k-th largest score exceeds the score of class y, else 0 (section 2)."""
    return where(kth_largest(scores, k) > scores[y], Fraction(1), Fraction(0))


def shifted(case: Case) -> tuple[Real, ...]:
    """Return a + c."""
    return tuple(x + Fraction(int(j != case.y)) for j, x in enumerate(case.a))


def iff(left: Truth, right: Truth) -> Truth:
    """Return whether both conditions are true or both false."""
    return any_of(all_of(left, right), all_of(negation(left), negation(right)))


def given(premise: Truth, outcome: Outcome) -> Outcome:
    """State an outcome where a premise is true."""
    if is_symbolic(premise) or outcome.formula is not None:
        return stated(implies(premise, formula_of(outcome)))
    return outcome if premise else true(**outcome.seen)


# ---------------------------------------------------------------- cases of section 2


def rows(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield one row of scores with its class: m, k, y, scores; exact with ties, and normal."""
    for case in scored_rows(rng, deep):
        scores = tuple(x if isinstance(x, Fraction) else float(x) for x in case.scores)
        yield Case(kind=case.kind, m=case.m, k=case.k, y=case.y, scores=scores)


def vectors(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield any a, and a with a_y = 0, as scores give it: m, k, y, a; exact, and normal."""
    for case in rows(rng, deep):
        a = tuple(s - case.scores[case.y] for s in case.scores)
        yield Case(kind=f"{case.kind}, from scores", m=case.m, k=case.k, y=case.y, a=a)
    for m, k in sizes(5):
        y = int(rng.integers(m))
        yield Case(kind="exact, any a", m=m, k=k, y=y, a=fractions(rng, m))


def below_m(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the rows with k < m, the paper's range."""
    return (case for case in rows(rng, deep) if case.k < case.m)


def symbolic_rows(deep: bool) -> Iterator[Case]:
    """Yield any scores; the true class is the first one, which loses nothing by symmetry."""
    for m, k in symbolic_sizes(5 if deep else 4):
        yield Case(kind="symbols", m=m, k=k, y=0, scores=reals("s", m))


def symbolic_below_m(deep: bool) -> Iterator[Case]:
    """Yield any scores with k < m."""
    return (case for case in symbolic_rows(deep) if case.k < case.m)


def symbolic_vectors(deep: bool) -> Iterator[Case]:
    """Yield any a in R^m; the true class is the first one."""
    for m, k in symbolic_sizes(5 if deep else 4):
        yield Case(kind="symbols", m=m, k=k, y=0, a=reals("a", m))
