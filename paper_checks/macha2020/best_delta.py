"""Check M20 (32): the best delta of Pat&Mat with the truncated quadratic surrogate."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fwlab.ranking import pairwise
from paper_checks.arithmetic import (
    Real,
    Truth,
    all_of,
    divide,
    equals,
    implies,
    is_symbolic,
    pick,
    total,
)
from paper_checks.cases import Rng, changed
from paper_checks.ledger import (
    Case,
    Erratum,
    Library,
    Outcome,
    WhereRight,
    claim,
    version,
)
from paper_checks.macha2020.in_fwlab import allowed, problem_of
from paper_checks.macha2020.pairs import points
from paper_checks.macha2020.problems import patmat_dual
from paper_checks.outcomes import equal, true, truth
from paper_checks.proofs import BySolver
from paper_checks.symbols import real, reals

BEST_DELTA = ("fwlab.ranking.pairwise.best_delta",)


def squared_delta(squares: Real, theta2: Real, budget: Real) -> Real:
    """Return the square of (32), as a function of the sum of the squares of beta."""
    return divide(squares, 4 * theta2**2 * budget)


def best_squared(case: Case) -> Fraction:
    """Return the square of (32), whose sum is over the entries of beta (M20-eq32)."""
    found: Fraction = squared_delta(total(case.beta**2), case.theta2, case.budget)
    return found


def best_deltas(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield points with at least two negatives and beta not 0, whose rational delta solves (32).

    The budget n tau is chosen to make it so.
    """
    for case in points(rng, deep):
        if len(case.beta) < 2 or not any(case.beta):
            continue
        case.delta = Fraction(int(rng.integers(1, 7)), 3)
        n = len(case.alpha) + len(case.beta)
        while best_squared(case) * case.budget >= n * case.delta**2:  # tau < 1
            case.delta *= 2
        case.budget = best_squared(case) * case.budget / case.delta**2
        yield case


# ---------------------------------------------------------------- (32)


def symbolic_betas(deep: bool) -> Iterator[Case]:
    """Yield one positive, and one to three negatives."""
    for m in range(1, 4):
        names = ("delta", "any_delta", "theta2", "budget")
        yield Case(
            kind="symbols",
            negatives=m,
            n=m + 1,
            beta=reals("beta", m),
            **{name: real(name) for name in names},
        )


def positive(case: Case) -> Truth:
    names = ("delta", "any_delta", "theta2", "budget")
    limits = [getattr(case, name) > 0 for name in names]
    return all_of(*limits, *(b >= 0 for b in case.beta))


def value_of_delta(case: Case, delta: Real) -> Real:
    """Return the terms of (30a) with delta."""
    squares = total(b**2 for b in case.beta)
    return -divide(squares, 4 * delta * case.theta2**2) - delta * case.budget


def stationary(case: Case) -> Outcome:
    """Check that the derivative of (30a) in delta is 0 at the corrected (32).

    Its sum runs up to n-.
    """
    slope = best_squared(case) * case.budget / case.delta**2 - case.budget
    return equal(slope, Fraction(0))


@claim(
    "M20-eq32",
    "(32)",
    "For fixed beta the best delta is the root (32).",
    formula=r"\delta^*=\sqrt{\frac{1}{4\vartheta_2^2n\tau}\sum_{j=1}^{n}\beta_j^2}",
    shapes="beta: (n-,); budget: n tau",
    judged="The sum is printed up to n, where beta has n- entries. (34) and Theorem D.2 have the "
    "same n, so the machine reading did not lose a superscript; (12) and its proof sum over the "
    "negatives.",
    cases=best_deltas,
    derived=version(
        "the sum up to n-, as in (30)",
        formula=r"\delta^*=\sqrt{\frac{1}{4\vartheta_2^2n\tau}\sum_{j=1}^{n^-}\beta_j^2}",
        extra=0,
    ),
    where_right=WhereRight("M20-eq18-30-33-34", stationary, at="(30a)"),
    planted=(
        version("2 in the place of 4", extra=0, factor=2),
        version("theta_2 in the place of its square", extra=0, power=1),
    ),
    proofs=(
        BySolver(
            "A delta that is better only than nearby values; here it is compared with all others.",
            symbolic_betas,
            positive,
            sized_by=("negatives",),
        ),
    ),
    library=Library(BEST_DELTA, lambda case: delta_of_fwlab(case, case.beta, case.delta**2)),
    erratum=Erratum(
        page="Appendix C.2, (32)",
        printed=r"\delta^*=\sqrt{\frac{1}{4\vartheta_2^2n\tau}\sum_{j=1}^{n}\beta_j^2}",
        correct=r"\delta^*=\sqrt{\frac{1}{4\vartheta_2^2n\tau}\sum_{j=1}^{n^-}\beta_j^2}",
        proof=r"$\beta$ has $n^-$ entries, so that $\beta_n$ does not exist. (30a) sums up to "
        r"$n^-$; its derivative in $\delta$ is "
        r"$\frac{1}{4\delta^2\vartheta_2^2}\sum_{j=1}^{n^-}\beta_j^2-n\tau$, which is 0 at the "
        r"corrected $\delta^*$ and falls as $\delta$ grows.",
        breaks="Nothing: (30) and the increments of Theorem C.1 sum over the negatives.",
    ),
)
def optimal_delta(case: Case, extra: int | None = None, factor: int = 4, power: int = 2) -> Outcome:
    """Compare (32) with the best delta.

    In a problem, (12) is concave in delta, so a delta that is at least as good as its neighbours is
    the best up to their distance. delta itself is rational by construction.
    """
    m, p = len(case.beta), case.n - case.negatives if hasattr(case, "n") else len(case.alpha)
    entries = [pick(case.beta, j) for j in range(m + (p if extra is None else extra))]
    squares = total(b**2 for b in entries)
    squared = divide(squares, factor * case.theta2**power * case.budget)
    if hasattr(case, "any_delta"):
        better = value_of_delta(case, case.any_delta) <= value_of_delta(case, case.delta)
        return truth(
            implies(equals(squared, case.delta**2), better),
            value_of_delta=is_symbolic(better) or value_of_delta(case, case.delta),
            value_of_any_delta=is_symbolic(better) or value_of_delta(case, case.any_delta),
        )
    best = patmat_dual(case)
    for share in (Fraction(999, 1000), Fraction(1001, 1000)):
        if patmat_dual(changed(case, delta=case.delta * share)) >= best:
            return truth(False, seen="the case's delta is not the best")
    return equal(squared, case.delta**2)


def delta_of_fwlab(case: Case, beta: np.ndarray, squared: Fraction) -> Outcome:
    """Check that fwlab's best delta for a beta has this square."""
    if not allowed(case):
        return true()
    found = pairwise.best_delta(problem_of(case, True), np.asarray(beta, float))
    return equal(found, float(squared) ** 0.5)
