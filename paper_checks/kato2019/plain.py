"""Represent small problems as matrices of numbers or symbols.

Numbers also have an exact problem.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import reference
from paper_checks.arithmetic import Truth, all_of
from paper_checks.kato2019 import matrices
from paper_checks.kato2019.exact_problems import ExactProblem, array
from paper_checks.kato2019.matrices import Rows
from paper_checks.ledger import Case, Outcome
from paper_checks.outcomes import equal
from paper_checks.symbols import reals

# lam = 1 without loss of generality, as D depends on X and lam only through K/lam
LAM = Fraction(1)
SIZES = [(1, 1, 2), (1, 2, 2), (1, 1, 3), (2, 1, 2)]


@dataclass(frozen=True, eq=False)
class Plain:
    """X (n, d), y, lam, smoothing, and two points A and B (n, m)."""

    X: Rows
    y: tuple[int, ...]
    lam: Any
    smoothing: Any
    A: Rows
    B: Rows

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def m(self) -> int:
        return len(self.A[0])

    def dual(self, A: Rows) -> Any:
        """Return D(A) inside the domain."""
        return matrices.dual(self.X, self.y, A, self.lam, self.smoothing)

    def scores(self, A: Rows) -> Rows:
        return matrices.scores(self.X, A, self.lam)

    @property
    def residual(self) -> Rows:
        """Return E_y - Z(A), one row per sample."""
        return matrices.plus(matrices.one_hot(self.y, self.m), self.scores(self.A), -1)

    @property
    def direction(self) -> Rows:
        return matrices.plus(self.B, self.A, -1)

    @property
    def exact(self) -> ExactProblem:
        """Return the problem with the max hinge, which has the domain of `domain`."""
        return ExactProblem(
            array(self.X), self.y, reference.TopK(1), self.m, self.lam, self.smoothing
        )


def plain(case: Case) -> Plain:
    """Return the matrices of a case, taken from its problem if it has one."""
    if hasattr(case, "problem"):
        p = case.problem
        X, A, B = (tuple(map(tuple, M)) for M in (p.X, case.A, case.B))
        return Plain(X, p.y, p.lam, p.smoothing, A, B)
    return Plain(case.X, case.y, LAM, getattr(case, "smoothing", 0), case.A, case.B)


def exact_problem(case: Case) -> ExactProblem:
    """Return the exact problem of a case of numbers."""
    return case.problem if hasattr(case, "problem") else plain(case).exact


def same_dual(case: Case) -> Outcome:
    """State that the polynomial used for D on symbols equals D by its definition at A."""
    p = plain(case)
    return equal(p.dual(p.A), exact_problem(case).dual(array(p.A)))


def symbolic_problems(deep: bool) -> Iterator[Case]:
    """Yield small problems with two points, all symbols.

    Every sample has the first class, as its classes may be renamed where the conjugate is linear.
    """
    for n, d, m in SIZES:
        X, A, B = (
            tuple(reals(f"{name}_{i + 1}", size) for i in range(n))
            for name, size in (("x", d), ("a", m), ("b", m))
        )
        yield Case(kind="symbols", n=n, d=d, m=m, X=X, y=(0,) * n, A=A, B=B)


def feasible(case: Case) -> Truth:
    """Return whether A and B lie in the domain of the max hinge."""
    return all_of(*(matrices.domain(case.y, M) for M in (case.A, case.B)))
